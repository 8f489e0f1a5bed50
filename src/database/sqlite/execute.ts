// Executes a plan on one connection in one snapshot: root rows and total, then one statement per populated attribute for all parents.

import type Database from 'better-sqlite3'
import { LRUCache } from 'lru-cache'
import type { AccessPaths, Envelope, Level, Parameter, ReadPlan, Statement } from '../plan.js'
import type { Signer } from '../response/signed-addresses.js'
import {
  type LevelValue,
  type ListEnvelope,
  type PreparedRead,
  prepareResponse,
  type Query,
  type ResultRow,
  type Values,
} from '../response/write.js'
import { oncePerConnection } from './connection.js'

/** A connection, and the signer of file URLs if files are private. */
interface Source {
  readonly database: Database.Database
  readonly signer: Signer | null
  /** Called periodically while rows are written; throws if the response is no longer needed. */
  readonly look?: () => void
}

/** Prepares a plan. `inside`: the caller's transaction is the snapshot. */
export function prepareRead(source: Source, plan: ReadPlan, transaction: 'own' | 'inside' = 'own'): PreparedRead {
  const { database, look } = source
  const read = prepareResponse(
    {
      query: (statement) => prepareQuery(database, statement),
      count: (statement) => prepareCount(database, statement),
      page: (root, envelope) => preparePage(database, root, envelope),
      signer: plan.unsigned === true ? null : source.signer,
      ...(look !== undefined && { look }),
    },
    plan,
  )
  if (transaction === 'inside') return read
  const begin = database.prepare('begin')
  const commit = database.prepare('commit')
  return (values, sink) => {
    // All statements of a plan see the same rows and the same schema.
    begin.run()
    try {
      return read(values, sink)
    } finally {
      commit.run()
    }
  }
}

/** The page of a list with its total, which is cached until the next commit. */
function preparePage(
  database: Database.Database,
  root: Level,
  envelope: ListEnvelope,
): (values: Values) => { readonly rows: readonly ResultRow[]; readonly total: number | null } {
  const count = envelope.count === null ? null : prepareCount(database, envelope.count)
  const totals = createTotals(database)
  const { page, counted } = preparePages(database, root.statement, envelope)

  /** Finds the page, and the total unless the page implies it. */
  function find(values: Values, count: (values: Values) => number) {
    const [start, limit] = [values[envelope.start] as number, values[envelope.limit] as number]
    const began = performance.now()
    const { rows, seen } = counted === null ? page(values, null) : counted(values)
    const isLast = rows.length < limit && (rows.length > 0 || start === 0)
    const ofRows = counted === null || rows.length === 0 ? null : (rows[0]!.at(-1) as number)
    const total = isLast ? start + rows.length : (ofRows ?? count(values))
    totals.remember(values, { total, seen }, performance.now() - began)
    return { rows, total }
  }

  return (values) => {
    if (count === null) return { rows: page(values, null).rows, total: null }
    const known = totals.recall(values)
    return known === null ? find(values, count) : { rows: page(values, known).rows, total: known.total }
  }
}

/** Initial limit for counting links, and its growth factor while no condition has fewer. */
const initialCountLimit = 2_048
const countLimitGrowth = 4
/** Minimum number of links that justifies an ordered scan, and the number at which counting stops. */
const minLinksForScan = 2_048
const maxCountedLinks = 8_192
/** Rows tested by the first ordered scan, and at most. */
const initialScanRows = 2_048
const maxScanRows = 32_768
/** Milliseconds to follow a link: the budget for trying to avoid it. */
const msPerLink = 0.002

/** Maximum average links per row for testing rows one by one. */
const maxLinksPerRow = 16

/** Rows, and statistics of the access path if there are alternatives. */
interface FoundRows {
  readonly rows: readonly ResultRow[]
  readonly seen: PathStatistics | null
}

interface PreparedPages {
  page(values: Values, known: CachedTotal | null): FoundRows
  /** The page with the total as the last column; null if the plan has no such statement. */
  readonly counted: ((values: Values) => FoundRows) | null
}

