// Runs statements on a database as another program would: on a connection of their own.
import Database from 'better-sqlite3'
import pg from 'pg'

export type Value = string | number | bigint | null
// biome-ignore lint/suspicious/noExplicitAny: tests look into columns of every type
export type Row = Readonly<Record<string, any>>

/**
 * Runs a statement and resolves to its rows. `place` is a SQLite file or the URL of a PostgreSQL database. Each `?` stands for a value.
 * Values have one form on both: moments are milliseconds since 1970, booleans 0 and 1, JSON is text. A literal of them in the statement
 * itself would be SQLite's alone.
 */
export async function runStatement(place: string, text: string, values: readonly Value[] = []): Promise<readonly Row[]> {
  return place.startsWith('postgres') ? runOnPostgres(place, text, values) : runOnSqlite(place, text, values)
}

function runOnSqlite(file: string, text: string, values: readonly Value[]): readonly Row[] {
  const database = new Database(file, { fileMustExist: true })
  try {
    const statement = database.prepare(text)
    if (statement.reader) return statement.all(...values) as Row[]
    statement.run(...values)
    return []
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

/** The values as the types that the server gives their places want them. */
async function encode(client: pg.Client, text: string, values: readonly Value[]): Promise<readonly unknown[]> {
  await client.query(`prepare described as ${text}`)
  const described = `select unnest(parameter_types)::oid::int as type from pg_prepared_statements where name = 'described'`
  const { rows } = await client.query<{ type: number }>(described)
  return values.map((value, index) => (rows[index]?.type === TIMESTAMP && typeof value === 'number' ? new Date(value) : value))
}
