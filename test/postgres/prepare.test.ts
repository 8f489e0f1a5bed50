// A PostgreSQL database is prepared once by concurrent starts, and missing parts are added; Octavo's indexes are created next to others.
import { join } from 'node:path'
import type pg from 'pg'
import { afterEach, expect, it } from 'vitest'
import type { WriteFirstRows } from '../../src/database/driver.js'
import { findSchemaMismatches } from '../../src/database/server/postgres/catalog.js'
import { createIndexes, indexName } from '../../src/database/server/postgres/indexes.js'
import { openPool } from '../../src/database/server/postgres/pool.js'
import { isUnprepared, type PostgresPreparation, prepareDatabase } from '../../src/database/server/postgres/prepare-database.js'
import { loadModel } from '../../src/model/schema/load.js'
import { accountIndexes, describeIndexes } from '../../src/model/tables/own-indexes.js'
import { describePostgres } from '../servers/server.js'
import { catalogOf } from './catalog.js'

const model = await loadModel({ folder: join(import.meta.dirname, '../golden/project') })

const pools: pg.Pool[] = []
afterEach(async () => {
  await Promise.all(pools.splice(0).map((pool) => pool.end()))
})

function poolOf(url: string, schema = 'public', max = 3): pg.Pool {
  const settings = {
    url,
    schema,
    host: '',
    port: 0,
    name: '',
    user: '',
    password: '',
    ssl: false as const,
    pool: { min: 0, max },
    connectionTimeout: 20_000,
  }
  const pool = openPool(settings, { max, pipelined: false, failed: () => {} })
  pools.push(pool)
  return pool
}

const preparation = (options: Partial<PostgresPreparation> = {}): PostgresPreparation => ({
  schema: 'public',
  wait: 20_000,
  sessions: true,
  fill: async () => {},
  ...options,
})

describePostgres('preparing a database on PostgreSQL', (server) => {
  it('is done by one of ten that start together', async () => {
    const url = await server().createDatabase()
    let filled = 0
    const columns = [
      { name: 'id', kind: 'integer', type: 'integer' },
      { name: 'key', kind: 'text', type: 'character varying(255)' },
    ] as const
    const fill: WriteFirstRows = async (target) => {
      filled++
      const table = { name: 'strapi_core_store_settings', columns, key: ['id'] }
      await target.insert(table, [[1, 'first']], { part: 'rows', source: 'test', last: [1] })
    }
    const starts = Array.from({ length: 10 }, () => prepareDatabase(poolOf(url), model, preparation({ fill })))
    const prepared = await Promise.all(starts)
    expect(prepared.filter(({ isNew }) => isNew)).toEqual([{ isNew: true, added: [] }])
    expect(filled).toBe(1)
    expect(await server().run(url, 'select key from strapi_core_store_settings')).toEqual([{ key: 'first' }])
    expect(await prepareDatabase(poolOf(url), model, preparation())).toEqual({ isNew: false, added: [] })
    expect(await findSchemaMismatches(poolOf(url), model)).toEqual({ types: [], columns: [], tables: [] })
  })

  it('leaves nothing when it fails', async () => {
    const url = await server().createDatabase()
    const fill = () => Promise.reject(new Error('the seed is wrong'))
    await expect(prepareDatabase(poolOf(url), model, preparation({ fill }))).rejects.toThrow('the seed is wrong')
    expect(await isUnprepared(poolOf(url))).toBe(true)
    expect((await catalogOf(server(), url)).columns).toEqual([])
  })

  it('adds the tables, columns and indexes that are missing, as they were', async () => {
    const url = await server().createDatabase()
    const pool = poolOf(url)
    await prepareDatabase(pool, model, preparation())
    const whole = await catalogOf(server(), url)
    await pool.query(
      'drop table tags cascade; drop table octavo_outbox; drop index octavo_up_users_by_email; alter table products drop column price',
    )
    expect(await prepareDatabase(pool, model, preparation())).toEqual({ isNew: false, added: ['tags', 'products.price'] })
    const found = await catalogOf(server(), url)
    const sorted = (list: readonly string[]) => [...list].sort()
    expect(sorted(found.columns)).toEqual(sorted(whole.columns))
    expect(found.indexes).toEqual(whole.indexes)
  })

  it('reports what does not fit the model', async () => {
    const url = await server().createDatabase()
    const pool = poolOf(url)
    await prepareDatabase(pool, model, preparation())
    await pool.query(
      'create table mine (id int); alter table tags add column old text; alter table products alter column price type text; alter table articles alter column starts type timestamptz',
    )
    expect(await findSchemaMismatches(pool, model)).toEqual({
      types: [
        'articles.starts is timestamp with time zone, the model says timestamp(6) without time zone',
        'products.price is text, the model says numeric(10,2)',
      ],
      columns: ['tags.old'],
      tables: ['mine'],
    })
  })

  it('uses the configured schema, and explains problems with it', async () => {
    const url = await server().createDatabase()
    const inSchema = (schema: string) => prepareDatabase(poolOf(url, schema), model, preparation({ schema }))
    await expect(inSchema('content')).rejects.toThrow(
      /has no schema "content"\. Create it with CREATE SCHEMA "content", or change DATABASE_SCHEMA/,
    )
    await server().run(url, 'create schema content')
    expect(await inSchema('content')).toMatchObject({ isNew: true })
    expect(await inSchema('content')).toMatchObject({ isNew: false })
    expect(await inSchema('public')).toMatchObject({ isNew: true })
    const user = new URL(url).username
    await server().run(url, `create schema "${user}"`)
    await expect(inSchema('public')).rejects.toThrow(`The schema of the connection is "${user}", not "public"`)
  })

  it('says that another process takes too long', async () => {
    const url = await server().createDatabase()
    let go = () => {}
    const slow = new Promise<void>((resolve) => {
      go = resolve
    })
    const begun = new Promise<void>((resolve) => {
      const fill = () => {
        resolve()
        return slow
      }
      void prepareDatabase(poolOf(url), model, preparation({ fill }))
    })
    await begun
    await expect(prepareDatabase(poolOf(url), model, preparation({ wait: 1000 }))).rejects.toThrow(/were locked for 1 seconds/)
    go()
  })
})

