// The management port: a small HTTP server apart from that of the service, so that probes are responded to while the service drains.

import { createHash, timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Logger } from 'pino'
import { isLoopback, type ManagementConfig, managementLimits, managementVariables } from '../../foundation/config/network.js'
import { ConfigError } from '../../foundation/errors/errors.js'
import { describePortProblem } from '../../foundation/errors/explain-failure.js'

/** The response of a page. */
export interface ManagementResponse {
  readonly status: number
  readonly type: string
  readonly body: string
  readonly headers?: Readonly<Record<string, string>>
}

type PageRequest = Pick<IncomingMessage, 'url' | 'method' | 'headers'>

/** Responds to GET and HEAD of one path. */
export type ManagementPage = (request: PageRequest) => ManagementResponse | Promise<ManagementResponse>

/** The management port. */
export interface ManagementPort {
  /** Starts to listen. @throws ConfigError if the port is required and cannot be used */
  listen(): Promise<void>
  /** Stops listening, and waits a moment for the last responses. */
  close(): Promise<void>
}

/** A response with a value as JSON. */
export const jsonResponse = (status: number, value: unknown): ManagementResponse => ({
  status,
  type: 'application/json; charset=utf-8',
  body: `${JSON.stringify(value)}\n`,
})

/** A response of one line of text. */
const textResponse = (status: number, text: string, headers: Readonly<Record<string, string>> = {}): ManagementResponse => ({
  status,
  type: 'text/plain; charset=utf-8',
  body: `${text}\n`,
  headers,
})

/** Prepares the management port; it does not listen yet. `pages`: by path. */
export function prepareManagementPort(
  config: ManagementConfig,
  pages: ReadonlyMap<string, ManagementPage>,
  logger: Logger,
): ManagementPort {
  const server = createServer(
    {
      maxHeaderSize: managementLimits.headerBytes,
      requestTimeout: managementLimits.requestTimeout,
      headersTimeout: managementLimits.requestTimeout,
      keepAliveTimeout: managementLimits.idleTimeout,
      connectionsCheckingInterval: 1_000,
    },
    (request, response) => {
      responseTo(request, pages, logger).then((made) => send(request, response, made))
    },
  )
  // Also for clients that do not receive their response.
  server.setTimeout(2 * managementLimits.requestTimeout)
  server.maxConnections = managementLimits.connections
  return { listen: () => listen(server, config, logger), close: () => close(server) }
}

/** From the main process to a service process: a request for a page. */
export interface PageQuestion {
  readonly kind: 'page'
  readonly path: string
}

/** The page. */
export interface PageReport extends PageQuestion {
  readonly response: ManagementResponse
}

/** Prepares to return the pages to the main process of several, which has the port. */
export function preparePagesForMain(pages: ReadonlyMap<string, ManagementPage>, logger: Logger): ManagementPort {
  const respond = async ({ kind, path }: PageQuestion): Promise<void> => {
    if (kind !== 'page') return
    const response = await responseTo({ url: path, method: 'GET', headers: {} }, pages, logger)
    if (process.connected) process.send!({ kind, path, response } satisfies PageReport, () => {})
  }
  return {
    listen: async () => void process.on('message', respond),
    close: async () => void process.off('message', respond),
  }
}

async function listen(server: Server, { host, port, token, isRequired }: ManagementConfig, logger: Logger): Promise<void> {
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen({ host, port }, resolve)
    })
  } catch (error) {
    const problem = describePortProblem(error as NodeJS.ErrnoException, managementVariables)
    if (isRequired) throw new ConfigError(problem)
    logger.warn(`there is no management port: ${problem}`)
    return
  }
  server.on('error', (error) => logger.error({ err: error }, 'the management port failed'))
  const { address, port: used } = server.address() as AddressInfo
  logger.info({ address, port: used }, 'the management port listens')
  if (token === null && !isLoopback(address))
    logger.warn(
      { address },
      `other machines can read /metrics of the management port. Set management.token or ${managementVariables.token}, or listen on 127.0.0.1`,
    )
}

async function close(server: Server): Promise<void> {
  if (!server.listening) return
  const closed = new Promise((resolve) => server.close(resolve))
  server.closeIdleConnections()
  const late = setTimeout(() => server.closeAllConnections(), managementLimits.closing)
  await closed
  clearTimeout(late)
}

