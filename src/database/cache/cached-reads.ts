// Reads through a cache that never returns a stale answer. The answer to a plan depends on its values and on rows alone, so whoever asks the
// same gets the same; it holds until a table that it was read from is changed (decision 052).
import { ApiError } from '../../errors/errors.js'
import { elapsed } from '../../runtime/clock.js'
import type { PlanHandle, ReadAnswer, ReadDatabase } from '../database.js'
import type { Signing } from '../signing.js'
import { type CacheLimits, openAnswerStore } from './answer-store.js'
import { answersType, readTables } from './named-tables.js'
import type { CommitWatch } from './table-changes.js'

/** A read under way that others may wait for. */
interface ReadUnderWay {
  /** The last change that its answer is certain to contain. */
  readonly since: number
  /** Whether those who wait have gone, each. */
  readonly waiting: (() => boolean)[]
  /** Undefined: the answer is too large to be shared. */
  readonly answer: Promise<ReadAnswer | undefined>
}

/** One read as it was asked for. */
interface ReadAsked {
  readonly handle: PlanHandle
  readonly values: readonly unknown[]
  readonly isGone: () => boolean
  readonly tables: ReadonlySet<string>
}

/** Characters of the values whose answer is kept. */
const longestKey = 4_000

const never = () => false

/**
 * Caches the answers of a database. `signing`: answers with addresses that are signed for a while are not kept; null: none has any.
 */
export function cacheReads(reads: ReadDatabase, watch: CommitWatch, signing: Signing | null, limits: CacheLimits): ReadDatabase {
  if (limits.cacheBytes === 0) return reads
  const { changes, look } = watch
  const store = openAnswerStore(changes, limits)
  const underWay = new Map<string, ReadUnderWay>()
  const sourcesOf = openSources(signing)

  /** Executes a read, for itself and for those who ask for the same meanwhile. */
  async function read(key: string, { handle, values, isGone, tables }: ReadAsked): Promise<ReadAnswer> {
    const since = changes.now()
    const waiting = [isGone]
    const executed = reads.execute(handle, values, () => waiting.every((hasGone) => hasGone()))
    const answer = executed.then((found) => store.keep(key, found, { tables, since }))
    const begun: ReadUnderWay = { since, waiting, answer }
    underWay.set(key, begun)
    const end = () => underWay.get(key) === begun && underWay.delete(key)
    answer.then(end, end)
    const kept = await answer
    return kept === undefined ? executed : kept
  }

  /** Waits for a read under way. */
  async function share(begun: ReadUnderWay, { handle, values, isGone }: ReadAsked): Promise<ReadAnswer> {
    begun.waiting.push(isGone)
    const answer = await begun.answer.catch((error: unknown) => {
      // All who waited before had gone.
      if (error instanceof ApiError && error.name === 'ClientClosedRequestError') return undefined
      throw error
    })
    return answer === undefined ? reads.execute(handle, values, isGone) : answer
  }

  async function answer(asked: ReadAsked): Promise<ReadAnswer> {
    const key = keyOf(asked)
    if (key === null) return reads.execute(asked.handle, asked.values, asked.isGone)
    const kept = store.get(key)
    if (kept !== undefined) return kept
    const begun = underWay.get(key)
    // What has begun before may lack what was committed since.
    return begun === undefined || changes.lastOf(asked.tables) > begun.since ? read(key, asked) : share(begun, asked)
  }

  return {
    ...reads,
    execute: async (handle, values, isGone = never, since = elapsed()) => {
      const tables = sourcesOf(handle)
      if (tables === null) return reads.execute(handle, values, isGone)
      const asked = { handle, values, isGone, tables }
      const looked = look(since)
      if (looked === true) return answer(asked)
      return looked.catch(() => false).then((isKnown) => (isKnown ? answer(asked) : reads.execute(handle, values, isGone)))
    },
  }
}

/** Finds the tables that plans read, once for each; null: answers to the plan are not kept. */
function openSources(signing: Signing | null): (handle: PlanHandle) => ReadonlySet<string> | null {
  const found = new WeakMap<PlanHandle, ReadonlySet<string> | null>()
  return (handle) => {
    const known = found.get(handle)
    if (known !== undefined) return known
    const { plan } = handle
    const tables = signing !== null && plan.unsigned !== true && answersType(plan, signing.type) ? null : readTables(plan)
    found.set(handle, tables)
    return tables
  }
}

/** A text that is the same for the same plan and values only; null: they are too long. */
function keyOf({ handle: { id }, values }: ReadAsked): string | null {
  let key = String(id)
  for (const value of values) {
    const text = typeof value === 'object' ? JSON.stringify(value) : String(value)
    key += ` ${typeof value} ${text.length} ${text}`
    if (key.length > longestKey) return null
  }
  return key
}
