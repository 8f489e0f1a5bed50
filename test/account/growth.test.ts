// Looking users, sessions and codes up costs the same with many as with few: the database finds each by an index.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import Database from 'better-sqlite3'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ChangeResult, type Transaction, unknownHistory } from '../../src/database/database.js'
import { createOctavoTables } from '../../src/database/sqlite/create-tables.js'
import { sqliteDialect, writeSql } from '../../src/database/sqlite/dialect.js'
import { createIndexes } from '../../src/database/sqlite/indexes.js'
import { credentialsOf, revokeCredentials } from '../../src/identity/access/identify.js'
import { endSessions, nextSession, ownerOfSession, revokeSession, sessionsOf, startSession } from '../../src/identity/access/sessions.js'
import { ofUser } from '../../src/identity/accounts/context.js'
import { consumeOneTimeToken, createOneTimeToken, ownerOfToken } from '../../src/identity/accounts/one-time-tokens.js'
import { addUser, changeUser, removeUser, userByEmail, userById, userByIdentifier, userByName } from '../../src/identity/accounts/users.js'
import { loadModel } from '../../src/model/schema/load.js'
import { describeIndexes } from '../../src/model/tables/own-indexes.js'
import { goldenProject } from '../support/serve.js'

const many = 3000
const folder = mkdtempSync(join(tmpdir(), 'octavo-growth-'))
let database: Database.Database
beforeAll(() => {
  const file = join(folder, 'data.db')
  writeFileSync(file, gunzipSync(readFileSync(join(goldenProject, 'content.db.gz'))))
  database = new Database(file)
  createOctavoTables(database)
  fill()
})
afterAll(() => {
  database.close()
  rmSync(folder, { recursive: true, force: true })
})

/** Many users in one role, each with a session, an account elsewhere, and a code. */
function fill(): void {
  const end = Date.now() + 1e9
  const rows = [
    "insert into up_users (id, document_id, username, email, provider) select n, 'd' || n, 'u' || n, 'u' || n || '@example.test', 'local' from numbers",
    'insert into up_users_role_lnk (user_id, role_id, user_ord) select n, 1, n from numbers',
    `insert into strapi_sessions (user_id, session_id, origin, status, expires_at, absolute_expires_at, updated_at)
      select n, 's' || n, 'users-permissions', 'active', ${end}, ${end}, 0 from numbers`,
    `insert into octavo_one_time_tokens (purpose, hash, user_id, expires_at) select 'reset', 'h' || n, n, ${end} from numbers`,
    "insert into octavo_identities (provider, subject, user_id) select 'company', 's' || n, n from numbers",
    'insert into octavo_credential_versions (user_id, epoch, changed_at) select n, 1, 0 from numbers',
  ]
  const numbers = `with recursive numbers (n) as (select 1001 union all select n + 1 from numbers where n < ${1000 + many})`
  for (const row of rows) database.exec(`${numbers} ${row}`)
}

/** A transaction that notes which tables its statements read from one end to the other. */
function watched(): { readonly transaction: Transaction; readonly scans: string[] } {
  const scans: string[] = []
  const prepare = (query: Parameters<Transaction['run']>[0]) => {
    const { sql, parameters } = writeSql(query)
    const plan = database.prepare(`explain query plan ${sql}`).all(...parameters) as { detail: string }[]
    for (const { detail } of plan)
      if (/^SCAN (up_users|strapi_sessions|octavo_|files_|[a-z] )/.test(detail)) scans.push(`${detail}: ${sql}`)
    return { statement: database.prepare(sql), parameters }
  }
  const transaction: Transaction = {
    dialect: sqliteDialect,
    defer: async (last) => void (await last),
    rows: async (query) => {
      const { statement, parameters } = prepare(query)
      return statement.all(...parameters) as never
    },
    run: async (query): Promise<ChangeResult> => {
      const { statement, parameters } = prepare(query)
      return { rows: statement.run(...parameters).changes }
    },
    insert: async (query) => {
      const { statement, parameters } = prepare(query)
      return Number(statement.run(...parameters).lastInsertRowid)
    },
    follow: (query) => {
      const { statement, parameters } = prepare(query)
      statement.run(...parameters)
    },
    read: async () => null,
    history: unknownHistory,
  }
  return { transaction, scans }
}

async function useEverything(transaction: Transaction): Promise<void> {
  const model = await loadModel({ folder: goldenProject })
  const type = model.types.get('plugin::users-permissions.user')!
  const now = Date.now()
  const limits = { longest: 1e6, idle: 1e5 }
  expect((await userByEmail(transaction, 'u2000@example.test'))?.id).toBe(2000)
  expect((await userByName(transaction, 'u2001'))?.id).toBe(2001)
  for (const name of ['u2002', 'U2002@example.test']) expect((await userByIdentifier(transaction, name))?.id).toBe(2002)
  expect((await userById(transaction, 2003))?.username).toBe('u2003')
  expect(await ownerOfSession(transaction, 'users-permissions', 's2004')).toBe(2004)
  expect(await sessionsOf(transaction, ofUser(2005), 's2005', now)).toHaveLength(1)
  const started = await startSession(transaction, ofUser(2006), { deviceId: 'phone', type: 'refresh', limits }, now)
  const next = await nextSession(transaction, 'users-permissions', started.sessionId, { refresh: limits, session: limits }, now)
  expect(await revokeSession(transaction, ofUser(2006), next!.sessionId)).toBe(true)
  await endSessions(transaction, ofUser(2007))
  const code = await createOneTimeToken(transaction, 'reset', (await userById(transaction, 2008))!, now + 1e6)
  expect(await ownerOfToken(transaction, 'reset', code, now)).toBe(2008)
  expect(await consumeOneTimeToken(transaction, 'reset', code, now)).toBe(2008)
  expect((await credentialsOf(transaction, 2009))?.epoch).toBe(1)
  await revokeCredentials(transaction, 2009, now)
  const added = await addUser(transaction, type, { username: 'new', email: 'new@example.test', provider: 'local' }, 1, now)
  await changeUser(transaction, added, { username: 'newer' }, now, true)
  await removeUser(
    { transaction, model, defaultLocale: 'en', hashPassword: async (password) => password, scopes: new Map() },
    type,
    added,
    now,
  )
}

test("without Octavo's indexes these queries read whole tables", async () => {
  const { transaction, scans } = watched()
  database.exec('begin')
  await useEverything(transaction)
  database.exec('rollback')
  expect(scans.some((scan) => /^SCAN up_users/.test(scan))).toBe(true)
})

test('with them none does', async () => {
  createIndexes(database, describeIndexes(await loadModel({ folder: goldenProject })), () => {})
  const { transaction, scans } = watched()
  await useEverything(transaction)
  expect(scans).toEqual([])
})
