// A bounded pool of connections: made when they are needed, closed when they are idle or old, replaced when they broke.

import type { ServerSettings } from '../../config/database-server.js'
import { elapsed } from '../../runtime/clock.js'
import { type Client, connect, serverOf } from './client.js'
import { exhausted, isCancelled, isConnectionLoss, timeoutOf } from './errors.js'

/** Milliseconds after which a connection is replaced, and after which an idle one is closed; and between two looks for these. */
const [lifetime, idleTime, lookEvery] = [1_800_000, 30_000, 10_000]

/** Milliseconds until a request to end a statement counts as lost. */
const patience = 1_000

/** What a pool is for. */
export interface PoolOptions {
  /** Connections at most. */
  readonly max: number
  /** What each connection says first, after what all of them say. */
  readonly greetings?: readonly string[]
  /** Receives errors of idle connections, which are replaced. */
  failed(error: Error): void
}

/** A pool. */
export interface Pool {
  /** Those that wait for a connection. */
  readonly waiting: number
  /** @throws Error where no connection can be made, or none is free in time */
  acquire(): Promise<Client>
  /** `isBroken`: the connection is not used again. */
  release(client: Client, isBroken: boolean): void
  /** Asks the server to end what a connection executes. Resolves when it has, or cannot be reached; never rejects. */
  cancel(client: Client): Promise<void>
  /** Closes idle connections now, and those in use when they are released. */
  close(): Promise<void>
}

interface Kept {
  readonly client: Client
  readonly made: number
  idleSince: number
  isLost: boolean
}

interface Waiter {
  serve(kept: Kept): void
  fail(error: unknown): void
}

/** Opens a pool. */
export function openPool(settings: ServerSettings, { max, greetings = [], failed }: PoolOptions): Pool {
  const server = serverOf(settings)
  const all = new Map<Client, Kept>()
  const idle: Kept[] = []
  const waiters = new Set<Waiter>()
  const least = Math.min(settings.pool.min, max)
  let [making, isClosed] = [0, false]

  async function make(): Promise<Kept> {
    making++
    try {
      const made: { kept: Kept | null } = { kept: null }
      const client = await connect(server, greetings, (error) => {
        const { kept } = made
        if (kept === null || kept.isLost) return
        kept.isLost = true
        const place = idle.indexOf(kept)
        if (place >= 0) {
          idle.splice(place, 1)
          all.delete(kept.client)
          failed(error)
        }
      })
      made.kept = { client, made: elapsed(), idleSince: 0, isLost: false }
      all.set(client, made.kept)
      return made.kept
    } finally {
      making--
    }
  }

  /** Makes a connection for whoever waits for one. */
  function makeForWaiter(): void {
    if (waiters.size === 0 || all.size + making >= max) return
    make().then(offer, (error: unknown) => {
      const [first] = waiters
      first?.fail(error)
      makeForWaiter()
    })
  }

  function offer(kept: Kept): void {
    const [first] = waiters
    if (first !== undefined) return first.serve(kept)
    if (isClosed) return drop(kept)
    kept.idleSince = elapsed()
    idle.push(kept)
  }

  function drop({ client }: Kept): void {
    all.delete(client)
    client.end()
  }

  function wait(): Promise<Client> {
    return new Promise((resolve, reject) => {
      const end = () => {
        clearTimeout(timer)
        waiters.delete(waiter)
      }
      const waiter: Waiter = {
        serve: ({ client }) => {
          end()
          resolve(client)
        },
        fail: (error) => {
          end()
          reject(error)
        },
      }
      const timer = setTimeout(() => waiter.fail(exhausted()), settings.connectionTimeout)
      waiters.add(waiter)
      makeForWaiter()
    })
  }

  const sweeper = setInterval(() => {
    const now = elapsed()
    for (const kept of [...idle]) {
      if (now - kept.idleSince < idleTime || all.size <= least) continue
      idle.splice(idle.indexOf(kept), 1)
      drop(kept)
    }
  }, lookEvery)
  sweeper.unref()

  return {
    get waiting() {
      return waiters.size
    },
    acquire: async () => {
      if (isClosed) throw new Error('The pool is closed')
      const kept = idle.pop()
      return kept === undefined ? wait() : kept.client
    },
    release: (client, isBroken) => {
      const kept = all.get(client)
      if (kept === undefined) return
      if (!isBroken && !kept.isLost && !isClosed && elapsed() - kept.made < lifetime) return offer(kept)
      all.delete(client)
      if (isBroken || kept.isLost) client.cut()
      else client.end()
      makeForWaiter()
    },
    cancel: (client) => endStatement(server, client),
    close: async () => {
      isClosed = true
      clearInterval(sweeper)
      for (const kept of idle.splice(0)) drop(kept)
    },
  }
}

async function endStatement(server: Parameters<typeof connect>[0], { thread }: Client): Promise<void> {
  let messenger: Client | null = null
  try {
    messenger = await connect({ ...server, connectTimeout: patience }, [], () => {})
    await messenger.query(`kill query ${thread}`)
  } catch {
    // The statement is over, or the server cannot be reached: the connection is cut in either case.
  } finally {
    messenger?.end()
  }
}

/**
 * Runs work on a connection of the pool. One that broke is not used again. `milliseconds`: after them the server is asked to end what it
 * executes, and the connection is cut; 0: the work may take any time.
 */
export async function onClient<Result>(pool: Pool, work: (client: Client) => Promise<Result>, milliseconds = 0): Promise<Result> {
  const client = await pool.acquire()
  let isBroken = false
  let [isEnded, cancelling]: [boolean, Promise<void> | null] = [false, null]
  const timer =
    milliseconds === 0
      ? undefined
      : setTimeout(() => {
          cancelling = pool.cancel(client).then(() => void (isEnded || client.cut()))
        }, milliseconds)
  try {
    return await work(client)
  } catch (error) {
    isBroken = isConnectionLoss(error) || isCancelled(error)
    if (cancelling !== null && isBroken) throw timeoutOf(error)
    throw error
  } finally {
    isEnded = true
    clearTimeout(timer)
    // Once a request to end something is under way, it may come at any time.
    pool.release(client, isBroken || cancelling !== null)
  }
}
