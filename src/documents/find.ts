// Reading documents: the query string is read once per caller and text, the plan is compiled once per shape, and then
// only values travel.
import { LRUCache } from 'lru-cache'
import type { KnownPlan, ReadAnswer, ReadBytes, ReadDatabase } from '../database/database.js'
import { forbidden } from '../errors.js'
import type { Grants } from '../grants.js'
import { everything } from '../grants.js'
import { compileRead } from '../query/compile.js'
import { type Parameters, parseParameters } from '../query/parameters.js'
import type { ReadContext, Wanted } from '../query/read.js'
import { readRequest } from '../query/read.js'
import type { ReadRequest } from '../query/request.js'
import { shapeOf } from '../query/shape.js'
import { grantsForRead } from './drafts.js'

export type { ReadBytes }

/** A read of a type's documents. `action` must be granted; the query string says the rest. */
export interface Find extends Wanted {
  readonly action: string
  readonly query: string
  readonly envelope: 'data' | 'bare' | 'count'
}

export interface Documents {
  readonly context: ReadContext
  /**
   * Answers a read as JSON bytes; null where one document was asked for and is not there.
   * @throws ApiError 403 without the grant, 400 for parameters that make no sense or name what may not be seen.
   */
  find(grants: Grants, wanted: Find): Promise<ReadAnswer>
  /** The same for parameters that are data already, with the answer parsed; null where one document is not there. */
  findData(grants: Grants, wanted: Omit<Find, 'query'> & { readonly parameters: Parameters }): Promise<unknown>
  /** The parsed answer for the service itself, where a route has checked the caller's grant for the whole. */
  findAsService(wanted: Omit<Find, 'action'>): Promise<unknown>
}

export interface CacheLimits {
  /** Compiled plans, and read query strings, that are kept. */
  readonly cachedPlans: number
  /** Characters of the kept plans, together. */
  readonly cachedPlanCharacters: number
  readonly cachedQueries: number
}

const charactersOf = (plan: unknown): number => Math.max(1, JSON.stringify(plan).length)

/** A query string that has been read for a caller: its plan, its values, and where the identity goes. */
interface Ready {
  readonly plan: KnownPlan
  readonly shape: string
  readonly values: readonly unknown[]
  readonly identityAt: number
}

function parsed(answer: ReadAnswer): unknown {
  if (answer === null) return null
  const value = JSON.parse(Buffer.from(answer.bytes).toString('utf8')) as unknown
  answer.release()
  return value
}

/** Query strings beyond this length are read anew each time; characters. */
const longestCachedQuery = 2_000

/** The document service over one model. A new model gets a new service, and with it new caches. */
export function openDocuments(context: ReadContext, database: ReadDatabase, limits: CacheLimits): Documents {
  const plans = new LRUCache<string, KnownPlan>({
    max: limits.cachedPlans,
    maxSize: limits.cachedPlanCharacters,
    // A plan that is larger than all may be is forgotten as soon as the next one comes.
    sizeCalculation: ({ plan }) => Math.min(limits.cachedPlanCharacters, charactersOf(plan)),
    dispose: (plan) => database.forget(plan),
  })
  const queries = new LRUCache<string, Ready>({ max: limits.cachedQueries })

  function ready(grants: Grants, wanted: Find): Ready {
    const request = readRequest(context, grants, wanted, parseParameters(wanted.query))
    return { ...planRead(request, wanted.envelope), identityAt: request.identityAt }
  }

  function planRead(request: ReadRequest, envelope: Find['envelope']): Omit<Ready, 'identityAt'> {
    const shape = envelope + shapeOf(request)
    let plan = plans.get(shape)
    if (plan === undefined) {
      plan = database.know(compileRead(request, database.dialect, context.contract, envelope))
      plans.set(shape, plan)
    }
    return { plan, shape, values: request.values }
  }

  /** Keeps a plan that is in use, also when it had just fallen out. */
  function touch({ shape, plan }: Ready): void {
    if (plans.get(shape) === undefined) plans.set(shape, plan)
  }

  const documents: Documents = {
    context,
    findData: async (caller, { parameters, ...wanted }) => {
      if (!caller.may(wanted.action)) throw forbidden()
      const grants = context.draftGrant ? grantsForRead(context.model, caller, wanted.type, parameters) : caller
      const { plan, values } = planRead(readRequest(context, grants, wanted, parameters), wanted.envelope)
      return parsed(await database.execute(plan, values))
    },
    findAsService: async (wanted) => parsed(await documents.find(everything, { ...wanted, action: `${wanted.type.uid}.find` })),
    async find(caller, wanted) {
      if (!caller.may(wanted.action)) throw forbidden()
      const grants = context.draftGrant ? grantsForRead(context.model, caller, wanted.type, wanted.query) : caller
      const { type, mode, format = 'flat', envelope, paged = true, query, identity } = wanted
      const key = `${grants.key} ${type.uid} ${mode} ${format} ${envelope} ${paged} ${identity?.attribute} ${query}`
      let read = queries.get(key)
      if (read === undefined) {
        read = ready(grants, wanted)
        if (query.length <= longestCachedQuery) queries.set(key, read)
      }
      touch(read)
      if (identity === undefined) return database.execute(read.plan, read.values)
      return database.execute(read.plan, read.values.with(read.identityAt, identity.value))
    },
  }
  return documents
}
