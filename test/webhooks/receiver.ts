// A receiver of webhooks on a separate port: it writes down each request, and responds as a test wants.
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'

/** A request as it arrived. */
export interface Received {
  readonly method: string
  readonly url: string
  /** As sent and in order. */
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies
  readonly body: any
}

export type Respond = (received: Received, response: ServerResponse, socket: Socket) => void

export interface Receiver {
  readonly origin: string
  readonly port: number
  readonly received: Received[]
  /** Its response from now on; at first 200. */
  respond: Respond
  close(): Promise<void>
}

export const ok: Respond = (_received, response) => void response.end('ok')
export const status =
  (code: number, headers: Readonly<Record<string, string>> = {}): Respond =>
  (_received, response) =>
    void response.writeHead(code, headers).end(`status ${code}`)

/** The value of a header. */
export const headerOf = ({ headers }: Received, name: string): string | undefined =>
  headers.find(([own]) => own.toLowerCase() === name.toLowerCase())?.[1]

export async function openReceiver(port = 0): Promise<Receiver> {
  const received: Received[] = []
  const server = createServer((request: IncomingMessage, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString('utf8')
      const pairs = request.rawHeaders.flatMap((name, index) => (index % 2 === 0 ? [[name, request.rawHeaders[index + 1]!] as const] : []))
      const one = {
        method: request.method!,
        url: request.url!,
        headers: pairs,
        text,
        body: text.startsWith('{') ? JSON.parse(text) : null,
      }
      received.push(one)
      receiver.respond(one, response, request.socket)
    })
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  const { port: own } = server.address() as AddressInfo
  const receiver: Receiver = {
    origin: `http://127.0.0.1:${own}`,
    port: own,
    received,
    respond: ok,
    close: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
  return receiver
}

/** A row of Strapi's table, as its admin panel would write it. */
export const insertWebhook = async (
  sql: (text: string, ...values: (string | number)[]) => Promise<unknown>,
  {
    name,
    url,
    events,
    headers = {},
    enabled = 1,
  }: {
    readonly name: string
    readonly url: string
    readonly events: readonly string[]
    readonly headers?: Readonly<Record<string, string>>
    readonly enabled?: number
  },
): Promise<void> => {
  await sql(
    `insert into strapi_webhooks (name, url, headers, events, enabled) values (?, ?, ?, ?, ${enabled === 1 ? 'true' : 'false'})`,
    ...[name, url, JSON.stringify(headers), JSON.stringify(events)],
  )
}

export const allEvents = [
  ...['entry.create', 'entry.update', 'entry.delete', 'entry.publish', 'entry.unpublish', 'entry.draft-discard'],
  ...['media.create', 'media.update', 'media.delete'],
]
