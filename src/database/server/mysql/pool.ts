// A bounded connection pool. Connections are opened on demand, closed when idle or old, and replaced when broken.
import type { ServerSettings } from '../../../foundation/config/database.js'
import { elapsed } from '../../../foundation/runtime/clock.js'
import type { PoolActivity } from '../../database.js'
import { createConnectionWaits } from '../connections.js'
import { type Client, connect, connectionOptions } from './client.js'
import { exhausted, isCancelled, isConnectionLoss, isExhaustion, isReadOnly, timeoutError } from './errors.js'

/** Milliseconds after which a connection is replaced, after which an idle one is closed, and between checks. */
const lifetime = 1_800_000
const idleTime = 30_000
const lookEvery = 10_000

/** Timeout of a cancellation in milliseconds. */
const patience = 1_000

interface MysqlPoolOptions {
  readonly max: number
  /** Statements executed on each new connection after the common greetings. */
  readonly greetings?: readonly string[]
  /** Receives errors of idle connections, which are replaced. */
  failed(error: Error): void
}

export interface Pool {
  /** Number of waiters for a connection. */
  readonly waiting: number
  activity(name: PoolActivity['name']): PoolActivity
  /** @throws Error if a connection cannot be opened, or none becomes free in time */
  acquire(): Promise<Client>
  /** `isBroken`: the connection is not reused. */
  release(client: Client, isBroken: boolean): void
  /** Makes the server kill a connection with its statement. Resolves once that is done or the server cannot be reached; never rejects. */
  cancel(client: Client): Promise<void>
  /** Closes idle connections now, and those in use when they are released. */
  close(): Promise<void>
}

interface PooledConnection {
  readonly client: Client
  readonly made: number
  idleSince: number
  isLost: boolean
}

interface Waiter {
  serve(kept: PooledConnection): void
  fail(error: unknown): void
}

export function openPool(settings: ServerSettings, { max, greetings = [], failed }: MysqlPoolOptions): Pool {
  const server = connectionOptions(settings)
  const kept = createConnectionSet(server, { greetings, failed, least: Math.min(settings.pool.min, max) })
  const { all, idle } = kept
  const waiters = new Set<Waiter>()
  let isClosed = false
  const waits = createConnectionWaits(isExhaustion)

  function makeForWaiter(): void {
    if (waiters.size === 0 || kept.count() >= max) return
    kept.make().then(offer, (error: unknown) => {
      const [first] = waiters
      first?.fail(error)
      makeForWaiter()
    })
  }

  function offer(free: PooledConnection): void {
    const [first] = waiters
    if (first !== undefined) first.serve(free)
    else if (isClosed) kept.drop(free)
    else idle.push(Object.assign(free, { idleSince: elapsed() }))
  }

  function giveBack(client: Client, isBroken: boolean): void {
    const used = all.get(client)
    if (used === undefined) return
    const isUseless = isBroken || used.isLost || client.isBroken
    if (!isUseless && !isClosed && isUsable(client) && elapsed() - used.made < lifetime) {
      offer(used)
      return
    }
    kept.drop(used, isUseless)
    makeForWaiter()
  }

  return {
    get waiting() {
      return waiters.size
    },
    activity: (name) => ({ name, idle: idle.length, used: all.size - idle.length, max: max, waiting: waiters.size, ...waits.counts() }),
    acquire: () =>
      waits.count(async () => {
        if (isClosed) throw new Error('The pool is closed')
        const free = takeIdle(kept)
        if (free !== null) return free
        const waited = waitIn(waiters, settings.connectionTimeout)
        makeForWaiter()
        return waited
      }),
    release: giveBack,
    cancel: (client) => endAtServer(server, client),
    close: async () => {
      isClosed = true
      kept.close()
    },
  }
}

/** Takes a usable idle connection; null: none. */
function takeIdle({ idle, drop }: ReturnType<typeof createConnectionSet>): Client | null {
  for (let free = idle.pop(); free !== undefined; free = idle.pop()) {
    if (isUsable(free.client)) return free.client
    drop(free)
  }
  return null
}

