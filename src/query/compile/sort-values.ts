// The values that rows are sorted by: a column of the row, or of its first target by that order (sort.8).
import { sql } from 'kysely'
import type { Expression } from '../../database/dialect.js'
import type { Schema } from '../../model/schema/types.js'
import type { SortKey } from '../request.js'
import type { Compilation } from './conditions.js'
import { column, seenRows } from './conditions.js'
import { every, from, type Joins, joinsOf, operand } from './joins.js'

type Step = SortKey['path'][number]

/** The value of a sort key for the row of `shape` aliased `alias`; null where nothing is behind its relations. */
export function sortValue(compilation: Compilation, shape: Schema, alias: string, key: SortKey): Expression {
  const [first, ...further] = key.path
  if (first === undefined) return column(alias, key.attribute.column)
  const step = reach(compilation, shape, first)
  const ours = sql`${step.path.owner} = ${column(alias, 'id')}`
  const { value, joins } = further.some(({ attribute }) => isMany(attribute))
    ? fromSets(compilation, first.target, step.as, further, key)
    : alongTargets(compilation, first.target, step.as, further, key)
  return sql`(select ${value} from ${sql.join([from(step.path), ...joins], sql` `)} where ${every([ours, ...step.conditions])}
    order by ${sortKey(compilation, value, key.descending)} limit 1)`
}

/** A key of `order by`. */
export const sortKey = ({ dialect, contract }: Compilation, value: Expression, descending: boolean): Expression =>
  sql`${dialect.sorted(value, descending, contract.nullsFirst)}`

/** A value, and what has to be joined to the targets of the step before to get it. */
interface Joined {
  readonly value: Expression
  readonly joins: readonly Expression[]
}

/** Further relations that lead to one target each: they are followed from every row. */
function alongTargets(compilation: Compilation, owner: Schema, ownerAlias: string, further: readonly Step[], key: SortKey): Joined {
  const joins: Expression[] = []
  let [shape, alias] = [owner, ownerAlias]
  for (const one of further) {
    const { as, path, conditions } = reach(compilation, shape, one)
    joins.push(sql`left join ${operand(path)} on ${every([sql`${path.owner} = ${column(alias, 'id')}`, ...conditions])}`)
    shape = one.target
    alias = as
  }
  return { value: column(alias, key.attribute.column), joins }
}

/**
 * Further relations with many targets: level by level, the first value of each owner is found once, from those of the level behind.
 * Followed from every row, each level would multiply what the one before costs.
 */
function fromSets(compilation: Compilation, owner: Schema, alias: string, further: readonly Step[], key: SortKey): Joined {
  const [next, ...rest] = further
  if (next === undefined) return { value: column(alias, key.attribute.column), joins: [] }
  const { as, path, conditions } = reach(compilation, owner, next)
  const { value, joins } = fromSets(compilation, next.target, as, rest, key)
  const first = compilation.dialect.first(value, key.descending, compilation.contract.nullsFirst)
  const firsts = sql`select ${path.owner} as owner, ${first} as value from ${sql.join([from(path), ...joins], sql` `)}
    where ${every(conditions)} group by ${path.owner}`
  const name = `${as}_f`
  return {
    value: column(name, 'value'),
    joins: [sql`left join (${firsts}) as ${sql.id(name)} on ${column(name, 'owner')} = ${column(alias, 'id')}`],
  }
}

function reach(
  compilation: Compilation,
  owner: Schema,
  { attribute, target }: Step,
): { readonly as: string; readonly path: Joins; readonly conditions: readonly Expression[] } {
  const as = compilation.nextAlias()
  const path = joinsOf(compilation.dialect, owner, attribute, target, as)
  return { as, path, conditions: [...path.conditions, ...seenRows(compilation, { kind: 'condition', owner, attribute, target }, as)] }
}

/** Whether a row may have several targets. */
const isMany = (attribute: Step['attribute']): boolean => (attribute.kind === 'component' ? attribute.repeatable : attribute.many)
