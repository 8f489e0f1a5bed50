// Copies between SQLite and PostgreSQL, both ways: every row, the same ids, resumed where they stopped; what does not fit is named.
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import Database from 'better-sqlite3'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { firstRows } from '../../src/database/open.js'
import { openPool } from '../../src/database/server/postgres/pool.js'
import { prepareDatabase } from '../../src/database/server/postgres/prepare-database.js'
import { firstContents } from '../../src/database/sqlite/prepare-database.js'
import { sqliteSource } from '../../src/database/sqlite/rows.js'
import { type CopyOptions, type CopyResult, copyDatabase } from '../../src/database/transfer/copy.js'
import { openRowSource, openRowTarget } from '../../src/database/transfer/open-rows.js'
import { createChecksum, type RowSource } from '../../src/database/transfer/rows.js'
import { loadModel } from '../../src/model/schema/load.js'
import type { Model } from '../../src/model/schema/types.js'
import { seedLoader } from '../../src/operations/seed/loader.js'
import { describePostgres } from '../servers/server.js'

const root = join(import.meta.dirname, '../..')
const goldenProject = join(root, 'test/golden/project')
const folder = mkdtempSync(join(tmpdir(), 'octavo-copy-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const options = {
  sqlite: { filename: '', busyTimeout: 5000, mmapBytes: 0, cacheKibibytes: 2048 },
  server: { schema: 'public', ssl: false as const },
  wait: 20_000,
}

async function copy(from: string, to: string, model: Model, given: Partial<CopyOptions> = {}): Promise<CopyResult> {
  const source = await openRowSource(from, options)
  const target = await openRowTarget(to, model, options)
  try {
    return await copyDatabase(source, target, { onAdapted: null, overwrite: false, report: () => {}, ...given })
  } finally {
    await source.close()
    await target.close()
  }
}

/** The rows of a database by table, normalised like another source of the same rows; times that were never read are left out. */
async function checksums(source: RowSource): Promise<Record<string, string>> {
  const sums: Record<string, string> = {}
  for (const table of await source.tables()) {
    const sum = createChecksum(table.columns)
    for (const row of await source.read({ ...table, key: [] }, null, 0)) sum.add(row)
    sums[table.name] = sum.result
  }
  await source.close()
  return sums
}

let files = 0
function sqliteCopyOfGolden(change: string): string {
  const file = join(folder, `${files++}.db`)
  writeFileSync(file, gunzipSync(readFileSync(join(goldenProject, 'content.db.gz'))))
  const database = new Database(file)
  database.exec(change)
  database.close()
  return file
}

describePostgres('first rows on PostgreSQL', (server) => {
  it('are those of SQLite, with the seed', async () => {
    const project = join(folder, 'magazine')
    cpSync(join(root, 'examples/magazine/src'), join(project, 'src'), { recursive: true })
    cpSync(join(root, 'examples/magazine/seed'), join(project, 'seed'), { recursive: true })
    const model = await loadModel({ folder: project })
    const fill = seedLoader({ folder: project, uploadsFolder: join(folder, 'uploads') }, model, 'the magazine')
    const url = await server().createDatabase()
    const settings = {
      ...{ url, schema: 'public', host: '', port: 0, name: '', user: '', password: '', ssl: false as const },
      pool: { min: 0, max: 2 },
    }
    const pool = openPool({ ...settings, connectionTimeout: 20_000 }, { max: 2, pipelined: false, failed: () => {} })
    const prepared = await prepareDatabase(pool, model, {
      schema: 'public',
      wait: 20_000,
      sessions: true,
      fill: firstRows('en', model, fill),
    })
    expect(prepared.isNew).toBe(true)
    const memory = await firstContents(model, { now: new Date(), newDocumentId: () => 'x', locale: 'en' }, fill)
    const counts = (sums: Record<string, string>) =>
      Object.fromEntries(Object.entries(sums).map(([table, sum]) => [table, sum.split(',')[0]]))
    const { octavo_write_turns: onlyHere, ...here } = await checksums(await openRowSource(url, options))
    expect(onlyHere).toMatch(/^0 rows/)
    expect(counts(here)).toEqual(counts(await checksums(sqliteSource(memory, 'memory', () => memory.close()))))
    const { rows } = await pool.query("insert into strapi_core_store_settings (key) values ('next') returning id")
    expect(rows).toEqual([{ id: Number((await pool.query('select count(*) as count from strapi_core_store_settings')).rows[0].count) }])
    await pool.end()
  })
})

describePostgres('copies', (server) => {
  let model: Model
  let sound: string
  beforeAll(async () => {
    model = await loadModel({ folder: goldenProject })
    mkdirSync(folder, { recursive: true })
    // Values that PostgreSQL cannot store have separate tests.
    const target = await server().createDatabase()
    const first = join(folder, 'first.db')
    await copy(sqliteCopyOfGolden(''), target, model, { onAdapted: () => {} })
    sound = join(folder, 'sound.db')
    await copy(target, sound, model)
    rmSync(first, { force: true })
  })

  it('to PostgreSQL and back have every row, and number new ones as the source would', async () => {
    const url = await server().createDatabase()
    const there = await copy(sound, url, model)
    expect(there).toMatchObject({ adapted: 0, omitted: [], resumed: false })
    expect(there.rows).toBeGreaterThan(3000)
    const back = join(folder, 'back.db')
    expect(await copy(url, back, model)).toMatchObject({ rows: there.rows, adapted: 0, omitted: [] })
    expect(await checksums(await openRowSource(back, options))).toEqual(await checksums(await openRowSource(sound, options)))
    const [next] = await server().run(url, "insert into articles (title) values ('new') returning id")
    const source = new Database(sound, { readonly: true })
    expect(next!.id).toBe(source.prepare("select seq + 1 from sqlite_sequence where name = 'articles'").pluck().get() as number)
    const plain = 'select id, title, content, rating, views, featured, metadata, day, at, starts, created_at from articles order by id'
    const copied = new Database(back, { readonly: true })
    expect(copied.prepare(plain).all()).toEqual(source.prepare(plain).all())
    for (const database of [source, copied]) database.close()
    expect(await server().run(url, "select to_regclass('octavo_copy_progress') as table")).toEqual([{ table: null }])
  })

  it('report values that PostgreSQL cannot hold before they write, and change them only on request', async () => {
    const file = join(folder, 'unfit.db')
    cpSync(sound, file)
    const database = new Database(file)
    const [one, two, three] = database.prepare('select id from articles order by id limit 3').pluck().all() as number[]
    database.exec(`
      pragma foreign_keys = off;
      update articles set rating = 1.005, title = 'a' || char(0) || 'b', views = 1e19, starts = 1.5, day = '2024-02-30' where id = ${one};
      update articles set rating = 123456789.5, rank = 3000000000, at = '25:00', title = '${'ä'.repeat(300)}', featured = 7 where id = ${two};
      update articles set starts = -9e15, score = 0.1, rating = 'none', metadata = 'plain text', created_by_id = 999 where id = ${three};
      insert into articles_cmps (entity_id, cmp_id) values (424242, 1);`)
    database.close()
    const url = await server().createDatabase()
    const refused = await copy(file, url, model).catch((error: Error) => error.message)
    for (const sentence of [
      `cannot hold 14 values as they are. Change them, or let them be changed with --adapt:`,
      `articles ${one}, rating: 1.005 has 3 decimals, of which 2 are kept`,
      `articles ${one}, title: "a\\u0000b" has a NUL character`,
      `articles ${one}, views: 10000000000000000000 is beyond 64 bits`,
      `articles ${one}, starts: 1.5 is finer than milliseconds`,
      `articles ${one}, day: "2024-02-30" is not a date`,
      `articles ${two}, rating: 123456789.5 has more than 8 digits before the point`,
      `articles ${two}, rank: 3000000000 is beyond 32 bits`,
      `articles ${two}, at: "25:00" is not a time of day`,
      `has 300 characters, of which 255 are kept`,
      `articles ${two}, featured: 7 is neither 0 nor 1`,
      `articles ${three}, starts: -9000000000000000 is before 4714 BC or after 275760`,
      `articles ${three}, rating: "none" is not a number`,
      `articles ${three}, created_by_id: there is no row of admin_users with the id 999`,
      `entity_id: there is no row of articles with the id 424242`,
    ])
      expect(refused).toContain(sentence)
    expect(await server().run(url, 'select count(*)::int as count from articles')).toEqual([{ count: 0 }])
    const sentences: string[] = []
    const copied = await copy(file, url, model, { onAdapted: (sentence) => sentences.push(sentence) })
    expect([copied.adapted, sentences.length]).toEqual([14, 14])
    const columns = 'rating, views, rank, day, at, featured, starts is null as unknown, metadata, created_by_id'
    expect(await server().run(url, `select ${columns} from articles where id in (${one}, ${two}, ${three}) order by id`)).toMatchObject([
      { rating: '1.01', views: '9223372036854775807', day: null, unknown: false },
      { rating: '99999999.99', rank: 2147483647, at: null, featured: true },
      { rating: null, unknown: true, metadata: 'plain text', created_by_id: null },
    ])
  })

  it('name what SQLite cannot hold', async () => {
    const url = await server().createDatabase()
    await copy(sound, url, model)
    await server().run(
      url,
      "update articles set starts = '2024-01-02 03:04:05.123456', score = 'NaN' where id = (select min(id) from articles)",
    )
    const refused = await copy(url, join(folder, 'unfit-back.db'), model).catch((error: Error) => error.message)
    expect(refused).toContain('cannot hold 2 values')
    expect(refused).toContain('starts: "2024-01-02 03:04:05.123456" is finer than milliseconds')
    expect(refused).toContain('score: "NaN" is not a number')
    expect((await copy(url, join(folder, 'unfit-back.db'), model, { onAdapted: () => {} })).adapted).toBe(2)
    // PostgreSQL has both.
    expect(await copy(url, await server().createDatabase(), model)).toMatchObject({ adapted: 0 })
  })

  it('are resumed where they stopped', async () => {
    const url = await server().createDatabase()
    let batches = 0
    const report: CopyOptions['report'] = ({ phase }) => {
      if (phase === 'copy' && ++batches === 40) throw new Error('the plug was pulled')
    }
    await expect(copy(sound, url, model, { report })).rejects.toThrow('the plug was pulled')
    const other = join(folder, 'other.db')
    cpSync(sound, other)
    await expect(copy(other, url, model)).rejects.toThrow(`has an unfinished copy of ${sound}. Finish it, or start again with --overwrite`)
    const tables = new Set<string>()
    const resumed = await copy(sound, url, model, { report: ({ phase, table }) => phase === 'copy' && tables.add(table) })
    expect(resumed.resumed).toBe(true)
    expect(tables.size).toBeLessThan(resumed.tables - 30)
    await expect(copy(sound, url, model)).rejects.toThrow(/is not empty: it has rows in \w+\. To remove all its rows first: --overwrite/)
    expect(await copy(other, url, model, { overwrite: true })).toMatchObject({ resumed: false, rows: resumed.rows })
  })

  it('notice that the source changed during the copy', async () => {
    const [url, file] = [await server().createDatabase(), join(folder, 'changing.db')]
    cpSync(sound, file)
    const report: CopyOptions['report'] = ({ phase, table }) => {
      if (phase === 'verify' && table === 'admin_permissions') throw new Error('the plug was pulled')
    }
    await expect(copy(file, url, model, { report })).rejects.toThrow('the plug was pulled')
    const database = new Database(file)
    database.exec("update tags set name = 'renamed' where id = (select min(id) from tags)")
    database.close()
    await expect(copy(file, url, model)).rejects.toThrow(/The copy differs from its source: tags \(/)
  })

  it('fill references to later rows at the end, and report omitted tables and columns', async () => {
    const file = join(folder, 'later.db')
    cpSync(sound, file)
    const database = new Database(file)
    database.exec(`
      with recursive n (i) as (select 1 union all select i + 1 from n where i < 1200)
      insert into admin_users (id, email, created_by_id) select 10000 + i, i || '@example.com', 11200 from n;
      create table plugin_things (id integer primary key, what text); insert into plugin_things values (1, 'x'), (2, 'y');
      alter table tags add column old text`)
    database.close()
    const url = await server().createDatabase()
    expect((await copy(file, url, model)).omitted).toEqual(['plugin_things (2 rows)', 'tags.old'])
    expect(await server().run(url, 'select count(*)::int as count from admin_users where created_by_id = 11200')).toEqual([{ count: 1200 }])
  })
})
