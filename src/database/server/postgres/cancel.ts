// Ends what another connection executes: the server is asked on a connection of its own, which has no session.
import type { Socket } from 'node:net'
import pg from 'pg'

/** What the driver knows of a session, and of the messages before one. */
interface ServerSession {
  readonly processID: number | null
  readonly secretKey: number | null
}
interface Messages {
  readonly stream: Socket
  on(event: 'error' | 'end' | 'connect' | 'sslconnect', listener: () => void): void
  connect(port: number, host: string): void
  requestSsl(): void
  cancel(processID: number, secretKey: number): void
}

/** Milliseconds until the request counts as lost. */
const patience = 1_000

/** Asks the server to end what `client` executes. Resolves when it has the request, or cannot be reached; never rejects. */
export async function cancel(server: pg.ClientConfig, client: pg.PoolClient): Promise<void> {
  const { processID, secretKey } = client as unknown as ServerSession
  if (processID === null || secretKey === null) return
  const messenger = new pg.Client(server)
  const { connection, ssl } = messenger as unknown as { readonly connection: Messages; readonly ssl: unknown }
  let timer: NodeJS.Timeout | undefined
  await new Promise<void>((resolve) => {
    const ask = () => connection.cancel(processID, secretKey)
    connection.on('error', resolve)
    connection.on('end', resolve)
    connection.on('sslconnect', ask)
    connection.on('connect', () => (ssl ? connection.requestSsl() : ask()))
    connection.connect(messenger.port, messenger.host)
    timer = setTimeout(() => {
      connection.stream.destroy()
      resolve()
    }, patience)
  })
  clearTimeout(timer)
}
