// A proxy between a service and its database server that reads along: it cuts, stalls or delays connections on request of a test.
import { connect as connectTo, createServer, type Socket } from 'node:net'
import { type ClientMessage, openMessages } from './messages.js'

/** One connection through the proxy. */
export interface Link {
  /** Cuts both sides at once. */
  cut(): void
  /** Stops forwarding in both directions; both sides stay open. */
  stall(): void
  /** Lets the client's bytes through and drops the server's. */
  mute(): void
}

export interface Way {
  /** The URL of the database through the proxy. */
  readonly url: string
  /** Called for each message of a client before it is passed on; `cut` in it keeps the message from the server. */
  watch: (message: ClientMessage, link: Link) => void
  /** Connections that are open. */
  readonly links: ReadonlySet<Link>
  /** Refuses new connections and cuts all that are open; or takes connections again. */
  refuse(refused: boolean): void
  /** Leads new connections to another server. */
  turnTo(url: string): void
  close(): Promise<void>
}

/** Opens a proxy before the server at a URL. */
export async function openProxy(url: string): Promise<Way> {
  let target = new URL(url)
  const links = new Map<Link, readonly [Socket, Socket]>()
  let isRefusing = false
  const server = createServer((client) => {
    if (isRefusing) {
      client.resetAndDestroy()
      return
    }
    const database = connectTo(Number(target.port), target.hostname)
    let [toServer, toClient] = [true, true]
    const link: Link = {
      cut: () => {
        toServer = false
        client.resetAndDestroy()
        database.destroy()
      },
      stall: () => {
        toServer = false
        toClient = false
      },
      mute: () => {
        toClient = false
      },
    }
    links.set(link, [client, database])
    const read = openMessages(target.protocol)((message) => proxy.watch(message, link))
    client.on('data', (bytes) => {
      if (toServer) read(bytes)
      if (toServer) database.write(bytes)
    })
    database.on('data', (bytes) => {
      if (toClient) client.write(bytes)
    })
    for (const [one, other] of [
      [client, database],
      [database, client],
    ] as const) {
      one.on('error', () => {})
      one.on('close', () => {
        links.delete(link)
        // Data of a muted client still reaches the server: closing with unread responses would discard it.
        if (one === client && toServer && !toClient) database.end()
        else if (toServer || toClient) other.destroy()
      })
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const through = new URL(url)
  through.port = String((server.address() as { readonly port: number }).port)
  const cutAll = () => {
    for (const sockets of links.values()) for (const socket of sockets) socket.resetAndDestroy()
  }
  const proxy: Way = {
    url: through.href,
    watch: () => {},
    get links() {
      return new Set(links.keys())
    },
    refuse: (refused) => {
      isRefusing = refused
      if (refused) cutAll()
    },
    turnTo: (other) => {
      target = new URL(other)
    },
    close: () => {
      cutAll()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
  return proxy
}
