// A missing database: an error for projects that had one, a new one for new projects, and read-only commands create nothing.
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import Database from 'better-sqlite3'
import { afterAll, expect, test } from 'vitest'
import { contentType } from '../spec/library.js'
import { goldenProject } from '../support/serve.js'
import { octavo, project, removeProjects } from './command.js'

afterAll(removeProjects)

const notes = contentType('note', { name: { type: 'string' } })
const secrets = { API_TOKEN_SALT: 'a-salt-that-nobody-guesses', JWT_SECRET: 'a-secret-that-nobody-guesses' }
const refused = (text: string) => [1, expect.stringMatching(new RegExp(`^octavo: [^\\n]*${text}[^\\n]* start --new [^\\n]+\\n$`))]
const data = (folder: string) => join(folder, '.tmp', 'data.db')

/** Every file and folder below `folder`. */
const everything = (folder: string) => readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort()

test('the database of a project that was started is gone, empty or elsewhere: the start ends with a sentence, --new begins', async () => {
  for (const environment of [{}, secrets] as const) {
    const folder = project(notes)
    expect((await octavo(['start', folder], environment)).status).toBe(0)
    rmSync(data(folder))
    const before = everything(folder)
    const gone = await octavo(['start', folder], environment)
    expect([gone.status, gone.err]).toEqual(refused('There is no database at .*data\\.db, but there used to be one'))
    const elsewhere = await octavo(['start', folder], { ...environment, DATABASE_FILENAME: 'data/prod.db' })
    expect([elsewhere.status, elsewhere.err]).toEqual(refused('prod\\.db, but the database of this project is at .*data\\.db'))
    expect(everything(folder)).toEqual(before)
    writeFileSync(data(folder), '')
    const empty = await octavo(['start', folder], environment)
    expect([empty.status, empty.err]).toEqual(refused('is empty, but it had content'))
    rmSync(data(folder))
    expect((await octavo(['start', folder, '--new'], environment)).status).toBe(0)
    expect(existsSync(data(folder))).toBe(true)
  }
})

test('generated secrets prove that the project had a database, even without .tmp', async () => {
  const folder = project(notes)
  expect((await octavo(['start', folder])).status).toBe(0)
  rmSync(join(folder, '.tmp'), { recursive: true })
  const { status, err } = await octavo(['start', folder])
  expect([status, err]).toEqual(refused('There is no database'))
  expect(existsSync(join(folder, '.tmp'))).toBe(false)
})

test('a missing database of a Strapi project is not created; secrets of a project that was never started do not count', async () => {
  const strapi = project({ ...notes, 'package.json': { dependencies: { '@strapi/strapi': '5.54.0' } } })
  const { status, err } = await octavo(['start', strapi], { DATABASE_FILENAME: 'data/prod.db' })
  expect([status, err]).toEqual(refused('prod\\.db, but package\\.json depends on @strapi/strapi'))
  expect((await octavo(['roles', 'create', 'x', strapi])).status).toBe(1)
  expect(readdirSync(strapi).sort()).toEqual(['package.json', 'src'])
  const own = project({
    ...notes,
    '.env': 'API_TOKEN_SALT=a-salt-of-mine-own\nJWT_SECRET=a-secret-of-mine-own\nDATABASE_FILENAME=here.db\n',
  })
  expect((await octavo(['start', own])).status).toBe(0)
  expect(existsSync(join(own, 'here.db'))).toBe(true)
})

test('read-only commands create no database', async () => {
  const folder = project(notes)
  const commands = ['indexes', 'doctor', 'events', 'tokens list', 'users list', 'roles list', 'locales list', 'settings list']
  for (const words of commands) {
    const { status, out, err } = await octavo([...words.split(' '), folder])
    expect([words, status, out, err]).toEqual([words, 1, '', expect.stringMatching(/^octavo: There is no database at [^\n]+\n$/)])
  }
  expect(readdirSync(folder)).toEqual(['src'])
})

