// The statements that find the page and the total of a list, in an order that ends with the row id. If the filter crosses relations there are several access paths to
// the same rows; the cheapest depends on the values, so the plan contains them all (decision 014).

import { sql } from 'kysely'
import type { Expression } from '../../database/dialect.js'
import type { AccessPaths, DrivingCondition, Statement } from '../../database/plan.js'
import type { ScalarType } from '../../foundation/public/attribute-types.js'
import { assertNever, type ContentType, type Schema } from '../../model/schema/types.js'
import { attributeTypes } from '../../model/types/attribute-types.js'
import { operators } from '../operators.js'
import type { Filter, KeysetPosition, PathAttribute, RelatedFilter, SortKey } from '../request.js'
import { type Compilation, condition, countLinks, isDeep, isSelective, operatorSql, value, visibleRows } from './conditions.js'
import { column, every, from, getJoins, type Joins, toOperand } from './joins.js'

/** The query of a page. The rows are aliased `t0`. */
export interface PageQuery {
  readonly type: ContentType
  /** The conditions of every request on this type: versions and locales. */
  readonly base: readonly Expression[]
  /** True if `base` only compares columns with values. */
  readonly isPlain: boolean
  readonly filter: Filter | null
  readonly keys: readonly OrderKey[]
  readonly limit: Expression
  /** The last key, the row id, descends. */
  readonly idsGoDown?: boolean
  /** True if rows may be skipped before the selected ones. */
  readonly skips: boolean
  readonly selected: readonly Expression[]
}

/** Filters with more values have a single access path. */
const maxValues = 30
const maxDrivers = 3

/** The candidate rows of a page, and their condition. */
interface Rows {
  readonly rows: Expression
  readonly where: Expression
}

/** Maximum number of rows to examine: bound by the driver. */
const rowBound = ({ dialect }: Compilation): Expression => dialect.rowCount(sql`${{ from: 'bound' } as never}`)

function getRows(compilation: Compilation, { type, base, filter }: PageQuery): Rows {
  const tests = [...base, ...(filter === null ? [] : [condition(compilation, type, 't0', filter)])]
  // A table without any condition is counted by its pages, and listed by an index or a sort.
  const stoppable = tests.length === 0 ? [] : [compilation.dialect.stoppable(column('t0', 'id'))]
  return { rows: sql`${sql.table(type.table)} as ${sql.id('t0')}`, where: every([...stoppable, ...tests]) }
}
export function compilePage(compilation: Compilation, query: PageQuery): Statement {
  const rows = getRows(compilation, query)
  const isDirect = query.keys.length === 0 && !(query.skips && compilation.dialect.readsSkippedRows)
  return compilation.dialect.compile(isDirect ? directPage(query, rows) : sortedPage(compilation, query, rows, false))
}

const countUpTo = (limit: Expression, rows: Expression, where: Expression): Expression =>
  sql`select count(*) from (select 1 from ${rows} where ${where} ${limit}) as counted_rows`

/** The total; `isBounded`: counted up to the limit of the page. */
export function compileTotal(compilation: Compilation, query: PageQuery, isBounded = false): Statement {
  const { rows, where } = getRows(compilation, query)
  return compilation.dialect.compile(isBounded ? countUpTo(query.limit, rows, where) : sql`select count(*) from ${rows} where ${where}`)
}

/**
 * The page with the total as the last column, if finding both at once is cheaper, as conditions on relations cost much per row;
 * null if it is not.
 */
export function compilePageWithTotal(compilation: Compilation, query: PageQuery): Statement | null {
  if (query.filter === null || !isDeep(query.filter)) return null
  return compilation.dialect.compile(sortedPage(compilation, query, getRows(compilation, query), true))
}

/**
 * The access paths of a list, if there is more than one. Only for filters that compare columns, of the row or of its own links, and
 * that do not identify rows.
 */