/** Prepares the statements for a list's page. `page` leaves the access path to SQLite's planner. */
function preparePages(database: Database.Database, page: Statement, envelope: Envelope & { kind: 'list' }): PreparedPages {
  const { counted, ways } = envelope
  const pages = prepareQuery(database, page)
  const counteds = counted === null ? null : prepareQuery(database, counted)
  const plain: PreparedPages = {
    page: (values) => ({ rows: pages(values, null), seen: null }),
    counted: counteds === null ? null : (values) => ({ rows: counteds(values, null), seen: null }),
  }
  return ways === null ? plain : prepareAccessPaths(database, ways, envelope, plain)
}

/** Usable access paths of a list, according to SQLite's query plans. */
interface Verdict {
  /** Links of every driving condition can be counted without a table scan. */
  readonly isCounted: boolean
  /** Rows found by one condition can be tested one by one for the others. */
  readonly isTested: boolean
  /** An index provides the list's order. */
  readonly isOrdered: boolean
}

interface PreparedPaths {
  readonly counts: readonly ((values: Values, most: number) => number)[]
  readonly pages: readonly (Query | null)[]
  readonly counteds: readonly (Query | null)[]
  /** Finds the page among the given number of first rows in list order; null if no index provides this order. */
  readonly scan: Query | null
}

function preparePaths(database: Database.Database, { leads, walk }: AccessPaths): PreparedPaths {
  const prepared = (statement: Statement | null): Query | null => (statement === null ? null : prepareQuery(database, statement))
  return {
    counts: leads.map(({ links }) => prepareCount(database, links)),
    pages: leads.map(({ page }) => prepared(page)),
    counteds: leads.map(({ counted }) => prepared(counted)),
    scan: prepared(walk),
  }
}

/** Rejects access paths that would scan whole tables; SQLite's planner then chooses. */
function judge(database: Database.Database, { leads, walk, walksAll, tested }: AccessPaths, stepsOf: StepsOf): Verdict {
  const areFew = tested.every(({ table, column }) => linksPerRow(database, table, column) <= maxLinksPerRow)
  const steps = walk === null || !areFew ? null : stepsOf(walk)
  return {
    isCounted: leads.every(({ links }) => !stepsOf(links).some(isScan)),
    isTested: areFew && leads.every(({ page }) => page === null || !scansPerRow(stepsOf(page))),
    isOrdered: steps !== null && !scansPerRow(steps) && isOrderOfIndex(steps, (index) => walksAll || isPartial(database, index)),
  }
}

/** The condition with the fewest links. Counts up to `first` links, then more, until one has fewer or `last` is reached. */
function fewestLinks({ counts }: PreparedPaths, values: Values, first: number, last: number): PathStatistics {
  let most = first
  for (;;) {
    const links = counts.map((count) => count(values, most))
    const fewest = Math.min(...links)
    if (fewest < most || most >= last) return { lead: links.indexOf(fewest), links: fewest, farFrom: Number.POSITIVE_INFINITY }
    most *= countLimitGrowth
  }
}

/** Number of rows that an ordered scan can test in the time needed to follow the links, given that `steps` rows took `milliseconds`. */
const affordableSteps = (links: number, steps: number, milliseconds: number): number =>
  Math.min(Math.floor((Math.min(links, maxCountedLinks) * msPerLink) / (milliseconds / steps)), maxScanRows)

/** Looks for the page in an ordered scan, within the time that following the links would take. Null: not found. */
function pageAlongOrder(scan: Query, values: Values, { start, limit }: PageRange, seen: PathStatistics): readonly ResultRow[] | null {
  if (seen.links < minLinksForScan) return null
  const tryScan = (steps: number): readonly ResultRow[] | null => {
    const rows = scan(values, steps)
    if (rows.length === limit) return rows
    seen.farFrom = Math.min(seen.farFrom, start + rows.length + 1)
    return null
  }
  const began = performance.now()
  const found = tryScan(initialScanRows)
  if (found !== null) return found
  const more = affordableSteps(seen.links, initialScanRows, performance.now() - began)
  return more <= initialScanRows ? null : tryScan(more)
}

interface PageRange {
  readonly start: number
  readonly limit: number
}

/** True if an ordered scan may find the page: it is near the beginning, and no earlier scan has failed there. */
function isNear({ start, limit }: PageRange, known: CachedTotal | null): boolean {
  const last = start + limit
  return last <= Math.min(known?.total ?? last, maxScanRows) && last < (known?.seen?.farFrom ?? last + 1)
}

