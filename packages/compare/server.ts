// Sends requests to one of the two services, with limits on time, bytes and connections, and safe retries.
import { Agent as HttpAgent, type IncomingHttpHeaders, type IncomingMessage, request as overHttp } from 'node:http'
import { Agent as HttpsAgent, request as overHttps } from 'node:https'
import { pause } from '../../src/foundation/runtime/clock.js'

export interface SentRequest {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | null
}

export interface ServiceAnswer {
  readonly kind: 'answer'
  readonly status: number
  readonly headers: IncomingHttpHeaders
  /** Null if it exceeds the limit. */
  readonly body: Buffer | null
  /** Milliseconds to the end of the body. */
  readonly milliseconds: number
}

/** No response: the service is unreachable, or took too long. */
interface ServiceFailure {
  readonly kind: 'failure'
  readonly message: string
}

export type ServiceOutcome = ServiceAnswer | ServiceFailure

export interface Server {
  /** Origin and base path, without a trailing slash. */
  readonly origin: string
  /** Sends a request; reads are retried if the service is overloaded or the connection breaks. */
  ask(request: SentRequest): Promise<ServiceOutcome>
  /** Aborts requests in progress. */
  close(): void
}

interface ServerOptions {
  /** Time limit for a response, in milliseconds. */
  readonly timeout: number
  /** Maximum number of retries of a read. */
  readonly retries: number
  /** Maximum bytes of a compared body. */
  readonly maxResponseBytes: number
}

/** Statuses of a service that is overloaded, restarting or rate-limiting. */
const temporary = new Set([429, 502, 503, 504])
/** Milliseconds before the first retry; doubled for each further one. */
const firstPauseMs = 250
/** Maximum pause by Retry-After, in milliseconds. */
const maxPauseMs = 10_000

export function openServer(url: URL, options: ServerOptions): Server {
  const isSecure = url.protocol === 'https:'
  const agent = isSecure ? new HttpsAgent({ keepAlive: true }) : new HttpAgent({ keepAlive: true })
  const base = url.pathname.replace(/\/+$/, '')
  const closed = new AbortController()
  const send = (request: SentRequest): Promise<ServiceOutcome> => {
    const started = performance.now()
    return new Promise((resolve) => {
      const fail = (error: Error): void => resolve({ kind: 'failure', message: describeFailure(error, options.timeout) })
      const signal = AbortSignal.any([AbortSignal.timeout(options.timeout), closed.signal])
      const { method, path, headers, body } = request
      const length = body === null ? {} : { 'content-length': String(Buffer.byteLength(body)) }
      const sent = (isSecure ? overHttps : overHttp)(url, {
        agent,
        signal,
        method,
        path: base + path,
        headers: { accept: 'application/json', 'accept-encoding': 'identity', ...headers, ...length },
      })
      sent.once('error', fail)
      sent.once('response', (response) => {
        collect(response, options.maxResponseBytes).then(
          (collected) =>
            resolve({
              kind: 'answer',
              status: response.statusCode!,
              headers: response.headers,
              body: collected,
              milliseconds: performance.now() - started,
            }),
          fail,
        )
      })
      sent.end(body ?? undefined)
    })
  }
  return {
    origin: url.origin + base,
    ask: (request) => withRetries(request, () => (closed.signal.aborted ? 0 : options.retries), send),
    close() {
      closed.abort()
      agent.destroy()
    },
  }
}

async function withRetries(
  request: SentRequest,
  retries: () => number,
  send: (request: SentRequest) => Promise<ServiceOutcome>,
): Promise<ServiceOutcome> {
  const isRepeatable = request.method === 'GET' || request.method === 'HEAD'
  for (let attempt = 0; ; attempt++) {
    const outcome = await send(request)
    const isFinal = outcome.kind === 'answer' && !temporary.has(outcome.status)
    if (isFinal || !isRepeatable || attempt >= retries()) return outcome
    await pause(getPauseMs(outcome, attempt))
  }
}

function getPauseMs(outcome: ServiceOutcome, attempt: number): number {
  const wanted = outcome.kind === 'answer' ? Number(outcome.headers['retry-after']) * 1_000 : Number.NaN
  return Math.min(maxPauseMs, Number.isFinite(wanted) && wanted >= 0 ? wanted : firstPauseMs * 2 ** attempt)
}

/** Reads a body; null if it is larger than `most` bytes, with the rest discarded. */
async function collect(stream: IncomingMessage, most: number): Promise<Buffer | null> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes <= most) chunks.push(chunk)
    else chunks.length = 0
  }
  return bytes <= most ? Buffer.concat(chunks) : null
}

function describeFailure(error: Error, timeout: number): string {
  const { name, code } = error as NodeJS.ErrnoException
  if (name === 'AbortError' || name === 'TimeoutError') return `no response within ${timeout} ms`
  return code === undefined ? error.message : code === 'ECONNREFUSED' ? 'the connection was refused' : `${code}: ${error.message}`
}
