// Sign-in with an e-mail address and a password, or as the demo administrator.
import { type ReactNode, useState } from 'react'
import { Link } from 'wouter'
import { addresses } from '../../addresses.js'
import { Button } from '../../parts/button.js'
import { CheckBox } from '../../parts/check-box.js'
import { useWords } from '../../parts/words.js'
import { requestSession } from '../../server/client.js'
import { PasswordField } from './password-field.js'
import styles from './sign-in.module.css'
import { SignInFrame } from './sign-in-frame.js'
import type { SignInWays } from './sign-in-screen.js'
import { Form, FormError, useSubmission } from './submission.js'
import { EmailField } from './text-field.js'

/** The form, and other ways to sign in. */
export function SignInForm({ ways }: { readonly ways: SignInWays }): ReactNode {
  const { signIn } = useWords().shell
  return (
    <SignInFrame title={signIn.title}>
      {ways.hasDemo && <Demo ways={ways} />}
      {!(ways.hasDemo && ways.isMissing) && <Credentials hasDemo={ways.hasDemo} />}
      {!ways.isMissing && (
        <p className={styles.more}>
          {ways.sendsEmails ? <Link href={addresses.forgot()}>{signIn.forgot}</Link> : signIn.forgotWithoutEmail}
        </p>
      )}
    </SignInFrame>
  )
}

function Demo({ ways }: { readonly ways: SignInWays }): ReactNode {
  const { signIn } = useWords().shell
  const { isBusy, error, onSubmit } = useSubmission(true, () => requestSession('POST', '/session/demo'))
  return (
    <form className={styles.form} onSubmit={onSubmit}>
      <p className={styles.text}>{signIn.demoText}</p>
      <FormError error={error} />
      <Button kind="main" type="submit" isBusy={isBusy}>
        {signIn.demo}
      </Button>
      {ways.isMissing ? (
        <p className={styles.more}>
          <Link href={addresses.first()}>{signIn.createFirst}</Link>
        </p>
      ) : (
        <p className={styles.or}>{signIn.or}</p>
      )}
    </form>
  )
}

function Credentials({ hasDemo }: { readonly hasDemo: boolean }): ReactNode {
  const { signIn } = useWords().shell
  const [email, setEmail] = useState('')
  const [password, setPassword] = useState('')
  const [remember, setRemember] = useState(false)
  const isNameless = email.trim() === ''
  const submission = useSubmission(!isNameless && password !== '', () =>
    requestSession('POST', '/session', { body: { email: email.trim(), password, remember, deviceId: null } }),
  )
  const { isChecked } = submission
  return (
    <Form submission={submission} action={signIn.submit} isSecondary={hasDemo}>
      <EmailField autoFocus={!hasDemo} value={email} onChange={setEmail} isWrong={isChecked && isNameless} />
      <PasswordField value={password} onChange={setPassword} isChecked={isChecked} />
      <CheckBox isSelected={remember} onChange={setRemember}>
        {signIn.stay}
      </CheckBox>
    </Form>
  )
}
