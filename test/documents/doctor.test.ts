// `octavo doctor`: sound databases are sound, and every kind of damage is found, named, and changes the exit status.
import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, unlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import Database from 'better-sqlite3'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createOctavoTables } from '../../src/database/sqlite/create-tables.js'
import { remedies } from '../../src/operations/doctor/examine.js'
import { damages, entry } from '../support/damages.js'
import { goldenProject, serveMagazine } from '../support/serve.js'

const command = join(import.meta.dirname, '..', '..', 'dist', 'main.js')

interface Report {
  readonly status: number
  readonly text: string
  /** Text of both outputs. */
  readonly all: string
  /** Names of the checks with findings, and their counts. */
  readonly wrong: readonly string[]
  readonly notes: readonly string[]
}

function doctor(folder: string, ...options: string[]): Promise<Report> {
  const environment = { ...process.env, UPLOADS_DIR: 'uploads' }
  return new Promise((resolve) => {
    execFile(process.execPath, [command, 'doctor', folder, ...options], { env: environment }, (error, text, complaint) => {
      const named = (verdict: string) => [...text.matchAll(new RegExp(`^${verdict} +(\\d+) {2}(.+)$`, 'gm'))].map(([, , name]) => name!)
      resolve({ status: error === null ? 0 : Number(error.code), text, all: text + complaint, wrong: named('WRONG'), notes: named('note') })
    })
  })
}

let folder: string
let sound: Buffer
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'octavo-test-'))
  cpSync(goldenProject, folder, { recursive: true })
  mkdirSync(join(folder, '.tmp'))
  sound = gunzipSync(readFileSync(join(folder, 'content.db.gz')))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Puts the sound database in its place and damages it. */
function damage(work: (database: Database.Database) => void): void {
  const file = join(folder, '.tmp', 'data.db')
  for (const ending of ['-wal', '-shm']) rmSync(file + ending, { force: true })
  writeFileSync(file, sound)
  const database = new Database(file)
  database.pragma('foreign_keys = OFF')
  createOctavoTables(database)
  work(database)
  database.close()
}

describe('a database that cannot be read', () => {
  const file = () => join(folder, '.tmp', 'data.db')
  const overwritten = (from: number, bytes: number) => {
    const damaged = Buffer.from(sound)
    damaged.fill(0xa5, from, from + bytes)
    return damaged
  }
  test.each([
    ['a truncated file', () => sound.subarray(0, 100_000)],
    ['an overwritten header', () => overwritten(0, 4096)],
    ['overwritten pages', () => overwritten(4096, 800_000)],
    ['a file that is no database', () => Buffer.from('hello, this is a text and no database at all')],
    ['an empty file', () => Buffer.alloc(0)],
  ])('%s: a sentence and the exit status, no stack', async (_, bytes) => {
    for (const ending of ['-wal', '-shm']) rmSync(file() + ending, { force: true })
    writeFileSync(file(), bytes())
    const report = await doctor(folder, '--links')
    expect(report.status).toBe(1)
    expect(report.all).toMatch(/cannot be read|found problems|is empty\. Start the service once/)
    expect(report.all).not.toMatch(/^\s+at /m)
  })

  test('tables and columns that are missing', async () => {
    damage((database) => {
      for (const table of ['files', 'articles', 'articles_cmps', 'octavo_pending_links']) database.exec(`drop table ${table}`)
      database.exec('create table octavo_pending_links (a)')
      database.exec('alter table tags drop column name')
    })
    const report = await doctor(folder, '--links')
    expect(report.status).toBe(1)
    expect(report.all).toContain('Pending links cannot be read')
    expect(report.all).not.toMatch(/^\s+at /m)
  })
})

describe('a sound database', () => {
  test("Strapi's own has notes at most", async () => {
    damage(() => {})
    const report = await doctor(folder, '--links')
    expect(report).toMatchObject({ status: 0, wrong: [], notes: ['owners of a target have distinct positions'] })
    expect(report.text).toContain('No problems found.')
    expect(report.text).toContain('No pending links.')
  })

  test("a new one of Octavo's has nothing at all", async () => {
    const served = await serveMagazine({ environment: { UPLOADS_DIR: 'uploads' } })
    try {
      expect(await doctor(served.folder)).toMatchObject({ status: 0, wrong: [], notes: [] })
    } finally {
      await served.close()
    }
  })
})

describe('damage is found', () => {
  test.each(damages)('$what', async ({ sql, found }) => {
    damage((database) => {
      expect(database.prepare(sql).run().changes).toBeGreaterThan(0)
    })
    const report = await doctor(folder)
    expect(report, report.text).toMatchObject({ status: 1, wrong: found })
  })

  test('a file and a format of a file that are not in the uploads folder', async () => {
    damage(() => {})
    const database = new Database(join(folder, '.tmp', 'data.db'), { readonly: true })
    const row = database.prepare('select url, formats from files where formats is not null limit 1').get() as {
      url: string
      formats: string
    }
    database.close()
    const formats = Object.values(JSON.parse(row.formats) as Record<string, { url: string }>)
    for (const url of [row.url, formats[0]!.url]) {
      const file = join(folder, url)
      const bytes = readFileSync(file)
      unlinkSync(file)
      const report = await doctor(folder)
      writeFileSync(file, bytes)
      expect(report, report.text).toMatchObject({ status: 1, wrong: ['every local file is in the uploads folder'] })
      expect(report.text).toContain(url)
    }
  })

  test('pages of the file that are overwritten', async () => {
    damage(() => {})
    const file = join(folder, '.tmp', 'data.db')
    const bytes = Buffer.from(sound)
    const page = bytes.readUInt16BE(16) === 1 ? 65_536 : bytes.readUInt16BE(16)
    for (let at = page * 600; at < page * 640; at += page) bytes.fill(0xaa, at, at + page)
    for (const ending of ['-wal', '-shm']) rmSync(file + ending, { force: true })
    writeFileSync(file, bytes)
    const report = await doctor(folder)
    expect(report.status).toBe(1)
    expect(report.wrong).toContain('the database file is intact')
  })
})

