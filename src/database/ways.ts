// Finds the page of a list whose filter leads through relations: from the condition with the fewest links behind it, or along
// the order of the list where so many rows fulfil the filter that the first ones fill the page (decision 014).
import type Database from 'better-sqlite3'
import type { Envelope, Statement, Ways } from './plan.js'
import type { Query, Row, Values } from './statement.js'
import { prepareCount, prepareQuery } from './statement.js'
import type { Known, Way } from './totals.js'

/** Links that are counted at first, and how much further the next look goes where no condition has fewer. */
const [firstLook, furtherLook] = [1_024, 8]
/** Links from which on the rows along the order are looked at, and so many that it is not asked how many more there are. */
const [worthWalking, many] = [512, 8_192]
/** Rows along the order that can be tested in the time in which one link leads to its row. */
const stepsPerLink = 4

/** Rows, and the way on which they were found where there are several. */
interface Found {
  readonly rows: readonly Row[]
  readonly way: Way | null
}

export interface PreparedPages {
  page(values: Values, known: Known | null): Found
  /** The page with the total as the last column; null where the plan has no such statement. */
  readonly counted: ((values: Values) => Found) | null
}

/** Prepares the statements that find a list's page, `page` where the plan leaves the way to SQLite. */
export function preparePages(database: Database.Database, page: Statement, envelope: Envelope & { kind: 'list' }): PreparedPages {
  const { counted, ways } = envelope
  const [pages, counteds] = [prepareQuery(database, page), counted === null ? null : prepareQuery(database, counted)]
  if (ways !== null) return prepareWays(database, ways, envelope, pages, counteds)
  return {
    page: (values) => ({ rows: pages(values, null), way: null }),
    counted: counteds === null ? null : (values) => ({ rows: counteds(values, null), way: null }),
  }
}

function prepareWays(
  database: Database.Database,
  { leads, walk, walksAll }: Ways,
  { start, limit }: Envelope & { kind: 'list' },
  plainPage: Query,
  plainCounted: Query | null,
): PreparedPages {
  const counts = leads.map(({ links }) => prepareCount(database, links))
  const pages = leads.map(({ page }) => (page === null ? plainPage : prepareLead(database, page, plainPage)))
  const counteds = leads.map(({ counted }) => (counted === null ? plainCounted : prepareLead(database, counted, plainCounted!)))
  const walks = walk === null ? null : prepareQuery(database, walk)
  const isOrdered = walk === null ? () => false : asked(database, walk, (steps) => followsIndex(steps, walksAll) && !scansPerRow(steps))

  /** The condition with the fewest links, if any has fewer than `last`. */
  function choose(values: Values, first: number, last: number): Way {
    for (let most = first; ; most *= furtherLook) {
      const links = counts.map((count) => count(values, most))
      const least = Math.min(...links)
      if (least < most || most >= last) return { lead: links.indexOf(least), links: least }
    }
  }

  /** The page, if it lies among so many of the first rows as can be tested while the links are followed. */
  function walked(values: Values, links: number, total: number): readonly Row[] | null {
    const steps = Math.min(links, many) * stepsPerLink
    const wanted = (values[start] as number) + (values[limit] as number)
    if (walks === null || links < worthWalking || wanted > Math.min(total, steps) || !isOrdered()) return null
    const rows = walks(values, steps)
    return rows.length === values[limit] ? rows : null
  }

  const isOne = leads.length === 1
  return {
    page: (values, known) => {
      const seen = known?.way ?? choose(values, firstLook, many)
      const links = known === null ? seen.links : Math.max(seen.links, known.total)
      const rows = walked(values, links, known?.total ?? Number.POSITIVE_INFINITY)
      if (rows !== null) return { rows, way: seen }
      const way = known !== null || isOne || seen.links < many ? seen : choose(values, many * furtherLook, Number.POSITIVE_INFINITY)
      return { rows: pages[way.lead]!(values, null), way }
    },
    counted:
      plainCounted === null
        ? null
        : (values) => {
            // With one condition there is nothing to choose, and its total tells as much as its links.
            const way = isOne ? { lead: 0, links: 0 } : choose(values, firstLook, Number.POSITIVE_INFINITY)
            return { rows: counteds[way.lead]!(values, null), way }
          },
  }
}

/** A statement that begins with one condition. SQLite finds each set of rows by itself where testing them one by one has no index. */
function prepareLead(database: Database.Database, statement: Statement, instead: Query): Query {
  const query = prepareQuery(database, statement)
  const isShort = asked(database, statement, (steps) => !scansPerRow(steps))
  return (values) => (isShort() ? query : instead)(values, null)
}

/** A step of SQLite's plan for a statement. */
interface Step {
  readonly id: number
  readonly parent: number
  readonly detail: string
}

/** Asks SQLite how it runs a statement; again only when the schema has changed, an index for example. */
function asked(database: Database.Database, { sql, parameters }: Statement, is: (steps: readonly Step[]) => boolean): () => boolean {
  const version = database.prepare('pragma schema_version').pluck()
  let [seen, answer]: [unknown, boolean] = [null, false]
  return () => {
    const now = version.get()
    if (now !== seen) {
      const nothing = parameters.map(() => null)
      answer = is(database.prepare(`explain query plan ${sql}`).all(nothing) as Step[])
      seen = now
    }
    return answer
  }
}

/** True where a whole table, or an index made for the purpose, is looked through for every row. */
function scansPerRow(steps: readonly Step[]): boolean {
  const perRow = new Set<number>()
  return steps.some(({ id, parent, detail }) => {
    if (detail.startsWith('CORRELATED') || perRow.has(parent)) perRow.add(id)
    return perRow.has(parent) && /^SCAN|AUTOMATIC/.test(detail)
  })
}

/** True where the rows come one by one in the order of an index, and none of another version or locale is passed over. */
function followsIndex(steps: readonly Step[], isWhole: boolean): boolean {
  const rows = steps.find(({ detail }) => detail === 'CO-ROUTINE t0')
  const how = steps.filter(({ parent }) => parent === rows?.id).map(({ detail }) => detail)
  if (how.includes('USE TEMP B-TREE FOR ORDER BY')) return false
  return how.some((detail) => detail.startsWith('SEARCH t0 USING') || (isWhole && detail.startsWith('SCAN t0')))
}
