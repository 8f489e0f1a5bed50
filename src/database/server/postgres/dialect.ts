// The PostgreSQL dialect.
import { DummyDriver, Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler, type RawBuilder, sql } from 'kysely'
import { quoted } from '../../../model/tables/table.js'
import type { BoundType, ComparisonSign, Dialect, Expression } from '../../dialect.js'
import type { Parameter } from '../../plan.js'
import { differs, listedText, selectAll } from '../../portable-sql.js'
import { ambiguousTimeProblem } from '../time-zone.js'
import { stateSeen } from './history.js'

/** Compiles SQL only. */
const writer = new Kysely<unknown>({
  dialect: {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (database) => new PostgresIntrospector(database),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  },
})

export function writePostgresSql(query: Expression): { readonly text: string; readonly values: readonly unknown[] } {
  const { sql: text, parameters } = query.compile(writer)
  return { text, values: parameters }
}

const asText = (column: Expression): Expression => sql`cast(${column} as text)`
const lower = (column: Expression): Expression => sql`lower(${asText(column)})`
const escaped = (value: Expression): Expression => sql`replace(replace(replace(${asText(value)}, '\\', '\\\\'), '%', '\\%'), '_', '\\_')`

const pattern = (value: Expression, kind: 'contains' | 'startsWith' | 'endsWith'): Expression => {
  if (kind === 'contains') return sql`'%' || ${escaped(value)} || '%'`
  return kind === 'startsWith' ? sql`${escaped(value)} || '%'` : sql`'%' || ${escaped(value)}`
}

const compare = (column: Expression, value: Expression, kind: 'contains' | 'startsWith' | 'endsWith') => {
  if (kind === 'contains') return sql<boolean>`strpos(${column}, ${value}) > 0`
  if (kind === 'startsWith') return sql<boolean>`starts_with(${column}, ${value})`
  return sql<boolean>`right(${column}, length(${value})) = ${value}`
}

/** Advisory lock that makes sequence numbers follow commit order. */
const committing = 7_082_100_004

/** The range of 64-bit integers. */
const least = sql.raw('-9223372036854775808')
const greatest = sql.raw('9223372036854775807')

const clamped = (whole: Expression): Expression => sql`cast(greatest(least(${whole}, ${greatest}), ${least}) as bigint)`

/** An integer, or `other` if `value` exceeds 64 bits. */
const within = (value: Expression, whole: Expression, other: number): Expression =>
  sql`cast(case when ${value} between ${least} and ${greatest} then ${whole} else ${sql.lit(other)} end as bigint)`

/** Compares an integer column with any number. The number is rounded to an integer, so that the column's index is used. */
const wholeComparisons: Readonly<Record<ComparisonSign, (column: Expression, value: Expression) => RawBuilder<boolean>>> = {
  // 1 and 0 yield an empty range.
  '=': (column, value) =>
    sql`(${column} >= ${within(value, sql`ceil(${value})`, 1)} and ${column} <= ${within(value, sql`floor(${value})`, 0)})`,
  '<>': (column, value) => sql`${column} <> ${value}`,
  '<': (column, value) => sql`${column} < ${clamped(sql`ceil(${value})`)}`,
  '<=': (column, value) => sql`${column} <= ${clamped(sql`floor(${value})`)}`,
  '>': (column, value) => sql`${column} > ${clamped(sql`floor(${value})`)}`,
  '>=': (column, value) => sql`${column} >= ${clamped(sql`ceil(${value})`)}`,
}

const typeNames: Readonly<Record<BoundType, string>> = { integer: 'integer', real: 'double precision', text: 'text' }

/** True if a value fits an id column; the server would reject others. */
const mayBeId = (value: number | string): boolean =>
  typeof value === 'string' || (Number.isInteger(value) && value >= -2_147_483_648 && value <= 2_147_483_647)

const arrayOf = (values: readonly (number | string)[]): string =>
  `{${values.map((value) => (typeof value === 'number' ? String(value) : `"${value.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`)).join(',')}}`

const sorted = (value: Expression, descending: boolean, nullsFirst: boolean): Expression => {
  const nulls = nullsFirst ? (descending ? sql` nulls last` : sql` nulls first`) : sql``
  return sql`${value} ${descending ? sql`desc` : sql`asc`}${nulls}`
}

/** Sigma has two lower-case forms, depending on its position in a word. */
const folded = (text: Expression): Expression => sql`replace(${lower(text)}, 'ς', 'σ')`

