// The statements that find the page and the total of a list. Where the filter leads through relations there are several ways to
// the same rows; which is the shortest depends on the values, so the plan names them all (decision 014).
import type { RawBuilder } from 'kysely'
import { sql } from 'kysely'
import type { Lead, Statement, Ways } from '../database/plan.js'
import type { ContentType } from '../model/types.js'
import type { Compilation } from './conditions.js'
import { column, condition, countLinks, isSelective } from './conditions.js'
import { every } from './pairs.js'
import type { Filter, Related } from './request.js'

type Fragment = RawBuilder<unknown>

/** What a page is found by. The rows are aliased `t0`. */
export interface PageQuery {
  readonly type: ContentType
  /** The conditions of every request on this type: versions and locales. */
  readonly base: readonly Fragment[]
  readonly filter: Filter | null
  readonly keys: readonly { readonly value: Fragment; readonly as: string; readonly descending: boolean; readonly isOwn: boolean }[]
  readonly limit: Fragment
  readonly selected: readonly Fragment[]
}

/** Conditions that a plan can begin with; the others are only tested. */
const mostLeads = 3

/** The rows among which a page is looked for, and what they must fulfil. */
interface Rows {
  readonly rows: Fragment
  readonly where: Fragment
}

const bound: Fragment = sql`${{ from: 'bound' } as never} + 0`
const direction = (descending: boolean): Fragment => (descending ? sql`desc` : sql`asc`)

function rowsOf(compilation: Compilation, { type, base, filter }: PageQuery): Rows {
  const filtered = filter === null ? [] : [condition(compilation, type, 't0', filter)]
  return { rows: sql`${sql.table(type.table)} as ${sql.id('t0')}`, where: every([...base, ...filtered]) }
}

/** The statement of the page. */
export function page(compilation: Compilation, query: PageQuery): Statement {
  const rows = rowsOf(compilation, query)
  return compilation.dialect.compile(query.keys.length === 0 ? directPage(query, rows) : sortedPage(query, rows, false))
}

/** The number of all rows. */
export function count(compilation: Compilation, query: PageQuery): Statement {
  const { rows, where } = rowsOf(compilation, query)
  return compilation.dialect.compile(sql`select count(*) from ${rows} where ${where}`)
}

/** The page with the number of all rows as the last column, where finding both at once is cheaper; null where it is not. */
export function counted(compilation: Compilation, query: PageQuery): Statement | null {
  if (query.filter === null || !isCostly(query.filter)) return null
  return compilation.dialect.compile(sortedPage(query, rowsOf(compilation, query), true))
}

/** The ways to the rows of a list, where there is more than one. */
export function ways(compilation: Compilation, query: PageQuery): Ways | null {
  const leading =
    query.filter === null
      ? []
      : conjuncts(query.filter)
          .map(startsOf)
          .filter((starts) => starts !== null)
          .slice(0, mostLeads)
  const walk = leading.length > 0 && query.keys.every(({ isOwn }) => isOwn) ? walkOf(compilation, query) : null
  if (leading.length === 0 || (leading.length === 1 && walk === null)) return null
  const leads = leading.map((starts): Lead => {
    const counts = starts.map((filter) => sql`(${countLinks(compilation, query.type, filter, bound)})`)
    const links = compilation.dialect.compile(sql`select ${sql.join(counts, sql` + `)}`)
    if (leading.length === 1) return { links, page: null, counted: null }
    const led = { ...compilation, leads: starts }
    return { links, page: page(led, query), counted: counted(led, query) }
  })
  return { leads, walk, walksAll: query.base.length === 0 }
}

const conjuncts = (filter: Filter): readonly Filter[] => (filter.kind === 'all' ? filter.of.flatMap(conjuncts) : [filter])

/** The conditions behind relations whose targets lead to all rows that a filter holds for; null where there are none. */
function startsOf(filter: Filter): readonly Related[] | null {
  if (filter.kind === 'related') return isSelective(filter.where) ? [filter] : null
  if (filter.kind !== 'any') return null
  const starts = filter.of.map(startsOf)
  return starts.every((some) => some !== null) ? starts.flat() : null
}

/** The page among the first rows of the order: what is full there is the page. */
function walkOf(compilation: Compilation, query: PageQuery): Statement {
  const { type, base, filter, keys } = query
  const order = orderOf(keys, ({ value }) => value, column('t0', 'id'))
  const rows = sql`(select * from ${sql.table(type.table)} as ${sql.id('t0')} where ${every(base)} order by ${order} limit ${bound}) as ${sql.id('t0')}`
  const where = condition({ ...compilation, leads: [] }, type, 't0', filter!)
  return compilation.dialect.compile(sortedPage(query, { rows, where }, false))
}

const orderOf = (keys: PageQuery['keys'], name: (key: PageQuery['keys'][number]) => Fragment, id: Fragment): Fragment =>
  sql.join([...keys.map((key) => sql`${name(key)} ${direction(key.descending)}`), id])

function directPage({ limit, selected }: PageQuery, { rows, where }: Rows): Fragment {
  return sql`select ${sql.join([...selected])} from ${rows} where ${where} order by ${column('t0', 'id')} ${limit}`
}

/** The page's ids are sorted first, by keys alone; whole rows are read only for them. With `total` as the last column. */
function sortedPage({ type, keys, limit, selected }: PageQuery, { rows, where }: Rows, withTotal: boolean): Fragment {
  const total = withTotal ? [sql`count(*) over () as total`] : []
  const inner = [sql`${column('t0', 'id')} as id`, ...keys.map((key) => sql`${key.value} as ${sql.id(key.as)}`), ...total]
  const order = orderOf(keys, (key) => sql.id(key.as), column('t0', 'id'))
  const ids = sql`select ${sql.join(inner)} from ${rows} where ${where} order by ${order} ${limit}`
  const outer = [...selected, ...(withTotal ? [column('page', 'total')] : [])]
  return sql`select ${sql.join(outer)} from (${ids}) as page cross join ${sql.table(type.table)} as ${sql.id('t0')}
    where ${column('t0', 'id')} = ${column('page', 'id')} order by ${orderOf(keys, (key) => column('page', key.as), column('page', 'id'))}`
}

/** Conditions that cost so much per row that the page and its total are better found in one go. */
function isCostly(filter: Filter): boolean {
  if (filter.kind === 'compare') return false
  if (filter.kind === 'related') return true
  return filter.kind === 'not' ? isCostly(filter.of) : filter.of.some(isCostly)
}
