// The order of rows: sort values, a column of the row or of its first target by that order (sort.8), and pages that continue after a row.
import { sql } from 'kysely'
import type { Expression } from '../../database/dialect.js'
import type { ScalarType } from '../../foundation/public/attribute-types.js'
import type { Schema } from '../../model/schema/types.js'
import type { KeysetPosition, SortKey } from '../request.js'
import { type Compilation, column, value, visibleRows } from './conditions.js'
import { every, from, getJoins, type Joins, toOperand } from './joins.js'
import { operatorSql } from './operator-sql.js'

/** A sort value, with its name in the statement. */
export interface OrderKey {
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
  let [shape, alias] = [owner, ownerAlias]
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
    operatorSql[sign]({ dialect, contract, column: keys[at]!.value, type: types[at]! }, [value(index)])
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
