// Links of e-mails: a new password, and an invitation. Both sign in with the new password.
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { Link, Route } from 'wouter'
import { addresses, pagePath, patterns } from '../../addresses.js'
import { Button } from '../../parts/button.js'
import { useWords } from '../../parts/words.js'
import { requestSession } from '../../server/client.js'
import { brokenRules, PasswordField } from './password-field.js'
import styles from './sign-in.module.css'
import { SignInFrame } from './sign-in-frame.js'
import { FormError, textOf, useSubmission } from './submission.js'
import { TextField } from './text-field.js'

export default function CodeScreen(): ReactNode {
  return (
    <>
      <Route path={patterns.reset}>{({ code }) => <ResetForm code={code} />}</Route>
      <Route path={patterns.invitation}>{({ code }) => <InvitationScreen code={code} />}</Route>
    </>
  )
}

/** Loads the page of the new session; another administrator may have been signed in. */
const enter = (): void => location.assign(pagePath)

function ResetForm({ code }: { readonly code: string }): ReactNode {
  const { signIn } = useWords().shell
  const [password, setPassword] = useState('')
  const [isChecked, setChecked] = useState(false)
  const isWeak = brokenRules(password).length > 0
  const send = async () => {
    setChecked(true)
    if (isWeak) return
    await requestSession('POST', '/session/reset', { body: { code, password } })
    enter()
  }
  const { isBusy, error, onSubmit } = useSubmission(send, { code: signIn.errors.link })
  return (
    <SignInFrame title={signIn.resetTitle} text={signIn.resetText}>
      <form className={styles.form} onSubmit={onSubmit} noValidate>
        <FormError error={error} />
        <PasswordField isNew autoFocus value={password} onChange={setPassword} isChecked={isChecked} />
        <Button kind="main" type="submit" isBusy={isBusy}>
          {signIn.setPassword}
        </Button>
      </form>
      <p className={styles.more}>
        <Link href={addresses.forgot()}>{signIn.forgot}</Link>
      </p>
    </SignInFrame>
  )
}

function InvitationScreen({ code }: { readonly code: string }): ReactNode {
  const { signIn } = useWords().shell
  const { data, error, isPending } = useQuery({
    queryKey: ['/session/invitation', code],
    queryFn: () => requestSession('GET', '/session/invitation/{code}', { path: { code } }),
    retry: false,
    refetchOnWindowFocus: false,
  })
  if (isPending) return <SignInFrame />
  if (data !== undefined) return <InvitationForm code={code} {...data.data} />
  return (
    <SignInFrame title={signIn.invitationTitle}>
      <FormError error={textOf(error, signIn.errors, { code: signIn.errors.link })} />
      <p className={styles.more}>
        <Link href={addresses.signIn()}>{signIn.back}</Link>
      </p>
    </SignInFrame>
  )
}

interface Invited {
  readonly code: string
  readonly email: string
  readonly firstname: string | null
  readonly lastname: string | null
}

function InvitationForm({ code, email, ...invited }: Invited): ReactNode {
  const { signIn } = useWords().shell
  const [firstname, setFirstname] = useState(invited.firstname ?? '')
  const [lastname, setLastname] = useState(invited.lastname ?? '')
  const [password, setPassword] = useState('')
  const [isChecked, setChecked] = useState(false)
  const isWeak = brokenRules(password).length > 0
  const isNameless = firstname.trim() === ''
  const send = async () => {
    setChecked(true)
    if (isWeak || isNameless) return
    const body = { password, firstname: firstname.trim(), lastname: lastname.trim() === '' ? null : lastname.trim() }
    await requestSession('POST', '/session/invitation/{code}', { path: { code }, body })
    enter()
  }
  const { isBusy, error, onSubmit } = useSubmission(send, { code: signIn.errors.link })
  return (
    <SignInFrame title={signIn.invitationTitle} text={signIn.invitationText(email)}>
      <form className={styles.form} onSubmit={onSubmit} noValidate>
        <FormError error={error} />
        <input type="hidden" name="email" autoComplete="username" value={email} readOnly />
        <div className={styles.pair}>
          <TextField
            label={signIn.firstname}
            name="firstname"
            autoComplete="given-name"
            value={firstname}
            onChange={setFirstname}
            error={isChecked && isNameless ? signIn.nameMissing : null}
          />
          <TextField label={signIn.lastname} name="lastname" autoComplete="family-name" value={lastname} onChange={setLastname} />
        </div>
        <PasswordField isNew autoFocus value={password} onChange={setPassword} isChecked={isChecked} />
        <Button kind="main" type="submit" isBusy={isBusy}>
          {signIn.accept}
        </Button>
      </form>
    </SignInFrame>
  )
}
