// The statements that find the page and the total of a list. Where the filter leads through relations there are several ways to
// the same rows; which is the shortest depends on the values, so the plan names them all (decision 014).
import { sql } from 'kysely'
import type { Expression } from '../../database/dialect.js'
import type { AccessPaths, DrivingCondition, Statement } from '../../database/plan.js'
import type { ScalarType } from '../../foundation/public/attribute-types.js'
import type { ContentType } from '../../model/schema/types.js'
import { assertNever } from '../../model/schema/types.js'
import { operators } from '../operators.js'
import type { Filter, PathAttribute, Related } from '../request.js'
import type { Compilation } from './conditions.js'
import { column, condition, countLinks, isDeep, isSelective } from './conditions.js'
import { every } from './joins.js'
import { sortKey } from './sort-values.js'

/** What a page is found by. The rows are aliased `t0`. */
export interface PageQuery {
  readonly type: ContentType
  /** The conditions of every request on this type: versions and locales. */
  readonly base: readonly Expression[]
  /** Whether `base` compares columns with values and nothing else. */
  readonly isPlain: boolean
  readonly filter: Filter | null
  readonly keys: readonly { readonly value: Expression; readonly as: string; readonly descending: boolean; readonly isOwn: boolean }[]
  readonly limit: Expression
  /** The last key, the row id, goes down. */
  readonly idsGoDown?: boolean
  /** Whether rows may be skipped before those that are selected. */
  readonly skips: boolean
  readonly selected: readonly Expression[]
}

/** Values in a filter up to which several ways to its rows are compiled, and how many of its conditions may begin one. */
const [mostValues, mostLeads] = [30, 3]

/** The rows among which a page is looked for, and what they must fulfil. */
interface Rows {
  readonly rows: Expression
  readonly where: Expression
}

/** How many rows to look at, at most: bound by the driver. */
const bound = ({ dialect }: Compilation): Expression => dialect.rowCount(sql`${{ from: 'bound' } as never}`)

function rowsOf(compilation: Compilation, { type, base, filter }: PageQuery): Rows {
  const tests = [...base, ...(filter === null ? [] : [condition(compilation, type, 't0', filter)])]
  // A table without any condition is counted by its pages, and listed by an index or sorted.
  const stoppable = tests.length === 0 ? [] : [compilation.dialect.stoppable(column('t0', 'id'))]
  return { rows: sql`${sql.table(type.table)} as ${sql.id('t0')}`, where: every([...stoppable, ...tests]) }
}

/** The statement of the page. */
export function page(compilation: Compilation, query: PageQuery): Statement {
  const rows = rowsOf(compilation, query)
  const isDirect = query.keys.length === 0 && !(query.skips && compilation.dialect.readsSkippedRows)
  return compilation.dialect.compile(isDirect ? directPage(query, rows) : sortedPage(compilation, query, rows, false))
}

const countedTo = (limit: Expression, rows: Expression, where: Expression): Expression =>
  sql`select count(*) from (select 1 from ${rows} where ${where} ${limit}) as counted_rows`

/** The number of all rows; `isBounded`: counted up to the limit of the page. */
export function count(compilation: Compilation, query: PageQuery, isBounded = false): Statement {
  const { rows, where } = rowsOf(compilation, query)
  return compilation.dialect.compile(isBounded ? countedTo(query.limit, rows, where) : sql`select count(*) from ${rows} where ${where}`)
}

/**
 * The page with the number of all rows as the last column, where finding both at once is cheaper, since conditions behind relations
 * cost much per row; null where it is not.
 */
export function counted(compilation: Compilation, query: PageQuery): Statement | null {
  if (query.filter === null || !isDeep(query.filter)) return null
  return compilation.dialect.compile(sortedPage(compilation, query, rowsOf(compilation, query), true))
}

/**
 * The ways to the rows of a list, where there is more than one. Only for filters whose conditions compare columns, of the row or of
 * what it lists itself, and of which none names the rows.
 */
export function accessPaths(compilation: Compilation, query: PageQuery, withCount: boolean): AccessPaths | null {
  const { type, base, filter, keys } = query
  if (filter === null || sizeOf(filter) > mostValues || !isShort(filter)) return null
  const conditions = conjuncts(filter)
  if (conditions.some((one) => one.kind === 'compare' && isSelective(one))) return null
  const leading = conditions
    .map(startsOf)
    .filter((starts) => starts !== null)
    .slice(0, mostLeads)
  if (leading.length === 0) return null
  const walk = query.isPlain && keys.every(({ isOwn }) => isOwn) ? walkOf(compilation, query, filter) : null
  if (leading.length === 1 && walk === null) return null
  const leads = leading.map((starts): DrivingCondition => {
    const counts = starts.map((one) => sql`(${countLinks(compilation, type, one, bound(compilation))})`)
    const links = compilation.dialect.compile(sql`select ${sql.join(counts, sql` + `)}`)
    if (leading.length === 1) return { links, page: null, counted: null }
    const led = { ...compilation, leads: starts }
    return { links, page: page(led, query), counted: withCount ? counted(led, query) : null }
  })
  return { leads, walk, walksAll: base.length === 0, tested: listsOf(type, filter) }
}

