// The page: pages of sign-in for visitors, the shell for signed-in administrators.
import { lazy, type ReactNode, useEffect } from 'react'
import { renewSession } from '../../server/session.js'
import { ScreenBoundary } from './screen-boundary.js'
import { useSession } from './session.js'
import { Shell } from './shell.js'

const SignInScreen = lazy(() => import('../sign-in/sign-in-screen.js'))

/** All of the page. */
export function Page(): ReactNode {
  const session = useSession()
  const isUnknown = session.kind === 'unknown'
  useEffect(() => {
    if (isUnknown) void renewSession()
  }, [isUnknown])
  if (isUnknown) return null
  if (session.kind === 'signedOut')
    return (
      <ScreenBoundary>
        <SignInScreen />
      </ScreenBoundary>
    )
  return <Shell />
}
