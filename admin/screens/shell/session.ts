// The session and the connection as React hooks.
import { useSyncExternalStore } from 'react'
import { isOnline, subscribeToConnection } from '../../server/connection.js'
import { type SessionState, sessionState, subscribeToSession } from '../../server/session.js'

/** The session now. */
export const useSession = (): SessionState => useSyncExternalStore(subscribeToSession, sessionState)

/** True unless the service cannot be reached. */
export const useOnline = (): boolean => useSyncExternalStore(subscribeToConnection, isOnline)