/** Where the rows of the conditions behind relations are listed. */
function listsOf(type: ContentType, filter: Filter): AccessPaths['tested'] {
  if (filter.kind === 'compare') return []
  if (filter.kind === 'not') return listsOf(type, filter.of)
  if (filter.kind !== 'related') return filter.of.flatMap((one) => listsOf(type, one))
  const { path } = filter
  if (path.kind === 'media') return [{ table: 'files_related_mph', column: 'related_id' }]
  if (path.kind === 'relation' && path.storage.kind === 'link') return [{ table: path.storage.table, column: path.storage.here }]
  return [{ table: type.componentTable!, column: 'entity_id' }]
}

const sizeOf = (filter: Filter): number => {
  if (filter.kind === 'compare') return Math.max(1, filter.values.length)
  if (filter.kind === 'related') return sizeOf(filter.where)
  return filter.kind === 'not' ? sizeOf(filter.of) : filter.of.reduce((sum, one) => sum + sizeOf(one), 0)
}

/** Values that may be long. */
const long: ReadonlySet<ScalarType> = new Set(['text', 'richtext', 'json', 'blocks'])

/** True for conditions on columns, of the row or of what it lists itself, that compare and do not look through a text. */
function isShort(filter: Filter, isBehind = false): boolean {
  switch (filter.kind) {
    case 'all':
    case 'any':
      return filter.of.every((one) => isShort(one, isBehind))
    case 'not':
      return isShort(filter.of, isBehind)
    case 'compare': {
      const { typed, takes } = operators[filter.operator]
      return (typed || takes === 'flag') && !long.has(filter.attribute.type)
    }
    case 'related':
      return !isBehind && isListed(filter.path) && isShort(filter.where, true)
    default:
      return assertNever(filter)
  }
}

/** True where the row lists the targets. How many they are is asked of the statistics before a row is tested. */
const isListed = (path: PathAttribute): boolean =>
  path.kind === 'component' || path.kind === 'media' || (path.kind === 'relation' && path.storage.kind === 'link' && path.storage.owner)

const conjuncts = (filter: Filter): readonly Filter[] => (filter.kind === 'all' ? filter.of.flatMap(conjuncts) : [filter])

/** The conditions behind relations whose targets lead to all rows that a filter holds for; null where there are none. */
function startsOf(filter: Filter): readonly Related[] | null {
  if (filter.kind === 'related') return isSelective(filter.where) ? [filter] : null
  if (filter.kind !== 'any') return null
  const starts = filter.of.map(startsOf)
  return starts.every((some) => some !== null) ? starts.flat() : null
}

/** The page among the first rows of the order: what is full there is the page. */
function walkOf(compilation: Compilation, query: PageQuery, filter: Filter): Statement {
  const { type, base, keys } = query
  const order = orderOf(compilation, { keys }, ({ value }) => value, column('t0', 'id'))
  const rows = sql`(select * from ${sql.table(type.table)} as ${sql.id('t0')} where ${every(base)} order by ${order} limit ${bound(compilation)}) as ${sql.id('t0')}`
  const where = condition({ ...compilation, leads: [] }, type, 't0', filter)
  return compilation.dialect.compile(sortedPage(compilation, query, { rows, where }, false))
}

const orderOf = (
  compilation: Compilation,
  { keys, idsGoDown = false }: Pick<PageQuery, 'keys' | 'idsGoDown'>,
  name: (key: PageQuery['keys'][number]) => Expression,
  id: Expression,
): Expression => sql.join([...keys.map((key) => sortKey(compilation, name(key), key.descending)), idsGoDown ? sql`${id} desc` : id])

function directPage({ limit, selected, idsGoDown }: PageQuery, { rows, where }: Rows): Expression {
  return sql`select ${sql.join([...selected])} from ${rows} where ${where} order by ${column('t0', 'id')}${idsGoDown === true ? sql` desc` : sql``} ${limit}`
}

/** The page's ids are sorted first, by keys alone; whole rows are read only for them. With `total` as the last column. */
function sortedPage(
  compilation: Compilation,
  { type, keys, idsGoDown, limit, selected }: PageQuery,
  { rows, where }: Rows,
  withTotal: boolean,
): Expression {
  const total = withTotal ? [sql`count(*) over () as total`] : []
  const inner = [sql`${column('t0', 'id')} as id`, ...keys.map((key) => sql`${key.value} as ${sql.id(key.as)}`), ...total]
  const order = orderOf(compilation, { keys, idsGoDown }, (key) => sql.id(key.as), column('t0', 'id'))
  const ids = sql`select ${sql.join(inner)} from ${rows} where ${where} order by ${order} ${limit}`
  const outer = [...selected, ...(withTotal ? [column('page', 'total')] : [])]
  return sql`select ${sql.join(outer)} from ${compilation.dialect.joinedInOrder([sql`(${ids}) as page`, sql`${sql.table(type.table)} as ${sql.id('t0')}`])}
    where ${column('t0', 'id')} = ${column('page', 'id')} order by ${orderOf(compilation, { keys, idsGoDown }, (key) => column('page', key.as), column('page', 'id'))}`
}
