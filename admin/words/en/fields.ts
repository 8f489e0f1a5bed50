// English texts: fields.
import { formatOf } from '../format.js'

const { number, plural } = formatOf('en')

const kinds = {
  ...{ paragraph: 'Paragraph', quote: 'Quote', codeBlock: 'Code', ordered: 'Numbered list', unordered: 'Bulleted list', other: 'Other' },
  ...{ 'heading-1': 'Heading 1', 'heading-2': 'Heading 2', 'heading-3': 'Heading 3' },
  ...{ 'heading-4': 'Heading 4', 'heading-5': 'Heading 5', 'heading-6': 'Heading 6' },
}

export const fields = {
  /** The editor of blocks. */
  blocks: {
    kinds,
    flags: { bold: 'Bold', italic: 'Italic', underline: 'Underline', strikethrough: 'Strikethrough', code: 'Code' },
    toolbar: 'Formatting',
    kind: 'Text style',
    codeLanguage: 'Code language',
    placeholder: 'Write, or type / for headings, lists and pictures',
    insert: 'Insert',
    link: 'Link',
    linkAddress: 'Address',
    linkText: 'Text',
    linkWrong: 'Please enter a web address, an e-mail address, or a path that begins with a slash.',
    linkMake: 'Add link',
    linkChange: 'Change link',
    linkRemove: 'Remove link',
    linkVisit: 'Open',
    image: 'Picture',
    imageInsert: 'Insert pictures',
    imageRemove: 'Remove picture',
    alternativeText: 'Alternative text',
    caption: 'Caption',
    close: 'Close',
    views: {
      unknown: (kind: string) => `Content of type “${kind}” cannot be edited here. It is kept as it is.`,
      missingAlternative: 'No alternative text',
    },
  },
  /** The same in all languages of a document. */
  shared: 'Same in all languages',
  sharedShort: 'All languages',
  private: 'Not in the public API',
  readOnly: 'Read only',
  notSet: 'Not set',
  yes: 'Yes',
  no: 'No',
  notAChoice: (value: string) => `${value} (no longer available)`,
  expectedFormat: 'Expected format',
  errorCount: (count: number) => plural(count, { one: '1 error inside', other: '{} errors inside' }),
  limits: {
    minLength: (min: number) => `At least ${plural(min, { one: '1 character', other: '{} characters' })}.`,
    range: (min: number | undefined, max: number | undefined) =>
      min === undefined
        ? `At most ${number(max!)}.`
        : max === undefined
          ? `At least ${number(min)}.`
          : `From ${number(min)} to ${number(max)}.`,
    entries: (min: number | undefined, max: number | undefined) =>
      min === undefined
        ? `At most ${plural(max!, { one: '1 entry', other: '{} entries' })}.`
        : max === undefined
          ? `At least ${plural(min, { one: '1 entry', other: '{} entries' })}.`
          : `${number(min)} to ${number(max)} entries.`,
    unique: 'No other document may have the same value.',
  },
  date: {
    open: (label: string) => `Choose ${label}`,
    clear: (label: string) => `Clear ${label}`,
  },
  password: { unchanged: 'Unchanged', show: 'Show password', hide: 'Hide password' },
  uid: {
    make: 'Generate a unique value',
    makeFromSource: 'Generate again',
    made: (uid: string) => `Changed to ${uid}`,
    taken: 'Another document has this value.',
    use: (uid: string) => `Use ${uid}`,
  },
  json: {
    placeholder: 'A JSON value, such as { "key": "value" }',
    invalid: 'This is not valid JSON yet. The text stays in this browser; the last valid value is stored.',
  },
  markdown: {
    placeholder: 'Start writing. Markdown is supported.',
    preview: 'Preview',
    previewOf: (label: string) => `Preview of ${label}`,
    nothing: 'No text yet.',
    tools: {
      ...{ bold: 'Bold', italic: 'Italic', strikethrough: 'Strikethrough', code: 'Code', link: 'Link', heading: 'Heading' },
      ...{ unordered: 'Bulleted list', ordered: 'Numbered list', quote: 'Quote', codeBlock: 'Code block', image: 'Insert pictures' },
    },
  },
  media: {
    choose: 'Choose from library',
    chooseOther: 'Choose another',
    upload: 'Upload',
    uploading: (name: string) => `Uploading ${name}`,
    uploaded: (count: number) => plural(count, { one: '1 file uploaded', other: '{} files uploaded' }),
    cancel: (name: string) => `Cancel the upload of ${name}`,
    failed: (name: string, reason: string) => `${name} was not uploaded. ${reason}`,
    nothing: 'No files',
    removed: (name: string) => `${name} removed`,
    remove: (name: string) => `Remove ${name}`,
    describe: (name: string) => `Edit details of ${name}`,
    noAlternative: 'No alternative text',
    details: 'File details',
    name: 'File name',
    alternativeText: 'Alternative text',
    alternativeHelp: 'What the picture shows, for people who cannot see it.',
    caption: 'Caption',
    sharedTexts: 'Changes apply everywhere this file is used.',
    open: 'Open the original',
    save: 'Save',
    notChanged: (reason: string) => `The details were not saved. ${reason}`,
    pickerTitle: 'Choose files',
    pickerFor: (label: string) => `Choose files for ${label}`,
    picked: (count: number) => plural(count, { one: '1 file chosen', other: '{} files chosen' }),
    take: (count: number) => (count < 2 ? 'Add file' : `Add ${number(count)} files`),
    search: 'Search by name, alternative text or caption',
    sort: 'Sort by',
    sorts: { 'createdAt:desc': 'Newest', 'name:asc': 'By name', 'updatedAt:desc': 'Last changed', 'size:desc': 'Largest' },
    files: 'Files',
    folders: 'Folders',
    root: 'Media library',
    emptyFolder: 'No matching files here. Drop files to upload them.',
    more: 'Show more',
    alreadyChosen: (name: string) => `${name}, already chosen`,
  },
  relation: {
    find: 'Find by name',
    unnamed: 'Unnamed',
    added: (name: string) => `${name} linked`,
    removed: (name: string) => `${name} no longer linked`,
    remove: (name: string) => `Remove the link to ${name}`,
    open: (name: string) => `Open ${name}`,
    actions: (name: string) => `More actions for ${name}`,
    toStart: 'Move to the start',
    pending: 'Not public yet: the link appears once it is published',
    nothing: 'No links',
    polymorphic: 'Links to several types are edited in the linked documents.',
    more: 'Load more links',
    notLoaded: (reason: string) => `The links could not be loaded. ${reason}`,
    notFound: 'The documents could not be searched.',
    create: (type: string) => `Create new ${type}`,
    createNamed: (name: string) => `Create “${name}”`,
  },
  /** Entries of lists and zones, and single components. */
  entries: {
    add: (name: string) => `Add ${name}`,
    addTo: 'Add a component',
    pickerTitle: 'Add a component',
    paste: 'Paste',
    pasted: (count: number) => plural(count, { one: '1 entry pasted', other: '{} entries pasted' }),
    notAllowed: (count: number) => plural(count, { one: '1 entry is not allowed here.', other: '{} entries are not allowed here.' }),
    nothingToPaste: 'There is no entry on the clipboard. Copy one from its menu first.',
    noClipboard: 'The browser does not allow access to the clipboard.',
    copied: 'Copied. You can paste it into other documents, too.',
    full: (max: number) => `No more than ${number(max)}.`,
    named: (kind: string, position: number) => `${kind} ${number(position)}`,
    actions: (name: string) => `Actions for ${name}`,
    duplicate: 'Duplicate',
    copy: 'Copy',
    insertBefore: 'Insert before',
    insertAfter: 'Insert after',
    remove: (name: string) => `Remove ${name}`,
    removed: (name: string) => `${name} removed`,
    undo: 'Undo',
    nothing: 'Nothing here',
    notVisible: 'You do not have permission to view this component. It is kept as it is.',
  },
}
