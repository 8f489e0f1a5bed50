// The content of a database as texts that can be compared: every row of Strapi's tables but for those of the admin panel, with all digits.
import Database from 'better-sqlite3'
import { createConnection, type RowDataPacket } from 'mysql2/promise'
import pg from 'pg'

/** Rows as texts, sorted, by table. */
export type Content = Readonly<Record<string, readonly string[]>>

/** Tables that an archive does not have. */
const isLeftOut = (table: string): boolean => /^(?:admin_|octavo_|sqlite_|strapi_(?!core_store|webhooks))/.test(table)

/** Columns that are not in an archive, and row ids without references. */
const isVolatile = (table: string, column: string): boolean =>
  column === 'created_by_id' || column === 'updated_by_id' || (column === 'id' && /_(?:lnk|mph|cmps)$|^strapi_/.test(table))

type Rows = readonly Readonly<Record<string, unknown>>[]

/** Reads the rows of a database. */
interface Reader {
  tables(): Promise<readonly string[]>
  rows(table: string): Promise<Rows>
  close(): Promise<void>
}

/** Reads the content of a SQLite file or of the database at a URL; without some tables, and without some columns. */
export async function contentOf(place: string, withoutTable = isLeftOut, withoutColumn = isVolatile): Promise<Content> {
  const reader = await (place.startsWith('postgres:') ? onPostgres(place) : place.startsWith('mysql:') ? onMysql(place) : onSqlite(place))
  try {
    const content: Record<string, string[]> = {}
    for (const table of (await reader.tables()).filter((name) => !withoutTable(name)).sort())
      content[table] = (await reader.rows(table)).map((row) => textOf(row, (column) => withoutColumn(table, column))).sort()
    return content
  } finally {
    await reader.close()
  }
}

/** Rows that only one of two contents has, shortened: `articles - id=3 …`. */
export function differences(one: Content, other: Content): readonly string[] {
  const only = (table: string, rows: readonly string[] = [], others: readonly string[] = [], sign: string) => {
    const known = new Set(others)
    return rows.filter((row) => !known.has(row)).map((row) => `${table} ${sign} ${row.slice(0, 2_000)}`)
  }
  return [...new Set([...Object.keys(one), ...Object.keys(other)])].flatMap((table) => [
    ...only(table, one[table], other[table], '-'),
    ...only(table, other[table], one[table], '+'),
    ...(one[table]?.length === other[table]?.length ? [] : [`${table}: ${one[table]?.length} rows, and ${other[table]?.length}`]),
  ])
}

const textOf = (row: Readonly<Record<string, unknown>>, isWithout: (column: string) => boolean): string =>
  Object.entries(row)
    .filter(([column]) => !isWithout(column))
    .map(([column, value]) => `${column}=${value instanceof Buffer ? value.toString('hex') : String(value)}`)
    .join(' ')

async function onSqlite(file: string): Promise<Reader> {
  const database = new Database(file, { readonly: true })
  return {
    tables: async () => database.prepare("select name from sqlite_schema where type = 'table'").pluck().all() as string[],
    rows: async (table) => database.prepare(`select * from "${table}"`).safeIntegers().all() as Rows,
    close: async () => void database.close(),
  }
}

async function onPostgres(url: string): Promise<Reader> {
  const client = new pg.Client(url)
  await client.connect()
  // All types as text.
  const types = { getTypeParser: () => (text: string) => text } as pg.CustomTypesConfig
  const rows = async (text: string): Promise<Rows> => (await client.query({ text, types })).rows
  return {
    tables: async () =>
      (await rows('select tablename from pg_tables where schemaname = current_schema()')).map(({ tablename }) => String(tablename)),
    rows: (table) => rows(`select * from "${table}"`),
    close: () => client.end(),
  }
}

async function onMysql(url: string): Promise<Reader> {
  const connection = await createConnection({
    ...{ uri: url, dateStrings: true, supportBigNumbers: true, bigNumberStrings: true, jsonStrings: true },
  })
  const rows = async (text: string): Promise<Rows> => (await connection.query<RowDataPacket[]>(text))[0]
  return {
    tables: async () => (await rows('show tables')).map((row) => String(Object.values(row)[0])),
    rows: (table) => rows(`select * from \`${table}\``),
    close: () => connection.end(),
  }
}
