// Compiled plans, one per shape of a request, registered with the database that executes them, facts about them for
// caches, the log of slow reads, and the hooks and policies of the project's code around reads.

import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { readTables } from '../../../database/cache/table-changes.js'
import type { Database, PlanHandle, PlanSubject, ReadDatabase, ReadResult, TableScan } from '../../../database/database.js'
import type { Dialect } from '../../../database/dialect.js'
import { type ReadPlan, statementsOf } from '../../../database/plan.js'
import type { Grants } from '../../../foundation/grants.js'
import type { OperationCaller } from '../../../foundation/public/documents.js'
import type { ApiAction, ReadResponse } from '../../../foundation/public/type-settings.js'
import type { PlanCounts } from '../../../foundation/runtime/metrics.js'
import type { SlowLog } from '../../../foundation/runtime/throttled-logs.js'
import type { Tracing } from '../../../foundation/runtime/tracing.js'
import { isWorthAnIndex } from '../../../model/schema/graph.js'
import type { ContentType, Model, Scalar } from '../../../model/schema/types.js'
import { compileRead, type EnvelopeKind, toPlanKey } from '../../../query/compile/compile.js'
import type { Contract } from '../../../query/contract.js'
import type { OperatorName } from '../../../query/operators.js'
import type { Filter, Parameters, ReadRequest } from '../../../query/request.js'
import type { ReadContext } from '../../../query/rest/read.js'

const maxCachedPlans = 1_000
const maxCachedPlanCharacters = 8_000_000
const maxCachedQueries = 2_000

