// A PostgreSQL server for a test file: the one that OCTAVO_TEST_POSTGRES_URL names, or one of its own in a temporary folder.
import pg from 'pg'
import { afterAll, beforeAll, describe } from 'vitest'
import { missingForCluster, startCluster } from '../../bench/postgres-cluster.mjs'

/** The variable that names a running server: `postgres://user@host:port/database`. */
const variable = 'OCTAVO_TEST_POSTGRES_URL'

/** A server on which every test may have databases of its own. */
export interface TestServer {
  /** Creates a database, empty or as the one at the URL `template` is, and resolves to its URL. */
  createDatabase(template?: string): Promise<string>
  /** Runs statements in a database, without values. */
  run(url: string, text: string): Promise<readonly Readonly<Record<string, unknown>>[]>
  /** Ends the server as a crash does, and starts it; null: the server is not one of the test's own. */
  readonly crash: (() => Promise<void>) | null
  close(): Promise<void>
}

/** Why there is no server to test with; null if there is one. */
const missing: string | null = process.env[variable] === undefined ? missingForCluster() : null

/** A `describe` with a server; without one its tests are skipped, and its name says why. */
export function describePostgres(name: string, tests: (server: () => TestServer) => void): void {
  if (missing !== null) {
    describe.skip(`${name} (skipped: ${missing})`, () => tests(() => undefined as never))
    return
  }
  describe(name, () => {
    let server: TestServer
    beforeAll(async () => {
      server = await startServer()
    })
    afterAll(() => server.close())
    tests(() => server)
  })
}

/** Starts a server, or takes the one that is named. */
export async function startServer(): Promise<TestServer> {
  const named = process.env[variable]
  if (named !== undefined) return serverAt(named, null, () => {})
  const { url, crash, stop } = await startCluster({ isDurable: false })
  return serverAt(url, crash, stop)
}

function serverAt(root: string, crash: TestServer['crash'], stop: () => void): TestServer {
  const created: string[] = []
  const run = async (url: string, text: string) => {
    const client = new pg.Client(url)
    await client.connect()
    try {
      const { rows } = await client.query<Readonly<Record<string, unknown>>>(text)
      return rows
    } finally {
      await client.end()
    }
  }
  return {
    createDatabase: async (template) => {
      const name = `octavo_test_${process.pid}_${created.length}_${Math.random().toString(36).slice(2, 8)}`
      created.push(name)
      await run(root, `create database ${name} template ${template === undefined ? 'template0' : new URL(template).pathname.slice(1)}`)
      const url = new URL(root)
      url.pathname = name
      return url.href
    },
    run,
    crash,
    close: async () => {
      for (const name of created) await run(root, `drop database if exists ${name} with (force)`)
      stop()
    },
  }
}