const timeOfDay = sql`cast(floor(extract(epoch from clock_timestamp()) * 1000) as bigint)`

export const postgresDialect: Dialect = {
  compile: (query) => {
    const { text, values } = writePostgresSql(query)
    return { sql: text, parameters: values as readonly Parameter[] }
  },
  matches: (column, value, kind, matching) => {
    switch (matching) {
      case 'like':
        return sql<boolean>`${asText(column)} like ${pattern(value, kind)}`
      case 'ilike':
        return sql<boolean>`${lower(column)} like lower(${pattern(value, kind)})`
      case 'exact':
        return compare(asText(column), asText(value), kind)
      case 'folded':
        return compare(folded(column), folded(value), kind)
    }
  },
  compare: (column, comparison, value, isWhole) =>
    isWhole ? wholeComparisons[comparison](column, sql`cast(${value} as numeric)`) : sql`${column} ${sql.raw(comparison)} ${value}`,
  isAnyOf: (column, values, isWhole) =>
    isWhole
      ? sql`(${sql.join(
          values.map((value) => wholeComparisons['='](column, sql`cast(${value} as numeric)`)),
          sql` or `,
        )})`
      : sql`${column} in (${sql.join([...values])})`,
  equalsIgnoringCase: (column, value, folding) =>
    folding === 'unicode' ? sql<boolean>`${folded(column)} = ${folded(value)}` : sql<boolean>`${lower(column)} = ${lower(value)}`,
  numberTable: (list, as) => sql`(${list}) as ${sql.id(as)} (value)`,
  rowCount: (value) => sql`cast(${value} as bigint)`,
  collates: false,
  momentFault: ambiguousTimeProblem,
  readsSkippedRows: true,
  joinedInOrder: (tables) => sql.join([...tables], sql` cross join `),
  unindexed: (column) => column,
  stoppable: () => sql<boolean>`true`,
  selected: (column, answer) => {
    switch (answer) {
      case 'biginteger':
        return asText(column)
      case 'boolean':
        return sql`cast(${column} as integer)`
      case 'datetime':
      case 'timestamp':
        // A local time as milliseconds; half a microsecond compensates for floating-point error.
        return sql`floor(date_part('epoch', ${column}) * 1000 + 0.0005)`
      default:
        return column
    }
  },
  isJson: () => sql`1`,
  list: (values) => {
    const possible = values.filter(mayBeId)
    if (possible.length === 1) return sql`${possible[0]}`
    // A single array parameter keeps the statement text independent of the number of values.
    return sql`select unnest(cast(${arrayOf(possible)} as ${sql.raw(typeof values[0] === 'number' ? 'integer[]' : 'text[]')}))`
  },
  rows: (rows, columns, as) => {
    const names = Object.entries<BoundType>(columns).map(
      ([name, type], index) => sql`cast(value ->> ${sql.lit(index)} as ${sql.raw(typeNames[type])}) as ${sql.id(name)}`,
    )
    return sql`(select ${sql.join(names)}, ordinal - 1 as ordinal
      from jsonb_array_elements(cast(${JSON.stringify(rows)} as jsonb)) with ordinality as bound (value, ordinal)) as ${sql.id(as)}`
  },
  lateral: (selects, _types, as) => sql`(${selectAll(selects)}) as ${sql.raw(as)}`,
  documentList: listedText,
  differs,
  positionBefore: (first) => sql`${first} - 1`,
  orderKey: sorted,
  // For every type.
  nullsAreGreatest: true,
  firstValue: (value, descending, nullsFirst) => sql`(array_agg(${value} order by ${sorted(value, descending, nullsFirst)}))[1]`,
  // Rows that came from SQLite contain values that Strapi misread close to 1970.
  timestampsDiffer: (one, other) => sql`(${differs(one, other)} and abs(coalesce(date_part('epoch', ${one}), 0)) >= 10000)`,
  timeOfDay,
  // A subquery is evaluated once per statement, so that an index can be used.
  sharedClock: () => sql`(select ${timeOfDay})`,
  stateSeen,
  commitOrder: sql`select pg_advisory_xact_lock(${sql.lit(committing)})`,
  newIds: (table, count) => sql`nextval(pg_get_serial_sequence(${quoted(table)}, 'id')) as id from generate_series(1, ${sql.lit(count)})`,
  idsFrom: (found) => {
    const left = [...found].reverse()
    return () => left.pop() ?? null
  },
}
