// A PostgreSQL server for tests.
import { createHash } from 'node:crypto'
import pg from 'pg'
import { startCluster } from '../../bench/postgres-cluster.mjs'
import type { ServerKind, TestServer } from './server.js'

/** A new name for a database. */
const newName = (): string => `octavo_test_${process.pid}_${Math.random().toString(36).slice(2, 10)}`

const nameOf = (url: string): string => new URL(url).pathname.slice(1)

export const postgres: ServerKind = {
  name: 'PostgreSQL',
  client: 'postgres',
  variable: 'OCTAVO_TEST_POSTGRES_URL',
  sharedVariable: 'OCTAVO_TEST_SHARED_POSTGRES_URL',
  golden: 'postgres',
  start: async (named, below) => {
    if (named !== undefined) return serverAt(named, null, () => {})
    const { url, crash, stop } = await startCluster({ isDurable: false, below: below ?? null })
    return serverAt(url, crash, stop)
  },
}

/** Counts are numbers, as on other servers. */
const bigint = (text: string): number | string => (Number.isSafeInteger(Number(text)) ? Number(text) : text)
const types = {
  getTypeParser: (type: number) => (type === pg.types.builtins.INT8 ? bigint : pg.types.getTypeParser(type)),
} as pg.CustomTypesConfig

async function run(url: string, text: string): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const client = new pg.Client(url)
  await client.connect()
  try {
    const results = [await client.query<Readonly<Record<string, unknown>>>({ text, types })].flat()
    return results.at(-1)!.rows
  } finally {
    await client.end()
  }
}

function serverAt(root: string, crash: TestServer['crash'], stop: () => void): TestServer {
  const created = new Set<string>()

  async function create(template: string): Promise<string> {
    const url = new URL(root)
    url.pathname = newName()
    created.add(url.href)
    await run(root, `create database ${nameOf(url.href)} template ${template}`)
    return url.href
  }

  /** A template database with the result of `content`. It stays for all tests on the server. */
  async function templateOf(content: string): Promise<string> {
    const name = `octavo_template_${createHash('sha256').update(content).digest('hex').slice(0, 16)}`
    const [known] = await run(root, `select from pg_database where datname = '${name}'`)
    if (known !== undefined) return name
    const url = await create('template0')
    await run(url, content)
    // A concurrent run created the same.
    await run(root, `alter database ${nameOf(url)} rename to ${name}`).catch(() => {})
    return name
  }

  async function removeDatabase(url: string): Promise<void> {
    created.delete(url)
    await run(root, `drop database if exists ${nameOf(url)} with (force)`)
  }

  return {
    client: 'postgres',
    root,
    createDatabase: async (content) => create(content === undefined ? 'template0' : await templateOf(content)),
    removeDatabase,
    run,
    withoutForeignKeys: 'set session_replication_role = replica;',
    lockTable: async (url, table) => {
      const locker = new pg.Client(url)
      await locker.connect()
      await locker.query(`begin; lock table ${table} in access exclusive mode`)
      return async () => {
        await locker.query('rollback')
        await locker.end()
      }
    },
    waiting: async (url) => {
      const [row] = await run(
        url,
        `select count(*) as count from pg_stat_activity
          where datname = current_database() and application_name = 'octavo' and state <> 'idle' and wait_event_type = 'Lock'`,
      )
      return row!.count as number
    },
    setReadOnly: async (isReadOnly) => {
      await run(
        root,
        isReadOnly ? 'alter system set default_transaction_read_only = on' : 'alter system reset default_transaction_read_only',
      )
      await run(root, 'select pg_reload_conf()')
    },
    crash,
    close: async () => {
      for (const url of created) await removeDatabase(url)
      stop()
    },
  }
}
