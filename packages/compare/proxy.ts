// A reverse proxy in front of Strapi that changes nothing: bodies are streamed both ways, upgrades become plain connections. Of responses
// that are compared it keeps a copy.
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request as overHttp,
  type Server,
  type ServerResponse,
} from 'node:http'
import { request as overHttps } from 'node:https'
import { connect as overTcp } from 'node:net'
import type { Duplex } from 'node:stream'
import { connect as overTls } from 'node:tls'

/** A request with the response that Strapi gave. */
export interface Exchange {
  readonly method: string
  readonly path: string
  readonly requestHeaders: IncomingHttpHeaders
  readonly status: number
  readonly headers: IncomingHttpHeaders
  /** Null if it is larger than the limit. */
  readonly body: Buffer | null
  readonly milliseconds: number
  /** When Strapi got the request; milliseconds since 1970. */
  readonly startedAt: number
}

/** What is done with exchanges. */
export interface ProxyOptions {
  /** Whether the response to a request is wanted. */
  wants(request: { readonly method: string; readonly path: string }): boolean
  /** Bytes of a response that are kept. */
  readonly answerBytes: number
  /** Called when the client has the response. */
  completed(exchange: Exchange): void
}

/** Headers that belong to one connection. */
const ofConnection = new Set(['connection', 'keep-alive', 'proxy-connection', 'proxy-authenticate', 'proxy-authorization'])

/** Creates the server; the caller lets it listen. */
export function createProxy(strapi: URL, options: ProxyOptions): Server {
  const forward = (request: IncomingMessage, response: ServerResponse): void => pass(strapi, request, response, options)
  // Whoever is in front of Strapi has the bounds of time and size; a second set of them would change responses.
  const server = createServer({ requestTimeout: 0, headersTimeout: 0, maxHeaderSize: 65_536 }, forward)
  server.on('checkContinue', forward)
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => passUpgrade(strapi, request, socket, head))
  return server
}

/** The raw headers as they go to Strapi: all but those of the connection, and the client's address added to X-Forwarded-For. */
function headersFor(strapi: URL, { rawHeaders, socket, headers }: IncomingMessage, keepsConnection: boolean): string[] {
  const sent: string[] = []
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]!
    const key = name.toLowerCase()
    if (key === 'x-forwarded-for' || (ofConnection.has(key) && !keepsConnection)) continue
    // A host that terminates TLS chooses its site by this name.
    sent.push(name, key === 'host' && strapi.protocol === 'https:' ? strapi.host : rawHeaders[index + 1]!)
  }
  const client = [headers['x-forwarded-for'], socket.remoteAddress].filter((address) => address !== undefined).join(', ')
  return [...sent, 'X-Forwarded-For', client]
}

const pathAt = (strapi: URL, path: string): string => strapi.pathname.replace(/\/+$/, '') + path

function pass(strapi: URL, request: IncomingMessage, response: ServerResponse, options: ProxyOptions): void {
  const { method = 'GET', url: path = '/' } = request
  const started = { clock: performance.now(), time: Date.now() }
  // Without an agent each request has a connection of its own: none can fail because Strapi closes an idle one.
  const sent = (strapi.protocol === 'https:' ? overHttps : overHttp)(strapi, {
    ...{ agent: false, method, path: pathAt(strapi, path) },
    headers: headersFor(strapi, request, false),
  })
  sent.on('continue', () => response.writeContinue())
  sent.on('error', () => {
    if (response.headersSent) response.destroy()
    else response.writeHead(502, { 'content-type': 'text/plain; charset=utf-8' }).end('Strapi cannot be reached.\n')
  })
  sent.on('response', (answer) => {
    const raw = answer.rawHeaders.filter((_, index, all) => !ofConnection.has(all[index - (index % 2)]!.toLowerCase()))
    response.writeHead(answer.statusCode!, answer.statusMessage, raw)
    if (options.wants({ method, path })) keepCopy(request, answer, started, options)
    answer.pipe(response)
    answer.on('error', () => response.destroy())
    answer.on('aborted', () => response.destroy())
  })
  response.on('close', () => {
    if (!response.writableFinished) sent.destroy()
  })
  request.pipe(sent)
  sent.flushHeaders()
}

function keepCopy(
  request: IncomingMessage,
  answer: IncomingMessage,
  started: { readonly clock: number; readonly time: number },
  options: ProxyOptions,
): void {
  const chunks: Buffer[] = []
  let bytes = 0
  answer.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes <= options.answerBytes) chunks.push(chunk)
    else chunks.length = 0
  })
  answer.on('end', () => {
    const { method = 'GET', url: path = '/', headers: requestHeaders } = request
    const body = bytes <= options.answerBytes ? Buffer.concat(chunks) : null
    const { statusCode: status = 0, headers } = answer
    const milliseconds = performance.now() - started.clock
    options.completed({ method, path, requestHeaders, status, headers, body, milliseconds, startedAt: started.time })
  })
}

/** Connects a client that asked for another protocol with Strapi, bytes for bytes. */
function passUpgrade(strapi: URL, request: IncomingMessage, client: Duplex, head: Buffer): void {
  const port = Number(strapi.port) || (strapi.protocol === 'https:' ? 443 : 80)
  const host = strapi.hostname.replace(/^\[|\]$/g, '')
  const server = strapi.protocol === 'https:' ? overTls({ host, port, servername: host }) : overTcp({ host, port })
  const headers = headersFor(strapi, request, true)
  const lines = headers.flatMap((text, index) => (index % 2 === 0 ? [`${text}: ${headers[index + 1]}`] : []))
  server.write(`${request.method} ${pathAt(strapi, request.url ?? '/')} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`, 'latin1')
  server.write(head)
  client.pipe(server).pipe(client)
  for (const [one, other] of [
    [client, server],
    [server, client],
  ] as const) {
    one.on('error', () => other.destroy())
    one.on('close', () => other.destroy())
  }
}
