// Tests of several instances run on SQLite and on a PostgreSQL server, independent of the suite's database.
import { describe } from 'vitest'
import { describePostgres, environmentOf } from '../servers/server.js'

/** Creates a database and returns the environment with which instances find it. */
export type NewDatabase = () => Promise<Readonly<Record<string, string>>>

/** A `describe` on each; without a PostgreSQL server, its half is skipped. */
export function describeInstances(name: string, tests: (database: NewDatabase) => void): void {
  describe(`${name} on SQLite`, () => tests(async () => ({ DATABASE_CLIENT: 'sqlite' })))
  describePostgres(`${name} on PostgreSQL`, (server) => tests(async () => environmentOf(await server().createDatabase())))
}