describePostgres('indexes of our own on PostgreSQL', (server) => {
  const wanted = { model, nullsFirst: false }

  it('have nulls where the lists of the contract have them', async () => {
    const url = await server().createDatabase()
    await prepareDatabase(poolOf(url), model, preparation())
    await createIndexes(poolOf(url), { model, nullsFirst: true }, () => {})
    const pool = poolOf(url)
    const client = await pool.connect()
    try {
      await client.query('set enable_sort = off; set enable_seqscan = off; set enable_bitmapscan = off')
      for (const order of ['title nulls first', 'title desc nulls last', 'published_at desc nulls last', 'published_at nulls first']) {
        const { rows } = await client.query(
          `explain select id from articles where locale = 'en' and published_at is not null order by ${order} limit 5`,
        )
        const plan = rows.map((row) => String(Object.values(row as object)[0])).join('\n')
        expect([order, plan.includes('Sort')]).toEqual([order, false])
      }
    } finally {
      client.release()
    }
  })

  it('are created by one of several processes, and again where a creation was interrupted', async () => {
    const url = await server().createDatabase()
    await prepareDatabase(poolOf(url), model, preparation())
    const created = await Promise.all([1, 2, 3].map(() => createIndexes(poolOf(url), wanted, () => {})))
    const described = describeIndexes(model)
    expect(created.filter((count) => count > 0)).toEqual([described.length - accountIndexes(model).length])
    const { indexes } = await catalogOf(server(), url)
    const named = (name: string) => indexes.filter((definition) => definition.includes(` ${name} `))
    for (const index of described) expect(named(indexName(index)), index.name).toHaveLength(1)
    expect(named('octavo_articles_latest_created_at')).toEqual([
      'CREATE INDEX octavo_articles_latest_created_at ON public.articles USING btree (locale, created_at DESC, id) WHERE (published_at IS NOT NULL)',
    ])
    await server().run(url, "update pg_index set indisvalid = false where indexrelid = 'octavo_articles_by_title'::regclass")
    await server().run(url, 'drop index octavo_articles_by_slug')
    expect(await createIndexes(poolOf(url), wanted, () => {})).toBe(2)
    expect((await catalogOf(server(), url)).indexes).toEqual(indexes)
    expect(await server().run(url, 'select 1 from pg_index where not indisvalid')).toEqual([])
  })

  it('end where the service ends', async () => {
    const url = await server().createDatabase()
    await prepareDatabase(poolOf(url), model, preparation())
    const blocker = await poolOf(url).connect()
    await blocker.query('begin; lock table articles in row exclusive mode')
    const stop = new AbortController()
    const pool = poolOf(url)
    const ended = createIndexes(pool, wanted, () => {}, stop.signal)
    await new Promise((resolve) => setTimeout(resolve, 500))
    stop.abort()
    expect(await ended).toBeLessThan(5)
    await blocker.query('rollback')
    blocker.release()
  })

  it('leave out columns whose values may be too long for them', async () => {
    const url = await server().createDatabase()
    await prepareDatabase(poolOf(url), model, preparation())
    await server().run(url, 'alter table articles alter column title type text')
    await createIndexes(poolOf(url), wanted, () => {})
    const { indexes } = await catalogOf(server(), url)
    expect(indexes.filter((definition) => /octavo_articles_(?:by|with)_title/.test(definition))).toEqual([])
    expect(indexes.filter((definition) => /octavo_articles_by_slug/.test(definition))).toHaveLength(1)
  })
})
