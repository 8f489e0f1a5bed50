// The MySQL and MariaDB dialects.
import { sql } from 'kysely'
import type { BoundType, Dialect, Expression } from '../../dialect.js'
import { differs, type ListedDocuments, type SelectedRows, selectAll } from '../../portable-sql.js'
import { ambiguousTimeProblem } from '../time-zone.js'
import { commitOrderRow, groupTable } from './create-tables.js'
import { compileMysql } from './translate-sql.js'

export type MysqlServer = 'MariaDB' | 'MySQL'

/** `\` is LIKE's escape character, and is doubled in literals. */
const escaped = (value: Expression): Expression => sql`replace(replace(replace(${value}, '\\\\', '\\\\\\\\'), '%', '\\\\%'), '_', '\\\\_')`

const pattern = (value: Expression, kind: 'contains' | 'startsWith' | 'endsWith'): Expression => {
  if (kind === 'contains') return sql`concat('%', ${escaped(value)}, '%')`
  return kind === 'startsWith' ? sql`concat(${escaped(value)}, '%')` : sql`concat('%', ${escaped(value)})`
}

/** Compares by character, regardless of the column's collation. */
const exact = (text: Expression): Expression => sql`cast(${text} as char character set utf8mb4) collate utf8mb4_bin`

/** Compares bytes: collations ignore trailing spaces, even those that compare by character. */
const isSameText = (one: Expression, other: Expression) => sql<boolean>`cast(${one} as binary) = cast(${other} as binary)`

const compare = (column: Expression, value: Expression, kind: 'contains' | 'startsWith' | 'endsWith') => {
  if (kind === 'contains') return sql<boolean>`instr(${column}, ${value}) > 0`
  const part = sql`${sql.raw(kind === 'startsWith' ? 'left' : 'right')}(${column}, char_length(${value}))`
  return isSameText(part, value)
}

/** Sigma has two lower-case forms, depending on its position in a word. */
const folded = (text: Expression): Expression => sql`replace(lower(${exact(text)}), 'ς', 'σ')`

const typeNames = { integer: 'bigint', real: 'double' } as const

/** MySQL's default collation for such texts cannot be compared with other collations; a binary one can. */
const textOf: Readonly<Record<MysqlServer, string>> = { MariaDB: 'longtext', MySQL: 'longtext collate utf8mb4_bin' }

const jsonColumns = (types: Readonly<Record<string, BoundType>>, server: MysqlServer) =>
  Object.entries(types).map(([name, type], index) =>
    sql.raw(`"${name}" ${type === 'text' ? textOf[server] : typeNames[type]} path '$[${index}]'`),
  )

/** All rows of a select as JSON. On MariaDB this may reference outer columns, unlike a derived table. */
const asJson = ({ columns, from }: SelectedRows): Expression => {
  const row = sql`json_array(${sql.join(Object.values(columns))})`
  return from === null ? sql`json_array(${row})` : sql`coalesce((select json_arrayagg(${row}) from ${from}), '[]')`
}

type Around = Dialect['lateral']

const aroundOnMariadb: Around = (selects, types, as) => {
  const lists = selects.map(asJson)
  const rows = lists.length === 1 ? lists[0]! : sql`json_merge_preserve(${sql.join(lists)})`
  return sql`json_table(${rows}, '$[*]' columns (${sql.join(jsonColumns(types, 'MariaDB'))})) as ${sql.id(as)}`
}

/** On MySQL, a derived table may reference outer columns, but JSON may not. */
const aroundOnMysql: Around = (selects, _types, as) => sql`(${selectAll(selects)}) as ${sql.id(as)}`

/** `+ 0`: a plain number would be a column position. */
const listOf =
  (around: Around) =>
  (selects: readonly ListedDocuments[]): Expression => {
    const [only] = selects
    const joined = ({ document, place, id, from, once = false }: ListedDocuments) =>
      sql`(select group_concat(${once ? sql`distinct ` : sql``}cast(${document} as char) order by ${place} + 0, ${id} + 0 separator ',') from ${from})`
    if (selects.length === 1) return joined(only!)
    const found = selects.map(({ document, place, id, from }) => ({ columns: { document, place, id }, from }))
    const rows = around(found, { document: 'text', place: 'real', id: 'integer' }, 'listed')
    return joined({ document: sql`listed.document`, place: sql`listed.place`, id: sql`listed.id`, from: rows })
  }

