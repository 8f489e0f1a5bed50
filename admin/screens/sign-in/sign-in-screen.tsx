// Screens without a session: sign-in, the first administrator, and a forgotten password.
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Redirect, Route, Switch } from 'wouter'
import { addresses, patterns } from '../../addresses.js'
import { requestSession } from '../../server/client.js'
import { FirstForm } from './first-form.js'
import { ForgotForm } from './forgot-form.js'
import { SignInForm } from './sign-in-form.js'
import { SignInFrame } from './sign-in-frame.js'

/** Ways to sign in, as the service says. */
export interface SignInWays {
  readonly isMissing: boolean
  readonly needsCode: boolean
  readonly hasDemo: boolean
  readonly sendsEmails: boolean
}

const usual: SignInWays = { isMissing: false, needsCode: true, hasDemo: false, sendsEmails: true }

export default function SignInScreen(): ReactNode {
  const { data, isPending } = useQuery({
    queryKey: ['/session/first'],
    queryFn: () => requestSession('GET', '/session/first'),
    retry: false,
    staleTime: Number.POSITIVE_INFINITY,
  })
  if (isPending) return <SignInFrame />
  const ways = data?.data ?? usual
  return (
    <Switch>
      <Route path={patterns.forgot}>
        <ForgotForm />
      </Route>
      <Route path={patterns.first}>{ways.isMissing ? <FirstForm ways={ways} /> : <Redirect to={addresses.home()} replace />}</Route>
      <Route>{ways.isMissing && !ways.hasDemo ? <FirstForm ways={ways} /> : <SignInForm ways={ways} />}</Route>
    </Switch>
  )
}
