// A request for an e-mail with a link for a new password.
import { type ReactNode, useState } from 'react'
import { Link } from 'wouter'
import { addresses } from '../../addresses.js'
import { useWords } from '../../parts/words.js'
import { requestSession } from '../../server/client.js'
import styles from './sign-in.module.css'
import { SignInFrame } from './sign-in-frame.js'
import { Form, useSubmission } from './submission.js'
import { EmailField } from './text-field.js'

/** The form, and its confirmation, which is the same for every address. */
export function ForgotForm(): ReactNode {
  const { signIn } = useWords().shell
  const [email, setEmail] = useState('')
  const [isSent, setSent] = useState(false)
  const isMissing = email.trim() === ''
  const submission = useSubmission(!isMissing, async () => {
    await requestSession('POST', '/session/forgot', { body: { email: email.trim() } })
    setSent(true)
  })
  return (
    <SignInFrame title={signIn.forgotTitle} text={isSent ? undefined : signIn.forgotText}>
      {isSent ? (
        <p role="status">{signIn.sent}</p>
      ) : (
        <Form submission={submission} action={signIn.sendLink}>
          <EmailField autoFocus value={email} onChange={setEmail} isWrong={submission.isChecked && isMissing} />
        </Form>
      )}
      <p className={styles.more}>
        <Link href={addresses.signIn()}>{signIn.back}</Link>
      </p>
    </SignInFrame>
  )
}
