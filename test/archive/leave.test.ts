// docs/spec/archives.md: octavo leave removes Octavo's objects, and nothing else.
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { isOnServer } from '../support/databases.js'
import { rule } from '../support/rule.js'
import { goldenTokens, serveExisting } from '../support/serve.js'
import { testSqlite } from '../support/sqlite-only.js'
import { differences } from './content.js'
import { everything, objectsOf, used } from './leaving.js'
import { golden, type Project, removeAll, run } from './projects.js'

let project: Project
let before: readonly string[]
beforeAll(async () => {
  project = await golden()
  before = await objectsOf(project.database)
})
afterAll(removeAll)

rule('archives.14', 'everything of Octavo goes, all else stays, and it can be repeated', async () => {
  await used(project)
  const content = await everything(project.database)
  expect((await objectsOf(project.database)).filter((name) => /^octavo_/.test(name)).length).toBeGreaterThan(200)

  const refused = await run(['leave', project.folder])
  expect(refused).toMatchObject({ status: 1, err: 'octavo: To agree: --force. Nothing was changed\n' })
  expect(refused.out).toMatch(/^ {2}the table octavo_pending_links \(1 row\)$/m)
  expect(refused.out).toMatch(/^ {2}\d{3} indexes \(octavo_\*\)$/m)
  expect(refused.out).toMatch(/^ {2}1 permission for actions that Strapi does not have/m)
  expect(refused.out).toMatch(/^ {2}1 {2}relations of published entries that wait for their targets/m)
  expect(refused.out).toMatch(/^ {2}2 {2}writes that are remembered/m)
  expect(refused.out).toMatch(/^ {2}1 {2}of these events, which have not reached all listeners and webhooks$/m)
  expect(differences(content, await everything(project.database))).toEqual([])

  expect(await run(['leave', project.folder, '--force'])).toMatchObject({ status: 0, err: '' })
  expect(await objectsOf(project.database)).toEqual(before)
  const left = await everything(project.database)
  const permissions = ['up_permissions', 'up_permissions_role_lnk']
  expect(differences(content, left).filter((line) => !permissions.some((table) => line.startsWith(table)))).toEqual([])
  for (const table of permissions) expect(left[table]).toHaveLength(content[table]!.length - 1)
  expect(existsSync(join(project.folder, 'uploads', '.octavo'))).toBe(false)

  expect((await run(['leave', project.folder])).out).toMatch(/^Nothing of Octavo is in /)
})

test('archives.14: it refuses while a service runs', async () => {
  const served = await serveExisting({ folder: project.folder })
  try {
    const content = await everything(project.database)
    const refused = await run(['leave', project.folder, '--force'])
    expect(refused).toMatchObject({ status: 1, out: '' })
    expect(refused.err).toMatch(/^octavo: Octavo is running on this project; stop it first\. Nothing was changed\n$/)
    // Also where its files are elsewhere.
    const elsewhere = await run(['leave', project.folder, '--force'], { UPLOADS_DIR: join(project.folder, 'elsewhere') })
    expect(elsewhere.status).toBe(1)
    expect(elsewhere.err).toMatch(/(?:open|connected)(?: to this database)?\. Stop|is open to this database/)
    expect(differences(content, await everything(project.database))).toEqual([])
    expect((await served.request('/api/tags', { token: goldenTokens().full! })).status).toBe(200)
  } finally {
    await served.close()
  }
  expect((await run(['leave', project.folder, '--force'])).status).toBe(0)
  expect(await objectsOf(project.database)).toEqual(before)
})

testSqlite('archives.14: the journal mode is that of Strapi again', 'it has a write-ahead log', async () => {
  const { database: file } = project
  expect(readdirSync(join(project.folder, '.tmp'))).toEqual(['data.db'])
  const database = new Database(file, { readonly: true })
  expect(database.pragma('journal_mode', { simple: true })).toBe('delete')
  expect(database.pragma('integrity_check', { simple: true })).toBe('ok')
  database.close()
  expect(isOnServer).toBe(false)
})
