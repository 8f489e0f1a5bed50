// Runs statements on a database as another program would: on a separate connection.
import Database from 'better-sqlite3'
import { createConnection, type ResultSetHeader, type RowDataPacket } from 'mysql2/promise'
import pg from 'pg'

export type Value = string | number | bigint | null
// biome-ignore lint/suspicious/noExplicitAny: tests read columns of every type
export type Row = Readonly<Record<string, any>>

/**
 * Runs a statement and resolves to its rows. `place` is a SQLite file or the URL of a database on a server. Each `?` is a parameter.
 * Values have the same form on all databases: times are milliseconds since 1970, booleans 0 and 1, JSON is text. Literals of these
 * types in the statement would be valid on SQLite only.
 */
export async function runStatement(place: string, text: string, values: readonly Value[] = []): Promise<readonly Row[]> {
  if (place.startsWith('postgres:')) return runOnPostgres(place, text, values)
  return place.startsWith('mysql:') ? runOnMysql(place, text, values) : runOnSqlite(place, text, values)
}

/** Milliseconds to wait for a lock. A service in this process cannot end its transaction while a statement waits, so it does not. */
const [lockWait, lockPause] = [10_000, 5]

async function runOnSqlite(file: string, text: string, values: readonly Value[]): Promise<readonly Row[]> {
  const database = new Database(file, { fileMustExist: true, timeout: 0 })
  try {
    const statement = database.prepare(text)
    for (const end = performance.now() + lockWait; ; await new Promise((resolve) => setTimeout(resolve, lockPause))) {
      try {
        if (statement.reader) return statement.all(...values) as Row[]
        statement.run(...values)
        return []
      } catch (error) {
        if (!String((error as { code?: unknown }).code).startsWith('SQLITE_BUSY') || performance.now() > end) throw error
      }
    }
  } finally {
    database.close()
  }
}

const { BOOL, INT8, NUMERIC, TIMESTAMP, JSONB, JSON: JSON_TEXT } = pg.types.builtins

const readers: Readonly<Record<number, (text: string) => unknown>> = {
  [BOOL]: (text) => (text === 't' ? 1 : 0),
  [INT8]: (text) => (Number.isSafeInteger(Number(text)) ? Number(text) : text),
  [NUMERIC]: Number,
  // As Strapi's driver has them: the wall clock of this process.
  [TIMESTAMP]: (text) => Number(pg.types.getTypeParser(TIMESTAMP)(text)),
  [JSONB]: String,
  [JSON_TEXT]: String,
  [pg.types.builtins.DATE]: String,
}

async function runOnPostgres(url: string, text: string, values: readonly Value[]): Promise<readonly Row[]> {
  const client = new pg.Client(url)
  await client.connect()
  try {
    let place = 0
    const numbered = text.replace(/'[^']*'|\?/g, (found) => (found === '?' ? `$${++place}` : found))
    const given = values.length === 0 ? [] : await encode(client, numbered, values)
    const types = { getTypeParser: (type: number) => readers[type] ?? pg.types.getTypeParser(type) }
    const { rows } = await client.query<Row>({ text: numbered, values: given, types: types as pg.CustomTypesConfig })
    return rows
  } finally {
    await client.end()
  }
}

/** Converts the values to the types of their parameters. */
async function encode(client: pg.Client, text: string, values: readonly Value[]): Promise<readonly unknown[]> {
  await client.query(`prepare described as ${text}`)
  const described = `select unnest(parameter_types)::oid::int as type from pg_prepared_statements where name = 'described'`
  const { rows } = await client.query<{ type: number }>(described)
  return values.map((value, index) => (rows[index]?.type === TIMESTAMP && typeof value === 'number' ? new Date(value) : value))
}

/** Numbers from here on are times, because the server does not report which column a value is for. Milliseconds since 1970. */
const firstMoment = Date.UTC(2000, 0, 1)

const two = (number: number): string => String(number).padStart(2, '0')

/** A time in the local zone of this process, as Strapi's driver stores it. */
function wallClock(milliseconds: number): string {
  const at = new Date(milliseconds)
  const day = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`
  return `${day} ${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}.${String(at.getMilliseconds()).padStart(3, '0')}`
}

async function runOnMysql(url: string, text: string, values: readonly Value[]): Promise<readonly Row[]> {
  const connection = await createConnection({ uri: url, supportBigNumbers: true, decimalNumbers: true, jsonStrings: true })
  try {
    await connection.query("set session sql_mode = 'ANSI_QUOTES,PIPES_AS_CONCAT,STRICT_TRANS_TABLES'")
    // Octavo's tables store times as numbers.
    const isMoment = (value: Value): value is number => typeof value === 'number' && value >= firstMoment && !/\boctavo_/.test(text)
    const given = values.map((value) => (isMoment(value) ? wallClock(value) : value))
    // MySQL has no `returning`; the driver knows the number of the first new row, which those of one statement follow.
    const [rows] = await connection.query<RowDataPacket[] | ResultSetHeader>(text.replace(/\breturning id$/i, ''), given)
    if (!Array.isArray(rows)) return Array.from({ length: rows.affectedRows }, (_, index) => ({ id: rows.insertId + index }))
    const shown = (value: unknown) => (value instanceof Date ? Number(value) : value)
    return rows.map((row) => Object.fromEntries(Object.entries(row).map(([name, value]) => [name, shown(value)])))
  } finally {
    await connection.end()
  }
}