test('commands say what a start says of a database that the project had', async () => {
  const strapi = project({ ...notes, 'package.json': { dependencies: { '@strapi/strapi': '5.54.0' } } })
  const started = project(notes)
  expect((await octavo(['start', started])).status).toBe(0)
  const lost = async (folder: string, text: string) => {
    const before = everything(folder)
    const { err: said } = await octavo(['start', folder])
    for (const words of ['doctor', 'indexes', 'users list', 'export']) {
      const { status, out, err } = await octavo([...words.split(' '), folder])
      expect([words, status, out, err]).toEqual([words, 1, '', said])
      expect([status, err]).toEqual(refused(text))
    }
    expect(everything(folder)).toEqual(before)
  }
  await lost(
    strapi,
    'There is no database at .*data\\.db, but package\\.json depends on @strapi/strapi, so the project has one\\. Restore it',
  )
  rmSync(data(started))
  await lost(started, 'There is no database at .*data\\.db, but there used to be one')
  writeFileSync(data(started), '')
  for (const words of ['indexes', 'users list']) {
    const { status, err } = await octavo([...words.split(' '), started])
    expect([words, status, err]).toEqual([words, ...refused('is empty, but it had content')])
  }
})

test('an unreadable config/database of a Strapi project is named when the database is missing', async () => {
  const folder = project({
    ...notes,
    'package.json': { dependencies: { '@strapi/strapi': '5.54.0' } },
    'config/database.js': "module.exports = () => require('a-module-that-is-not-there')",
  })
  const { status, out, err } = await octavo(['start', folder])
  expect([status, out, err]).toEqual([
    1,
    '',
    expect.stringMatching(
      /so the project has one \(config\/database\.js does not name the database file \([^\n]*a-module-that-is-not-there[^\n]*\)\)\. Restore it, or set DATABASE_FILENAME [^\n]+\n$/,
    ),
  ])
  // DATABASE_FILENAME takes precedence.
  const named = await octavo(['start', folder, '--new'], { DATABASE_FILENAME: 'here.db' })
  expect([named.status, named.err]).toEqual([0, ''])
  expect(named.out).not.toContain('does not name the database file')
})

test('inspecting a database creates no files and needs no secrets', async () => {
  const folder = project({ ...notes })
  expect((await octavo(['start', folder])).status).toBe(0)
  rmSync(join(folder, '.env'))
  const before = everything(folder)
  for (const words of ['tokens list', 'events']) expect((await octavo([...words.split(' '), folder])).status).toBe(0)
  expect(everything(folder)).toEqual(before)
})

test("commands about Octavo's own tables say that it has not been started on a database of Strapi; others list the content", async () => {
  const folder = project({})
  for (const name of ['src', '.env']) cpSync(join(goldenProject, name), join(folder, name), { recursive: true })
  mkdirSync(join(folder, '.tmp'), { recursive: true })
  writeFileSync(data(folder), gunzipSync(readFileSync(join(goldenProject, 'content.db.gz'))))
  const content = new Database(data(folder))
  content.exec("insert into strapi_webhooks (name, url, headers, events, enabled) values ('x', 'http://a.test', '{}', '[]', 1)")
  content.close()
  const before = everything(folder)
  for (const words of ['events', 'model history', 'webhooks list', 'webhooks deliveries x'])
    expect([words, await octavo([...words.split(' '), folder])]).toEqual([
      words,
      {
        status: 1,
        out: '',
        err: expect.stringMatching(/^octavo: Octavo has not been started on the database [^\n]*data\.db yet\. Start [^\n]*\n$/),
      },
    ])
  for (const words of ['tokens list', 'roles list', 'users list', 'admins list', 'locales list'])
    expect([words, (await octavo([...words.split(' '), folder])).status]).toEqual([words, 0])
  expect(everything(folder)).toEqual(before)
})

