// A request for an e-mail with a link for a new password.
import { type ReactNode, useState } from 'react'
import { Link } from 'wouter'
import { addresses } from '../../addresses.js'
import { Button } from '../../parts/button.js'
import { useWords } from '../../parts/words.js'
import { requestSession } from '../../server/client.js'
import styles from './sign-in.module.css'
import { SignInFrame } from './sign-in-frame.js'
import { FormError, useSubmission } from './submission.js'
import { TextField } from './text-field.js'

/** The form, and its confirmation, which is the same for every address. */
export function ForgotForm(): ReactNode {
  const { signIn } = useWords().shell
  const [email, setEmail] = useState('')
  const [isSent, setSent] = useState(false)
  const [isChecked, setChecked] = useState(false)
  const { isBusy, error, onSubmit } = useSubmission(async () => {
    setChecked(true)
    if (email.trim() === '') return
    await requestSession('POST', '/session/forgot', { body: { email: email.trim() } })
    setSent(true)
  })
  return (
    <SignInFrame title={signIn.forgotTitle} text={isSent ? undefined : signIn.forgotText}>
      {isSent ? (
        <p role="status">{signIn.sent}</p>
      ) : (
        <form className={styles.form} onSubmit={onSubmit} noValidate>
          <FormError error={error} />
          <TextField
            label={signIn.email}
            name="email"
            type="email"
            autoComplete="username"
            autoFocus
            value={email}
            onChange={setEmail}
            error={isChecked && email.trim() === '' ? signIn.emailMissing : null}
          />
          <Button kind="main" type="submit" isBusy={isBusy}>
            {signIn.sendLink}
          </Button>
        </form>
      )}
      <p className={styles.more}>
        <Link href={addresses.signIn()}>{signIn.back}</Link>
      </p>
    </SignInFrame>
  )
}
