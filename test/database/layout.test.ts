// The tables that Octavo creates are those of Strapi 5.54: compared with a database that Strapi created (golden) and with the names
// that Strapi gave to a model of awkward ones (awkward-names.json, recorded).
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import Database from 'better-sqlite3'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTables } from '../../src/database/sqlite/create-tables.js'
import { insertInitialRows } from '../../src/database/sqlite/initial-rows.js'
import { loadModel } from '../../src/model/schema/load.js'
import { describeTables } from '../../src/model/tables/tables.js'

const here = import.meta.dirname
const folder = mkdtempSync(join(tmpdir(), 'octavo-layout-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

interface Layout {
  readonly columns: readonly string[]
  readonly indexes: readonly string[]
  readonly foreignKeys: readonly string[]
}

/** Tables of the database, as short sentences. Strapi writes foreign keys twice into some tables: once is enough. */
function layoutOf(database: Database.Database): Record<string, Layout> {
  const tables = database.prepare("SELECT name, sql FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'").all()
  const layouts = (tables as { name: string; sql: string }[]).map(({ name, sql }) => {
    const columns = database.pragma(`table_info("${name}")`) as {
      name: string
      type: string
      notnull: number
      dflt_value: string | null
      pk: number
    }[]
    const indexes = database.pragma(`index_list("${name}")`) as { name: string; unique: number }[]
    const keys =
      /CONSTRAINT ["`]([^"`]+)["`] FOREIGN KEY \(["`]([^"`]+)["`]\) REFERENCES ["`]([^"`]+)["`] \(["`]([^"`]+)["`]\) ON DELETE (SET NULL|CASCADE)/gi
    const layout: Layout = {
      columns: columns.map(
        (column) =>
          `${column.name} ${column.type.toLowerCase()}${column.notnull ? ' not null' : ''}${column.dflt_value === null ? '' : ` default ${column.dflt_value}`}${column.pk ? ' primary key' : ''}`,
      ),
      indexes: indexes
        .map((index) => {
          const parts = database.pragma(`index_info("${index.name}")`) as { name: string }[]
          return `${index.unique ? 'unique ' : ''}${index.name} (${parts.map((part) => part.name).join(', ')})`
        })
        .sort(),
      foreignKeys: [
        ...new Set(
          [...sql.matchAll(keys)].map(([, key, from, table, to, action]) => `${key}: ${from} -> ${table} (${to}) ${action!.toLowerCase()}`),
        ),
      ].sort(),
    }
    return [name, layout] as const
  })
  return Object.fromEntries(layouts)
}

async function made(project: string): Promise<Database.Database> {
  const database = new Database(':memory:')
  createTables(database, describeTables(await loadModel({ folder: project })))
  return database
}

describe('the golden project', () => {
  const file = join(folder, 'golden.db')
  let golden: Database.Database
  let ours: Database.Database
  beforeAll(async () => {
    writeFileSync(file, gunzipSync(readFileSync(join(here, '../golden/project/content.db.gz'))))
    golden = new Database(file, { readonly: true })
    ours = await made(join(here, '../golden/project'))
  })
  afterAll(() => {
    golden.close()
    ours.close()
  })

  it('has exactly the tables that Strapi creates', () => {
    expect(Object.keys(layoutOf(ours)).sort()).toEqual(Object.keys(layoutOf(golden)).sort())
  })

  it('has their columns in the same order and declared alike, their indexes and their foreign keys', () => {
    expect(layoutOf(ours)).toEqual(layoutOf(golden))
  })

  it('starts with the migrations done that Strapi has done', async () => {
    const database = await made(join(here, '../golden/project'))
    insertInitialRows(database, await loadModel({ folder: join(here, '../golden/project') }), first('en'))
    const migrations = 'SELECT name FROM strapi_migrations_internal ORDER BY id'
    expect(database.prepare(migrations).all()).toEqual(golden.prepare(migrations).all())
    database.close()
  })

  it('has Strapi’s default settings except the e-mail templates', async () => {
    const database = await made(join(here, '../golden/project'))
    insertInitialRows(database, await loadModel({ folder: join(here, '../golden/project') }), first('en'))
    const settings = (from: Database.Database) =>
      new Map(
        (
          from.prepare('SELECT key, value, type FROM strapi_core_store_settings').all() as { key: string; value: string; type: string }[]
        ).map(({ key, value, type }) => [key, { type, value: JSON.parse(value) as unknown }]),
      )
    const strapi = settings(golden)
    for (const [key, setting] of settings(database)) {
      if (key === 'plugin_users-permissions_email' || !strapi.has(key)) continue
      expect(setting, key).toEqual(strapi.get(key))
    }
    database.close()
  })
})

describe('a project of awkward names', () => {
  const recorded = JSON.parse(readFileSync(join(here, 'awkward-names.json'), 'utf8')) as Record<string, Layout>
  let layouts: Record<string, Layout>
  beforeAll(async () => {
    const database = await made(join(here, 'awkward'))
    layouts = layoutOf(database)
    database.close()
  })

  it('has every table, column, index and foreign key under the name that Strapi gave it', () => {
    expect(Object.fromEntries(Object.keys(recorded).map((table) => [table, layouts[table]]))).toEqual(recorded)
  })

  it('has no additional tables, except those outside of projects and the join tables that Strapi declares but does not create', () => {
    const others = Object.keys(layouts).filter((table) => recorded[table] === undefined)
    const own = others.filter((table) => !/^(strapi_|admin_|up_|upload_folders|i18n_locale|files)/.test(table))
    expect(own.sort()).toEqual(['Book_Writer_Custom_2', 'book_writer_custom'])
  })

  it('has no name longer than 55 characters', () => {
    const names = Object.entries(layouts).flatMap(([table, { columns, indexes }]) => [
      table,
      ...columns.map((column) => column.split(' ')[0]!),
      ...indexes.map((index) => index.replace('unique ', '').split(' ')[0]!),
    ])
    expect(names.filter((name) => name.length > 55)).toEqual([])
  })
})

const first = (locale: string) => {
  let count = 0
  return { now: new Date('2026-01-02T03:04:05Z'), newDocumentId: () => `d${count++}`, apiTokenSalt: 'salt', locale }
}

describe('a new database', () => {
  let database: Database.Database
  beforeAll(async () => {
    database = await made(join(here, '../golden/project'))
    insertInitialRows(database, await loadModel({ folder: join(here, '../golden/project') }), first('fr'))
  })
  afterAll(() => database.close())

  it('lets visitors sign up and in, and users be who they are', () => {
    const allowed = database
      .prepare(
        `SELECT r.type, group_concat(replace(p.action, 'plugin::users-permissions.', ''), ' ' ORDER BY l.permission_ord) AS actions
         FROM up_roles r JOIN up_permissions_role_lnk l ON l.role_id = r.id JOIN up_permissions p ON p.id = l.permission_id GROUP BY r.id`,
      )
      .all()
    expect(allowed).toEqual([
      { type: 'authenticated', actions: 'auth.logout auth.getSessions auth.revokeSession user.me auth.changePassword' },
      {
        type: 'public',
        actions:
          'auth.callback auth.connect auth.forgotPassword auth.resetPassword auth.register auth.emailConfirmation auth.sendEmailConfirmation auth.refresh',
      },
    ])
  })

  it('knows its default locale only', () => {
    expect(database.prepare('SELECT name, code FROM i18n_locale').all()).toEqual([{ name: 'French (fr)', code: 'fr' }])
    const setting = database.prepare("SELECT value, type FROM strapi_core_store_settings WHERE key = 'plugin_i18n_default_locale'").get()
    expect(setting).toEqual({ value: '"fr"', type: 'string' })
  })

  it('has no tokens before the first request for one', () => {
    expect(database.prepare('SELECT count(*) AS count FROM strapi_api_tokens').get()).toEqual({ count: 0 })
  })

  it('leaves Strapi to take its own snapshots, so that its first start compares and changes nothing', () => {
    expect(database.prepare('SELECT count(*) AS count FROM strapi_database_schema').get()).toEqual({ count: 0 })
    const snapshot = database.prepare("SELECT 1 FROM strapi_core_store_settings WHERE key = 'strapi_content_types_schema'").get()
    expect(snapshot).toBeUndefined()
  })
})
