// The management port: a small HTTP server apart from that of the service, so that probes are responded to while the service drains.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Logger } from 'pino'
import { type ManagementConfig, managementLimits, managementVariables } from '../../foundation/config/management.js'
import { isLoopback } from '../../foundation/config/network.js'
import { ConfigError } from '../../foundation/errors/errors.js'
import { describePortProblem } from '../../foundation/errors/port-problem.js'

/** What a path of the port responds with. */
export interface ManagementResponse {
  readonly status: number
  readonly type: string
  readonly body: string
  readonly headers?: Readonly<Record<string, string>>
}

/** Responds to GET and HEAD of one path. */
export type ManagementPage = (request: IncomingMessage) => ManagementResponse | Promise<ManagementResponse>

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
export const textResponse = (status: number, text: string, headers: Readonly<Record<string, string>> = {}): ManagementResponse => ({
  status,
  type: 'text/plain; charset=utf-8',
  body: `${text}\n`,
  headers,
})

/** Prepares the management port; it does not listen yet. `pages`: what it has, by path. */
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

async function responseTo(
  request: IncomingMessage,
  pages: ReadonlyMap<string, ManagementPage>,
  logger: Logger,
): Promise<ManagementResponse> {
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
