// The page: screens without a session for visitors, the shell for signed-in administrators, and dialogs about the session.
import { lazy, type ReactNode, Suspense, useEffect } from 'react'
import { useRoute } from 'wouter'
import { patterns } from '../../addresses.js'
import { renewSession, wasSignedIn } from '../../server/session.js'
import { ScreenBoundary } from './screen-boundary.js'
import { useNeedsDialog, useOnline, useSession } from './session.js'

const loadShell = () => import('./shell.js')
const Shell = lazy(() => loadShell().then((module) => ({ default: module.Shell })))
const SignInScreen = lazy(() => import('../sign-in/sign-in-screen.js'))
const CodeScreen = lazy(() => import('../sign-in/code-screen.js'))
const SessionDialog = lazy(() => import('../sign-in/session-dialog.js').then((module) => ({ default: module.SessionDialog })))

/** All of the page. */
export function Page(): ReactNode {
  const [isReset] = useRoute(patterns.reset)
  const [isInvitation] = useRoute(patterns.invitation)
  if (isReset || isInvitation)
    return (
      <ScreenBoundary>
        <CodeScreen />
      </ScreenBoundary>
    )
  return <SessionPage />
}

function SessionPage(): ReactNode {
  const session = useSession()
  const isOnline = useOnline()
  const isUnknown = session.kind === 'unknown'
  const needsDialog = useNeedsDialog(session)
  useEffect(() => {
    // Without a connection the state stays unknown until there is one.
    if (!isUnknown || !isOnline) return
    renewSession().catch(() => {})
    if (wasSignedIn()) loadShell().catch(() => {})
  }, [isUnknown, isOnline])
  if (isUnknown) return null
  if (session.kind === 'signedOut')
    return (
      <ScreenBoundary>
        <SignInScreen />
      </ScreenBoundary>
    )
  return (
    <>
      <ScreenBoundary>
        <Shell />
      </ScreenBoundary>
      {needsDialog && (
        <Suspense>
          <SessionDialog />
        </Suspense>
      )}
    </>
  )
}
