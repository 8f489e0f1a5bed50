// Questions before a document is taken back, and before its changes are discarded.
import { useState } from 'react'
import type { Entry } from '../../form/values.js'
import { AlertDialog } from '../../parts/alert-dialog.js'
import { useToasts } from '../../parts/toasts.js'
import { useFormat, useWords } from '../../parts/words.js'
import { actInLocales, saveAll } from './document-actions.js'
import type { DocumentForm } from './document-form.js'
import { nameOfDocument } from './path-labels.js'

interface LocaleActionProps {
  readonly form: DocumentForm
  readonly action: 'unpublish' | 'discard'
  readonly onClose: () => void
}

/** Asks before a document is taken back, or its changes discarded. */
export default function LocaleActionDialog({ form, action, onClose }: LocaleActionProps) {
  const words = useWords().editor.publish
  const format = useFormat()
  const { say } = useToasts()
  const [name] = useState(() => nameOfDocument(form.type, form.store.get('') as Entry))
  const run = async () => {
    try {
      await saveAll(form)
      await actInLocales(form, action, form.locale === null ? [] : [form.locale])
      form.update({ theirs: null })
      say(action === 'unpublish' ? words.unpublished : words.discarded)
    } catch (error) {
      say((error as Error).message, { kind: 'wrong' })
      throw error
    }
  }
  const isUnpublish = action === 'unpublish'
  const language = form.locale === null ? null : format.languageName(form.locale)
  return (
    <AlertDialog
      isOpen
      onClose={onClose}
      title={isUnpublish ? words.unpublishTitle(name) : words.discardTitle}
      action={isUnpublish ? words.unpublish : words.discard}
      onConfirm={run}
    >
      <p>{isUnpublish ? words.unpublishText(language) : words.discardText}</p>
    </AlertDialog>
  )
}