/** A request that has been read: its plan, its values, and where the identity goes. */
interface PreparedQuery {
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

/** Reads of a write, inside its transaction. */
export interface TransactionReads {
  readonly read: ReadContext
  /** Plans known to the writer. */
  readonly plans: Plans
}

/** Longer query strings are parsed each time. */
const maxCachedCharacters = 2_200

const countCharacters = (plan: unknown): number => Math.max(1, JSON.stringify(plan).length)

/** The same handle, by whose identity databases know it; it keeps no value of the request. */
const withSubject = (plan: PlanHandle, { type, filter, sort }: ReadRequest): PlanHandle =>
  Object.assign(plan, { subject: () => getPlanSubject({ type, filter, sort }) })

export function createPlans(
  database: Pick<ReadDatabase, 'register' | 'unregister'>,
  dialect: Dialect,
  contract: Contract,
  counts: PlanCounts,
): Plans {
  const plans = new LRUCache<string, PlanHandle>({
    max: maxCachedPlans,
    maxSize: maxCachedPlanCharacters,
    // A plan that is larger than all may be is forgotten as soon as the next one comes.
    sizeCalculation: ({ plan }) => Math.min(maxCachedPlanCharacters, countCharacters(plan)),
    dispose: (plan, _shape, reason) => {
      counts.entries--
      if (reason === 'evict') counts.evictions++
      database.unregister(plan)
    },
    onInsert: () => void counts.entries++,
  })
  const requests = new LRUCache<string, PreparedQuery>({ max: maxCachedQueries })
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
        if (text.length <= maxCachedCharacters) requests.set(text, ready)
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

/** The same plans, traced: reading the query, and compiling it where that was not done before. */
export const withTracing = (plans: Plans, tracing: Tracing): Plans => ({
  ...plans,
  forRequest: (request, around) =>
    tracing.part(
      'plan',
      () => ({ 'octavo.type': request.type.uid }),
      () => plans.forRequest(request, around),
    ),
  forQueryString: (text, read, around) =>
    tracing.part(
      'plan',
      () => ({}),
      () => plans.forQueryString(text, read, around),
    ),
})

/** The operators that can use an index. */
const indexedOperators: ReadonlySet<OperatorName> = new Set(['$eq', '$in', '$lt', '$lte', '$gt', '$gte', '$between'])

interface ComparedAttribute {
  /** The attribute with those that lead to it. */
  readonly path: string
  readonly attribute: Scalar
  readonly operator: OperatorName
}

function getCompared(filter: Filter | null, above: string): readonly ComparedAttribute[] {
  if (filter === null) return []
  switch (filter.kind) {
    case 'all':
    case 'any':
      return filter.of.flatMap((part) => getCompared(part, above))
    case 'not':
      return getCompared(filter.of, above)
    case 'related':
      return getCompared(filter.where, `${above}${filter.path.name}.`)
    case 'compare':
      return [{ path: above + filter.attribute.name, attribute: filter.attribute, operator: filter.operator }]
  }
}

/** The attributes that a request compares and sorts by. */
function getPlanSubject({ type, filter, sort }: Pick<ReadRequest, 'type' | 'filter' | 'sort'>): PlanSubject {
  const compared = getCompared(filter, '')
  const found = compared.filter(({ path, attribute, operator }) => path === attribute.name && indexedOperators.has(operator))
  const ordered = sort.filter(({ path }) => path.length === 0)
  return {
    table: type.table,
    filters: [...new Set(compared.map(({ path, operator }) => `${path} ${operator}`))],
    sort: sort.map(({ path, attribute }) => [...path.map((step) => step.attribute.name), attribute.name].join('.')),
    indexable: [...new Set([...found, ...ordered].map(({ attribute }) => attribute).filter(isWorthAnIndex))].map(({ name }) => name),
  }
}

/** Found once for each plan, which belongs to one model. */
const readTypes = new WeakMap<PlanHandle, readonly string[]>()

/** The uids of the content-types that the answer to a plan is read from, in the order of their names. */
export function getReadTypes(handle: PlanHandle, model: Model): readonly string[] {
  const known = readTypes.get(handle)
  if (known !== undefined) return known
  const tables = readTables(handle.plan)
  const uids = new Set([...model.types.values()].flatMap((type) => getReadUids(type, tables)))
  const types = [...uids].sort()
  readTypes.set(handle, types)
  return types
}

/** The type, where its table is read; and both sides of relations whose pairs are. */
function getReadUids({ uid, table, attributes }: ContentType, tables: ReadonlySet<string>): readonly string[] {
  const related = [...attributes.values()].flatMap((attribute) =>
    attribute.kind === 'relation' && attribute.storage.kind === 'link' && tables.has(attribute.storage.table.toLowerCase())
      ? [uid, attribute.target]
      : [],
  )
  return tables.has(table.toLowerCase()) ? [uid, ...related] : related
}

/** A caller of the API, and its request. */
export interface ReadCaller {
  readonly caller: OperationCaller
  readonly requestId: string | null
}

/** A request of the API that its caller has the permission for. */
export interface CodeRequest extends ReadCaller {
  readonly type: ContentType
  readonly action: ApiAction
  readonly grants: Grants
  readonly documentId: string | null
  readonly parameters: Parameters
  /** Null: the action takes none. */
  readonly data: unknown
}

/** The project's code around the reads of one type. */
export interface TypeReadHooks {
  /** Returns the parameters to read with. @throws ApiError as the response */
  before(asked: CodeRequest): Promise<Parameters>
  /** Returns the response as the project wants it; null: it leaves responses as they are. */
  readonly after: ((asked: CodeRequest, answer: ReadResult, format: ReadResponse['format']) => Promise<ReadResult>) | null
}

/** Finds the code around the reads of a type; null: none. */
export type FindReadHooks = (uid: string) => TypeReadHooks | null

/** The policies of the project. */
export interface Policies {
  /** @throws ApiError 403 if a policy refuses, or its error; Error if it returns neither true nor false */
  check(asked: CodeRequest): Promise<void>
  /** True if a type has a policy for this action. */
  has(action: ApiAction): boolean
}

/** Logged statements of a plan, and characters of each. */
const maxLoggedStatements = 10
const maxLoggedStatementCharacters = 4_000

/** Logs slow reads. Waiting for a thread or a connection counts. */
export function logSlowReads({ reads, tableScans }: Pick<Database, 'reads' | 'tableScans'>, slow: SlowLog): Database['reads'] {
  return {
    ...reads,
    execute: (...asked) => {
      const [known] = asked
      const started = performance.now()
      const answer = reads.execute(...asked)
      const look = (found: ReadResult | Error) => {
        const milliseconds = performance.now() - started
        if (milliseconds >= slow.from) noteSlowRead({ slow, tableScans }, known, milliseconds, found)
      }
      // A line that cannot be written must not end the process.
      answer.then(look, look).catch(() => {})
      return answer
    },
  }
}

type SlowReads = Pick<Database, 'tableScans'> & { readonly slow: SlowLog }

function noteSlowRead({ slow, tableScans }: SlowReads, known: PlanHandle, milliseconds: number, found: ReadResult | Error): void {
  const { plan } = known
  const hash = toPlanHash(known)
  slow.note(`read ${hash}`, 'a read was slow', milliseconds, () => ({
    type: plan.root.uid,
    ...(found instanceof Error ? { failed: true } : { bytes: found?.bytes.length ?? 0 }),
    ...describePlan(known, tableScans),
    plan: hash,
    statements: getStatementTexts(plan)
      .slice(0, maxLoggedStatements)
      .map((text) => text.slice(0, maxLoggedStatementCharacters)),
  }))
}

/** The hashes of plans that were slow: statements are hashed once, also where they are slow all the time. */
const hashes = new WeakMap<PlanHandle, string>()

function toPlanHash(known: PlanHandle): string {
  const found = hashes.get(known) ?? createHash('sha256').update(getStatementTexts(known.plan).join('\n')).digest('base64url').slice(0, 12)
  hashes.set(known, found)
  return found
}

const getStatementTexts = (plan: ReadPlan): readonly string[] => statementsOf(plan).map(({ sql }) => sql)

/** The filters and sort keys of a plan, with advice. */
function describePlan({ plan, subject }: PlanHandle, tableScans: SlowReads['tableScans']): Readonly<Record<string, unknown>> {
  if (subject === undefined) return {}
  const about = subject()
  return { filters: about.filters, sort: about.sort, ...getAdvice(plan, about, tableScans) }
}

/** Full scans of tables with fewer rows are not reported. */
const minScannedRows = 10_000

/** The large tables that are scanned, and the attributes that an index could help with. */
function getAdvice(
  { root }: ReadPlan,
  { table, indexable }: PlanSubject,
  tableScans: SlowReads['tableScans'],
): { readonly scans?: readonly TableScan[]; readonly advice?: string } {
  if (tableScans === null) return {}
  const scans = findScans(() => tableScans(root.statement)).filter(({ rows }) => rows >= minScannedRows)
  if (scans.length === 0) return {}
  if (indexable.length === 0 || !scans.some((scan) => scan.table === table)) return { scans }
  return { scans, advice: `an index on ${indexable.join(' or ')} may help: octavo indexes` }
}

/** Advice is no reason to fail: the database may be locked or gone. */
function findScans(find: () => readonly TableScan[]): readonly TableScan[] {
  try {
    return find()
  } catch {
    return []
  }
}
