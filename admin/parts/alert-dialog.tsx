// A question before an action that is hard to undo.
import { type ReactNode, useState } from 'react'
import styles from './alert-dialog.module.css'
import { Button } from './button.js'
import { Dialog } from './dialog.js'
import { useWords } from './words.js'

/** A question with one answer that acts. */
interface AlertDialogProps {
  readonly isOpen: boolean
  readonly onClose: () => void
  readonly title: string
  /** Consequences of the action. */
  readonly children?: ReactNode
  /** Label of the button that acts, such as "Delete 3 articles". */
  readonly action: string
  readonly kind?: 'main' | 'danger'
  readonly isDisabled?: boolean
  /** Runs once; the dialog closes after success, and shows the message of a thrown error. */
  readonly onConfirm: () => void | Promise<void>
}

/** A question before an action; the button names the action. */
export function AlertDialog(props: AlertDialogProps) {
  const { parts } = useWords()
  const [isBusy, setBusy] = useState(false)
  const [error, setError] = useState<string | null>(null)
  const confirm = async () => {
    setBusy(true)
    setError(null)
    try {
      await props.onConfirm()
      props.onClose()
    } catch (failure) {
      setError(failure instanceof Error ? failure.message : String(failure))
    } finally {
      setBusy(false)
    }
  }
  return (
    <Dialog
      role="alertdialog"
      size="small"
      isKept
      isOpen={props.isOpen}
      onClose={props.onClose}
      title={props.title}
      footer={
        <>
          <Button onPress={props.onClose} autoFocus={props.kind === 'danger'}>
            {parts.cancel}
          </Button>
          <Button
            kind={props.kind ?? 'danger'}
            isBusy={isBusy}
            isDisabled={props.isDisabled}
            onPress={() => void confirm()}
            autoFocus={props.kind === 'main'}
          >
            {props.action}
          </Button>
        </>
      }
    >
      {props.children}
      {error !== null && (
        <p className={styles.error} role="alert">
          {error}
        </p>
      )}
    </Dialog>
  )
}