const reviewer = 'insert into articles_reviewer_lnk (article_id, author_id)'
test('one owner in several locales is sound, several owners are not', async () => {
  damage((database) => {
    database.exec(`delete from articles_reviewer_lnk`)
    const english = `from articles where locale = 'en' and document_id in (select document_id from articles where locale = 'de')`
    database.exec(
      `${reviewer} select id, (select min(id) from authors) from articles where document_id = (select min(document_id) ${english})`,
    )
  })
  expect(await doctor(folder)).toMatchObject({ status: 0, wrong: [] })
  damage((database) => {
    database.exec(`delete from articles_reviewer_lnk`)
    const drafts = `from articles where locale = 'en' and published_at is null`
    database.exec(`${reviewer} select id, (select min(id) from authors) ${drafts} limit 2`)
  })
  expect(await doctor(folder)).toMatchObject({ status: 1, wrong: ['to-one relations have at most one target'] })
})

test("remains of Strapi's normal work are a note", async () => {
  damage((database) => {
    database.exec(
      `insert into articles_cmps (entity_id, cmp_id, component_type, field) select min(id), 1, 'gone.component', 'gone' from articles`,
    )
    database.exec(
      `insert into files_related_mph (file_id, related_id, related_type, field) select min(id), 1, 'api::gone.gone', 'gone' from files`,
    )
    database.exec(
      `insert into octavo_pending_links (link_table, owner_id, target_type, target_document) select 'articles_tags_lnk', 999999, 'api::tag.tag', document_id from tags limit 1`,
    )
  })
  const report = await doctor(folder)
  expect(report).toMatchObject({ status: 0, wrong: [] })
  expect(report.notes).toContain('component entries use components of the content model')
  expect(report.notes).toContain('file links belong to types of the content model')
  expect(report.notes).toContain('pending links have an existing owner')
})

test('--links names the links that wait for a publication', async () => {
  damage((database) => {
    database.exec(`insert into octavo_pending_links (link_table, owner_id, target_type, target_document, place)
      select 'articles_tags_lnk', (select max(id) from articles where published_at is not null), 'api::tag.tag', document_id, 1 from tags limit 1`)
    database.exec(`insert into octavo_pending_links (link_table, owner_id, target_type, target_document, place)
      select 'components_page_sections_tags_lnk', (select cmp_id from articles_cmps where id = ${entry}), 'api::tag.tag', document_id, 1 from tags limit 1`)
  })
  const report = await doctor(folder, '--links')
  expect(report).toMatchObject({ status: 0, wrong: [] })
  expect(report.text).toMatch(/api::article\.article [a-z0-9]{24} \(\w+\): articles_tags_lnk → api::tag\.tag [a-z0-9]{24}\n/)
  expect(report.text).toMatch(
    /api::article\.article [a-z0-9]{24} \(\w+\), page\.section: components_page_sections_tags_lnk → api::tag\.tag [a-z0-9]{24}\n/,
  )
})

test('--json: each check with its verdict; findings have a sentence about their meaning and the remedy', async () => {
  damage((database) => {
    database.exec(
      `delete from components_shop_variants where id = (select min(cmp_id) from products_cmps where component_type = 'shop.variant')`,
    )
  })
  const { status, text } = await doctor(folder, '--json', '--links')
  const { sound, checks, pendingLinks } = JSON.parse(text)
  expect([status, sound, pendingLinks]).toEqual([1, false, []])
  const found = checks.filter(({ count }: { count: number }) => count > 0)
  expect(found).toMatchObject([
    { name: 'owners of a target have distinct positions', verdict: 'note', severity: 'note', remedy: expect.stringMatching(/\.$/) },
    {
      name: 'component entries reference existing rows',
      verdict: 'wrong',
      severity: 'error',
      count: 1,
      examples: [expect.stringContaining('shop.variant')],
    },
  ])
  // Each check has its sentence, also those that found nothing here.
  const without = checks.map(({ name }: { name: string }) => name).filter((name: string) => !Object.hasOwn(remedies, name))
  expect(without).toEqual([])
  damage(() => {})
  const good = await doctor(folder, '--json')
  expect([good.status, JSON.parse(good.text).sound]).toEqual([0, true])
})

test('nothing is changed, and a project without a database is an explanation', async () => {
  damage(() => {})
  const before = readFileSync(join(folder, '.tmp', 'data.db'))
  await doctor(folder)
  expect(readFileSync(join(folder, '.tmp', 'data.db')).equals(before)).toBe(true)
  const empty = mkdtempSync(join(tmpdir(), 'octavo-test-'))
  expect((await doctor(empty)).status).toBe(1)
  rmSync(empty, { recursive: true })
})
