// Finds the page of a list whose filter leads through relations: from the condition with the fewest links behind it, or along
// the order of the list where so many rows fulfil the filter that the first ones fill the page (decision 014).
import type Database from 'better-sqlite3'
import type { Row, Values } from '../answer/write.js'
import type { AccessPaths, Envelope, Statement } from '../plan.js'
import { perConnection } from './connection.js'
import { prepareCount, prepareQuery } from './statement.js'
import type { CachedTotal, Seen } from './totals.js'

/** Links that are counted at first, and how much further the next look goes where no condition has fewer. */
const [firstLook, furtherLook] = [2_048, 4]
/** Links from which on the rows along the order are looked at, and so many that it is not asked how many more there are. */
const [worthWalking, many] = [2_048, 8_192]
/** Rows along the order that are tested at first, and at most. */
const [firstSteps, mostSteps] = [2_048, 32_768]
/** Milliseconds in which one link leads to its row: so long may be tried in vain what saves it. */
const perLink = 0.002

/** Links that a row has in the mean where rows are tested one by one. */
const mostPerRow = 16

/** Rows, and what was seen on the way to them where there are several. */
interface Found {
  readonly rows: readonly Row[]
  readonly seen: Seen | null
}

export interface PreparedPages {
  page(values: Values, known: CachedTotal | null): Found
  /** The page with the total as the last column; null where the plan has no such statement. */
  readonly counted: ((values: Values) => Found) | null
}

/** Prepares the statements that find a list's page, `page` where the plan leaves the way to SQLite. */
export function preparePages(database: Database.Database, page: Statement, envelope: Envelope & { kind: 'list' }): PreparedPages {
  const { counted, ways } = envelope
  const pages = prepareQuery(database, page)
  const counteds = counted === null ? null : prepareQuery(database, counted)
  const plain: PreparedPages = {
    page: (values) => ({ rows: pages(values, null), seen: null }),
    counted: counteds === null ? null : (values) => ({ rows: counteds(values, null), seen: null }),
  }
  return ways === null ? plain : prepareWays(database, ways, envelope, plain)
}

function prepareWays(
  database: Database.Database,
  { leads, walk, walksAll, tested }: AccessPaths,
  { start, limit }: Envelope & { kind: 'list' },
  plain: PreparedPages,
): PreparedPages {
  const counts = leads.map(({ links }) => prepareCount(database, links))
  const pages = leads.map(({ page }) => (page === null ? null : prepareQuery(database, page)))
  const counteds = leads.map(({ counted }) => (counted === null ? null : prepareQuery(database, counted)))
  const walks = walk === null ? null : prepareQuery(database, walk)
  const isOne = leads.length === 1

  // Where SQLite would look through tables, it is left to find each set of rows by itself.
  const verdict = asked(database, (stepsOf) => {
    const areFew = tested.every(({ table, column }) => linksPerRow(database, table, column) <= mostPerRow)
    const steps = walk === null || !areFew ? null : stepsOf(walk)
    return {
      isCounted: leads.every(({ links }) => !stepsOf(links).some(isScan)),
      isTested: areFew && leads.every(({ page }) => page === null || !scansPerRow(stepsOf(page))),
      isOrdered: steps !== null && !scansPerRow(steps) && isOrderOfIndex(steps, (index) => walksAll || isPartial(database, index)),
    }
  })

  /** The condition with the fewest links, if any has fewer than `last`. */
  function look(values: Values, first: number, last: number): Seen {
    for (let most = first; ; most *= furtherLook) {
      const links = counts.map((count) => count(values, most))
      const least = Math.min(...links)
      if (least < most || most >= last) return { lead: links.indexOf(least), links: least, farFrom: Number.POSITIVE_INFINITY }
    }
  }

  /** The page, if it lies among the first rows, or as many more as can be tested while the links would be followed. */
  function along(values: Values, seen: Seen): readonly Row[] | null {
    if (seen.links < worthWalking) return null
    for (let [steps, isLast] = [firstSteps, false]; ; isLast = true) {
      const began = performance.now()
      const rows = walks!(values, steps)
      if (rows.length === values[limit]) return rows
      const perStep = (performance.now() - began) / steps
      seen.farFrom = Math.min(seen.farFrom, (values[start] as number) + rows.length + 1)
      const more = Math.min(Math.floor((Math.min(seen.links, many) * perLink) / perStep), mostSteps)
      if (isLast || more <= steps) break
      steps = more
    }
    return null
  }

  function page(values: Values, known: CachedTotal | null): Found {
    const { isCounted, isTested, isOrdered } = verdict()
    const wanted = (values[start] as number) + (values[limit] as number)
    const isNear = wanted <= Math.min(known?.total ?? wanted, mostSteps) && wanted < (known?.seen?.farFrom ?? wanted + 1)
    const mayWalk = isNear && isOrdered
    if (!isCounted || (isOne && !mayWalk)) return plain.page(values, known)
    const seen = known?.seen ?? look(values, firstLook, many)
    const walked = mayWalk ? along(values, seen) : null
    if (walked !== null) return { rows: walked, seen }
    if (isOne || !isTested) return plain.page(values, known)
    const { lead } = known !== null || seen.links < many ? seen : look(values, many * furtherLook, Number.POSITIVE_INFINITY)
    return { rows: pages[lead]!(values, null), seen }
  }

  function counted(values: Values): Found {
    const { isCounted, isTested } = verdict()
    if (!isCounted) return plain.counted!(values)
    const seen = look(values, firstLook, isOne ? many : Number.POSITIVE_INFINITY)
    if (isOne || !isTested) return { ...plain.counted!(values), seen }
    return { rows: counteds[seen.lead]!(values, null), seen }
  }

  return { page, counted: plain.counted === null ? null : counted }
}

