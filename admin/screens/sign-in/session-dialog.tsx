// Dialogs about the session: it ends in two minutes, it has ended, or another administrator has signed in.
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useEffect, useId, useState } from 'react'
import { addresses, pagePath } from '../../addresses.js'
import { Button } from '../../parts/button.js'
import { Dialog } from '../../parts/dialog.js'
import { useFormat, useWords } from '../../parts/words.js'
import { requestSession } from '../../server/client.js'
import { startQuery } from '../../server/queries.js'
import { renewSession, type SessionState } from '../../server/session.js'
import { useReached, useSession } from '../shell/session.js'
import { PasswordField } from './password-field.js'
import styles from './sign-in.module.css'
import { FormError, useSubmission } from './submission.js'

/** Milliseconds without a key before a dialog opens. */
const pauseMs = 1_000

/** True after a second without a key, so that a dialog does not take the focus in the middle of a word. */
function useTypingPause(): boolean {
  const [isPause, setPause] = useState(false)
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout>
    const wait = () => {
      clearTimeout(timer)
      timer = setTimeout(() => {
        removeEventListener('keydown', wait, true)
        setPause(true)
      }, pauseMs)
    }
    addEventListener('keydown', wait, true)
    wait()
    return () => {
      clearTimeout(timer)
      removeEventListener('keydown', wait, true)
    }
  }, [])
  return isPause
}

/** The dialog that the session needs, if any. The page below stays as it is. */
export function SessionDialog(): ReactNode {
  const session = useSession()
  // A session ends after its end was announced: that waits for a pause again.
  return <OpenDialog key={session.kind} session={session} />
}

function OpenDialog({ session }: { readonly session: SessionState }): ReactNode {
  const isPause = useTypingPause()
  const { data } = useQuery({ ...startQuery(), enabled: false })
  const email = data?.data.me.email ?? null
  if (!isPause) return null
  if (session.kind === 'replaced') return <Replaced />
  if (session.kind === 'ended') return <SignInAgain email={email} isEnded />
  return session.kind === 'signedIn' ? <Ending endsAt={session.endsAt} email={email} /> : null
}

function Ending({ endsAt, email }: { readonly endsAt: number; readonly email: string | null }): ReactNode {
  const { signIn } = useWords().shell
  const { time } = useFormat()
  const isOver = useReached(endsAt)
  const [isDismissed, setDismissed] = useState(false)
  const [needsPassword, setNeedsPassword] = useState(false)
  useEffect(() => {
    // The response says that the session has ended, or another tab has renewed it.
    if (isOver) renewSession().catch(() => {})
  }, [isOver])
  if (isDismissed) return null
  if (needsPassword) return <SignInAgain email={email} onClose={() => setDismissed(true)} />
  const stay = async (): Promise<void> => {
    // A session of its longest duration ends nevertheless; a renewed one is not near its end, so this is not seen.
    await renewSession()
    setNeedsPassword(true)
  }
  return (
    <Dialog
      isOpen
      role="alertdialog"
      size="small"
      isKept
      onClose={() => setDismissed(true)}
      title={signIn.endingTitle}
      footer={
        <Button kind="main" autoFocus onPress={() => void stay().catch(() => {})}>
          {signIn.staySignedIn}
        </Button>
      }
    >
      <p>{signIn.endingText(time(new Date(endsAt)))}</p>
    </Dialog>
  )
}

interface AgainProps {
  readonly email: string | null
  readonly isEnded?: boolean
  readonly onClose?: () => void
}

function SignInAgain({ email, isEnded = false, onClose = () => {} }: AgainProps): ReactNode {
  const { signIn } = useWords().shell
  const form = useId()
  const [password, setPassword] = useState('')
  const send = async () => {
    if (email === null) return
    await requestSession('POST', '/session', { body: { email, password, remember: false, deviceId: null } })
    onClose()
  }
  const { isBusy, isChecked, error, onSubmit } = useSubmission(password !== '', send, { credentials: signIn.errors.wrongPassword })
  return (
    <Dialog
      isOpen
      size="small"
      isKept
      isForced={isEnded}
      onClose={onClose}
      title={isEnded ? signIn.endedTitle : signIn.endingTitle}
      footer={
        <>
          <Button kind="quiet" onPress={() => location.assign(pagePath + addresses.signIn())}>
            {signIn.somebodyElse}
          </Button>
          <Button kind="main" type="submit" form={form} isBusy={isBusy}>
            {signIn.resume}
          </Button>
        </>
      }
    >
      <form id={form} className={styles.form} onSubmit={onSubmit} noValidate>
        <p>{signIn.endedText}</p>
        <FormError error={error} />
        <p className={styles.person}>{email}</p>
        <input type="hidden" name="email" autoComplete="username" value={email ?? ''} readOnly />
        <PasswordField autoFocus value={password} onChange={setPassword} isChecked={isChecked} />
      </form>
    </Dialog>
  )
}

function Replaced(): ReactNode {
  const { parts, shell } = useWords()
  return (
    <Dialog
      isOpen
      isForced
      role="alertdialog"
      size="small"
      onClose={() => {}}
      title={shell.signIn.replacedTitle}
      footer={
        <Button kind="main" autoFocus onPress={() => location.reload()}>
          {parts.reload}
        </Button>
      }
    >
      <p>{shell.signIn.replacedText}</p>
    </Dialog>
  )
}
