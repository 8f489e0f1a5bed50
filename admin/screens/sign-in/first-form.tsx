// The first administrator of a service.
import { type ReactNode, useState } from 'react'
import { Button } from '../../parts/button.js'
import { useWords } from '../../parts/words.js'
import { requestSession } from '../../server/client.js'
import { brokenRules, PasswordField } from './password-field.js'
import styles from './sign-in.module.css'
import { SignInFrame } from './sign-in-frame.js'
import type { SignInWays } from './sign-in-screen.js'
import { FormError, useSubmission } from './submission.js'
import { TextField } from './text-field.js'

/** The form; it asks for the code from the log where the service does. */
export function FirstForm({ ways: { needsCode } }: { readonly ways: SignInWays }): ReactNode {
  const { signIn } = useWords().shell
  const [code, setCode] = useState('')
  const [firstname, setFirstname] = useState('')
  const [lastname, setLastname] = useState('')
  const [email, setEmail] = useState('')
  const [password, setPassword] = useState('')
  const [isChecked, setChecked] = useState(false)
  const missing = {
    code: needsCode && code.trim() === '',
    firstname: firstname.trim() === '',
    email: !/^\S+@\S+$/.test(email.trim()),
    password: brokenRules(password).length > 0,
  }
  const { isBusy, error, onSubmit } = useSubmission(async () => {
    setChecked(true)
    if (Object.values(missing).includes(true)) return
    const names = { firstname: firstname.trim(), lastname: lastname.trim() === '' ? null : lastname.trim() }
    const given = needsCode ? { code: code.trim() } : {}
    await requestSession('POST', '/session/first', { body: { ...given, ...names, email: email.trim(), password, remember: false } })
  })
  const errorOf = (name: keyof typeof missing, text: string) => (isChecked && missing[name] ? text : null)
  return (
    <SignInFrame title={signIn.firstTitle} text={signIn.firstText}>
      <form className={styles.form} onSubmit={onSubmit} noValidate>
        <FormError error={error} />
        {needsCode && (
          <TextField
            label={signIn.code}
            description={signIn.codeText}
            name="code"
            autoComplete="one-time-code"
            autoFocus
            isCode
            value={code}
            onChange={setCode}
            error={errorOf('code', signIn.codeMissing)}
          />
        )}
        <div className={styles.pair}>
          <TextField
            label={signIn.firstname}
            name="firstname"
            autoComplete="given-name"
            autoFocus={!needsCode}
            value={firstname}
            onChange={setFirstname}
            error={errorOf('firstname', signIn.nameMissing)}
          />
          <TextField label={signIn.lastname} name="lastname" autoComplete="family-name" value={lastname} onChange={setLastname} />
        </div>
        <TextField
          label={signIn.email}
          name="email"
          type="email"
          autoComplete="username"
          value={email}
          onChange={setEmail}
          error={errorOf('email', signIn.emailMissing)}
        />
        <PasswordField isNew value={password} onChange={setPassword} isChecked={isChecked} />
        <Button kind="main" type="submit" isBusy={isBusy}>
          {signIn.create}
        </Button>
      </form>
    </SignInFrame>
  )
}