export function compileAccessPaths(compilation: Compilation, query: PageQuery, withCount: boolean): AccessPaths | null {
  const { type, base, filter, keys } = query
  if (filter === null || countValues(filter) > maxValues || !isCheap(filter)) return null
  const conditions = conjuncts(filter)
  if (conditions.some((one) => one.kind === 'compare' && isSelective(one))) return null
  const leading = conditions
    .map(getStarts)
    .filter((starts) => starts !== null)
    .slice(0, maxDrivers)
  if (leading.length === 0) return null
  const walk = query.isPlain && keys.every(({ isOwn }) => isOwn) ? compileWalk(compilation, query, filter) : null
  if (leading.length === 1 && walk === null) return null
  const leads = leading.map((starts): DrivingCondition => {
    const counts = starts.map((one) => sql`(${countLinks(compilation, type, one, rowBound(compilation))})`)
    const links = compilation.dialect.compile(sql`select ${sql.join(counts, sql` + `)}`)
    if (leading.length === 1) return { links, page: null, counted: null }
    const led = { ...compilation, drivers: starts }
    return { links, page: compilePage(led, query), counted: withCount ? compilePageWithTotal(led, query) : null }
  })
  return { leads, walk, walksAll: base.length === 0, tested: getLinkLists(type, filter) }
}

/** The tables with the links of conditions on relations. */
function getLinkLists(type: ContentType, filter: Filter): AccessPaths['tested'] {
  if (filter.kind === 'compare' || filter.kind === 'state') return []
  if (filter.kind === 'not') return getLinkLists(type, filter.of)
  if (filter.kind !== 'related') return filter.of.flatMap((one) => getLinkLists(type, one))
  const { path } = filter
  if (path.kind === 'media') return [{ table: 'files_related_mph', column: 'related_id' }]
  if (path.kind === 'relation' && path.storage.kind === 'link') return [{ table: path.storage.table, column: path.storage.here }]
  return [{ table: type.componentTable!, column: 'entity_id' }]
}

const countValues = (filter: Filter): number => {
  if (filter.kind === 'compare') return Math.max(1, filter.values.length)
  if (filter.kind === 'state') return filter.states.length
  if (filter.kind === 'related') return countValues(filter.where)
  return filter.kind === 'not' ? countValues(filter.of) : filter.of.reduce((sum, one) => sum + countValues(one), 0)
}

/** True for conditions that compare columns, of the row or of its own links, and do not search texts. */
function isCheap(filter: Filter, isBehind = false): boolean {
  switch (filter.kind) {
    case 'all':
    case 'any':
      return filter.of.every((one) => isCheap(one, isBehind))
    case 'not':
      return isCheap(filter.of, isBehind)
    case 'state':
      return false
    case 'compare': {
      const { typed, takes } = operators[filter.operator]
      return (typed || takes === 'flag') && attributeTypes[filter.attribute.type].isLong !== true
    }
    case 'related':
      return !isBehind && isListed(filter.path) && isCheap(filter.where, true)
    default:
      return assertNever(filter)
  }
}

/** True if the row owns the links. Their number is looked up in the statistics before a row is tested. */
const isListed = (path: PathAttribute): boolean =>
  path.kind === 'component' || path.kind === 'media' || (path.kind === 'relation' && path.storage.kind === 'link' && path.storage.owner)

const conjuncts = (filter: Filter): readonly Filter[] => (filter.kind === 'all' ? filter.of.flatMap(conjuncts) : [filter])

/** The conditions on relations whose targets lead to all rows that match a filter; null if there are none. */
function getStarts(filter: Filter): readonly RelatedFilter[] | null {
  if (filter.kind === 'related') return isSelective(filter.where) ? [filter] : null
  if (filter.kind !== 'any') return null
  const starts = filter.of.map(getStarts)
  return starts.every((some) => some !== null) ? starts.flat() : null
}

