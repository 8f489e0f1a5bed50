// Reachability of the service, noted by each request. After a failure the page is requested every few seconds until there is a response.
import { pagePath } from './page-path.js'

/** The service could not be reached, or did not respond in time. */
export class Offline extends Error {
  override readonly name = 'Offline'
}

const probeMs = 3_000

let isReachable = true
let probe: ReturnType<typeof setTimeout> | undefined
const listeners = new Set<() => void>()

/** True unless the last request failed without a response. */
export const isOnline = (): boolean => isReachable

/** Calls a function after each change of `isOnline`; returns a function that ends this. */
export function subscribeToConnection(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** Notes whether a request had a response. */
export function noteConnection(hadResponse: boolean): void {
  clearTimeout(probe)
  // A browser without a network may still get the response to an earlier request.
  if (!hadResponse || !navigator.onLine) probe = setTimeout(probeNow, probeMs)
  if (isReachable === hadResponse) return
  isReachable = hadResponse
  for (const listener of listeners) listener()
}

/** Notes a response: one of a proxy whose service is away counts as none. */
export const noteResponse = ({ status }: Response): void => noteConnection(!isAway(status))

async function probeNow(): Promise<void> {
  const response = await fetch(pagePath, { method: 'HEAD', cache: 'no-store', headers: { accept: 'text/html' } }).catch(() => null)
  if (response === null) noteConnection(false)
  else noteResponse(response)
}

/** True for a status of a proxy whose service is away. */
export const isAway = (status: number): boolean => status === 502 || status === 503 || status === 504

if (typeof window !== 'undefined') {
  window.addEventListener('online', () => void probeNow())
  window.addEventListener('offline', () => noteConnection(false))
}
