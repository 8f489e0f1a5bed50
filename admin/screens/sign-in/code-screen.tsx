// Links of e-mails: a new password, and an invitation. Both sign in with the new password.
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { Link, Route } from 'wouter'
import { addresses, pagePath, patterns } from '../../addresses.js'
import { useWords } from '../../parts/words.js'
import { requestSession } from '../../server/client.js'
import { brokenRules, PasswordField } from './password-field.js'
import styles from './sign-in.module.css'
import { SignInFrame } from './sign-in-frame.js'
import { Form, FormError, textOf, useSubmission } from './submission.js'
import { NameFields, trimmedNames } from './text-field.js'

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
  const send = async () => {
    await requestSession('POST', '/session/reset', { body: { code, password } })
    enter()
  }
  const submission = useSubmission(brokenRules(password).length === 0, send, { code: signIn.errors.link })
  return (
    <SignInFrame title={signIn.resetTitle} text={signIn.resetText}>
      <Form submission={submission} action={signIn.setPassword}>
        <PasswordField isNew autoFocus value={password} onChange={setPassword} isChecked={submission.isChecked} />
      </Form>
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
  const [names, setNames] = useState({ firstname: invited.firstname ?? '', lastname: invited.lastname ?? '' })
  const [password, setPassword] = useState('')
  const isNameless = names.firstname.trim() === ''
  const send = async () => {
    await requestSession('POST', '/session/invitation/{code}', { path: { code }, body: { password, ...trimmedNames(names) } })
    enter()
  }
  const submission = useSubmission(!isNameless && brokenRules(password).length === 0, send, { code: signIn.errors.link })
  const { isChecked } = submission
  return (
    <SignInFrame title={signIn.invitationTitle} text={signIn.invitationText(email)}>
      <Form submission={submission} action={signIn.accept}>
        <input type="hidden" name="email" autoComplete="username" value={email} readOnly />
        <NameFields value={names} onChange={setNames} isWrong={isChecked && isNameless} />
        <PasswordField isNew autoFocus value={password} onChange={setPassword} isChecked={isChecked} />
      </Form>
    </SignInFrame>
  )
}
