// The first administrator of a service.
import { type ReactNode, useState } from 'react'
import { useWords } from '../../parts/words.js'
import { requestSession } from '../../server/client.js'
import { brokenRules, PasswordField } from './password-field.js'
import { SignInFrame } from './sign-in-frame.js'
import type { SignInWays } from './sign-in-screen.js'
import { Form, useSubmission } from './submission.js'
import { EmailField, NameFields, TextField, trimmedNames } from './text-field.js'

/** The form; it asks for the code from the log where the service does. */
export function FirstForm({ ways: { needsCode } }: { readonly ways: SignInWays }): ReactNode {
  const { signIn } = useWords().shell
  const [code, setCode] = useState('')
  const [names, setNames] = useState({ firstname: '', lastname: '' })
  const [email, setEmail] = useState('')
  const [password, setPassword] = useState('')
  const missing = {
    code: needsCode && code.trim() === '',
    name: names.firstname.trim() === '',
    email: !/^\S+@\S+$/.test(email.trim()),
    password: brokenRules(password).length > 0,
  }
  const submission = useSubmission(!Object.values(missing).includes(true), () => {
    const given = needsCode ? { code: code.trim() } : {}
    const body = { ...given, ...trimmedNames(names), email: email.trim(), password, remember: false }
    return requestSession('POST', '/session/first', { body })
  })
  const { isChecked } = submission
  return (
    <SignInFrame title={signIn.firstTitle} text={signIn.firstText}>
      <Form submission={submission} action={signIn.create}>
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
            error={isChecked && missing.code ? signIn.codeMissing : null}
          />
        )}
        <NameFields value={names} onChange={setNames} isWrong={isChecked && missing.name} autoFocus={!needsCode} />
        <EmailField value={email} onChange={setEmail} isWrong={isChecked && missing.email} />
        <PasswordField isNew value={password} onChange={setPassword} isChecked={isChecked} />
      </Form>
    </SignInFrame>
  )
}