test("Strapi's config/database determines the file, in JavaScript and in TypeScript; undetermined values are named", async () => {
  const javascript = `const path = require('path')
    module.exports = ({ env }) => ({ connection: { client: 'sqlite', connection: { filename: path.join(__dirname, '..', env('FILE', 'content/site.db')) } } })`
  const typescript = `import path from 'path'
    export default ({ env }: { env: any }) => {
      const client = env('DATABASE_CLIENT', 'sqlite')
      const connections = { sqlite: { connection: { filename: path.join(__dirname, '..', '..', env('FILE', 'content/site.db')) }, useNullAsDefault: true } }
      return { connection: { client, ...connections[client as 'sqlite'], acquireConnectionTimeout: env.int('X', 60000) } }
    }`
  for (const file of [{ 'config/database.js': javascript }, { 'config/database.ts': typescript }]) {
    const folder = project({ ...notes, ...file, '.env': 'FILE=content/other.db\n' })
    expect((await octavo(['start', folder])).status).toBe(0)
    expect(existsSync(join(folder, 'content', 'other.db'))).toBe(true)
    expect((await octavo(['start', folder, '--new'], { DATABASE_FILENAME: 'mine.db' })).status).toBe(0)
    expect(existsSync(join(folder, 'mine.db'))).toBe(true)
  }
  const unknown = await octavo(['start', project({ ...notes, 'config/database.js': "require('not-here')" })])
  expect([unknown.status, unknown.out]).toEqual([0, expect.stringMatching(/config\/database\.js does not name .*DATABASE_FILENAME/)])
  const other = await octavo([
    'start',
    project({ ...notes, 'config/database.js': "module.exports = { connection: { client: 'oracledb' } }" }),
  ])
  expect([other.status, other.err]).toEqual([
    1,
    expect.stringMatching(/^octavo: [^\n]*"oracledb"[^\n]*sqlite, postgres and mysql[^\n]*\n$/),
  ])
})

test('a damaged page ends the start with a sentence; limits.checkTime 0 serves the rest', async () => {
  const folder = project({})
  for (const name of ['src', '.env']) cpSync(join(goldenProject, name), join(folder, name), { recursive: true })
  mkdirSync(join(folder, '.tmp'))
  writeFileSync(data(folder), gunzipSync(readFileSync(join(goldenProject, 'content.db.gz'))))
  const database = new Database(data(folder))
  const page = Number(database.prepare("select rootpage from sqlite_schema where name = 'cities'").pluck().get())
  const size = Number(database.pragma('page_size', { simple: true }))
  database.close()
  const bytes = readFileSync(data(folder))
  bytes.fill(0xa5, (page - 1) * size, page * size)
  writeFileSync(data(folder), bytes)
  const { status, err } = await octavo(['start', folder])
  expect([status, err]).toEqual([1, expect.stringMatching(/^octavo: The database [^\n]*data\.db is damaged \(cities: [^\n]+\n$/)])
  writeFileSync(join(folder, 'octavo.config.json'), JSON.stringify({ limits: { checkTime: 0 } }))
  expect((await octavo(['start', folder])).status).toBe(0)
})

test('a table with few rows and much in them is not taken for a small one: limits.checkTime bounds the start', async () => {
  const folder = project({})
  const start = (checkTime: number) => {
    writeFileSync(join(folder, 'octavo.config.json'), JSON.stringify({ limits: { checkTime } }))
    return octavo(['start', folder])
  }
  for (const name of ['src', '.env']) cpSync(join(goldenProject, name), join(folder, name), { recursive: true })
  mkdirSync(join(folder, '.tmp'))
  writeFileSync(data(folder), gunzipSync(readFileSync(join(goldenProject, 'content.db.gz'))))
  const database = new Database(data(folder))
  database.exec('create table pages (id integer primary key, body text)')
  const insert = database.prepare('insert into pages (body) values (?)')
  database.transaction(() => {
    for (let count = 0; count < 100; count++) insert.run('x'.repeat(1_000_000))
  })()
  const tables = Number(
    database.prepare("select count(*) from sqlite_schema where type = 'table' and name not like 'sqlite_%'").pluck().get(),
  )
  const last = "select pageno from dbstat where name = 'pages' and pagetype = 'leaf' order by path desc limit 1"
  const page = Number(database.prepare(last).pluck().get())
  const size = Number(database.pragma('page_size', { simple: true }))
  database.close()
  // Only a check of the whole table can find damage to its last page.
  const bytes = readFileSync(data(folder))
  bytes.fill(0xa5, (page - 1) * size, page * size)
  writeFileSync(data(folder), bytes)
  const { status, out } = await start(600)
  const told = out.split('\n').filter((line) => line.includes('limits.checkTime was too short'))
  expect([status, told.map((line) => JSON.parse(line))]).toEqual([0, [expect.objectContaining({ tables })]])
  const whole = await start(600_000)
  expect([whole.status, whole.err]).toEqual([1, expect.stringMatching(/is damaged \(pages: /)])
})
