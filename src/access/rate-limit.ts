// How often something may be tried: named counters per address and per account, behind an interface small enough to be kept
// in the database too (shared-limits). Keys are made of facts of the server: the route, the address of the socket, the account.
import { isIPv6 } from 'node:net'
import { LRUCache } from 'lru-cache'
import { ApiError } from '../errors/errors.js'

/** Counters that end by themselves. One process keeps them in memory, several share them in their database. */
export interface Counters {
  /**
   * Adds `amount` to a counter that ends `milliseconds` after its first, and gives its count. No counter of this key ends later than
   * after `longest`.
   */
  add(key: string, amount: number, milliseconds: number, longest?: number): Promise<Counted>
  read(key: string, longest: number): Promise<Counted>
  clear(key: string): Promise<void>
}

export interface Counted {
  readonly count: number
  /** Milliseconds until it ends; never more than it was made for. */
  readonly remaining: number
}

export interface Limiter {
  /**
   * Runs `work` on behalf of an address. An attempt is counted before it begins, however it is refused then; what is counted as
   * `failures` is given back to those that succeed, and to those that the service itself failed.
   * @throws ApiError 429 where the limit is reached, before any work
   */
  perAddress<Result>(route: string, address: string, counted: 'failures' | 'all', work: () => Promise<Result>): Promise<Result>
  /**
   * Runs a check of a secret of `account`: from the sixth failure in a row on, each doubles a time of waiting. Checks that are under
   * way count as failures until they succeed.
   * @throws ApiError 429 while the account has to wait, before any work
   */
  perAccount<Result>(account: string, work: () => Promise<Result>): Promise<Result>
}

const minute = 60_000
/** Failures without consequence, the longest time of waiting, and how long failures are remembered. */
const freeFailures = 5
const longestWait = minute
const memory = 15 * minute

/** A clock in milliseconds that nobody sets: it has nothing to do with the time of day. */
const steady = (): number => performance.now()

export function openCounters(most: number, now: () => number = steady): Counters {
  interface Counter {
    readonly count: number
    readonly endsAt: number
  }
  // Grows with the callers; `max` would take all its memory at the start.
  const counters = new LRUCache<string, Counter>({ maxSize: most, sizeCalculation: () => 1 })
  const current = (key: string): Counter | undefined => {
    const found = counters.get(key)
    return found === undefined || found.endsAt <= now() ? undefined : found
  }
  const counted = (counter: Counter | undefined): Counted =>
    counter === undefined ? { count: 0, remaining: 0 } : { count: counter.count, remaining: counter.endsAt - now() }
  return {
    add: async (key, amount, milliseconds) => {
      const before = current(key)
      const counter = { count: Math.max(0, (before?.count ?? 0) + amount), endsAt: before?.endsAt ?? now() + milliseconds }
      counters.set(key, counter)
      return counted(counter)
    },
    read: async (key) => counted(current(key)),
    clear: async (key) => void counters.delete(key),
  }
}

/** `perMinute` 0: nothing is limited. */
export function openLimiter(counters: Counters, perMinute: number): Limiter {
  /** Takes one of `most` places of a counter. @throws ApiError 429 if there is none left */
  async function reserve(key: string, most: number, milliseconds: number): Promise<void> {
    // Looked at first: what is refused costs no write where counters are shared.
    const before = await counters.read(key, milliseconds)
    if (before.count >= most) throw tooMany(before)
    const counted = await counters.add(key, 1, milliseconds)
    if (counted.count <= most) return
    await counters.add(key, -1, milliseconds)
    throw tooMany(counted)
  }

  async function checkAccount<Result>(account: string, work: () => Promise<Result>): Promise<Result> {
    const [failures, waiting] = [`failures ${account}`, `waiting ${account}`]
    const wait = await counters.read(waiting, longestWait)
    if (wait.count >= 1) throw tooMany(wait)
    const { count } = await counters.add(failures, 1, memory)
    const free = count <= freeFailures
    // One of several that came together is tried; the others wait until it is known what came of it.
    if (!free) {
      await reserve(waiting, 1, longestWait).catch(async (error) => {
        await counters.add(failures, -1, memory)
        throw error
      })
    }
    try {
      const result = await work()
      await counters.clear(failures)
      if (!free) await counters.clear(waiting)
      return result
    } catch (error) {
      if (!free) await counters.clear(waiting)
      if (isOurs(error)) await counters.add(failures, -1, memory)
      else if (!free) await counters.add(waiting, 1, Math.min(longestWait, 1000 * 2 ** (count - freeFailures - 1)), longestWait)
      throw error
    }
  }

  return {
    perAddress: async (route, address, counted, work) => {
      if (perMinute === 0) return work()
      const key = `address ${route} ${network(address)}`
      await reserve(key, perMinute, minute)
      const result = await work().catch(async (error: unknown) => {
        if (isOurs(error)) await counters.add(key, -1, minute)
        throw error
      })
      if (counted === 'failures') await counters.add(key, -1, minute)
      return result
    },
    perAccount: (account, work) => (perMinute === 0 ? work() : checkAccount(account, work)),
  }
}

/** The service failed, not the caller. */
const isOurs = (error: unknown): boolean => !(error instanceof ApiError) || error.status >= 500

const tooMany = ({ remaining }: Counted): ApiError =>
  new ApiError('RateLimitError', 'Too many requests, please try again later.', {}, Math.max(1, Math.ceil(remaining / 1000)))

/** The part of an address that one party holds: a whole IPv4 address, the first 64 bits of an IPv6 one. */
function network(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)
  if (mapped !== null) return mapped[1]!
  if (!isIPv6(address)) return address
  const [head = '', tail] = address.toLowerCase().split('%')[0]!.split('::')
  const start = head === '' ? [] : head.split(':')
  const end = tail === undefined || tail === '' ? [] : tail.split(':')
  const zeros = tail === undefined ? [] : Array.from({ length: Math.max(0, 8 - start.length - end.length) }, () => '0')
  return [...start, ...zeros, ...end].slice(0, 4).join(':')
}
