// A database server for a test file: the one that a variable names, or a private one in a temporary folder.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe } from 'vitest'
import { missingOf, titleWithout } from '../support/programs.js'
import { mariadb } from './mariadb.js'
import { postgres } from './postgres.js'

export type ServerClient = 'postgres' | 'mysql'

type Rows = readonly Readonly<Record<string, unknown>>[]

/** A server on which each test may have databases. */
export interface TestServer {
  readonly client: ServerClient
  /** Its URL, with a user who may create databases. */
  readonly root: string
  /** Creates a database, empty or with the result of the statements `content`, and resolves to its URL. */
  createDatabase(content?: string): Promise<string>
  removeDatabase(url: string): Promise<void>
  /** Runs statements in a database, without values; resolves to the rows of the last one. */
  run(url: string, text: string): Promise<Rows>
  /** Statements that disable foreign keys for the following ones. */
  readonly withoutForeignKeys: string
  /** Locks a table against reads and writes; resolves to a function that releases it. */
  lockTable(url: string, table: string): Promise<() => Promise<void>>
  /** Statements in a database that wait for locks. */
  waiting(url: string): Promise<number>
  /** Refuses what changes data; or takes it again. */
  setReadOnly(isReadOnly: boolean): Promise<void>
  /** Ends the server as a crash does, and starts it; null: the server is not one of the test's own. */
  readonly crash: (() => Promise<void>) | null
  close(): Promise<void>
}

/** A kind of server. */
export interface ServerKind {
  readonly name: 'PostgreSQL' | 'MariaDB'
  readonly client: ServerClient
  /** The environment variable with the URL of a running server and a user who may create databases. */
  readonly variable: string
  /** The variable that names the server of a run, which its tests share. */
  readonly sharedVariable: string
  /** The files of what real Strapi's database has there, in test/golden. */
  readonly golden: string
  /** Starts a server, with its files below a folder where one is given, or takes the one at a URL. */
  start(url: string | undefined, below?: string): Promise<TestServer>
}

export const kinds: Readonly<Record<ServerClient, ServerKind>> = { postgres, mysql: mariadb }

/** The server of this run or the one that is named; else a new one. */
export const startServer = ({ start, variable, sharedVariable }: ServerKind): Promise<TestServer> =>
  start(process.env[variable] ?? process.env[sharedVariable])

/** A server for one file of tests, which may crash and configure it, unless one is named. */
const startOwnServer = ({ start, variable }: ServerKind): Promise<TestServer> => start(process.env[variable])

/** The statements that create the golden content as Strapi stores it on a server. */
export const goldenContent = ({ golden }: ServerKind): string =>
  gunzipSync(readFileSync(join(import.meta.dirname, '..', 'golden', golden, 'content.sql.gz'))).toString('utf8')

/** Environment with which a service finds a database. */
export const environmentOf = (url: string): Readonly<Record<string, string>> => ({
  DATABASE_CLIENT: url.startsWith('mysql:') ? 'mysql' : 'postgres',
  DATABASE_URL: url,
})

/** True if a file crashes or configures its server, so that no other file may use it. */
interface Needs {
  readonly ownServer?: boolean
}

type Tests = (server: () => TestServer, kind: ServerKind) => void

function describeOn(kind: ServerKind, title: string, tests: Tests, { ownServer = false }: Needs = {}): void {
  const missing = process.env[kind.variable] === undefined ? missingOf(kind.name) : []
  if (missing.length > 0) {
    describe.skip(titleWithout(title, missing), () => tests(() => undefined as never, kind))
    return
  }
  describe(title, () => {
    let server: TestServer
    beforeAll(async () => {
      server = await (ownServer ? startOwnServer(kind) : startServer(kind))
    })
    afterAll(() => server.close())
    tests(() => server, kind)
  })
}

/** A `describe` with a PostgreSQL server; without one its tests are skipped, and the title says so. */
export const describePostgres = (title: string, tests: Tests, needs?: Needs): void => describeOn(postgres, title, tests, needs)

/** The same with a MariaDB server. */
export const describeMariadb = (title: string, tests: Tests, needs?: Needs): void => describeOn(mariadb, title, tests, needs)

/** The same once on each kind of server. */
export function describeServers(title: string, tests: Tests, needs?: Needs): void {
  for (const kind of Object.values(kinds)) describeOn(kind, `${title} on ${kind.name}`, tests, needs)
}
