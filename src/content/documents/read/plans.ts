// Compiled plans, one per shape of a request, known to the database that executes them.
import { LRUCache } from 'lru-cache'
import type { PlanHandle, ReadDatabase } from '../../../database/database.js'
import type { Dialect } from '../../../database/dialect.js'
import type { PlanCounts } from '../../../foundation/runtime/plan-counts.js'
import { compileRead, type EnvelopeKind, toPlanKey } from '../../../query/compile/compile.js'
import type { Contract } from '../../../query/contract.js'
import type { ReadRequest } from '../../../query/request.js'
import type { ReadContext } from '../../../query/rest/read.js'
import { subjectOf } from './compared-attributes.js'

export interface PlanLimits {
  /** Compiled plans that are kept. */
  readonly cachedPlans: number
  /** Characters of the kept plans, together. */
  readonly cachedPlanCharacters: number
  /** Read query strings that are kept. */
  readonly cachedQueries: number
}

/** A request that has been read: its plan, its values, and where the identity goes. */
export interface PreparedQuery {
  readonly plan: PlanHandle
  readonly shape: string
  readonly values: readonly unknown[]
  readonly identityAt: number
}

export interface Plans {
  /** The plan of a request; compiled for a new shape. */
  forRequest(request: ReadRequest, around: EnvelopeKind): PreparedQuery
  /** The same for a request that is read only once for all that say it with the same `text`: query string, caller, type. */
  forQueryString(text: string, read: () => ReadRequest, around: EnvelopeKind): PreparedQuery
  /** Unregisters all plans: the threads forget them and their statements. */
  close(): void
}

/** What a write reads documents with, inside its transaction. */
export interface WriteReading {
  readonly read: ReadContext
  /** Plans known to the writer. */
  readonly plans: Plans
}

/** Texts beyond this length are read anew each time; characters. */
const longestText = 2_200

const charactersOf = (plan: unknown): number => Math.max(1, JSON.stringify(plan).length)

/** The same handle, by whose identity databases know it; it keeps no value of the request. */
const withSubject = (plan: PlanHandle, { type, filter, sort }: ReadRequest): PlanHandle =>
  Object.assign(plan, { subject: () => subjectOf({ type, filter, sort }) })

export function openPlans(
  database: Pick<ReadDatabase, 'register' | 'unregister'>,
  dialect: Dialect,
  contract: Contract,
  limits: PlanLimits,
  counts: PlanCounts,
): Plans {
  const plans = new LRUCache<string, PlanHandle>({
    max: limits.cachedPlans,
    maxSize: limits.cachedPlanCharacters,
    // A plan that is larger than all may be is forgotten as soon as the next one comes.
    sizeCalculation: ({ plan }) => Math.min(limits.cachedPlanCharacters, charactersOf(plan)),
    dispose: (plan, _shape, reason) => {
      counts.entries--
      if (reason === 'evict') counts.evictions++
      database.unregister(plan)
    },
    onInsert: () => void counts.entries++,
  })
  const requests = new LRUCache<string, PreparedQuery>({ max: limits.cachedQueries })
  /** The shape of each plan, once for all queries that have it. */
  const shapes = new WeakMap<PlanHandle, string>()

  function of(request: ReadRequest, around: EnvelopeKind): PreparedQuery {
    const shape = around + toPlanKey(request)
    let plan = plans.get(shape)
    if (plan !== undefined) counts.hits++
    else {
      counts.misses++
      plan = withSubject(database.register(compileRead(request, dialect, contract, around)), request)
      plans.set(shape, plan)
      shapes.set(plan, shape)
    }
    return { plan, shape: shapes.get(plan)!, values: request.values, identityAt: request.identityAt }
  }

  return {
    forRequest: of,
    forQueryString: (text, read, around) => {
      let ready = requests.get(text)
      if (ready === undefined) {
        ready = of(read(), around)
        if (text.length <= longestText) requests.set(text, ready)
      } else counts.hits++
      // A plan that is in use is kept, also when it had just fallen out.
      if (plans.get(ready.shape) === undefined) plans.set(ready.shape, ready.plan)
      return ready
    },
    close: () => {
      requests.clear()
      plans.clear()
    },
  }
}
