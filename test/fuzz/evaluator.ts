// A naive reading of the rules for filters and sort, in memory: three-valued logic for null, left joins for relations,
// byte order for text. Written from the specification, for the contract `specification`; shares no code with the service.

export type Value = string | number | bigint | null
export type Truth = boolean | null

/** A stored row: its values as the database keeps them, and the rows that its relations and components lead to. */
export interface Row {
  readonly id: number
  readonly values: ReadonlyMap<string, Value>
  readonly links: ReadonlyMap<string, readonly Row[]>
}

export type Condition =
  | { readonly kind: 'and' | 'or' | 'together'; readonly of: readonly Condition[] }
  | { readonly kind: 'not'; readonly of: Condition }
  | { readonly kind: 'compare'; readonly attribute: string; readonly operator: string; readonly operands: readonly Value[] }
  | { readonly kind: 'related'; readonly relation: string; readonly where: Condition }

export interface SortKey {
  readonly path: readonly string[]
  readonly attribute: string
  readonly descending: boolean
}

/** Numbers by size, texts by their bytes; null is smaller than everything. */
export function compare(left: Value, right: Value): number {
  if (left === null || right === null) return left === right ? 0 : left === null ? -1 : 1
  if (typeof left === 'string' && typeof right === 'string') return Buffer.compare(Buffer.from(left), Buffer.from(right))
  return left < right ? -1 : left > right ? 1 : 0
}

/** Letters fold alone as they fold inside a word: sigma has two small forms (filters.7). */
const lower = (text: string): string => text.toLowerCase().replaceAll('ς', 'σ')
const negated = (truth: Truth): Truth => (truth === null ? null : !truth)

/** One comparison. Null is neither equal nor unequal, unless the operator tests for null. */
function test(value: Value, operator: string, operands: readonly Value[]): Truth {
  if (operator === '$null') return value === null
  if (operator === '$notNull') return value !== null
  if (value === null) return null
  const [operand, second] = operands as readonly [Value, Value]
  const order = compare(value, operand)
  const [text, wanted] = [String(value), String(operand)]
  switch (operator) {
    case '$eq':
      return order === 0
    case '$ne':
      return order !== 0
    case '$lt':
      return order < 0
    case '$lte':
      return order <= 0
    case '$gt':
      return order > 0
    case '$gte':
      return order >= 0
    case '$in':
      return operands.some((one) => compare(value, one) === 0)
    case '$notIn':
      return operands.every((one) => compare(value, one) !== 0)
    case '$between':
      return order >= 0 && compare(value, second) <= 0
    case '$eqi':
      return lower(text) === lower(wanted)
    case '$nei':
      return lower(text) !== lower(wanted)
    case '$contains':
      return text.includes(wanted)
    case '$notContains':
      return !text.includes(wanted)
    case '$containsi':
      return lower(text).includes(lower(wanted))
    case '$notContainsi':
      return !lower(text).includes(lower(wanted))
    case '$startsWith':
      return text.startsWith(wanted)
    case '$startsWithi':
      return lower(text).startsWith(lower(wanted))
    case '$endsWith':
      return text.endsWith(wanted)
    case '$endsWithi':
      return lower(text).endsWith(lower(wanted))
    default:
      throw new Error(`there is no operator ${operator}`)
  }
}

function all(truths: readonly Truth[]): Truth {
  if (truths.includes(false)) return false
  return truths.includes(null) ? null : true
}

/** Represents a missing row: nulls without links. */
const nothing: Row = { id: 0, values: new Map(), links: new Map() }

const stored = (row: Row, attribute: string): Value => row.values.get(attribute) ?? null
const behind = (row: Row, relation: string): readonly Row[] => {
  const rows = row.links.get(relation) ?? []
  return rows.length === 0 ? [nothing] : rows
}

/** Relations and components that lead to several rows. */
const toMany: ReadonlySet<string> = new Set(['tags', 'things', 'parts'])

/**
 * Every truth that a condition can have for a row, by the targets that its joins choose. `inNot`: the condition is negated;
 * `outside`: of `nothing`, whether it was when the row was reached.
 */
function truths(condition: Condition, row: Row, inNot = false, outside = false): ReadonlySet<Truth> {
  switch (condition.kind) {
    case 'compare':
      return new Set([test(stored(row, condition.attribute), condition.operator, condition.operands)])
    case 'not':
      return new Set([...truths(condition.of, row, !inNot, outside)].map(negated))
    case 'related': {
      const isNone = inNot && toMany.has(condition.relation)
      if (isNone && (row !== nothing || outside)) return new Set([truths(condition, row, false, outside).has(true)])
      const from = row === nothing ? outside : inNot
      return new Set(behind(row, condition.relation).flatMap((target) => [...truths(condition.where, target, inNot, from)]))
    }
    case 'or':
      return new Set(
        [...combinations(condition.of.map((part) => new Set([...truths(part, row, inNot, outside)].map(negated))))].map(negated),
      )
    case 'and':
    case 'together':
      return combinations(condition.of.map((part) => truths(part, row, inNot, outside)))
  }
}

/** Joins are independent of each other: any truth of one part may meet any truth of another. */
function combinations(parts: readonly ReadonlySet<Truth>[]): ReadonlySet<Truth> {
  let combined: ReadonlySet<Truth> = new Set([true])
  for (const part of parts) combined = new Set([...combined].flatMap((one) => [...part].map((other) => all([one, other]))))
  return combined
}

/** A row is found if one choice of targets makes the condition true. */
export const holds = (condition: Condition | null, row: Row): boolean => condition === null || truths(condition, row).has(true)

/** The value that a row is sorted by: its own, or the first among its targets. */
function sortValue(row: Row, { path, attribute, descending }: SortKey): Value {
  const ends = path.reduce<readonly Row[]>((rows, relation) => rows.flatMap((one) => behind(one, relation)), [row])
  const values = ends.map((end) => stored(end, attribute)).sort(compare)
  return (descending ? values.at(-1) : values[0]) ?? null
}

/** The ids of the rows that are found, in order; ties by id. */
export function evaluate(rows: readonly Row[], condition: Condition | null, sort: readonly SortKey[]): readonly number[] {
  const found = rows.filter((row) => holds(condition, row))
  const keyed = found.map((row) => ({ id: row.id, keys: sort.map((key) => sortValue(row, key)) }))
  keyed.sort((left, right) => {
    for (const [index, { descending }] of sort.entries()) {
      const order = compare(left.keys[index]!, right.keys[index]!)
      if (order !== 0) return descending ? -order : order
    }
    return left.id - right.id
  })
  return keyed.map(({ id }) => id)
}
