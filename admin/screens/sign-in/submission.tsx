// Forms that sign in: one request at a time, and its error in the reader's language.
import { CircleAlert } from 'lucide-react'
import { type FormEvent, type ReactNode, useState } from 'react'
import { Button } from '../../parts/button.js'
import { useWords } from '../../parts/words.js'
import { ApiFailure } from '../../server/client.js'
import { Offline } from '../../server/connection.js'
import type { Words } from '../../words/catalog.js'
import styles from './sign-in.module.css'

/** The state of a form. */
interface Submission {
  readonly isBusy: boolean
  /** True after the first attempt: empty and invalid fields are errors. */
  readonly isChecked: boolean
  readonly error: string | null
  readonly onSubmit: (event: FormEvent) => void
}

type Errors = Words['shell']['signIn']['errors']

/** The text of an error; `own`: texts of this form by reason. */
export function textOf(error: unknown, errors: Errors, own: Partial<Record<string, string>> = {}): string {
  if (error instanceof Offline) return errors.offline
  if (!(error instanceof ApiFailure)) return errors.other(String(error))
  if (error.status === 429) return errors.tooMany(error.retryAfter ?? 1)
  if (error.status >= 500) return errors.unavailable
  const known = own[error.reason] ?? errors[error.reason as keyof Errors]
  return typeof known === 'string' ? known : errors.other(error.errors[0]?.message ?? error.message)
}

/** Sends a form whose input is valid; `own`: texts of this form for reasons of a refusal. */
export function useSubmission(isValid: boolean, send: () => Promise<unknown>, own: Partial<Record<string, string>> = {}): Submission {
  const { errors } = useWords().shell.signIn
  const [isBusy, setBusy] = useState(false)
  const [isChecked, setChecked] = useState(false)
  const [failure, setFailure] = useState<{ readonly reason: unknown } | null>(null)
  const onSubmit = (event: FormEvent): void => {
    event.preventDefault()
    if (isBusy) return
    setChecked(true)
    setFailure(null)
    if (!isValid) return
    setBusy(true)
    send()
      .catch((reason: unknown) => setFailure({ reason }))
      .finally(() => setBusy(false))
  }
  return { isBusy, isChecked, error: failure === null ? null : textOf(failure.reason, errors, own), onSubmit }
}

interface FormProps {
  readonly submission: Submission
  /** The label of its button. */
  readonly action: string
  readonly isSecondary?: boolean
  readonly children?: ReactNode
}

/** A form with its error and its button. */
export function Form({ submission: { isBusy, error, onSubmit }, action, isSecondary = false, children }: FormProps): ReactNode {
  return (
    <form className={styles.form} onSubmit={onSubmit} noValidate>
      <FormError error={error} />
      {children}
      <Button kind={isSecondary ? 'plain' : 'main'} type="submit" isBusy={isBusy}>
        {action}
      </Button>
    </form>
  )
}

/** The error of a form, said at once. */
export function FormError({ error }: { readonly error: string | null }): ReactNode {
  return (
    <div role="alert" className={styles.alert}>
      {error !== null && (
        <p className={styles.error}>
          <CircleAlert size={16} aria-hidden="true" />
          {error}
        </p>
      )}
    </div>
  )
}
