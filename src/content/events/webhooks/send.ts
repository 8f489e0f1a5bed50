// Sends one request to a webhook: no redirects, a time limit for all of it, an address that was checked, and only a small part of the
// response.
import { Agent as HttpAgent, type IncomingMessage, type RequestOptions, request as requestHttp } from 'node:http'
import { Agent as HttpsAgent, request as requestHttps } from 'node:https'
import { type AddressRules, refusedCode } from './addresses.js'

/** A request to a webhook. */
export interface WebhookRequest {
  readonly url: string
  /** Names and values in the order of sending. */
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly body: Buffer
}

/** The response. */
export interface WebhookResponse {
  /** The status; 0 if there was no response. */
  readonly status: number
  /** Why there was none, or how the body of an error begins; null if neither is known. */
  readonly error: string | null
  /** The header `Retry-After`. */
  readonly retryAfter: string | null
  /** Milliseconds until the response. */
  readonly duration: number
}

/** Sends requests. */
export interface WebhookSender {
  /** Never rejects, unless `signal` is aborted. */
  send(request: WebhookRequest, signal?: AbortSignal): Promise<WebhookResponse>
  close(): void
}

/** Limits of a request. */
export interface SenderLimits {
  readonly webhookTimeout: number
}

/** Idle connections that are kept, and for how many milliseconds. */
const [keptConnections, keptFor] = [20, 4_000]
/** Milliseconds for the rest of a response whose status is known to be a success. */
const restOfResponse = 1_000
const maxResponseBytes = 65_536
/** Characters of an error that are kept. */
const errorCharacters = 500

/** Opens a sender. */
export function openSender(rules: AddressRules, limits: SenderLimits): WebhookSender {
  const options = {
    keepAlive: true,
    keepAliveMsecs: keptFor,
    maxFreeSockets: keptConnections,
    timeout: keptFor,
    scheduling: 'lifo' as const,
  }
  const [http, https] = [new HttpAgent(options), new HttpsAgent(options)]

  async function attempt(request: WebhookRequest, url: URL, signal: AbortSignal): Promise<Attempted> {
    const connection: RequestOptions = { method: 'POST', lookup: rules.lookup, headers: request.headers.flat(), signal }
    const sent =
      url.protocol === 'https:' ? requestHttps(url, { ...connection, agent: https }) : requestHttp(url, { ...connection, agent: http })
    return new Promise((resolve) => {
      sent.once('response', (response) => resolve({ response, isStale: false }))
      sent.on('error', (error: NodeJS.ErrnoException) => resolve({ error, isStale: sent.reusedSocket && error.code === 'ECONNRESET' }))
      sent.once('close', () => resolve({ error: new Error('The connection was closed without a response'), isStale: false }))
      sent.end(request.body)
    })
  }

  return {
    send: async (request, signal) => {
      const start = performance.now()
      const since = () => Math.round(performance.now() - start)
      const refused = (error: string): WebhookResponse => ({ status: 0, error, retryAfter: null, duration: since() })
      const url = URL.canParse(request.url) ? new URL(request.url) : null
      if (url === null || !/^https?:$/.test(url.protocol)) return refused('The URL is not valid')
      if (url.username !== '' || url.password !== '') return refused('The URL contains a user name or password; use a header')
      const refusal = rules.refusalOf(url.hostname)
      if (refusal !== null) return refused(refusal)
      const timeout = AbortSignal.timeout(limits.webhookTimeout)
      const ends = signal === undefined ? timeout : AbortSignal.any([timeout, signal])
      let attempted = await attempt(request, url, ends)
      // The receiver has closed a connection that was kept, before it has seen the request.
      if ('error' in attempted && attempted.isStale) attempted = await attempt(request, url, ends)
      signal?.throwIfAborted()
      if ('error' in attempted) return refused(reasonOf(attempted.error, timeout.aborted, limits.webhookTimeout))
      return { ...(await answerOf(attempted.response, maxResponseBytes)), duration: since() }
    },
    close: () => {
      http.destroy()
      https.destroy()
    },
  }
}

type Attempted = { readonly response: IncomingMessage; readonly isStale: false } | { readonly error: Error; readonly isStale: boolean }

function reasonOf(error: NodeJS.ErrnoException, isLate: boolean, timeout: number): string {
  if (isLate) return `No response within ${timeout} milliseconds`
  const { code, message } = error
  const isPlain = code === undefined || code === refusedCode || message.includes(code)
  return readable(isPlain ? message : `${code}: ${message}`)
}

/**
 * Reads a response: nothing of a successful one, and the beginning of an error. The rest is read and dropped, up to `most` bytes, because
 * its connection can be kept then; a receiver that does not end its responses must not gather connections.
 */
function answerOf(response: IncomingMessage, most: number): Promise<Omit<WebhookResponse, 'duration'>> {
  const status = response.statusCode ?? 0
  const isError = status < 200 || status > 299
  const chunks: Buffer[] = []
  let bytes = 0
  return new Promise((resolve) => {
    const end = (): void => {
      const text = readable(Buffer.concat(chunks).toString('utf8'))
      resolve({ status, error: isError && text !== '' ? text : null, retryAfter: response.headers['retry-after'] ?? null })
    }
    response.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      if (isError && bytes - chunk.length < errorCharacters) chunks.push(chunk)
      if (bytes > most) response.destroy()
    })
    const rest = isError ? undefined : setTimeout(() => response.destroy(), restOfResponse).unref()
    response.once('close', () => {
      clearTimeout(rest)
      end()
    })
    // A connection that ends early, or is too slow for the time limit, has given its status.
    response.on('error', end)
  })
}

/** The beginning of a text, without characters that a terminal would act on. */
const readable = (text: string): string =>
  text
    .slice(0, errorCharacters)
    .replace(/\p{C}+/gu, ' ')
    .trim()
