// A read cache that never returns stale results. A result depends only on the plan, its values and the rows, so callers with the same
// permissions share it. It is valid until one of its tables changes (decision 052).
import { LRUCache } from 'lru-cache'
import { ApiError } from '../../foundation/errors/errors.js'
import { elapsed } from '../../foundation/runtime/clock.js'
import type { PlanHandle, ReadDatabase, ReadResult } from '../database.js'
import type { Signing } from '../response/signed-addresses.js'
import { type CacheCounts, createResponseStore, type LendResult, type PlanTables } from './response-store.js'
import { type CommitWatch, includesType, readTables } from './table-changes.js'

/** A read in flight that other callers may join. */
interface ReadInFlight {
  /** The last change that the result is guaranteed to include. */
  readonly since: number
  readonly waiting: (() => boolean)[]
  /** Undefined: not shared, because the result is too large or no one else waits. */
  readonly lend: Promise<LendResult | undefined>
}

interface ReadRequest {
  readonly handle: PlanHandle
  readonly values: readonly unknown[]
  readonly isGone: () => boolean
  readonly source: PlanTables
  readonly tables: ReadonlySet<string>
  /** Arrival time (`elapsed`). */
  readonly arrived: number
}

/** Maximum length of a cache key, and total length of the remembered keys of results that are too large. */
const maxKeyLength = 4_000
const maxRejectedKeyChars = 200_000

/** Minimum number of responses that fit into the cache. */
const minCachedResponses = 64

const never = () => false

/** Adds a cache to `reads`. `signing`: results with signed URLs bypass the cache; null: none are signed. `counts` receives statistics. */
export function cacheReads(
  reads: ReadDatabase,
  watch: CommitWatch,
  signing: Signing | null,
  cacheBytes: number,
  counts: CacheCounts | null = null,
): ReadDatabase {
  if (cacheBytes === 0) return reads
  const { changes, look } = watch
  const store = createResponseStore(changes, { cacheBytes, cachedResponseBytes: cacheBytes / minCachedResponses }, counts)
  const sources = createPlanTables(signing)
  const readsInFlight = new Map<string, ReadInFlight>()
  const tooLargeKeys = new LRUCache<string, true>({ maxSize: maxRejectedKeyChars, sizeCalculation: (_, key) => key.length })

  /** Executes a read for its caller and for concurrent callers with the same key. */
  async function read(key: string, { handle, values, isGone, source, arrived }: ReadRequest): Promise<ReadResult> {
    const since = changes.now()
    const waiting = [isGone]
    const executed = reads.execute(handle, values, () => waiting.every((hasGone) => hasGone()), arrived)
    let own: ReadResult | undefined
    const lend = executed.then((found) => {
      if (store.isTooLarge(found)) tooLargeKeys.set(key, true)
      const lending = store.add(key, found, { source, since }, waiting.length > 1)
      own = lending === undefined ? found : lending()
      return lending
    })
    const inFlight: ReadInFlight = { since, waiting, lend }
    readsInFlight.set(key, inFlight)
    const end = () => readsInFlight.get(key) === inFlight && readsInFlight.delete(key)
    lend.then(end, end)
    await lend
    return own!
  }

  async function readCached(request: ReadRequest): Promise<ReadResult> {
    const key = keyOf(request)
    if (key === null || tooLargeKeys.has(key)) return reads.execute(request.handle, request.values, request.isGone, request.arrived)
    const cached = store.get(key)
    counts?.found(cached !== undefined)
    if (cached !== undefined) return cached
    const inFlight = readsInFlight.get(key)
    // A read that started before a later commit may not include it.
    return inFlight === undefined || changes.lastOf(request.tables) > inFlight.since ? read(key, request) : share(reads, inFlight, request)
  }

  return {
    ...reads,
    unregister: (handle) => {
      sources.forget(handle)
      reads.unregister(handle)
    },
    execute: async (handle, values, isGone = never, since = elapsed()) => {
      counts?.requested()
      const source = sources.of(handle)
      const { tables } = source
      const looked = tables !== null && look(since)
      const isKnown = typeof looked === 'boolean' ? looked : await looked.catch(() => false)
      if (tables === null || !isKnown) return reads.execute(handle, values, isGone, since)
      return readCached({ handle, values, isGone, source, tables, arrived: since })
    },
  }
}

/** Joins a read in flight; executes its own read if the result is not shared. */
async function share(reads: ReadDatabase, inFlight: ReadInFlight, { handle, values, isGone, arrived }: ReadRequest): Promise<ReadResult> {
  inFlight.waiting.push(isGone)
  const lend = await inFlight.lend.catch((error: unknown) => {
    // All earlier waiters had disconnected.
    if (error instanceof ApiError && error.name === 'ClientClosedRequestError') return undefined
    throw error
  })
  const result = lend?.()
  return result === undefined ? reads.execute(handle, values, isGone, arrived) : result
}

interface PlanTablesCache {
  /** Computed once per plan; `tables` is null if its results bypass the cache. */
  of(handle: PlanHandle): PlanTables
  /** Invalidates all cached results of the plan. */
  forget(handle: PlanHandle): void
}

function createPlanTables(signing: Signing | null): PlanTablesCache {
  const found = new WeakMap<PlanHandle, PlanTables>()
  return {
    of: (handle) => {
      const known = found.get(handle)
      if (known !== undefined) return known
      const { plan } = handle
      const isSigned = signing !== null && plan.unsigned !== true && includesType(plan, signing.type)
      const source: PlanTables = { tables: isSigned ? null : readTables(plan) }
      found.set(handle, source)
      return source
    },
    forget: (handle) => {
      const source = found.get(handle)
      if (source !== undefined) source.tables = null
      found.delete(handle)
    },
  }
}

/** The cache key of a plan and its values; null if too long. */
function keyOf({ handle: { id }, values }: ReadRequest): string | null {
  let key = String(id)
  for (const value of values) {
    const text = typeof value === 'object' ? JSON.stringify(value) : String(value)
    key += ` ${typeof value} ${text.length} ${text}`
    if (key.length > maxKeyLength) return null
  }
  return key
}