/** The connections of a pool: all of them, and the idle ones, most recently used last. */
function createConnectionSet(
  server: Parameters<typeof connect>[0],
  { greetings, failed, least }: Pick<MysqlPoolOptions, 'failed'> & { readonly greetings: readonly string[]; readonly least: number },
) {
  const all = new Map<Client, PooledConnection>()
  const idle: PooledConnection[] = []
  let making = 0
  const drop = ({ client }: PooledConnection, isUseless = false): void => {
    all.delete(client)
    if (isUseless) client.cut()
    else client.end()
  }
  /** Removes a connection from the idle ones; false: it is not idle. */
  const take = (one: PooledConnection): boolean => {
    const place = idle.indexOf(one)
    if (place >= 0) idle.splice(place, 1)
    return place >= 0
  }
  /** Closes connections that have been idle for long, down to the minimum. */
  const sweep = () => {
    const now = elapsed()
    for (const one of [...idle]) if (now - one.idleSince >= idleTime && all.size > least && take(one)) drop(one)
  }
  const sweeper = setInterval(sweep, lookEvery)
  sweeper.unref()
  return {
    all,
    idle,
    drop,
    /** Open connections, including those being opened. */
    count: () => all.size + making,
    make: async (): Promise<PooledConnection> => {
      let made: PooledConnection | null = null
      const lost = (error: Error) => {
        if (made === null || made.isLost) return
        made.isLost = true
        if (!take(made)) return
        drop(made)
        failed(error)
      }
      making++
      const began = elapsed()
      const client = await connect(server, greetings, lost).finally(() => making--)
      noteBegun(client, began)
      made = { client, made: elapsed(), idleSince: 0, isLost: false }
      all.set(client, made)
      return made
    },
    close: () => {
      clearInterval(sweeper)
      for (const one of idle.splice(0)) drop(one)
    },
  }
}

/** Waits for a connection. @throws Error if none becomes free in time */
function waitIn(waiters: Set<Waiter>, milliseconds: number): Promise<Client> {
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
    const timer = setTimeout(() => waiter.fail(exhausted()), milliseconds)
    waiters.add(waiter)
  })
}

/** Kills a connection on the server, with its transaction. Cutting it on this side alone might leave the transaction open. */
async function endAtServer(server: Parameters<typeof connect>[0], { thread }: Client): Promise<void> {
  let messenger: Client | null = null
  try {
    messenger = await connect({ ...server, connectTimeout: patience }, [], () => {})
    const over = setTimeout(() => messenger?.cut(), patience)
    await messenger.query(`kill ${thread}`).finally(() => clearTimeout(over))
  } catch {
    // The connection is gone already, or the server cannot be reached: it is cut here in either case.
  } finally {
    messenger?.end()
  }
}

/**
 * Runs work on a connection of the pool. A broken connection is not reused. `milliseconds`: timeout, after which the server kills the
 * connection, and it is cut; 0: none.
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
    if (isReadOnly(error)) noteRefused()
    if (cancelling !== null && isBroken) throw timeoutError(error)
    throw error
  } finally {
    isEnded = true
    clearTimeout(timer)
    // A cancellation in flight may arrive at any time.
    pool.release(client, isBroken || cancelling !== null)
  }
}

/** Start times of the connection attempts (`elapsed`). */
const begun = new WeakMap<Client, number>()
/** Connections opened before this time are not reused. */
let usableFrom = Number.NEGATIVE_INFINITY
/** Whether a write has been refused since the last committed one. */
let isRefused = false

function noteBegun(client: Client, at: number): void {
  begun.set(client, at)
}

const isUsable = (client: Client): boolean => begun.get(client)! >= usableFrom

/** Called when a server has refused a write because it is read-only. */
function noteRefused(): void {
  if (!isRefused) usableFrom = elapsed()
  isRefused = true
}

/** Called when a write was committed on a connection. */
export function noteWritten(client: Client): void {
  if (!isRefused) return
  isRefused = false
  usableFrom = Math.max(usableFrom, begun.get(client)!)
}