/** The page among the first rows of the order: complete if it is full. */
function compileWalk(compilation: Compilation, query: PageQuery, filter: Filter): Statement {
  const { type, base, keys } = query
  const order = toOrder(compilation, { keys }, ({ value }) => value, column('t0', 'id'))
  const rows = sql`(select * from ${sql.table(type.table)} as ${sql.id('t0')} where ${every(base)} order by ${order} limit ${rowBound(compilation)}) as ${sql.id('t0')}`
  const where = condition({ ...compilation, drivers: [] }, type, 't0', filter)
  return compilation.dialect.compile(sortedPage(compilation, query, { rows, where }, false))
}

const toOrder = (
  compilation: Compilation,
  { keys, idsGoDown = false }: Pick<PageQuery, 'keys' | 'idsGoDown'>,
  name: (key: OrderKey) => Expression,
  id: Expression,
): Expression => sql.join([...keys.map((key) => sortKey(compilation, name(key), key.descending)), idsGoDown ? sql`${id} desc` : id])

function directPage({ limit, selected, idsGoDown }: PageQuery, { rows, where }: Rows): Expression {
  return sql`select ${sql.join([...selected])} from ${rows} where ${where} order by ${column('t0', 'id')}${idsGoDown === true ? sql` desc` : sql``} ${limit}`
}

/** The page's ids are sorted first, by keys alone; whole rows are read only for them. `withTotal`: the total is the last column. */
function sortedPage(
  compilation: Compilation,
  { type, keys, idsGoDown, limit, selected }: PageQuery,
  { rows, where }: Rows,
  withTotal: boolean,
): Expression {
  const total = withTotal ? [sql`count(*) over () as total`] : []
  const inner = [sql`${column('t0', 'id')} as id`, ...keys.map((key) => sql`${key.value} as ${sql.id(key.as)}`), ...total]
  const order = toOrder(compilation, { keys, idsGoDown }, (key) => sql.id(key.as), column('t0', 'id'))
  const ids = sql`select ${sql.join(inner)} from ${rows} where ${where} order by ${order} ${limit}`
  const outer = [...selected, ...(withTotal ? [column('page', 'total')] : [])]
  return sql`select ${sql.join(outer)} from ${compilation.dialect.joinedInOrder([sql`(${ids}) as page`, sql`${sql.table(type.table)} as ${sql.id('t0')}`])}
    where ${column('t0', 'id')} = ${column('page', 'id')} order by ${toOrder(compilation, { keys, idsGoDown }, (key) => column('page', key.as), column('page', 'id'))}`
}

/** A sort value, with its name in the statement. */
interface OrderKey {
  readonly value: Expression
  readonly as: string
  readonly descending: boolean
  /** A column of the row itself. */
  readonly isOwn: boolean
}

type Step = SortKey['path'][number]

/** The value of a sort key for the row of `shape` aliased `alias`; null if its relations have no target. */
export function sortValue(compilation: Compilation, shape: Schema, alias: string, key: SortKey): Expression {
  const [first, ...further] = key.path
  if (first === undefined) return column(alias, key.attribute.column)
  const step = joinStep(compilation, shape, first)
  const ours = sql`${step.path.owner} = ${column(alias, 'id')}`
  const { value, joins } = further.some(({ attribute }) => isMany(attribute))
    ? fromSets(compilation, first.target, step.as, further, key)
    : alongTargets(compilation, first.target, step.as, further, key)
  return sql`(select ${value} from ${sql.join([from(step.path), ...joins], sql` `)} where ${every([ours, ...step.conditions])}
    order by ${sortKey(compilation, value, key.descending)} limit 1)`
}
export const sortKey = ({ dialect, contract }: Compilation, value: Expression, descending: boolean): Expression =>
  sql`${dialect.orderKey(value, descending, contract.nullsFirst)}`

/** A value, and the joins that it needs. */
interface Joined {
  readonly value: Expression
  readonly joins: readonly Expression[]
}

