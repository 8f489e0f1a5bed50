// Databases that are not that of the project: one of Strapi 4, and one with tables of another program. Nothing is written to them.
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { afterAll, beforeAll, expect } from 'vitest'
import { contentType } from '../spec/library.js'
import { isOnMysql, isOnPostgres, isOnServer } from '../support/databases.js'
import { rule } from '../support/rule.js'
import { type Served, serveExisting, serveProject } from '../support/serve.js'
import { octavo, project, removeProjects } from './command.js'

let served: Served
beforeAll(async () => {
  const tag = { type: 'relation', relation: 'oneToOne', target: 'api::thing.thing' }
  served = await serveProject({ ...contentType('thing', { title: { type: 'string' } }), ...contentType('tag', { thing: tag }) })
  await served.service.close()
})
afterAll(async () => {
  removeProjects()
  await served.close().catch(() => {})
})

const refusal = async (): Promise<string> => {
  try {
    const again = await serveExisting(served)
    await again.close()
    return 'started'
  } catch (error) {
    return (error as Error).message
  }
}

const columnsOf = async (table: string) => Object.keys((await served.sql(`select * from ${table}`))[0] ?? {})

rule('running.22', 'a table of another program with the name of a table of the project is named, and left as it is', async () => {
  const name = isOnPostgres ? 'public.things' : 'things'
  await served.sql('alter table things rename to things_before')
  await served.sql('create table things (id integer primary key, foo varchar(20))')
  await served.sql("insert into things (id, foo) values (1, 'a')")
  expect(await refusal()).toMatch(
    new RegExp(
      `^The table ${name.replace('.', '\\.')} does not belong to this project: .+ of api::thing\\.thing, and lacks document_id\\. ${isOnPostgres ? 'Set DATABASE_SCHEMA' : 'Use another database'}`,
    ),
  )
  expect(await columnsOf('things')).toEqual(['id', 'foo'])
  const doctor = await octavo(['doctor', served.folder], { ...served.sameDatabase })
  // Its other checks go on.
  const belonging = 'tables with names of the content model belong to the project'
  expect([doctor.status, doctor.err]).toEqual([1, ''])
  expect(doctor.out).toMatch(new RegExp(`WRONG +1 {2}${belonging}\\n +${name.replace('.', '\\.')} lacks document_id\\n +→ A start refuses`))
  expect(doctor.out).toMatch(/checks found problems\./)
  await served.sql('drop table things')
  await served.sql('alter table things_before rename to things')
})

rule('running.22', 'a database of Strapi 4 is refused with the way to go, and left as it is', async () => {
  const tables = ['things', 'tags', 'files', 'up_users', 'up_roles', 'up_permissions', 'i18n_locale', 'admin_users', 'admin_roles']
  for (const table of tables) await served.sql(`alter table ${table} rename column document_id to old_id`)
  expect(await refusal()).toMatch(
    /^The database is one of Strapi 4: .+ start the project once with Strapi 5, which migrates the database\./,
  )
  const doctor = await octavo(['doctor', served.folder], { ...served.sameDatabase })
  expect([doctor.status, doctor.err]).toEqual([1, expect.stringContaining('is one of Strapi 4')])
  expect(await columnsOf('up_roles')).not.toContain('document_id')
  for (const table of tables) await served.sql(`alter table ${table} rename column old_id to document_id`)
  expect(await refusal()).toBe('started')
  if (!isOnServer) expect(served.database).toContain('data.db')
})

rule(
  'running.22',
  'a table that Strapi 4 left of a plugin is named without advice to give the type of the plugin another table',
  async () => {
    await served.sql('alter table up_users rename column document_id to old_id')
    const said = await refusal()
    expect(said).toMatch(
      /up_users does not belong .+ of plugin::users-permissions\.user, and lacks document_id\. .+ left over from Strapi 4/,
    )
    expect(said).not.toContain('collectionName')
    const doctor = await octavo(['doctor', served.folder], { ...served.sameDatabase })
    expect([doctor.status, doctor.err]).toEqual([1, ''])
    expect(doctor.out).toMatch(/up_users lacks document_id/)
    await served.sql('alter table up_users rename column old_id to document_id')
    expect(await refusal()).toBe('started')
  },
)

rule('running.22', 'a database of another service, or of Strapi 3, is refused although no content-type has a table there', async () => {
  const [firstTable, apart] = ['strapi_core_store_settings', 'settings_apart']
  await served.sql(`alter table ${firstTable} rename to ${apart}`)
  await served.sql('alter table admin_users rename column document_id to old_id')
  expect(await refusal()).toMatch(/admin_users does not belong .+ of admin::user, and lacks document_id\. (?!.+collectionName)/)
  for (const table of ['core_store', 'strapi_administrator']) await served.sql(`create table ${table} (id integer primary key)`)
  expect(await refusal()).toMatch(/^The database is one of Strapi 3: .+ Migrate the project to Strapi 4 and then to Strapi 5/)
  for (const table of ['core_store', 'strapi_administrator']) await served.sql(`drop table ${table}`)
  await served.sql('alter table admin_users rename column old_id to document_id')
  await served.sql(`alter table ${apart} rename to ${firstTable}`)
  expect(await refusal()).toBe('started')
})

rule('running.22', 'a view, and on SQLite a name in other letters, count as the table whose name they have', async () => {
  if (isOnMysql) return
  await served.sql('alter table things rename to things_before')
  await served.sql('create view things as select 1 as id, 2 as foo')
  expect(await refusal()).toMatch(/things does not belong .+ of api::thing\.thing, and lacks .*document_id/)
  await served.sql('drop view things')
  if (!isOnServer) {
    await served.sql('create table Things (id integer primary key, foo text)')
    expect(await refusal()).toMatch(/things does not belong .+ lacks .*document_id/)
    await served.sql('drop table Things')
  }
  await served.sql('alter table things_before rename to things')
  expect(await refusal()).toBe('started')
})

rule('running.22', 'the doctor does not call a database of another program empty', async () => {
  if (isOnServer) return
  const folder = project(contentType('thing', { title: { type: 'string' } }))
  const database = new Database(join(folder, 'other.db'))
  database.exec('create table orders (id integer primary key)')
  database.close()
  const { status, err } = await octavo(['doctor', folder], { DATABASE_FILENAME: 'other.db' })
  expect([status, err]).toEqual([1, expect.stringMatching(/has not been started on .+other\.db yet\. Its tables are of another program/)])
})