function prepareAccessPaths(
  database: Database.Database,
  paths: AccessPaths,
  { start, limit }: Envelope & { kind: 'list' },
  plain: PreparedPages,
): PreparedPages {
  const ready = preparePaths(database, paths)
  const verdict = cacheVerdict(database, (stepsOf) => judge(database, paths, stepsOf))
  const isOne = paths.leads.length === 1

  function page(values: Values, known: CachedTotal | null): FoundRows {
    const { isCounted, isTested, isOrdered } = verdict()
    const range = { start: values[start] as number, limit: values[limit] as number }
    const mayScan = isOrdered && isNear(range, known)
    if (!isCounted || (isOne && !mayScan)) return plain.page(values, known)
    const seen = known?.seen ?? fewestLinks(ready, values, initialCountLimit, maxCountedLinks)
    const rows = mayScan ? pageAlongOrder(ready.scan!, values, range, seen) : null
    if (rows !== null) return { rows, seen }
    if (isOne || !isTested) return plain.page(values, known)
    const isSettled = known !== null || seen.links < maxCountedLinks
    const { lead } = isSettled ? seen : fewestLinks(ready, values, maxCountedLinks * countLimitGrowth, Number.POSITIVE_INFINITY)
    return { rows: ready.pages[lead]!(values, null), seen }
  }

  function counted(values: Values): FoundRows {
    const { isCounted, isTested } = verdict()
    if (!isCounted) return plain.counted!(values)
    const seen = fewestLinks(ready, values, initialCountLimit, isOne ? maxCountedLinks : Number.POSITIVE_INFINITY)
    if (isOne || !isTested) return { ...plain.counted!(values), seen }
    return { rows: ready.counteds[seen.lead]!(values, null), seen }
  }

  return { page, counted: plain.counted === null ? null : counted }
}

interface Step {
  readonly id: number
  readonly parent: number
  readonly detail: string
}

type StepsOf = (statement: Statement) => readonly Step[]

/** Caches a judgement of query plans until the schema changes, for example by a new index. */
function cacheVerdict<Verdict>(database: Database.Database, judge: (stepsOf: StepsOf) => Verdict): () => Verdict {
  const stepsOf: StepsOf = ({ sql, parameters }) => {
    const nothing = parameters.map(() => null)
    return database.prepare(`explain query plan ${sql}`).all(nothing) as Step[]
  }
  let known: { readonly version: unknown; readonly verdict: Verdict } | null = null
  return () => {
    const version = schemaOf(database)()
    if (known === null || known.version !== version) known = { version, verdict: judge(stepsOf) }
    return known.verdict
  }
}

/** Returns the schema version and makes the connection load that schema: `explain` alone does not notice a change. */
const schemaOf = oncePerConnection((database) => {
  const version = database.prepare('pragma schema_version').pluck()
  const refresh = database.prepare('select 1 from sqlite_schema limit 1')
  let seen: unknown = null
  return () => {
    const now = version.get()
    if (now !== seen) refresh.get()
    seen = now
    return now
  }
})

