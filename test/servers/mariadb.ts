// A MariaDB server for tests. A MySQL server can be named.
import { createConnection, type RowDataPacket } from 'mysql2'
import { createConnection as createPromised } from 'mysql2/promise'
import { startMariadb } from '../../bench/mariadb-cluster.mjs'
import type { ServerKind, TestServer } from './server.js'

export const mariadb: ServerKind = {
  name: 'MariaDB',
  client: 'mysql',
  variable: 'OCTAVO_TEST_MYSQL_URL',
  sharedVariable: 'OCTAVO_TEST_SHARED_MYSQL_URL',
  golden: 'mariadb',
  start: async (named, below) => {
    if (named !== undefined) return serverAt(named, null, async () => {})
    const { url, crash, stop } = await startMariadb({ isDurable: false, below: below ?? null })
    return serverAt(url, crash, stop)
  },
}

async function execute(url: string, text: string): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const connection = createConnection({ uri: url, multipleStatements: true, supportBigNumbers: true })
  connection.on('error', () => {})
  try {
    return await new Promise((resolve, reject) =>
      connection.query<RowDataPacket[]>(text, (error, rows) => {
        if (error !== null) return reject(error)
        const last = Array.isArray(rows.at?.(-1)) ? (rows.at(-1) as unknown as RowDataPacket[]) : rows
        resolve(Array.isArray(last) ? last : [])
      }),
    )
  } finally {
    connection.destroy()
  }
}

/** Database user of the services: unlike root, it cannot write while the server is read-only. */
const user = 'octavo'

async function serverAt(root: string, crash: TestServer['crash'], stop: () => Promise<void>): Promise<TestServer> {
  const created = new Set<string>()
  await execute(root, `create user if not exists ${user}@'%'; grant process on *.* to ${user}@'%'`)

  async function removeDatabase(url: string): Promise<void> {
    created.delete(url)
    await execute(root, `drop database if exists ${new URL(url).pathname.slice(1)}`)
  }

  return {
    client: 'mysql',
    root,
    createDatabase: async (content) => {
      const url = new URL(root)
      ;[url.username, url.password] = [user, '']
      url.pathname = `octavo_test_${process.pid}_${Math.random().toString(36).slice(2, 10)}`
      const name = url.pathname.slice(1)
      created.add(url.href)
      await execute(root, `create database ${name}; grant all on ${name}.* to ${user}@'%'`)
      if (content !== undefined) await execute(url.href, content)
      return url.href
    },
    removeDatabase,
    run: execute,
    withoutForeignKeys: "set foreign_key_checks = 0; set sql_mode = 'ANSI_QUOTES';",
    lockTable: async (url, table) => {
      const locker = await createPromised(url)
      await locker.query(`lock tables ${table} write`)
      return async () => {
        await locker.query('unlock tables')
        await locker.end()
      }
    },
    waiting: async (url) => {
      const waits = "select id from information_schema.processlist where db = database() and state like 'Waiting for%'"
      return (await execute(url, waits)).length
    },
    setReadOnly: async (isReadOnly) => void (await execute(root, `set global read_only = ${isReadOnly ? 1 : 0}`)),
    crash,
    close: async () => {
      if (crash === null) for (const url of created) await removeDatabase(url)
      await stop()
    },
  }
}
