// Rate limits per IP address, per identity that an address tries, and per account. The counters are in memory, or in the database if processes share it (rate-limit-store).
// Keys only contain data of the server and hashes: the route, the address of the socket, the identity, the account.

import { createHash } from 'node:crypto'
import { isIPv6 } from 'node:net'
import { sql } from 'kysely'
import { LRUCache } from 'lru-cache'
import { type MainConnection, serviceTransaction, type WriteDatabase } from '../../database/database.js'
import type { Dialect } from '../../database/dialect.js'
import { upsert } from '../../database/portable-sql.js'
import { ApiError } from '../../foundation/errors/errors.js'

/** Counters that expire. A single process keeps them in memory; several processes share them in the database. */
interface Counters {
  /**
   * Adds `amount` to a counter and returns its count. A new counter expires after `milliseconds`; no counter of this key lasts longer than
   * `longest`.
   */
  add(key: string, amount: number, milliseconds: number, longest?: number): Promise<Counted>
  read(key: string, longest: number): Promise<Counted>
  clear(key: string): Promise<void>
}

/** The state of a counter. */
interface Counted {
  readonly count: number
  /** Milliseconds until it expires. */
  readonly remaining: number
}

/** An attempt, by the route and the IP address that it comes from. `failures`: one that succeeds is uncounted. */
interface CountedAttempt {
  readonly route: string
  readonly address: string
  readonly counted: 'failures' | 'all'
}

/** Limits attempts per IP address, per identity that an address tries, and per account. */
export interface Limiter {
  /**
   * Runs `work` for an IP address. Every attempt is counted before it starts. With `failures`, attempts that succeed are uncounted;
   * attempts that fail because of the service are always uncounted.
   * @throws ApiError 429 if the limit is reached, before any work
   */
  perAddress<Result>(route: string, address: string, counted: 'failures' | 'all', work: () => Promise<Result>): Promise<Result>
  /**
   * Runs `work` as `perAddress` does, with two limits: a high one for the address alone, which a site shares with all of its visitors, and
   * one for the account in question. `identify` returns its key: null for none, and if it fails, the attempt counts as one without an account
   * in particular.
   * @throws ApiError 429 if a limit is reached, before any work
   */
  perIdentity<Result>(attempt: CountedAttempt, identify: () => Promise<string | null>, work: () => Promise<Result>): Promise<Result>
  /**
   * Runs a check of a secret of `account`. From the sixth consecutive failure on, each failure doubles a delay. Checks in progress count
   * as failures until they succeed. An `address` with a successful sign-in has failures and a delay apart from all others, so that
   * strangers keep no owner out.
   * @throws ApiError 429 during the delay, before any work
   */
  perAccount<Result>(account: string, work: () => Promise<Result>, address?: string): Promise<Result>
}

const minute = 60_000
/** Failures without a delay, the longest delay, and how long failures are remembered. */
const freeFailures = 5
const longestDelay = minute
const failureLifetime = 15 * minute
/** Retention of an address after a successful sign-in. */
const knownLifetime = 30 * 24 * 60 * minute

/** A monotonic clock in milliseconds. */
const monotonic = (): number => performance.now()

