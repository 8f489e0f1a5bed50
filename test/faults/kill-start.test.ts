// A killed first start, and simultaneous ones: afterwards the project is the same as after one undisturbed start.
// FAULTS=all kills after every statement and every step on files.
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import Database from 'better-sqlite3'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { access, contentType, plain, reading, seeded } from '../spec/library.js'
import { isThorough } from '../support/thorough.js'
import { copyGolden, remove, start } from './child.js'

/** Kills among all steps, the last ones included, unless FAULTS=all. */
const some = 6
const together = 10
const patience = 900_000

const project = {
  ...contentType('boat', { name: { type: 'string' }, picture: { type: 'media', multiple: false }, crew: { type: 'integer' } }),
  ...seeded('boat', plain({ Heron: { crew: 3, picture: '@file:heron' }, Gull: { crew: 2 } })),
  ...access(reading('boat')),
  'seed/files.json': ['heron', 'gull'].map((key) => ({
    key,
    file: `seed/files/${key}.txt`,
    name: `${key}.txt`,
    hash: key,
    ext: '.txt',
    mime: 'text/plain',
    size: 0.1,
    url: `/uploads/${key}.txt`,
  })),
  'seed/files/heron.txt': 'heron '.repeat(1000),
  'seed/files/gull.txt': 'gull '.repeat(1000),
}

const folders: string[] = []
let whole: unknown
let steps: number

function fresh(): string {
  const folder = mkdtempSync(join(tmpdir(), 'octavo-first-'))
  folders.push(folder)
  for (const [path, content] of Object.entries(project)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), typeof content === 'string' ? content : JSON.stringify(content))
  }
  return folder
}

const failing = (folder: string, more: Readonly<Record<string, string>> = {}) =>
  start(folder, {
    NODE_OPTIONS: `--import ${join(import.meta.dirname, 'start-failpoints.mjs')}`,
    KILL_IN: folder,
    KILL_COUNT: `${folder}.steps`,
    ...more,
  })

/** Everything that a start created: rows by table, texts of documents, files with their bytes, names in .env. */
function made(folder: string): unknown {
  const database = new Database(join(folder, '.tmp', 'data.db'), { readonly: true })
  const tables = database.prepare("select name from sqlite_schema where type in ('table', 'index') order by name").pluck().all() as string[]
  const rows = database
    .prepare("select name from sqlite_schema where type = 'table' and name not like 'sqlite_%' order by name")
    .pluck()
    .all() as string[]
  const counts = rows.map((name) => [name, database.prepare(`select count(*) from "${name}"`).pluck().get()])
  const boats = database.prepare('select name, crew, published_at is null as draft from boats order by id').all()
  const [check] = database.pragma('quick_check') as { readonly quick_check: string }[]
  database.close()
  const uploads = readdirSync(join(folder, 'uploads')).filter((name) => !name.startsWith('.'))
  return {
    ...{ tables, counts, boats, check },
    uploads: uploads.map((name) => [name, readFileSync(join(folder, 'uploads', name), 'utf8')]),
    secrets: readFileSync(join(folder, '.env'), 'utf8').replaceAll(/=.+/g, '=…'),
    here: readdirSync(folder),
    beside: readdirSync(join(folder, '.tmp')).filter((name) => !/-(?:wal|shm)$/.test(name)),
  }
}

async function startAndStop(folder: string): Promise<void> {
  const child = start(folder)
  await child.origin
  child.signal('SIGTERM')
  expect((await child.ended).code, child.errors()).toBe(0)
}

beforeAll(async () => {
  const folder = fresh()
  const child = failing(folder)
  await child.origin
  child.signal('SIGTERM')
  await child.ended
  whole = made(folder)
  steps = Number(readFileSync(`${folder}.steps`, 'utf8'))
  rmSync(`${folder}.steps`)
}, patience)

afterAll(async () => {
  for (const folder of folders) await remove(folder)
})

test(
  'a first start that is killed at any step is made good by the next one',
  async () => {
    expect(steps).toBeGreaterThan(200)
    expect(whole).toMatchObject({
      boats: [{ name: 'Heron' }, { name: 'Gull' }],
      uploads: [
        ['gull.txt', expect.anything()],
        ['heron.txt', expect.anything()],
      ],
    })
    const every = Array.from({ length: steps }, (_, index) => index + 1)
    const points = isThorough ? every : every.filter((n) => n === 4 || n % Math.ceil(steps / some) === 0)
    for (const n of points) {
      const folder = fresh()
      const killed = failing(folder, { KILL_AT: String(n) })
      killed.origin.then(
        () => killed.signal('SIGKILL'),
        () => {},
      )
      expect((await killed.ended).signal, `step ${n}: ${killed.errors()}`).toBe('SIGKILL')
      rmSync(`${folder}.steps`, { force: true })
      await startAndStop(folder)
      expect(made(folder), `killed at step ${n} of ${steps}`).toEqual(whole)
      await remove(folder)
    }
  },
  patience,
)

/** Starts many at once, waits until all serve, ends them. */
async function allTogether(folder: string): Promise<void> {
  const children = Array.from({ length: together }, () => start(folder, { OCTAVO_DATABASE_READER_THREADS: '1', UV_THREADPOOL_SIZE: '1' }))
  const origins = await Promise.allSettled(children.map(({ origin }) => origin))
  for (const child of children) child.signal('SIGTERM')
  const ended = await Promise.all(children.map(({ ended }) => ended))
  expect(
    origins.map(({ status }) => status),
    children.map((child) => child.errors()).join(''),
  ).toEqual(Array(together).fill('fulfilled'))
  expect(ended.map(({ code }) => code)).toEqual(Array(together).fill(0))
}

test(
  'ten starts at once on an empty folder: all come up, everything is made once',
  async () => {
    const folder = fresh()
    await allTogether(folder)
    expect(made(folder)).toEqual(whole)
  },
  patience,
)

test(
  "ten simultaneous starts on Strapi's database all come up, and add missing tables once",
  async () => {
    const folder = await copyGolden()
    folders.push(folder)
    const path = join(folder, '.tmp', 'data.db')
    const old = new Database(path)
    old.pragma('journal_mode = DELETE')
    old.exec('alter table cities drop column population')
    old.close()
    await allTogether(folder)
    const database = new Database(path, { readonly: true })
    const columns = database.prepare("select name from pragma_table_info('cities')").pluck().all()
    expect(columns.filter((name) => name === 'population')).toHaveLength(1)
    expect(
      database.prepare("select count(*) from sqlite_schema where name like 'octavo_%' and type = 'table'").pluck().get(),
    ).toBeGreaterThan(5)
    database.close()
  },
  patience,
)

test('files of a new project are readable by their owner only', () => {
  const [folder] = folders
  const mode = (path: string) => (statSync(join(folder!, path)).mode & 0o777).toString(8)
  expect(['.env', '.tmp', '.tmp/data.db', 'uploads', 'uploads/heron.txt'].map(mode)).toEqual(['600', '700', '600', '700', '600'])
  expect(existsSync(join(folder!, 'uploads', 'heron.txt'))).toBe(true)
})
