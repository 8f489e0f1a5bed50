// Deleting a document, with the documents that link to it.
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { linkName } from '../../fields/link-name.js'
import type { Entry } from '../../form/values.js'
import { AlertDialog } from '../../parts/alert-dialog.js'
import { CheckBox } from '../../parts/check-box.js'
import { useToasts } from '../../parts/toasts.js'
import { useFormat, useWords } from '../../parts/words.js'
import { deleteDocument, readUses } from './document-actions.js'
import type { DocumentForm } from './document-form.js'
import styles from './editor.module.css'
import { nameOfDocument } from './path-labels.js'
import { useMeta } from './use-document-form.js'

/** Linking documents that are named. */
const maxNamed = 5

interface DeleteDialogProps {
  readonly form: DocumentForm
  readonly onClose: () => void
  readonly onDeleted: () => void
}

/** Asks before a document is deleted. */
export function DeleteDialog({ form, onClose, onDeleted }: DeleteDialogProps) {
  const { remove: words, untitled } = useWords().editor
  const format = useFormat()
  const { say } = useToasts()
  const { view } = useMeta(form)
  const [isAll, setAll] = useState(true)
  const { data: uses = [] } = useQuery({ queryKey: ['uses of', form.saver.state.documentId], queryFn: () => readUses(form) })
  // A document may link through several attributes.
  const linking = [
    ...new Map(uses.flatMap(({ type, documents }) => documents.map((link) => [`${type} ${link.documentId}`, link as Entry]))),
  ]
  const isMore = uses.some(({ more }) => more)
  const name = nameOfDocument(form.type, form.store.get('') as Entry)
  const hasLanguages = (view?.locales ?? []).length > 1 && form.locale !== null
  const confirm = async () => {
    try {
      await deleteDocument(form, isAll || !hasLanguages)
    } catch (error) {
      say((error as Error).message, { kind: 'wrong' })
      throw error
    }
    say(words.done(name))
    onDeleted()
  }
  return (
    <AlertDialog isOpen onClose={onClose} title={words.title(name)} action={words.confirm} onConfirm={confirm}>
      <div className={styles.sheet}>
        <p>{words.text}</p>
        {linking.length > 0 && (
          <div className={styles.problem}>
            <p>{words.used(linking.length, isMore)}</p>
            <ul>
              {linking.slice(0, maxNamed).map(([key, link]) => (
                <li key={key}>{linkName(link, untitled)}</li>
              ))}
              {linking.length > maxNamed && <li>…</li>}
            </ul>
          </div>
        )}
        {hasLanguages && (
          <CheckBox isSelected={isAll} onChange={setAll}>
            {isAll ? words.all : words.one(format.languageName(form.locale ?? ''))}
          </CheckBox>
        )}
      </div>
    </AlertDialog>
  )
}
