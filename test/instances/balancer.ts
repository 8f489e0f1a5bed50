// A minimal load balancer: it only passes new connections to instances whose /ready is 200, in turn.
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** An instance served through the balancer. */
export interface Backend {
  /** Its origin, and the origin of its management port. */
  readonly origin: string
  readonly management: string
}

export interface Balancer {
  readonly origin: string
  /** Adds an instance; it gets connections once it is ready. */
  add(backend: Backend): void
  /** Instances that were ready at the last check. */
  ready(): readonly Backend[]
  close(): Promise<void>
}

/** Milliseconds between two questions whether an instance is ready. */
const interval = 50

/** Opens a balancer without instances. */
export async function openBalancer(): Promise<Balancer> {
  const backends = new Map<Backend, boolean>()
  const sockets = new Set<Socket>()
  const ready = () => [...backends].flatMap(([backend, isReady]) => (isReady ? [backend] : []))
  let turn = 0
  const asking = setInterval(() => {
    for (const backend of backends.keys())
      fetch(`${backend.management}/ready`).then(
        ({ status }) => backends.set(backend, status === 200),
        () => backends.set(backend, false),
      )
  }, interval)
  const server = createServer((client) => {
    const { origin } = ready()[turn++ % ready().length] ?? { origin: null }
    if (origin === null) return client.destroy()
    const { hostname, port } = new URL(origin)
    const backend = connect(Number(port), hostname)
    for (const socket of [client, backend]) sockets.add(socket.on('close', () => sockets.delete(socket)))
    client.on('error', () => backend.destroy()).pipe(backend)
    backend.on('error', () => client.destroy()).pipe(client)
    return undefined
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    add: (backend) => void backends.set(backend, false),
    ready,
    close: async () => {
      clearInterval(asking)
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
