// Sign-in with an e-mail address and a password.
import { type FormEvent, type ReactNode, useState } from 'react'
import { requestSession } from '../../server/client.js'

export default function SignInScreen(): ReactNode {
  const [error, setError] = useState<string | null>(null)
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    const body = { email: String(form.get('email')), password: String(form.get('password')), remember: true, deviceId: null }
    requestSession('POST', '/session', { body }).catch(({ message }: Error) => setError(message))
  }
  return (
    <main>
      <h1>Octavo</h1>
      <form onSubmit={submit}>
        <label>
          E-mail <input name="email" type="email" autoComplete="username" />
        </label>
        <label>
          Password <input name="password" type="password" autoComplete="current-password" />
        </label>
        <button type="submit">Sign in</button>
        <p role="alert">{error}</p>
      </form>
    </main>
  )
}
