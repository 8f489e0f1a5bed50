// Identification of administrators, on a real database whose statements are counted.
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { afterAll, beforeAll, expect } from 'vitest'
import { createIdentifyAdministrator, deriveAdministrationKeys } from '../../src/admin/identity/identify.js'
import type { MainConnection } from '../../src/database/database.js'
import { createMainConnection } from '../../src/database/sqlite/main-connection.js'
import { openIdentification } from '../../src/identity/access/identify.js'
import { openJwts } from '../../src/identity/access/jwt.js'
import { addAdministrator, signInAdmin } from '../support/administration.js'
import { rule } from '../support/rule.js'
import { type Served, serveProject } from '../support/serve.js'

const secrets = { API_TOKEN_SALT: 'salt of the tests', JWT_SECRET: 'secret of the tests', ADMIN_JWT_SECRET: 'secret of the panel' }

let served: Served
beforeAll(async () => {
  served = await serveProject({ 'package.json': {} }, { environment: { ...secrets, DATABASE_CLIENT: 'sqlite' } })
})
afterAll(() => served?.close())

rule('administration.5', 'requests between two commits cost no statement', async () => {
  await addAdministrator(served, 'ada@admins.example')
  const { accessToken } = await signInAdmin(served, 'ada@admins.example')
  const connection = new Database(join(served.folder, '.tmp', 'data.db'))
  const direct = createMainConnection(connection)
  let statements = 0
  const database: MainConnection = {
    isRemote: false,
    changed: () => direct.changed(),
    rows: (query) => {
      statements++
      return direct.rows(query)
    },
  }
  const identification = await openIdentification(database, {
    secrets: { apiTokenSalt: 'x', jwtSecret: 'x' },
    jwts: openJwts('x'),
    jwtManagement: 'legacy-support',
    cachedCallers: 10,
    watched: { tables: {}, reload: async () => {} },
    tokenUsed: () => {},
  })
  const keys = deriveAdministrationKeys({ apiTokenSalt: 'x', jwtSecret: secrets.JWT_SECRET, adminJwtSecret: secrets.ADMIN_JWT_SECRET })
  const identify = createIdentifyAdministrator({ database, identification, jwts: openJwts(keys.tokens), keys, now: Date.now })
  expect((await identify(`Bearer ${accessToken}`)).email).toBe('ada@admins.example')
  const first = statements
  for (let request = 0; request < 100; request++) await identify(`Bearer ${accessToken}`)
  expect(statements).toBe(first)
  await served.sql('UPDATE admin_users SET firstname = ? WHERE email = ?', 'Ada L.', 'ada@admins.example')
  expect((await identify(`Bearer ${accessToken}`)).firstname).toBe('Ada L.')
  expect(statements).toBeGreaterThan(first)
  connection.close()
})
