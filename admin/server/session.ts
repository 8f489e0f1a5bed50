// The sign-in of this page: an access token in memory, renewed by a cookie that scripts cannot read. The cookie can be used once, so all
// tabs of the browser renew one at a time and share the result.
import { noteConnection, noteResponse, Offline } from './connection.js'
import { pagePath } from './page-path.js'

/** A session as the page knows it. Times are those of this computer's clock, in milliseconds. */
export type SessionState =
  | { readonly kind: 'unknown' }
  | { readonly kind: 'signedOut' }
  | { readonly kind: 'signedIn'; readonly administrator: number; readonly endsAt: number }
  /** It ended while the page was open. */
  | { readonly kind: 'ended'; readonly administrator: number }
  /** Another administrator signed in with this browser. */
  | { readonly kind: 'replaced' }

/** The data of a response that signs in. */
export interface Tokens {
  readonly administrator: number
  readonly accessToken: string
  readonly accessTokenExpiresAt: string
  readonly sessionExpiresAt: string
}

interface Held {
  readonly administrator: number
  readonly accessToken: string
  /** The token is renewed after this time. */
  readonly renewAt: number
  readonly endsAt: number
}

type Message = { readonly kind: 'tokens'; readonly held: Held } | { readonly kind: 'signedOut' }

/** Tokens are renewed this long before they expire. */
const margin = 20_000
const refreshTimeoutMs = 20_000
/** Largest error of a time that is compared with the date of a response. */
const headerError = 2_000

const name = `octavo ${pagePath}`
const channel = typeof BroadcastChannel === 'undefined' ? null : new BroadcastChannel(name)

let state: SessionState = { kind: 'unknown' }
let held: Held | null = null
let refreshing: Promise<void> | null = null
const listeners = new Set<() => void>()

/** The session now. */
export const sessionState = (): SessionState => state

/** Calls a function after each change of the session; returns a function that ends this. */
export function subscribeToSession(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** Name in the storage of the browser: the last visitor has signed in, so the cookie is probably there. */
const hintKey = 'octavo.signedIn'

/** True if this browser was signed in when it was used last. */
export const wasSignedIn = (): boolean => localStorage.getItem(hintKey) !== null

function become(next: SessionState): void {
  state = next
  if (next.kind === 'signedIn') localStorage.setItem(hintKey, 'yes')
  else if (next.kind === 'signedOut') localStorage.removeItem(hintKey)
  for (const listener of [...listeners]) listener()
}

/** Takes the tokens of a response that signs in; `date`: its header. */
export function adoptTokens(tokens: Tokens, date: string | null): void {
  // Clocks of editors may be wrong: durations count.
  const skew = Date.now() - (date === null ? Date.now() : Date.parse(date))
  const endsAt = Date.parse(tokens.sessionExpiresAt) + skew
  const next = {
    administrator: tokens.administrator,
    accessToken: tokens.accessToken,
    renewAt: Date.parse(tokens.accessTokenExpiresAt) + skew - margin,
    // Headers have whole seconds: a renewal that leaves the end where it was does not move it.
    endsAt: held !== null && Math.abs(endsAt - held.endsAt) < headerError ? held.endsAt : endsAt,
  }
  hold(next)
  channel?.postMessage({ kind: 'tokens', held: next } satisfies Message)
}

/** Another administrator's tokens would save this one's work in the name of the other. */
function hold(next: Held): void {
  if ((state.kind === 'signedIn' || state.kind === 'ended') && state.administrator !== next.administrator) {
    held = null
    become({ kind: 'replaced' })
    return
  }
  if (state.kind === 'replaced') return
  held = next
  become({ kind: 'signedIn', administrator: next.administrator, endsAt: next.endsAt })
}

function release(): void {
  held = null
  if (state.kind === 'signedIn') become({ kind: 'ended', administrator: state.administrator })
  else if (state.kind === 'unknown') become({ kind: 'signedOut' })
}

channel?.addEventListener('message', ({ data }: MessageEvent<Message>) => {
  if (data.kind === 'tokens') hold(data.held)
  else release()
})

/** Returns a token that is valid for a while, or null if the session has ended. `refused`: a token that the service refused. @throws Offline */
export async function accessToken(refused: string | null = null): Promise<string | null> {
  const isUsable = held !== null && held.accessToken !== refused && Date.now() < held.renewAt
  if (!isUsable && state.kind !== 'signedOut' && state.kind !== 'replaced') await renewSession()
  return held?.accessToken ?? null
}

/** Renews the session by its cookie, once for all callers; afterwards the state is known. @throws Offline */
export function renewSession(): Promise<void> {
  refreshing ??= renewAlone().finally(() => {
    refreshing = null
  })
  return refreshing
}

async function renewAlone(): Promise<void> {
  const before = held?.accessToken
  const renew = async () => {
    // Another tab may have renewed it while this one waited.
    if (held === null || held.accessToken === before) await renewNow()
  }
  // Pages without HTTPS have no locks; there the service accepts a cookie twice within some seconds.
  await (globalThis.navigator?.locks === undefined ? renew() : navigator.locks.request(name, renew))
}

async function renewNow(): Promise<void> {
  const response = await sendToSession('POST', '/refresh')
  const { data = null } = (response.ok ? await response.json() : {}) as { readonly data?: Tokens | null }
  if (data !== null) adoptTokens(data, response.headers.get('date'))
  else if (response.ok || response.status === 401) release()
  else throw new Offline(`The session cannot be renewed: ${response.status}`)
}

/** Sends a request without body to a resource that reads the cookie. @throws Offline */
async function sendToSession(method: string, path: string): Promise<Response> {
  try {
    const response = await fetch(`${pagePath}/api/session${path}`, {
      method,
      headers: { 'octavo-admin': '1', 'content-type': 'application/json' },
      cache: 'no-store',
      signal: AbortSignal.timeout(refreshTimeoutMs),
    })
    noteResponse(response)
    return response
  } catch {
    noteConnection(false)
    throw new Offline('The service cannot be reached')
  }
}

/** Signs out in all tabs of this browser. @throws Offline */
export async function signOut(): Promise<void> {
  await sendToSession('DELETE', '')
  channel?.postMessage({ kind: 'signedOut' } satisfies Message)
  held = null
  become({ kind: 'signedOut' })
}

/** Resolves when the same administrator has signed in again. @throws the reason of the signal */
export function untilSignedIn(signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = subscribeToSession(() => {
      if (state.kind !== 'signedIn') return
      stop()
      resolve()
    })
    signal?.addEventListener('abort', () => {
      stop()
      reject(signal.reason as Error)
    })
  })
}