/** A step of SQLite's plan for a statement. */
interface Step {
  readonly id: number
  readonly parent: number
  readonly detail: string
}

type StepsOf = (statement: Statement) => readonly Step[]

/** Asks SQLite how it runs statements; again only when the schema has changed, an index for example. */
function asked<Verdict>(database: Database.Database, judge: (stepsOf: StepsOf) => Verdict): () => Verdict {
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

/** The version of the schema, which the connection knows from then on: an explanation alone does not read one that has changed. */
const schemaOf = perConnection((database) => {
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

/** A table is looked through, or an index made for the purpose. The rows of a subquery are none. */
const isScan = ({ detail }: Step): boolean => /^SCAN (?!\(|CONSTANT)|AUTOMATIC/.test(detail)

/** True where a whole table is looked through for every row. */
function scansPerRow(steps: readonly Step[]): boolean {
  const perRow = new Set<number>()
  return steps.some((step) => {
    if (step.detail.startsWith('CORRELATED') || perRow.has(step.parent)) perRow.add(step.id)
    return perRow.has(step.parent) && isScan(step)
  })
}

/** The mean number of links of a row that has any, as the statistics know it; infinite where there are none. */
function linksPerRow(database: Database.Database, table: string, column: string): number {
  const stats = "select 1 from sqlite_schema where name = 'sqlite_stat1'"
  if (database.prepare(stats).get() === undefined) return Number.POSITIVE_INFINITY
  // The second number of an index: how many of its rows have the same first column.
  const mean = database.prepare(
    `select min(cast(substr(s.stat, instr(s.stat, ' ') + 1) as integer)) from sqlite_stat1 as s
      where s.tbl = ? and exists (select 1 from pragma_index_info(s.idx) as i where i.seqno = 0 and i.name = ?)`,
  )
  return (mean.pluck().get(table, column) as number | null) ?? Number.POSITIVE_INFINITY
}

/** True where the rows come one by one in the order of an index of ours that has no others. */
function isOrderOfIndex(steps: readonly Step[], hasNoOthers: (index: string) => boolean): boolean {
  const rows = steps.find(({ detail }) => detail === 'CO-ROUTINE t0')
  const [how, ...more] = steps.filter(({ parent }) => parent === rows?.id).map(({ detail }) => detail)
  if (how === undefined || more.length > 0) return false
  if (/^SEARCH t0 USING (?:COVERING )?INDEX octavo_/.test(how)) return true
  const scan = /^SCAN t0(?: USING (?:COVERING )?INDEX (\S+))?/.exec(how)
  return scan !== null && hasNoOthers(scan[1] ?? '')
}

/** SQLite takes a partial index only for rows that all stand in it. */
const isPartial = (database: Database.Database, index: string): boolean =>
  /\) where /i.test(String(database.prepare("select sql from sqlite_schema where type = 'index' and name = ?").pluck().get(index)))