/** Opens at most `most` counters in memory. */
export function openCounters(most: number, now: () => number = monotonic): Counters {
  interface Counter {
    readonly count: number
    readonly endsAt: number
  }
  // `max` would allocate all memory at the start; `maxSize` grows with the entries.
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

/** The limits of attempts per minute. */
interface RateLimits {
  /** Of one address and identity, and of an address at routes without identities; 0 disables all limits. */
  readonly authRateLimit: number
  /** Of an address with all identities; 0 disables this one. */
  readonly authAddressRateLimit: number
}

/** Opens the counting of attempts before their work. */
function openReservations(counters: Counters) {
  /** Increments a counter up to `most`. @throws ApiError 429 beyond it */
  async function reserve(key: string, most: number, milliseconds: number): Promise<void> {
    // Reads first, so that a refused attempt needs no write to shared counters.
    const before = await counters.read(key, milliseconds)
    if (before.count >= most) throw tooMany(before)
    const counted = await counters.add(key, 1, milliseconds)
    if (counted.count <= most) return
    await counters.add(key, -1, milliseconds)
    throw tooMany(counted)
  }

  async function count<Result>(key: string, most: number, counted: 'failures' | 'all', work: () => Promise<Result>): Promise<Result> {
    if (most === 0) return work()
    await reserve(key, most, minute)
    const result = await work().catch(async (error: unknown) => {
      // An attempt that another limit refused did no work.
      if (isServiceFailure(error) || isRefusal(error)) await counters.add(key, -1, minute)
      throw error
    })
    if (counted === 'failures') await counters.add(key, -1, minute)
    return result
  }

  return { reserve, count }
}

/** Opens a limiter. */
export function openLimiter(counters: Counters, { authRateLimit: perMinute, authAddressRateLimit }: RateLimits): Limiter {
  // An address may try at least what one identity may.
  const ofAddress = authAddressRateLimit === 0 ? 0 : Math.max(authAddressRateLimit, perMinute)

  const { reserve, count } = openReservations(counters)

  async function checkAccount<Result>(account: string, work: () => Promise<Result>): Promise<Result> {
    const [failures, waiting] = [`failures ${account}`, `waiting ${account}`]
    const wait = await counters.read(waiting, longestDelay)
    if (wait.count >= 1) throw tooMany(wait)
    const { count } = await counters.add(failures, 1, failureLifetime)
    const free = count <= freeFailures
    // Of several simultaneous checks only one is tried; the others are refused until its result is known.
    if (!free) {
      await reserve(waiting, 1, longestDelay).catch(async (error) => {
        await counters.add(failures, -1, failureLifetime)
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
      if (isServiceFailure(error)) await counters.add(failures, -1, failureLifetime)
      else if (!free) await counters.add(waiting, 1, Math.min(longestDelay, 1000 * 2 ** (count - freeFailures - 1)), longestDelay)
      throw error
    }
  }

  return {
    perAddress: (route, address, counted, work) => count(`address ${route} ${networkOf(address)}`, perMinute, counted, work),
    perIdentity: async ({ route, address, counted }, identify, work) => {
      if (perMinute === 0) return work()
      const from = `${route} ${networkOf(address)}`
      return count(`address ${from}`, ofAddress, counted, async () => {
        const identity = await identify().catch((error: unknown) => ({ error }))
        if (identity === null) return work()
        const isKnown = typeof identity === 'string'
        return count(`identity ${from} ${hashIdentity(isKnown ? identity : '')}`, perMinute, counted, async () => {
          if (!isKnown) throw identity.error
          return work()
        })
      })
    },
    perAccount: async (account, work, address) => {
      if (perMinute === 0) return work()
      if (address === undefined) return checkAccount(account, work)
      const own = `${account} ${networkOf(address)}`
      if ((await counters.read(`known ${own}`, knownLifetime)).count > 0) return checkAccount(own, work)
      const result = await checkAccount(account, work)
      await counters.add(`known ${own}`, 1, knownLifetime)
      return result
    },
  }
}

/** A short key for input of any length. */
export const hashIdentity = (identity: string): string => createHash('sha256').update(identity.trim().toLowerCase()).digest('base64url')

/** True if the service failed, not the caller. */
const isServiceFailure = (error: unknown): boolean => !(error instanceof ApiError) || error.status >= 500

const isRefusal = (error: unknown): boolean => error instanceof ApiError && error.name === 'RateLimitError'

const tooMany = ({ remaining }: Counted): ApiError =>
  new ApiError('RateLimitError', 'Too many requests, please try again later.', {}, Math.max(1, Math.ceil(remaining / 1000)))

/** The key of anonymous callers at an IP address. */
export const strangerAt = (address: string): string => `nobody at ${networkOf(address)}`

/** The part of an IP address that identifies one party: the whole IPv4 address, or the first 64 bits of an IPv6 address. */
function networkOf(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)
  if (mapped !== null) return mapped[1]!
  if (!isIPv6(address)) return address
  const [head = '', tail] = address.toLowerCase().split('%')[0]!.split('::')
  const start = head === '' ? [] : head.split(':')
  const end = tail === undefined || tail === '' ? [] : tail.split(':')
  const zeros = tail === undefined ? [] : Array.from({ length: Math.max(0, 8 - start.length - end.length) }, () => '0')
  return [...start, ...zeros, ...end].slice(0, 4).join(':')
}

interface Row {
  readonly count: number
  readonly remaining: number
}

/**
 * Tolerance in milliseconds for counters that end too late: another process began them while an attempt waited for its transaction. One
 * that would end even later was begun before the clock was set back, or the machine of the clock was started again: it counts as expired.
 */
const tolerance = 60_000

const name = sql.ref('key')

interface CounterDatabase {
  readonly database: MainConnection
  readonly writer: WriteDatabase
  readonly dialect: Pick<Dialect, 'sharedClock'>
}

/** Opens counters in the database. Keeps at most `most` counters of each kind (the first word of the key); the first to end are deleted. */
export function openSharedCounters({ database, writer, dialect }: CounterDatabase, most: number): Counters {
  const counted = (row: Row | undefined, longest: number): Counted =>
    row === undefined ? { count: 0, remaining: 0 } : { count: row.count, remaining: Math.min(Number(row.remaining), longest) }
  return {
    add: (key, amount, milliseconds, longest = milliseconds) =>
      serviceTransaction(writer, async (transaction) => {
        const now = dialect.sharedClock()
        // Many counters of one kind must not displace those of another.
        const kind = key.slice(0, key.indexOf(' ') + 1)
        await transaction.run(
          sql`delete from octavo_rate_limits where ends_at <= ${now} or (${name} = ${key} and ends_at > ${now} + ${longest + tolerance})`,
        )
        const fresh = { key, count: Math.max(0, amount), ends_at: sql`${now} + ${milliseconds}` }
        const sum = sql`octavo_rate_limits.count + ${amount}`
        await transaction.run(upsert('octavo_rate_limits', fresh, ['key'], sql`count = case when ${sum} > 0 then ${sum} else 0 end`))
        const [row] = await transaction.rows<Row>(
          sql`select count, ends_at - ${now} as remaining from octavo_rate_limits where ${name} = ${key}`,
        )
        const others = sql`${name} <> ${key} and ${name} >= ${kind} and ${name} < ${`${kind}~`}`
        const [surplus] = await transaction.rows<{ key: string; ends_at: number }>(
          sql`select ${name}, ends_at from octavo_rate_limits where ${others} order by ends_at desc, ${name} limit 1 offset ${most - 1}`,
        )
        if (surplus !== undefined)
          await transaction.run(sql`delete from octavo_rate_limits where ${others}
            and (ends_at < ${surplus.ends_at} or (ends_at = ${surplus.ends_at} and ${name} >= ${surplus.key}))`)
        return counted(row, longest)
      }),
    read: async (key, longest) => {
      const now = dialect.sharedClock()
      const [row] = await database.rows<Row>(sql`select count, ends_at - ${now} as remaining from octavo_rate_limits
        where ${name} = ${key} and ends_at > ${now} and ends_at <= ${now} + ${longest + tolerance}`)
      return counted(row, longest)
    },
    clear: (key) => writer.run(sql`delete from octavo_rate_limits where ${name} = ${key}`),
  }
}
