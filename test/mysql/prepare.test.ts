// A MariaDB database is prepared once by concurrent starts, with Strapi's layout, and missing parts are added; Octavo's indexes are created.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { afterEach, expect, it } from 'vitest'
import type { WriteFirstRows } from '../../src/database/driver.js'
import type { ServerPreparation } from '../../src/database/server/kind.js'
import { findSchemaMismatches } from '../../src/database/server/mysql/catalog.js'
import { createIndexes } from '../../src/database/server/mysql/indexes.js'
import { onClient, openPool, type Pool } from '../../src/database/server/mysql/pool.js'
import { isUnprepared, prepareDatabase } from '../../src/database/server/mysql/prepare-database.js'
import { loadModel } from '../../src/model/schema/load.js'
import { describeMariadb, type TestServer } from '../servers/server.js'
import { settingsOf } from './settings.js'

const model = await loadModel({ folder: join(import.meta.dirname, '../golden/project') })
const strapi = gunzipSync(readFileSync(join(import.meta.dirname, 'strapi-schema.sql.gz'))).toString('utf8')

const pools: Pool[] = []
afterEach(async () => {
  await Promise.all(pools.splice(0).map((pool) => pool.close()))
})

function poolOf(url: string, max = 3): Pool {
  const pool = openPool(settingsOf(url, { max, connectionTimeout: 20_000 }), { max, failed: () => {} })
  pools.push(pool)
  return pool
}

const preparation = (options: Partial<ServerPreparation> = {}): ServerPreparation => ({
  ...{ wait: 60_000, sessions: true, fill: async () => {} },
  ...options,
})

const mismatches = (pool: Pool) => onClient(pool, (client) => findSchemaMismatches(client, model))

/** Layout of all tables except Octavo's, in the order of their parts. */
async function layoutOf(server: TestServer, url: string): Promise<Readonly<Record<string, readonly string[]>>> {
  const tables = await server.run(
    url,
    'select table_name as name from information_schema.tables where table_schema = database() order by 1',
  )
  const found: Record<string, readonly string[]> = {}
  for (const { name } of tables) {
    if (String(name).startsWith('octavo_')) continue
    const [row] = await server.run(url, `show create table \`${name}\``)
    const lines = String(row!['Create Table'])
      .split('\n')
      .map((line) =>
        line
          .trim()
          .replace(/,$/, '')
          .replace(/ AUTO_INCREMENT=\d+/, ''),
      )
    const isKey = (line: string) => /^(?:KEY|UNIQUE|CONSTRAINT)/.test(line)
    // Our own indexes for signing in are not Strapi's.
    found[String(name)] = [
      ...lines.filter((line) => !isKey(line)),
      ...lines.filter((line) => isKey(line) && !line.includes('`octavo_')).sort(),
    ]
  }
  return found
}

describeMariadb('preparing a database on MariaDB', (server) => {
  it('makes the layout that Strapi makes', async () => {
    const [ours, theirs] = [await server().createDatabase(), await server().createDatabase(strapi)]
    await prepareDatabase(poolOf(ours), model, preparation())
    expect(await layoutOf(server(), ours)).toEqual(await layoutOf(server(), theirs))
  })

  it('is done by one of five that start together', async () => {
    const url = await server().createDatabase()
    let filled = 0
    const columns = [
      { name: 'id', kind: 'integer', type: 'int(10) unsigned' },
      { name: 'key', kind: 'text', type: 'varchar(255)' },
    ] as const
    const fill: WriteFirstRows = async (target) => {
      filled++
      await target.insert({ name: 'strapi_core_store_settings', columns, key: ['id'] }, [[1, 'first']], {
        part: 'rows',
        source: 'test',
        last: [1],
      })
    }
    const prepared = await Promise.all(Array.from({ length: 5 }, () => prepareDatabase(poolOf(url), model, preparation({ fill }))))
    expect(prepared.filter(({ isNew }) => isNew)).toEqual([{ isNew: true, added: [], notUnique: [] }])
    expect(filled).toBe(1)
    expect(await mismatches(poolOf(url))).toEqual({ types: [], columns: [], tables: [] })
  })

  it('continues an interrupted preparation', async () => {
    const url = await server().createDatabase()
    const fill = () => Promise.reject(new Error('the seed is wrong'))
    await expect(prepareDatabase(poolOf(url), model, preparation({ fill }))).rejects.toThrow('the seed is wrong')
    expect(await onClient(poolOf(url), isUnprepared)).toBe(true)
    expect(await prepareDatabase(poolOf(url), model, preparation())).toEqual({ isNew: true, added: [], notUnique: [] })
    expect(await onClient(poolOf(url), isUnprepared)).toBe(false)
  })

  it('adds the tables, columns and indexes that are missing', async () => {
    const url = await server().createDatabase(strapi)
    const pool = poolOf(url)
    await server().run(url, 'set foreign_key_checks = 0; drop table tags; alter table products drop column price')
    expect(await prepareDatabase(pool, model, preparation())).toEqual({ isNew: false, added: ['tags', 'products.price'], notUnique: [] })
    expect(await prepareDatabase(pool, model, preparation())).toEqual({ isNew: false, added: [], notUnique: [] })
    await server().run(
      url,
      'create table mine (id int); alter table tags add column old text; alter table articles modify column starts date',
    )
    expect(await mismatches(pool)).toEqual({
      types: ['articles.starts is date, the model says datetime(6)'],
      columns: ['tags.old'],
      tables: ['mine'],
    })
  })

  it('creates the indexes of Octavo in one of two processes', async () => {
    const url = await server().createDatabase(strapi)
    await prepareDatabase(poolOf(url), model, preparation())
    const made = await Promise.all([poolOf(url), poolOf(url)].map((pool) => createIndexes(pool, model, () => {})))
    expect(Math.min(...made)).toBe(0)
    expect(Math.max(...made)).toBeGreaterThan(50)
  })
})
