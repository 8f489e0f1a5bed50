// The management port: an HTTP server separate from that of the service, so that it responds to probes while the service drains.

import { createHash, timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Logger } from 'pino'
import { isLoopback, type ManagementConfig, managementLimits, managementVariables } from '../../foundation/config/network.js'
import { ConfigError } from '../../foundation/errors/errors.js'
import { describePortProblem } from '../../foundation/errors/explain-failure.js'

export interface ManagementResponse {
  readonly status: number
  readonly type: string
  readonly body: string
  readonly headers?: Readonly<Record<string, string>>
}

type PageRequest = Pick<IncomingMessage, 'url' | 'method' | 'headers'>

/** Responds to GET and HEAD of one path. */
export type ManagementPage = (request: PageRequest) => ManagementResponse | Promise<ManagementResponse>

export interface ManagementPort {
  /** @throws ConfigError if the port is required and cannot be used */
  listen(): Promise<void>
  /** Stops listening, and waits briefly for the last responses. */
  close(): Promise<void>
}

export const jsonResponse = (status: number, value: unknown): ManagementResponse => ({
  status,
  type: 'application/json; charset=utf-8',
  body: `${JSON.stringify(value)}\n`,
})

/** A one-line response. */
const textResponse = (status: number, text: string, headers: Readonly<Record<string, string>> = {}): ManagementResponse => ({
  status,
  type: 'text/plain; charset=utf-8',
  body: `${text}\n`,
  headers,
})

/** Does not listen yet. `pages`: by path. */
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
  // Also closes connections of clients that do not read their response.
  server.setTimeout(2 * managementLimits.requestTimeout)
  server.maxConnections = managementLimits.connections
  return { listen: () => listen(server, config, logger), close: () => close(server) }
}

/** From the main process to a service process. */
export interface PageQuestion {
  readonly kind: 'page'
  readonly path: string
}

export interface PageReport extends PageQuestion {
  readonly response: ManagementResponse
}

/** Prepares to send pages to the main process, which has the port. */
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
  // Pages do not read request bodies, so a request with one closes the connection.
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

/** A part that prevents the service from being ready. */
export interface FailingPart {
  readonly part: 'service' | 'database'
  /** A sentence for operators. */
  readonly problem: string
}

/** The state that readiness depends on. */
export interface ServingState {
  /** `starting`: not listening yet; `draining`: about to stop. */
  service(): 'starting' | 'serving' | 'draining'
  /** Null while the database is available; otherwise a sentence about the problem. */
  database(): string | null
}

export const stateProblems = { starting: 'The service does not listen yet', draining: 'The service is stopping' } as const

/** The parts that prevent the service from being ready. */
export function failingParts({ service, database }: ServingState): readonly FailingPart[] {
  const [state, trouble] = [service(), database()]
  return [
    ...(state === 'serving' ? [] : [{ part: 'service', problem: stateProblems[state] } as const]),
    ...(trouble === null ? [] : [{ part: 'database', problem: trouble } as const]),
  ]
}

interface EventLoopLag {
  /** Lag of the last or current turn, in milliseconds. */
  now(): number
  close(): void
}

const lagIntervalMs = 500

/** Starts to measure the event loop of this thread. */
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

export const maxLagMs = 5_000

/** Responds 200 if the event loop lags at most `maxLagMs`. */
export const livePage =
  (lag: EventLoopLag): ManagementPage =>
  () => {
    const late = Math.round(lag.now())
    return jsonResponse(late <= maxLagMs ? 200 : 503, { status: late <= maxLagMs ? 'live' : 'late', eventLoopLag: late })
  }

/** Responds 200 if the service is ready, otherwise 503 with the failing parts. */
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

export function metricsPage({ contentType, scrape }: MetricsText, token: string | null): ManagementPage {
  const expected = token === null ? null : digest(`Bearer ${token}`)
  return async ({ headers }) => {
    if (expected !== null && !timingSafeEqual(expected, digest(headers.authorization ?? '')))
      return textResponse(401, 'Unauthorized', { 'www-authenticate': 'Bearer' })
    return { status: 200, type: contentType, body: await scrape() }
  }
}