/** The last second of a `timestamp` in MariaDB 11.5 and later; older servers reject later times themselves. */
const lastTimestamp = 4_294_967_295_999

const timestampFault = (milliseconds: number): string | null =>
  milliseconds > 0 && milliseconds <= lastTimestamp
    ? null
    : 'cannot be stored: a timestamp of this database is after 1970-01-01T00:00:00.000Z and before 2038, or 2106 on newer servers; a datetime holds others'

const timeOfDay = sql`timestampdiff(microsecond, '1970-01-01 00:00:00', utc_timestamp(3)) div 1000`

const dialectFor = (server: MysqlServer, around: Around): Dialect => ({
  compile: compileMysql,
  matches: (column, value, kind, matching) => {
    switch (matching) {
      case 'like':
        return sql<boolean>`${column} like ${pattern(value, kind)}`
      case 'ilike':
        return sql<boolean>`lower(${column}) like lower(${pattern(value, kind)})`
      case 'exact':
        return compare(exact(column), exact(value), kind)
      case 'folded':
        return compare(folded(column), folded(value), kind)
    }
  },
  compare: (column, sign, value) => sql`${column} ${sql.raw(sign)} ${value}`,
  isAnyOf: (column, values) => sql`${column} in (${sql.join([...values])})`,
  equalsIgnoringCase: (column, value, folding) =>
    folding === 'unicode' ? isSameText(folded(column), folded(value)) : sql<boolean>`lower(${column}) = lower(${value})`,
  collates: true,
  momentFault: (milliseconds, type) => (type === 'timestamp' ? timestampFault(milliseconds) : null) ?? ambiguousTimeProblem(milliseconds),
  numberTable: (list, as) => sql`json_table(${list}, '$[*]' columns (value bigint path '$')) as ${sql.id(as)}`,
  rowCount: (value) => value,
  readsSkippedRows: true,
  joinedInOrder: (tables) => sql.join([...tables], sql` straight_join `),
  unindexed: (column) => column,
  selected: (column) => column,
  // Determined from the text on reading (reads.ts).
  isJson: () => sql`1`,
  list: (values) => sql.join(values),
  rows: (rows, columns, as) => sql`(select ${sql.join(Object.keys(columns).map((name) => sql.id(name)))}, ordinal - 1 as ordinal
    from json_table(${JSON.stringify(rows)}, '$[*]' columns (ordinal for ordinality, ${sql.join(jsonColumns(columns, server))})) as bound) as ${sql.id(as)}`,
  lateral: around,
  documentList: listOf(around),
  differs: (one, other) => sql<boolean>`(not (cast(${one} as binary) <=> cast(${other} as binary)))`,
  // Positions are unsigned.
  positionBefore: (first) => sql`${first} / 2`,
  // Nulls are the smallest values.
  orderKey: (value, descending) => sql`${value} ${descending ? sql`desc` : sql`asc`}`,
  nullsAreGreatest: false,
  firstValue: (value, descending) => (descending ? sql`max(${value})` : sql`case when count(${value}) = count(*) then min(${value}) end`),
  // Rows that came from SQLite contain values that Strapi misread close to 1970.
  timestampsDiffer: (one, other) =>
    sql`(${differs(one, other)} and (${one} is null or abs(timestampdiff(second, '1970-01-01', ${one})) >= 10000))`,
  timeOfDay,
  sharedClock: () => sql`(${timeOfDay})`,
  stateSeen: sql`cast(null as signed)`,
  commitOrder: sql`select id from ${sql.table(groupTable)} where id = ${sql.lit(commitOrderRow)} for update`,
  // AUTO_INCREMENT ids cannot be reserved without a row: every row gets its id when it is inserted.
  newIds: () => sql`null as id where 1 = 0`,
  idsFrom: () => () => null,
  stoppable: () => sql<boolean>`true`,
})

export const mysqlDialects: Readonly<Record<MysqlServer, Dialect>> = {
  MariaDB: dialectFor('MariaDB', aroundOnMariadb),
  MySQL: dialectFor('MySQL', aroundOnMysql),
}