/** Further to-one relations: followed from every row. */
function alongTargets(compilation: Compilation, owner: Schema, ownerAlias: string, further: readonly Step[], key: SortKey): Joined {
  const joins: Expression[] = []
  let shape = owner
  let alias = ownerAlias
  for (const one of further) {
    const { as, path, conditions } = joinStep(compilation, shape, one)
    joins.push(sql`left join ${toOperand(path)} on ${every([sql`${path.owner} = ${column(alias, 'id')}`, ...conditions])}`)
    shape = one.target
    alias = as
  }
  return { value: column(alias, key.attribute.column), joins }
}

/**
 * Further to-many relations: level by level, the first value of each owner is found once, from those of the next level.
 * Followed from every row, each level would multiply the cost of the previous one.
 */
function fromSets(compilation: Compilation, owner: Schema, alias: string, further: readonly Step[], key: SortKey): Joined {
  const [next, ...rest] = further
  if (next === undefined) return { value: column(alias, key.attribute.column), joins: [] }
  const { as, path, conditions } = joinStep(compilation, owner, next)
  const { value, joins } = fromSets(compilation, next.target, as, rest, key)
  const first = compilation.dialect.firstValue(value, key.descending, compilation.contract.nullsFirst)
  const firsts = sql`select ${path.owner} as owner, ${first} as value from ${sql.join([from(path), ...joins], sql` `)}
    where ${every(conditions)} group by ${path.owner}`
  const name = `${as}_f`
  return {
    value: column(name, 'value'),
    joins: [sql`left join (${firsts}) as ${sql.id(name)} on ${column(name, 'owner')} = ${column(alias, 'id')}`],
  }
}

function joinStep(
  compilation: Compilation,
  owner: Schema,
  { attribute, target }: Step,
): { readonly as: string; readonly path: Joins; readonly conditions: readonly Expression[] } {
  const as = compilation.nextAlias()
  const path = getJoins(compilation.dialect, owner, attribute, target, as)
  return { as, path, conditions: [...path.conditions, ...visibleRows(compilation, { kind: 'condition', owner, attribute, target }, as)] }
}

const isMany = (attribute: Step['attribute']): boolean => (attribute.kind === 'component' ? attribute.repeatable : attribute.many)

/**
 * The conditions for rows after `position`, in the direction of `keys`; `types`: those of their values. Rows without a value keep
 * their position in the order. `backwards`: ids descend.
 */
export function afterPosition(
  compilation: Compilation,
  keys: readonly OrderKey[],
  types: readonly ScalarType[],
  { values, id }: KeysetPosition,
  backwards: boolean,
): readonly Expression[] {
  const { dialect, contract } = compilation
  const nullsAreSmallest = contract.nullsFirst || !dialect.nullsAreGreatest
  const compared = (at: number, sign: '$gt' | '$lt' | '$gte' | '$lte' | '$eq', index: number): Expression =>
    operatorSql[sign]({ dialect, contract, column: keys[at]!.value, type: types[at]! }, [value(index, types[at])])
  const from = (at: number): Expression => {
    const key = keys[at]
    if (key === undefined) return sql`${column('t0', 'id')} ${backwards ? sql`<` : sql`>`} ${value(id)}`
    const index = values[at] ?? null
    const endsWithNulls = nullsAreSmallest === key.descending
    if (index === null) {
      const tied = sql`(${key.value} is null and ${from(at + 1)})`
      return endsWithNulls ? tied : sql`(${key.value} is not null or ${tied})`
    }
    const later = compared(at, key.descending ? '$lt' : '$gt', index)
    const tied = sql`(${compared(at, '$eq', index)} and ${from(at + 1)})`
    return endsWithNulls ? sql`(${later} or ${key.value} is null or ${tied})` : sql`(${later} or ${tied})`
  }
  const [first] = keys
  const index = values[0] ?? null
  // A redundant condition, so that the database enters an index at the right position.
  const isEntered = first !== undefined && index !== null && nullsAreSmallest !== first.descending
  const entry = isEntered ? [compared(0, first.descending ? '$lte' : '$gte', index)] : []
  return [...entry, from(0)]
}