async function responseTo(request: PageRequest, pages: ReadonlyMap<string, ManagementPage>, logger: Logger): Promise<ManagementResponse> {
  const [path = ''] = (request.url ?? '').split('?', 1)
  const page = pages.get(path)
  if (page === undefined) return textResponse(404, 'Not Found')
  if (request.method !== 'GET' && request.method !== 'HEAD') return textResponse(405, 'Method Not Allowed', { allow: 'GET, HEAD' })
  try {
    return await page(request)
  } catch (error) {
    logger.error({ err: error, path }, 'the management port could not respond')
    return textResponse(500, 'Internal Server Error')
  }
}

function send(request: IncomingMessage, response: ServerResponse, { status, type, body, headers }: ManagementResponse): void {
  // A body, which no page reads, ends the connection.
  const hasBody = request.headers['content-length'] !== undefined || request.headers['transfer-encoding'] !== undefined
  response.writeHead(status, {
    'content-type': type,
    'content-length': Buffer.byteLength(body),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    ...(hasBody && { connection: 'close' }),
    ...headers,
  })
  response.end(request.method === 'HEAD' ? undefined : body)
}

/** A part of the service that keeps it from serving. */
export interface FailingPart {
  readonly part: 'service' | 'database'
  /** A sentence for the operator. */
  readonly problem: string
}

/** State for readiness. */
export interface ServingState {
  /** `starting`: it does not listen yet; `draining`: it is about to stop. */
  service(): 'starting' | 'serving' | 'draining'
  /** Null while the database can be used; otherwise a sentence about the problem. */
  database(): string | null
}

/** Why a service that is not serving does not. */
export const stateProblems = { starting: 'The service does not listen yet', draining: 'The service is stopping' } as const

/** The parts that keep the service from serving; empty while it serves. */
export function failingParts({ service, database }: ServingState): readonly FailingPart[] {
  const [state, trouble] = [service(), database()]
  return [
    ...(state === 'serving' ? [] : [{ part: 'service', problem: stateProblems[state] } as const]),
    ...(trouble === null ? [] : [{ part: 'database', problem: trouble } as const]),
  ]
}

/** Watches the event loop. */
interface EventLoopLag {
  /** Lag of the last or the current turn in milliseconds. */
  now(): number
  close(): void
}

/** Milliseconds between two readings of the event loop. */
const lagIntervalMs = 500

/** Starts to watch the event loop of this thread. */
export function watchEventLoop(): EventLoopLag {
  let last = performance.now()
  let lag = 0
  const late = (): number => Math.max(0, performance.now() - last - lagIntervalMs)
  const timer = setInterval(() => {
    lag = late()
    last = performance.now()
  }, lagIntervalMs)
  timer.unref()
  return { now: () => Math.max(lag, late()), close: () => clearInterval(timer) }
}

/** Responds 200 while the event loop is at most `most` milliseconds late. */
export const livePage =
  (lag: EventLoopLag, most: number): ManagementPage =>
  () => {
    const late = Math.round(lag.now())
    return jsonResponse(late <= most ? 200 : 503, { status: late <= most ? 'live' : 'late', eventLoopLag: late })
  }

/** Responds 200 while the service serves, and otherwise 503 with the failing parts. */
export const readyPage =
  (state: ServingState): ManagementPage =>
  () => {
    const failing = failingParts(state)
    return failing.length === 0 ? jsonResponse(200, { status: 'ready' }) : jsonResponse(503, { status: 'not ready', failing })
  }

const digest = (text: string): Buffer => createHash('sha256').update(text).digest()

interface MetricsText {
  readonly contentType: string
  scrape(): Promise<string>
}

/** Responds with all metrics. */
export function metricsPage({ contentType, scrape }: MetricsText, token: string | null): ManagementPage {
  const expected = token === null ? null : digest(`Bearer ${token}`)
  return async ({ headers }) => {
    if (expected !== null && !timingSafeEqual(expected, digest(headers.authorization ?? '')))
      return textResponse(401, 'Unauthorized', { 'www-authenticate': 'Bearer' })
    return { status: 200, type: contentType, body: await scrape() }
  }
}
