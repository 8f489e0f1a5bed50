// The state of saving, in the head of the editor.
import { CircleAlert, CircleCheck, CloudOff, LoaderCircle, Lock, PencilLine } from 'lucide-react'
import { useSaver } from '../../form/hooks.js'
import type { SaverPhase } from '../../form/saver.js'
import { classes } from '../../parts/classes.js'
import { useFormat, useWords } from '../../parts/words.js'
import { mayIn } from '../../server/queries.js'
import type { DocumentForm } from './document-form.js'
import styles from './editor.module.css'
import { useMeta } from './use-document-form.js'

const icons: Readonly<Record<SaverPhase, typeof CircleCheck>> = {
  saved: CircleCheck,
  waiting: PencilLine,
  saving: LoaderCircle,
  held: CircleAlert,
  offline: CloudOff,
  signedOut: CloudOff,
  gone: CircleAlert,
  failed: CircleAlert,
}

/** Says whether everything is stored, or that nothing may be changed. */
export function SavingStatus({ form }: { readonly form: DocumentForm }) {
  const { phase, savedAt, documentId, revision } = useSaver(form.saver)
  const { view } = useMeta(form)
  const { editor, fields } = useWords()
  const words = editor.saving
  const format = useFormat()
  const isReadOnly = documentId === null ? !mayIn(form.type, 'create', form.locale) : view?.may.update.length === 0
  if (isReadOnly)
    return (
      <span className={styles.status}>
        <Lock size={16} aria-hidden="true" />
        <span>{fields.readOnly}</span>
      </span>
    )
  // A language that does not exist yet.
  if (phase === 'saved' && documentId !== null && revision === null) return null
  const Icon = icons[phase]
  const text = phase === 'saved' && savedAt !== null ? words.savedAt(format.time(new Date(savedAt))) : words[phase]
  const isWrong = phase === 'held' || phase === 'gone' || phase === 'failed' || phase === 'offline' || phase === 'signedOut'
  return (
    <span className={classes(styles.status, isWrong && styles.statusWrong)} data-phase={phase}>
      <Icon size={16} aria-hidden="true" />
      <span>{text}</span>
    </span>
  )
}
