// What a finding of the doctor means for readers, and what to do: one sentence for each check that calls something wrong.

/** By the name of the check. */
export const remedies: Readonly<Record<string, string>> = {
  'the file is intact':
    'Parts of the file cannot be read. Stop the service and put a backup in its place; sqlite3 FILE ".recover" may save what is left.',
  'foreign keys hold':
    'Rows name others that are gone, so populate leaves them out. Save the documents that own them again, or delete the rows.',
  'a document has one draft and one published row at most in a locale':
    'Readers get one of several rows by chance. Keep the right one and delete the others by their row id, with a backup at hand.',
  'every row has a document id': 'Nobody can ask for these documents one by one. Give each row a document id of 24 letters, or delete it.',
  'every published row has its draft':
    'Readers see these, editors do not, and they cannot be changed. Delete the published row, or write its content anew with a PUT.',
  'links lead from row to row':
    'Populate leaves these relations out; nothing else is harmed. Delete the rows of the link table, or set the relation again.',
  'targets of an entry have places of their own':
    'Their order in answers is arbitrary. Write the relation again with the whole list in its order.',
  'relations to one have one target': 'Readers get one of several targets by chance. Set the relation again to the right one.',
  'every component row is used': 'Nobody sees these rows; they only take space. They may be deleted.',
  'no component row is used twice':
    'A change of one document changes the other. Save one of them with its component written anew, without its id.',
  'component entries lead from row to row':
    'Answers leave these components out. Strapi leaves such rows behind too; delete them, or save the document that owns them again.',
  'component entries have places of their own': 'Their order in answers is arbitrary. Save the document with the whole list in its order.',
  'links to files have their owner': 'Nobody sees these links; the files stay. The rows of files_related_mph may be deleted.',
  'links to files have their file': 'Answers leave these files out. Choose the file again, or delete the rows of files_related_mph.',
  'files of an attribute have places of their own':
    'Their order in answers is arbitrary. Write the attribute again with the whole list in its order.',
  'every local file is in the uploads folder':
    'Their addresses are 404. Copy the files from where they were (UPLOADS_DIR names the folder), or delete them in the media library.',
  'columns have the types that the model says':
    'Values written before are shown as they are, or as null. Set the type of the attribute back, or write the values anew and change the column.',
}
