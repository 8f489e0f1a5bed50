// The session and the connection as React hooks.
import { useEffect, useState, useSyncExternalStore } from 'react'
import { isOnline, subscribeToConnection } from '../../server/connection.js'
import { type SessionState, sessionState, subscribeToSession } from '../../server/session.js'

/** The session now. */
export const useSession = (): SessionState => useSyncExternalStore(subscribeToSession, sessionState)

/** True unless the service cannot be reached. */
export const useOnline = (): boolean => useSyncExternalStore(subscribeToConnection, isOnline)

/** An end of a session is announced this long before. */
const noticeMs = 120_000
/** The longest time of a timer. */
const longestTimer = 2 ** 31 - 1

/** True from a timestamp on. */
export function useReached(timestamp: number): boolean {
  const [now, setNow] = useState(() => Date.now())
  const left = timestamp - now
  useEffect(() => {
    if (left <= 0) return
    const timer = setTimeout(() => setNow(Date.now()), Math.min(left, longestTimer))
    return () => clearTimeout(timer)
  }, [left])
  return left <= 0
}

/** True if a session has ended or will soon, or another administrator has signed in. */
export function useNeedsDialog(session: SessionState): boolean {
  const isNear = useReached(session.kind === 'signedIn' ? session.endsAt - noticeMs : Number.POSITIVE_INFINITY)
  return session.kind === 'ended' || session.kind === 'replaced' || (session.kind === 'signedIn' && isNear)
}
