// A database of an older Strapi 5: its panel's tables stay as they are, columns and tables that newer versions have are not added, and API
// tokens work without them.
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { afterAll, expect } from 'vitest'
import { copyGoldenTo, goldenTokens, removeProject, serveExisting } from '../support/serve.js'
import { testSqlite } from '../support/sqlite-only.js'
import { octavo } from './command.js'

const folder = mkdtempSync(join(tmpdir(), 'octavo-test-'))
afterAll(() => removeProject(folder))

/** Features of newer versions of Strapi 5. */
const later = [
  'alter table admin_users drop column reset_password_token_expires_at',
  'alter table strapi_sessions drop column metadata',
  'alter table strapi_api_tokens drop column kind',
  'alter table strapi_api_tokens drop column encrypted_key',
  'drop table strapi_api_tokens_admin_user_owner_lnk',
  'drop table admin_permissions_api_token_lnk',
  'drop table strapi_ai_metadata_jobs',
]

testSqlite('nothing of the panel is added or changed, and tokens work', 'tables are compared by their statements', async () => {
  const file = await copyGoldenTo(folder)
  const database = new Database(file)
  for (const statement of later) database.exec(statement)
  const layout = () =>
    database
      .prepare("select name, sql from sqlite_master where name not like 'octavo\\_%' escape '\\' and sql is not null order by name")
      .all()
  const before = layout()
  const environment = { UPLOADS_DIR: 'uploads' }
  const { out, status } = await octavo(['start', folder], environment)
  expect([status, out.includes('added missing')]).toEqual([0, false])
  expect(layout()).toEqual(before)

  const { full, readonly } = goldenTokens() as { full: string; readonly: string }
  const created = (await octavo(['tokens', 'create', folder, '--name', 'new', '--type', 'full-access'], environment)).out.trim()
  const served = await serveExisting({ folder })
  try {
    for (const token of [full, readonly, created]) expect((await served.request('/api/tags', { token })).status).toBe(200)
    const renewed = (await octavo(['tokens', 'regenerate', 'new', folder], environment)).out.trim()
    expect([
      (await served.request('/api/tags', { token: created })).status,
      (await served.request('/api/tags', { token: renewed })).status,
    ]).toEqual([401, 200])
    // A newer Strapi adds the column; its tokens for the panel are none of the content API.
    database.exec('alter table strapi_api_tokens add column kind varchar(255)')
    database.exec("update strapi_api_tokens set kind = case name when 'new' then 'admin' else 'content-api' end")
    expect([
      (await served.request('/api/tags', { token: renewed })).status,
      (await served.request('/api/tags', { token: full })).status,
    ]).toEqual([401, 200])
  } finally {
    await served.close()
    database.close()
  }
  expect((await octavo(['tokens', 'list', folder], environment)).out).not.toContain('new')
  expect((await octavo(['doctor', folder], environment)).status).toBe(0)
})