/** A scan of a table, or of an automatic index. Scans of subqueries do not count. */
const isScan = ({ detail }: Step): boolean => /^SCAN (?!\(|CONSTANT)|AUTOMATIC/.test(detail)

/** True if a whole table is scanned for every row. */
function scansPerRow(steps: readonly Step[]): boolean {
  const perRow = new Set<number>()
  return steps.some((step) => {
    if (step.detail.startsWith('CORRELATED') || perRow.has(step.parent)) perRow.add(step.id)
    return perRow.has(step.parent) && isScan(step)
  })
}

/** The average number of links per row that has any, from the statistics; infinite without statistics. */
function linksPerRow(database: Database.Database, table: string, column: string): number {
  const stats = "select 1 from sqlite_schema where name = 'sqlite_stat1'"
  if (database.prepare(stats).get() === undefined) return Number.POSITIVE_INFINITY
  // The second number of `stat`: average rows per distinct value of the first column.
  const mean = database.prepare(
    `select min(cast(substr(s.stat, instr(s.stat, ' ') + 1) as integer)) from sqlite_stat1 as s
      where s.tbl = ? and exists (select 1 from pragma_index_info(s.idx) as i where i.seqno = 0 and i.name = ?)`,
  )
  return (mean.pluck().get(table, column) as number | null) ?? Number.POSITIVE_INFINITY
}

/** True if one of Octavo's indexes provides the list's order and contains no other rows. */
function isOrderOfIndex(steps: readonly Step[], hasNoOthers: (index: string) => boolean): boolean {
  const rows = steps.find(({ detail }) => detail === 'CO-ROUTINE t0')
  const [how, ...more] = steps.filter(({ parent }) => parent === rows?.id).map(({ detail }) => detail)
  if (how === undefined || more.length > 0) return false
  if (/^SEARCH t0 USING (?:COVERING )?INDEX octavo_/.test(how)) return true
  const scan = /^SCAN t0(?: USING (?:COVERING )?INDEX (\S+))?/.exec(how)
  return scan !== null && hasNoOthers(scan[1] ?? '')
}

/** True if an index is partial: SQLite uses those only for queries that imply their condition. */
const isPartial = (database: Database.Database, index: string): boolean =>
  /\) where /i.test(String(database.prepare("select sql from sqlite_schema where type = 'index' and name = ?").pluck().get(index)))

function prepareQuery(database: Database.Database, { sql, parameters }: Statement): Query {
  let statement: Database.Statement | null = null
  const bound = parameters.map(binder)
  return (values, given) => {
    statement ??= database.prepare(sql).raw()
    return statement.all(bound.map((bind) => bind(values, given))) as ResultRow[]
  }
}

function prepareCount(database: Database.Database, statement: Statement): (values: Values, given?: LevelValue) => number {
  const query = prepareQuery(database, statement)
  return (values, given = null) => query(values, given)[0]![0] as number
}

function binder(parameter: Parameter): (values: Values, given: LevelValue) => unknown {
  if (parameter.from === 'parents' || parameter.from === 'bound') return (_values, given) => given
  if (parameter.from === 'constant') return () => parameter.value
  return (values) => values[parameter.index]
}

/** Minimum milliseconds of a query whose total is cached: a cache lookup costs a tenth of that. */
const minCachedMs = 0.03
/** Maximum total length of the cached keys per connection, and maximum length of one. */
const maxKeyChars = 1_000_000
const maxKeyLength = 1_000

interface CachedTotal {
  readonly total: number
  readonly seen: PathStatistics | null
}

/** The condition with the fewest links and their number, up to the counting limit. */
interface PathStatistics {
  readonly lead: number
  readonly links: number
  /** Offset beyond which ordered scans have failed; infinite at first. */
  farFrom: number
}

interface Totals {
  /** The cached total for these values, if nothing has been committed since. Called inside the read's transaction. */
  recall(values: readonly unknown[]): CachedTotal | null
  /** Caches a total that took `milliseconds` to find. */
  remember(values: readonly unknown[], known: CachedTotal, milliseconds: number): void
}

/** Cached totals of all plans of a connection. */
interface Memory {
  readonly version: Database.Statement
  readonly known: LRUCache<string, CachedTotal>
  seen: unknown
  plans: number
}

const getMemory = oncePerConnection(
  (database): Memory => ({
    version: database.prepare('select data_version from pragma_data_version').pluck(),
    known: new LRUCache<string, CachedTotal>({ maxSize: maxKeyChars, sizeCalculation: (_, key) => key.length }),
    seen: null,
    plans: 0,
  }),
)

/** Creates the totals of a plan on a connection. The key omits the first two values: the page's start and limit. */
function createTotals(database: Database.Database): Totals {
  const memory = getMemory(database)
  const plan = ++memory.plans
  const keyOf = (values: readonly unknown[]) => `${plan} ${JSON.stringify(values.slice(2))}`
  function look(): void {
    const now = memory.version.get()
    if (now !== memory.seen) memory.known.clear()
    memory.seen = now
  }
  return {
    recall: (values) => {
      if (memory.known.size === 0) return null
      look()
      return memory.known.get(keyOf(values)) ?? null
    },
    remember: (values, known, milliseconds) => {
      if (milliseconds < minCachedMs) return
      const key = keyOf(values)
      if (key.length > maxKeyLength) return
      look()
      memory.known.set(key, known)
    },
  }
}
