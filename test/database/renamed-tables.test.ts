// Octavo's tables that had other names in earlier versions keep their rows.
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { serveExisting, serveMagazine } from '../support/serve.js'

const renamed = [
  ['octavo_pending_links', 'octavo_hidden_links'],
  ['octavo_modified_drafts', 'octavo_drifted_drafts'],
  ['octavo_out_of_sync_locales', 'octavo_unequal_locales'],
  ['octavo_credential_versions', 'octavo_user_epochs'],
  ['octavo_one_time_tokens', 'octavo_codes'],
  ['octavo_rate_limits', 'octavo_counters'],
] as const

test('renames tables of earlier versions, with their rows and indexes', async () => {
  const first = await serveMagazine()
  const connection = new Database(join(first.folder, '.tmp', 'data.db'))
  try {
    for (const [now, before] of renamed) connection.exec(`alter table ${now} rename to ${before}`)
    for (const index of [
      'octavo_pending_links_target',
      'octavo_pending_links_owner',
      'octavo_one_time_tokens_end',
      'octavo_rate_limits_end',
    ])
      connection.exec(`drop index ${index}`)
    connection.exec('create index octavo_codes_end on octavo_codes (expires_at)')
    // A foreign view, whose table is gone.
    connection.exec('create table gone (id integer)')
    connection.exec('create view stale as select id from gone')
    connection.pragma('legacy_alter_table = on')
    connection.exec('drop table gone')
    connection.exec("insert into octavo_drifted_drafts (type, row_id) values ('api::x.x', 7)")
    connection.exec('insert into octavo_user_epochs (user_id, epoch, changed_at) values (4711, 3, 12)')
    const second = await serveExisting(first)
    await second.close()
    const names = connection.prepare("select name from sqlite_schema where name like 'octavo_%' and type = 'table'").pluck().all()
    expect(names).toEqual(expect.arrayContaining(renamed.map(([now]) => now)))
    for (const [, before] of renamed) expect(names).not.toContain(before)
    expect(connection.prepare('select type, row_id from octavo_modified_drafts where row_id = 7').all()).toHaveLength(1)
    expect(connection.prepare('select epoch from octavo_credential_versions where user_id = 4711').pluck().get()).toBe(3)
    const indexes = connection.prepare("select name from sqlite_schema where name like 'octavo_%' and type = 'index'").pluck().all()
    expect(indexes).toEqual(expect.arrayContaining(['octavo_pending_links_target', 'octavo_one_time_tokens_end', 'octavo_rate_limits_end']))
    expect(indexes).not.toContain('octavo_codes_end')
    // An earlier version has run once more.
    connection.exec('create table octavo_user_epochs (user_id integer primary key, epoch integer not null, changed_at integer not null)')
    connection.exec('insert into octavo_user_epochs (user_id, epoch, changed_at) values (4711, 5, 13), (4712, 1, 13)')
    const third = await serveExisting(first)
    await third.close()
    expect(connection.prepare('select user_id, epoch from octavo_credential_versions order by user_id').raw().all()).toEqual([
      [4711, 5],
      [4712, 1],
    ])
    expect(connection.prepare("select 1 from sqlite_schema where name = 'octavo_user_epochs'").all()).toEqual([])
  } finally {
    connection.close()
    await first.close()
  }
})
