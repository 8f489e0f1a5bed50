// Compiled plans, one per shape of a request, registered with the database; the attributes and types that they read; the log of slow reads;
// and the interface of hooks and policies around reads.

import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { readTables } from '../../../database/cache/table-changes.js'
import type { Database, PlanHandle, PlanSubject, ReadDatabase, ReadResult, TableScan, Transaction } from '../../../database/database.js'
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

/** A parsed request: its plan, values, and the index of the identity in these. */
interface PreparedQuery {
  readonly plan: PlanHandle
  readonly shape: string
  readonly values: readonly unknown[]
  readonly identityAt: number
}

export interface Plans {
  /** Returns the plan of a request, compiled for a new shape. */
  forRequest(request: ReadRequest, around: EnvelopeKind): PreparedQuery
  /** Like `forRequest`; parses a request once per `text`, which comprises query string, caller and type. */
  forQueryString(text: string, read: () => ReadRequest, around: EnvelopeKind): PreparedQuery
  /** Unregisters all plans and their statements. */
  close(): void
}

/** Reads of a write, in its transaction. */
export interface TransactionReads {
  readonly transaction: Transaction
  readonly read: ReadContext
  /** Plans registered with the writer. */
  readonly plans: Plans
}

/** Longer query strings are parsed each time. */
const maxCachedCharacters = 2_200

const countCharacters = (plan: unknown): number => Math.max(1, JSON.stringify(plan).length)

/** Adds the subject to a handle without retaining values of the request. Databases identify plans by handle, so it is not copied. */
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
    // A plan larger than the whole cache is evicted by the next one.
    sizeCalculation: ({ plan }) => Math.min(maxCachedPlanCharacters, countCharacters(plan)),
    dispose: (plan, _shape, reason) => {
      counts.entries--
      if (reason === 'evict') counts.evictions++
      database.unregister(plan)
    },
    onInsert: () => void counts.entries++,
  })
  const requests = new LRUCache<string, PreparedQuery>({ max: maxCachedQueries })
  /** The shape of each plan, shared by all queries with that shape. */
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
      // Puts a plan in use back if it was just evicted.
      if (plans.get(ready.shape) === undefined) plans.set(ready.shape, ready.plan)
      return ready
    },
    close: () => {
      requests.clear()
      plans.clear()
    },
  }
}

/** Traces parsing of queries and compilation of plans. */
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

/** Operators that can use an index. */
const indexedOperators: ReadonlySet<OperatorName> = new Set(['$eq', '$in', '$lt', '$lte', '$gt', '$gte', '$between'])

interface ComparedAttribute {
  /** The attribute with the path that leads to it. */
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
    case 'state':
      return []
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

/** Cached per plan, which belongs to one model. */
const readTypes = new WeakMap<PlanHandle, readonly string[]>()

/** The uids of the types that a plan reads, sorted. */
export function getReadTypes(handle: PlanHandle, model: Model): readonly string[] {
  const known = readTypes.get(handle)
  if (known !== undefined) return known
  const tables = readTables(handle.plan)
  const uids = new Set([...model.types.values()].flatMap((type) => getReadUids(type, tables)))
  const types = [...uids].sort()
  readTypes.set(handle, types)
  return types
}

/** The type itself if its table is read, and both sides of relations whose link tables are. */
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

/** A permitted request of the API. */
export interface CodeRequest extends ReadCaller {
  readonly type: ContentType
  readonly action: ApiAction
  readonly grants: Grants
  readonly documentId: string | null
  readonly parameters: Parameters
  /** Null: the action has no data. */
  readonly data: unknown
}

/** Project code around the reads of a type. */
export interface TypeReadHooks {
  /** Returns the parameters to read with. @throws ApiError as the response */
  before(asked: CodeRequest): Promise<Parameters>
  /** Changes the response; null: responses stay unchanged. */
  readonly after: ((asked: CodeRequest, answer: ReadResult, format: ReadResponse['format']) => Promise<ReadResult>) | null
}

export type FindReadHooks = (uid: string) => TypeReadHooks | null

export interface Policies {
  /** @throws ApiError 403 if a policy refuses, or its error; Error if it does not return a boolean */
  check(asked: CodeRequest): Promise<void>
  has(action: ApiAction): boolean
}

/** Maximum number of logged statements per plan, and of characters per statement. */
const maxLoggedStatements = 10
const maxLoggedStatementCharacters = 4_000

/** Logs slow reads, including the time that they wait for a thread or connection. */
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
      // A failure to log must not end the process.
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

/** Caches the hashes of slow plans. */
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

/** Scans of smaller tables are not reported. */
const minScannedRows = 10_000

/** The large tables that a plan scans, and the attributes that an index could help with. */
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

/** Ignores failures to get advice: the database may be locked or unavailable. */
function findScans(find: () => readonly TableScan[]): readonly TableScan[] {
  try {
    return find()
  } catch {
    return []
  }
}
