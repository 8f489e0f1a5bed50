// The database that the suite runs on: SQLite, or with DATABASE_CLIENT=postgres or =mysql a database for each project on the server of the
// run.
import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { environmentOf, goldenContent, kinds, type ServerClient, startServer, type TestServer } from '../servers/server.js'

const client = process.env.DATABASE_CLIENT as ServerClient | undefined

/** The kind of server that projects are served on; null: on a SQLite file. */
const kind = client === undefined ? null : (kinds[client] ?? null)

/** Whether projects are served on a database server. */
export const isOnServer = kind !== null
export const isOnPostgres = client === 'postgres'
export const isOnMysql = client === 'mysql'

let server: Promise<TestServer> | null = null

/** Creates a database, empty or with the golden content, and returns what a service has to know of it. */
export async function createDatabase(isGolden: boolean): Promise<Readonly<Record<string, string>>> {
  server ??= startServer(kind!)
  return environmentOf(await (await server).createDatabase(isGolden ? goldenContent(kind!) : undefined))
}

/** Writes a project's database into its .env, where its commands find it. */
export function nameDatabase(folder: string, database: Readonly<Record<string, string>>): void {
  const lines = Object.entries(database).map(([name, value]) => `\n${name}=${value}`)
  if (lines.length > 0) appendFileSync(join(folder, '.env'), `${lines.join('')}\n`)
}

/** Removes a database of `createDatabase`. */
export const removeDatabase = async ({ DATABASE_URL }: Readonly<Record<string, string>>): Promise<void> =>
  (await server!).removeDatabase(DATABASE_URL!)
