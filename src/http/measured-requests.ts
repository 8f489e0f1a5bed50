// Measures requests where somebody does: how long they take, how large they are, and why they were refused. No label is a part of a URL.
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Metrics, RejectionReason } from '../foundation/runtime/metrics.js'
import { onceClosed } from './once-closed.js'
import type { LoggedRequest } from './request-log.js'
import { finalStatus, knownMethod, knownRoute } from './request-outcome.js'

/** Measures all requests of a server from now on. `unmeasured`: routes whose requests are not: probes would hide what clients see. */
export function measureRequests(app: FastifyInstance, metrics: Metrics, unmeasured: ReadonlySet<string>): void {
  app.addHook('onRequest', (request, reply, done) => {
    if (unmeasured.has(request.routeOptions.url ?? '')) return done()
    const started = performance.now()
    const received = countReceived(request.raw)
    metrics.requestBegan()
    // Comes after every response, also one that was not sent to its end.
    onceClosed(reply.raw, () => {
      const status = finalStatus(reply)
      metrics.requestEnded({
        method: knownMethod(request),
        route: knownRoute(request),
        status,
        seconds: isEventStream(reply) ? null : (performance.now() - started) / 1000,
        requestBytes: received(),
        responseBytes: reply.raw.writableFinished && request.method !== 'HEAD' ? bytesOf(headerOf(reply, 'content-length')) : null,
        error: status < 500 ? null : ((request as LoggedRequest).failure?.name ?? String(status)),
        rejection: rejectionOf(status, request),
      })
    })
    done()
  })
}

/** Counts what the HTTP parser refuses before there is a request. A connection on which nothing was sent is none. */
export function measureRefused({ code }: NodeJS.ErrnoException, { bytesRead, writable }: Socket, metrics: Metrics): void {
  // Whatever arrives after the refusal is an error again.
  if (!writable) return
  if (code === 'HPE_HEADER_OVERFLOW') metrics.requestRefused('too_large')
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT' && bytesRead > 0) metrics.requestRefused('timeout')
}

const headerOf = (reply: FastifyReply, name: string) => reply.raw.getHeader(name) ?? reply.getHeader(name)

/** True for a stream that goes on for as long as its client listens: its duration says nothing about the service. */
const isEventStream = (reply: FastifyReply): boolean =>
  reply.request.method !== 'HEAD' && String(headerOf(reply, 'content-type')).startsWith('text/event-stream')

/** Counts the bytes of a body as they arrive: what its headers say may never come. Returns what gives the number; null: there is no body. */
function countReceived(request: IncomingMessage): () => number | null {
  const { 'content-length': length, 'transfer-encoding': encoding } = request.headers
  if (length === undefined && encoding === undefined) return () => null
  let bytes = 0
  const push = request.push.bind(request)
  request.push = (chunk: Buffer | null, ...rest) => {
    bytes += chunk?.length ?? 0
    return push(chunk, ...rest)
  }
  return () => bytes
}

function bytesOf(header: number | string | readonly string[] | undefined): number | null {
  const bytes = header === undefined ? Number.NaN : Number(header)
  return Number.isSafeInteger(bytes) && bytes >= 0 ? bytes : null
}

/** Why a request was refused without doing its work; null: it was not. */
function rejectionOf(status: number, request: FastifyRequest): RejectionReason | null {
  const { message = '' } = (request as LoggedRequest).failure ?? {}
  if (status === 429) return 'rate_limit'
  if (status === 413 || status === 414 || status === 431) return 'too_large'
  if (status === 408) return 'timeout'
  if (status === 400) return message.includes('too complex') ? 'too_complex' : null
  if (status !== 503) return null
  if (message.startsWith('Too many requests are waiting for the database')) return 'pool_timeout'
  if (message.startsWith('Too many')) return 'overload'
  return /\btook (?:too long|longer)\b/.test(message) ? 'timeout' : 'unavailable'
}
