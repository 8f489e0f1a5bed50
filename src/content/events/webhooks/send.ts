// Sends one request to a webhook: without redirects, within a time limit, to a checked address. Reads only the beginning of the response.
import { Agent as HttpAgent, type IncomingMessage, type RequestOptions, request as requestHttp } from 'node:http'
import { Agent as HttpsAgent, request as requestHttps } from 'node:https'
import { type AddressRules, refusedCode } from './addresses.js'

export interface WebhookRequest {
  readonly url: string
  /** Names and values in sending order. */
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly body: Buffer
}

export interface WebhookResponse {
  /** 0 if there was no response. */
  readonly status: number
  /** Why there was no response, or the beginning of an error response; null if unknown. */
  readonly error: string | null
  readonly retryAfter: string | null
  readonly duration: number
}

export interface WebhookSender {
  /** Rejects only if `signal` is aborted. */
  send(request: WebhookRequest, signal?: AbortSignal): Promise<WebhookResponse>
  close(): void
}

export interface SenderLimits {
  readonly webhookTimeout: number
}

/** Maximum number of idle connections, and their lifetime in milliseconds. */
const keptConnections = 20
const keptFor = 4_000
/** Milliseconds to drain the body of a successful response. */
const restOfResponse = 1_000
const maxResponseBytes = 65_536
const errorCharacters = 500

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
      // The receiver closed an idle connection before it saw the request.
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
 * Reads a response: only its status on success, the beginning of the body on error. The rest is drained, up to `most` bytes, so that the
 * connection can be reused; beyond that the connection is closed.
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
    // The status is known even if the connection fails or times out now.
    response.on('error', end)
  })
}

/** The beginning of a text, without control characters. */
const readable = (text: string): string =>
  text
    .slice(0, errorCharacters)
    .replace(/\p{C}+/gu, ' ')
    .trim()
