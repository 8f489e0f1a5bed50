// Detection of a project from its folder and database: its contract, files with a byte order mark, hooks that would never run.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import Database from 'better-sqlite3'
import { afterAll, expect } from 'vitest'
import { contentType } from '../spec/library.js'
import { isOnServer } from '../support/databases.js'
import { rule } from '../support/rule.js'
import { serveExisting, serveProject } from '../support/serve.js'
import { octavo, project, removeProjects } from './command.js'

afterAll(removeProjects)

const note = contentType('note', { title: { type: 'string' } })
const said = async (files: Readonly<Record<string, unknown>>) => {
  const { out, err } = await octavo(['start', project({ ...note, ...files }), '--new'], { NODE_ENV: 'development' })
  return /contract: (.+?); docs/.exec(out)?.[1] ?? (/^Octavo serves .+data\.db\.$/m.test(out) ? 'nothing' : err)
}

rule('projects.20', 'the folder says the contract, and the start says why where it is not the default', async () => {
  const admin = { 'config/admin.ts': 'export default {}' }
  const [inWorkspace, ofOctavo, plain, configured] = await Promise.all([
    said({ ...admin, 'package.json': { name: 'cms', dependencies: {} } }),
    said({ ...admin, 'package.json': { dependencies: { octavo: '1.0.0' } } }),
    said({}),
    said({ ...admin, 'octavo.config.json': { api: { rest: { contract: 'specification' } } } }),
  ])
  expect(inWorkspace).toBe('strapi, config/admin.ts and src/api are there, as in a project of Strapi')
  expect(ofOctavo).toBe('nothing')
  expect(plain).toBe('nothing')
  expect(configured).toBe('specification, set in octavo.config')
})

rule('projects.20', 'the schema that Strapi has stored in a database decides the contract if the folder does not', async () => {
  const served = await serveProject({
    ...note,
    ...contentType('page', { pic: { type: 'media' } }),
    'seed/access.json': { roles: { public: ['api::page.page.find'] } },
  })
  // Only the contract strapi takes media in filters.
  const request = async (at: typeof served) => (await at.request('/api/pages?filters[pic][name]=a')).status
  expect(await request(served)).toBe(400)
  await served.service.close()
  await served.sql("insert into strapi_database_schema (id, hash) values (1, 'abc')")
  const again = await serveExisting(served)
  expect(await request(again)).toBe(200)
  await again.service.close()
  if (!isOnServer) {
    const { out } = await octavo(['start', served.folder])
    expect(out).toContain('"contract":"strapi"')
    expect(out).toContain('the database is one of Strapi, which has stored its schema there')
  }
  await served.close()
})

rule('projects.20', "short secrets and errors that Strapi accepts are warnings if only the database is Strapi's", async () => {
  const mistaken = contentType('page', { kind: { type: 'enumeration', enum: ['a'], default: 'b' } })
  const folder = project({ ...note, 'seed/access.json': { roles: {} } })
  const short = { JWT_SECRET: 'a-short-one', API_TOKEN_SALT: 'a-salt' }
  const start = () => octavo(['start', folder, '--new'], short)
  expect((await octavo(['start', folder, '--new'])).out).toContain('Octavo serves')
  expect((await start()).err).toContain('API_TOKEN_SALT has 6 characters; in production it needs at least 16')
  for (const [path, text] of Object.entries(mistaken)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), JSON.stringify(text))
  }
  expect((await octavo(['start', folder])).err).toContain('"b" is not one of the values')
  const database = new Database(join(folder, '.tmp', 'data.db'))
  database.exec("insert into strapi_database_schema (id, hash) values (1, 'abc')")
  database.close()
  const { out, err } = await start()
  expect(err).toBe('')
  expect(out).toContain('"contract":"strapi"')
  expect(out).toContain('is not one of the values')
  expect(out).toContain('API_TOKEN_SALT')
})

rule('projects.21', 'files may begin with a byte order mark', async () => {
  const mark = '\uFEFF'
  const file = 'src/api/note/content-types/note/schema.json'
  const folder = project({
    [file]: mark + JSON.stringify(note[file]),
    'package.json': `${mark}{"dependencies":{"@strapi/strapi":"5.54.0"}}`,
    'octavo.config.json': `${mark}{"port":0}`,
    'seed/access.json': `${mark}{"roles":{"public":["api::note.note.find"]}}`,
    '.env': `${mark}JWT_SECRET=of-windows-and-long-enough-to-be-kept\r\nAPI_TOKEN_SALT=salt\r\n`,
  })
  const { out, err } = await octavo(['start', folder, '--new'], { LOG_LEVEL: 'warn' })
  expect(err).toBe('')
  expect(out).toContain('"contract":"strapi"')
  expect(out).not.toContain('Generated')
  expect(out).not.toContain('has no effect')
  const text = readFileSync(join(folder, '.env'), 'utf8')
  expect(text.match(/JWT_SECRET/g)).toHaveLength(1)
  // An empty value in the first line is filled with a generated secret.
  writeFileSync(join(folder, '.env'), `${mark}JWT_SECRET=\r\nAPI_TOKEN_SALT=salt\r\n`)
  expect((await octavo(['start', folder])).out).toContain('Generated JWT_SECRET')
  expect(readFileSync(join(folder, '.env'), 'utf8')).toMatch(/^JWT_SECRET=[\w-]{20,}\r?\n/)
})

rule('projects.22', 'a hook on a type that hooks never run for ends the start', async () => {
  const hooks = [{ name: 'greet', types: ['plugin::users-permissions.user'], after: () => {} }] as never
  await expect(serveProject(note, { code: { hooks } })).rejects.toThrow(
    /greet: hooks run for content-types of the project alone, never for plugin::users-permissions\.user/,
  )
})
