// The SQLite dialect. Functions named `octavo_*` are registered on every connection (connection.ts).
import { DummyDriver, Kysely, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler, sql } from 'kysely'
import type { Dialect, Expression } from '../dialect.js'
import type { Parameter } from '../plan.js'
import { differs, listedText, selectAll } from '../portable-sql.js'

/** Compiles SQL only; statements are executed by the driver (connection.ts). */
const writer = new Kysely<unknown>({
  dialect: {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (database) => new SqliteIntrospector(database),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  },
})

export function writeSql(query: Expression): { readonly sql: string; readonly parameters: readonly unknown[] } {
  const { sql: text, parameters } = query.compile(writer)
  return { sql: text, parameters }
}

const escaped = (value: Expression): Expression => sql`replace(replace(replace(${value}, '\\', '\\\\'), '%', '\\%'), '_', '\\_')`

const pattern = (value: Expression, kind: 'contains' | 'startsWith' | 'endsWith'): Expression => {
  if (kind === 'contains') return sql`'%' || ${escaped(value)} || '%'`
  return kind === 'startsWith' ? sql`${escaped(value)} || '%'` : sql`'%' || ${escaped(value)}`
}

/** Maximum length of values that SQLite's own functions find in nearly linear time. */
const shortValue = 16

/** Maximum product of text length and value length for which SQLite's search takes no more than 0.1 ms. */
const smallSearch = 100_000

/** Uses the linear-time search for long values in long texts; otherwise SQLite's own, which is usually faster. */
const whereLong = (text: Expression, value: Expression, long: Expression, short: Expression) =>
  sql<boolean>`case when length(${value}) > ${sql.lit(shortValue)} and octet_length(${text}) * length(${value}) > ${sql.lit(smallSearch)} then ${long} else ${short} end`

const compare = (column: Expression, value: Expression, kind: 'contains' | 'startsWith' | 'endsWith') => {
  if (kind === 'contains') return whereLong(column, value, sql`octavo_contains(${column}, ${value})`, sql`instr(${column}, ${value}) > 0`)
  if (kind === 'startsWith') return sql<boolean>`substr(${column}, 1, length(${value})) = ${value}`
  return sql<boolean>`(length(${column}) >= length(${value}) and substr(${column}, length(${column}) - length(${value}) + 1) = ${value})`
}

const asText = (column: Expression): Expression => sql`cast(${column} as text)`
/** Cast to text, or integers would reach the function as doubles. */
const fold = (column: Expression): Expression => sql`octavo_fold(${asText(column)})`

/** LIKE reads both sides up to a NUL; a value that contains one matches nothing. */
const like = (column: Expression, value: Expression, kind: 'contains' | 'startsWith' | 'endsWith') => {
  const short = sql<boolean>`(${column} like ${pattern(value, kind)} escape '\\' and (instr(${value}, char(0)) = 0 or ${column} is null))`
  if (kind === 'startsWith') return short
  const search = sql.raw(kind === 'contains' ? 'octavo_like_contains' : 'octavo_like_ends')
  return whereLong(column, value, sql`${search}(${asText(column)}, ${value})`, short)
}

/**
 * Average number of rows between calls of `octavo_alive`, which take 0.2 µs; the modulo takes 0.02. A prime, since ids of one kind are
 * often all even or all odd.
 */
const rowsBetweenLooks = 127

/** Maximum number of values bound individually. */
const few = 500

export const sqliteDialect: Dialect = {
  compile: (query) => {
    const { sql: text, parameters } = writeSql(query)
    return { sql: text, parameters: parameters as readonly Parameter[] }
  },
  matches: (column, value, kind, matching) => {
    if (matching === 'like' || matching === 'ilike') return like(column, value, kind)
    return matching === 'folded' ? compare(fold(column), fold(value), kind) : compare(asText(column), value, kind)
  },
  compare: (column, comparison, value) => sql`${column} ${sql.raw(comparison)} ${value}`,
  isAnyOf: (column, values) => sql`${column} in (${sql.join(values)})`,
  equalsIgnoringCase: (column, value, folding) =>
    folding === 'unicode' ? sql<boolean>`${fold(column)} = ${fold(value)}` : sql<boolean>`lower(${column}) = lower(${value})`,
  numberTable: (list, as) => sql`json_each(${list}) as ${sql.id(as)}`,
  // SQLite re-prepares the statement on each execution for a bare parameter, which takes longer than a small read.
  rowCount: (value) => sql`${value} + 0`,
  collates: false,
  readsSkippedRows: false,
  joinedInOrder: (tables) => sql.join([...tables], sql` cross join `),
  unindexed: (column) => sql`+${column}`,
  stoppable: (id) => sql<boolean>`likelihood(${id} % ${sql.lit(rowsBetweenLooks)} or octavo_alive(), 1.0)`,
  selected: (column, answer) =>
    answer === 'biginteger' ? sql`case typeof(${column}) when 'integer' then cast(${column} as text) else ${column} end` : column,
  // Longer lists are bound as one JSON text, which never exceeds the limit on parameters.
  list: (values) => (values.length <= few ? sql.join(values) : sql`select value from json_each(${JSON.stringify(values)})`),
  rows: (rows, columns, as) => {
    const names = Object.keys(columns).map((name, index) => sql`value ->> ${sql.lit(index)} as ${sql.id(name)}`)
    // Without the limit SQLite would parse the JSON again for each joined row.
    return sql`(select ${sql.join(names)}, key as ordinal from json_each(${JSON.stringify(rows)}) limit -1) as ${sql.id(as)}`
  },
  lateral: (selects, _types, as) => sql`(${selectAll(selects)}) as ${sql.raw(as)}`,
  documentList: listedText,
  differs,
  positionBefore: (first) => sql`${first} - 1`,
  // Nulls are the smallest values.
  orderKey: (value, descending) => sql`${value} ${descending ? sql`desc` : sql`asc`}`,
  nullsAreGreatest: false,
  firstValue: (value, descending) => (descending ? sql`max(${value})` : sql`case when count(${value}) = count(*) then min(${value}) end`),
  // Strapi misreads timestamps close to 1970.
  timestampsDiffer: (one, other) => sql`(${differs(one, other)} and abs(coalesce(${one}, 0)) >= 10000000)`,
  timeOfDay: sql`cast(round(unixepoch('now', 'subsec') * 1000) as integer)`,
  // All processes run on the machine of the file, whose uptime is not affected by changes of the system time.
  sharedClock: () => sql`${Number(process.hrtime.bigint() / 1_000_000n)}`,
  stateSeen: sql`(select data_version from pragma_data_version)`,
  // The maximum id covers tables without AUTOINCREMENT.
  newIds: (table) => sql`max(coalesce((select seq from sqlite_sequence where name = ${table}), 0),
    coalesce((select max(id) from ${sql.table(table)}), 0)) as id`,
  // The write lock excludes concurrent inserts.
  idsFrom: ([last = 0]) => {
    let given = last
    return () => ++given
  },
  commitOrder: null,
  isJson: (column) => sql`json_valid(${column})`,
}
