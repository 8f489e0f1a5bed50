// Identification of callers on a real database whose reads fail temporarily.
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { MainConnection } from '../../src/database/database.js'
import { createMainConnection } from '../../src/database/sqlite/main-connection.js'
import { openIdentification } from '../../src/identity/access/identify.js'
import { openJwts } from '../../src/identity/access/jwt.js'
import type { Served } from '../support/serve.js'
import { runStatement } from '../support/statements.js'
import { serveAccounts } from './golden.js'

let served: Served
beforeAll(async () => {
  served = await serveAccounts()
})
afterAll(() => served.close())

test('a failed read of the rules is reported, and repeated with the next request', async () => {
  const connection = new Database(join(served.folder, '.tmp', 'data.db'))
  const direct = createMainConnection(connection)
  let failing = false
  const database: MainConnection = {
    isRemote: false,
    changed: () => direct.changed(),
    rows: (query) => (failing ? Promise.reject(new Error('the disk has gone')) : direct.rows(query)),
  }
  const { identify } = await openIdentification(database, {
    secrets: { apiTokenSalt: 'x', jwtSecret: 'x' },
    jwts: openJwts('x'),
    jwtManagement: 'legacy-support',
    cachedCallers: 10,
    watched: { tables: {}, reload: async () => {} },
    tokenUsed: () => {},
  })
  const mayFindTags = async () => (await identify(undefined)).caller.grants.may('api::tag.tag.find')
  expect(await mayFindTags()).toBe(true)
  await runStatement(join(served.folder, '.tmp', 'data.db'), "delete from up_permissions where action = 'api::tag.tag.find'")
  failing = true
  // Never the old rules instead.
  await expect(mayFindTags()).rejects.toThrow('the disk has gone')
  await expect(mayFindTags()).rejects.toThrow('the disk has gone')
  failing = false
  expect(await mayFindTags()).toBe(false)
  connection.close()
})
