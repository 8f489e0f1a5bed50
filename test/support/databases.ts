// The database that the suite runs on: SQLite, or with DATABASE_CLIENT=postgres a database of its own on one server for each project.
import { appendFileSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'
import pg from 'pg'
import { startServer } from '../postgres/server.js'

/** Whether projects are served on PostgreSQL. */
export const isOnPostgres = process.env.DATABASE_CLIENT === 'postgres'

const content = join(dirname(fileURLToPath(import.meta.url)), '..', 'golden', 'postgres', 'content.sql.gz')
/** The variables by which the files of the suite know the server, and the database with the golden content. */
const [server, golden] = ['OCTAVO_TEST_POSTGRES_URL', 'OCTAVO_TEST_POSTGRES_GOLDEN']

/** Runs once before all files. */
export default async function setup(): Promise<() => Promise<void>> {
  if (!isOnPostgres) return async () => {}
  const started = await startServer()
  const template = await started.createDatabase()
  await started.run(template, gunzipSync(readFileSync(content)).toString('utf8'))
  process.env[server] = new URL('/postgres', template).href
  process.env[golden] = template
  return started.close
}

/** Creates a database, empty or with the golden content, and returns what a service has to know of it. */
export async function createDatabase(isGolden: boolean): Promise<Readonly<Record<string, string>>> {
  const name = `octavo_suite_${process.pid}_${Math.random().toString(36).slice(2, 10)}`
  const template = isGolden ? new URL(process.env[golden]!).pathname.slice(1) : 'template0'
  await run(`create database ${name} template ${template}`)
  return { DATABASE_CLIENT: 'postgres', DATABASE_URL: new URL(`/${name}`, process.env[server]).href }
}

/** Writes a project's database into its .env, where its commands find it. */
export function nameDatabase(folder: string, database: Readonly<Record<string, string>>): void {
  const lines = Object.entries(database).map(([name, value]) => `\n${name}=${value}`)
  if (lines.length > 0) appendFileSync(join(folder, '.env'), `${lines.join('')}\n`)
}

/** Removes a database that `createDatabase` made. */
export const removeDatabase = ({ DATABASE_URL }: Readonly<Record<string, string>>): Promise<void> =>
  run(`drop database if exists ${new URL(DATABASE_URL!).pathname.slice(1)} with (force)`)

async function run(text: string): Promise<void> {
  const client = new pg.Client(process.env[server])
  await client.connect()
  try {
    await client.query(text)
  } finally {
    await client.end()
  }
}
