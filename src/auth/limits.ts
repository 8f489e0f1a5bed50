// How often something may be tried: named counters per address and per account, behind an interface small enough to be kept
// in the database too (shared-limits). Keys are made of facts of the server: the route, the address of the socket, the account.
import { isIPv6 } from 'node:net'
import { LRUCache } from 'lru-cache'
import { ApiError } from '../errors.js'

/** Counters that end by themselves. One process keeps them in memory, several share them in their database. */
export interface Counters {
  /** Adds `amount` to a counter that ends `milliseconds` after its first, and gives its count. */
  add(key: string, amount: number, milliseconds: number): Promise<Counted>
  read(key: string): Promise<Counted>
  clear(key: string): Promise<void>
}

export interface Counted {
  readonly count: number
  /** When it ends; milliseconds since 1970. */
  readonly endsAt: number
}

export interface Limiter {
  /**
   * Runs `work` on behalf of an address. `failures` counts what was refused with a reason, `all` also what succeeded;
   * bodies that are malformed are never counted.
   * @throws ApiError 429 once the limit is reached: also for work that was under way when others reached it.
   */
  perAddress<Result>(route: string, address: string, counted: 'failures' | 'all', work: () => Promise<Result>): Promise<Result>
  /** Runs a check of a secret of `account`: from the sixth failure in a row on, each doubles a time of waiting. */
  perAccount<Result>(account: string, work: () => Promise<Result>): Promise<Result>
}

const minute = 60_000
/** Failures without consequence, the longest time of waiting, and how long failures are remembered. */
const freeFailures = 5
const longestWait = minute
const memory = 15 * minute

export function openCounters(most: number, now: () => number = Date.now): Counters {
  // Grows with the callers; `max` would take all its memory at the start.
  const counters = new LRUCache<string, Counted>({ maxSize: most, sizeCalculation: () => 1 })
  const current = (key: string): Counted => {
    const found = counters.get(key)
    return found === undefined || found.endsAt <= now() ? { count: 0, endsAt: 0 } : found
  }
  return {
    add: async (key, amount, milliseconds) => {
      const { count, endsAt } = current(key)
      const counted = { count: Math.max(0, count + amount), endsAt: endsAt === 0 ? now() + milliseconds : endsAt }
      counters.set(key, counted)
      return counted
    },
    read: async (key) => current(key),
    clear: async (key) => void counters.delete(key),
  }
}

/** `perMinute` 0: nothing is limited. */
export function openLimiter(counters: Counters, perMinute: number): Limiter {
  const allow = async (key: string, most: number): Promise<void> => {
    const { count, endsAt } = await counters.read(key)
    if (count >= most) throw tooMany(endsAt)
  }

  async function afterEach<Result>(key: string, work: () => Promise<Result>): Promise<Result> {
    const { count, endsAt } = await counters.add(key, 1, minute)
    if (count > perMinute) throw tooMany(endsAt)
    try {
      return await work()
    } catch (error) {
      if (isMalformed(error)) await counters.add(key, -1, minute)
      throw error
    }
  }

  async function afterFailures<Result>(key: string, work: () => Promise<Result>): Promise<Result> {
    await allow(key, perMinute)
    let result: Result
    try {
      result = await work()
    } catch (error) {
      if (!isRefusal(error)) throw error
      const { count, endsAt } = await counters.add(key, 1, minute)
      throw count > perMinute ? tooMany(endsAt) : error
    }
    await allow(key, perMinute)
    return result
  }

  return {
    perAddress: (route, address, counted, work) => {
      if (perMinute === 0) return work()
      const key = `address ${route} ${network(address)}`
      return counted === 'all' ? afterEach(key, work) : afterFailures(key, work)
    },
    perAccount: async (account, work) => {
      if (perMinute === 0) return work()
      const [failures, waiting] = [`failures ${account}`, `waiting ${account}`]
      await allow(waiting, 1)
      let result: Awaited<ReturnType<typeof work>>
      try {
        result = await work()
      } catch (error) {
        if (!isRefusal(error)) throw error
        await allow(waiting, 1)
        const { count } = await counters.add(failures, 1, memory)
        if (count > freeFailures) await counters.add(waiting, 1, Math.min(longestWait, 1000 * 2 ** (count - freeFailures - 1)))
        throw error
      }
      // Guesses that were under way together learn no more than those made one after the other.
      await allow(waiting, 1)
      await counters.clear(failures)
      return result
    },
  }
}

const isMalformed = (error: unknown): boolean =>
  error instanceof ApiError && (error.details?.errors !== undefined || error.name === 'SyntaxError' || error.status === 413)
/** The secret was wrong. What the right secret leads to (a blocked account) is no guess. */
const isRefusal = (error: unknown): boolean => error instanceof ApiError && error.name === 'ValidationError' && !isMalformed(error)

const tooMany = (endsAt: number): ApiError =>
  new ApiError('RateLimitError', 'Too many requests, please try again later.', {}, Math.max(1, Math.ceil((endsAt - Date.now()) / 1000)))

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
