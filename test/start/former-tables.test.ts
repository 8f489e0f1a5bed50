// Tables of earlier versions whose rows belong to other tables today: the next start moves the rows, on every database.
import { expect, test } from 'vitest'
import { serveExisting, serveMagazine } from '../support/serve.js'

test('cursors and times of schedules of an earlier version are preserved, and its tables are gone', async () => {
  const first = await serveMagazine()
  try {
    await first.service.close()
    for (const statement of [
      'create table octavo_listener_cursors (name varchar(255) primary key, sequence bigint not null, owner text, beat bigint not null)',
      'create table octavo_schedules (name varchar(255) primary key, last_time bigint not null, owner text, beat bigint not null)',
      "insert into octavo_listener_cursors (name, sequence, owner, beat) values ('mailer', 12, null, 3), ('index', 7, 'gone', 9)",
      "insert into octavo_schedules (name, last_time, owner, beat) values ('tick', 4000000000000, 'gone', 1)",
      // A later version has run before.
      "insert into octavo_consumers (name, sequence, paused_until) values ('index', 20, 5)",
    ])
      await first.sql(statement)
    for (const _ of ['moves', 'finds nothing to move']) {
      await (await serveExisting(first)).close()
      expect(await first.sql('select name, sequence, paused_until from octavo_consumers order by name')).toEqual([
        { name: 'index', sequence: 20, paused_until: 5 },
        { name: 'mailer', sequence: 12, paused_until: 0 },
      ])
      expect(await first.sql('select name, last_time from octavo_schedule_times')).toEqual([{ name: 'tick', last_time: 4_000_000_000_000 }])
      for (const table of ['octavo_listener_cursors', 'octavo_schedules'])
        await expect(first.sql(`select name from ${table}`)).rejects.toThrow(table)
    }
  } finally {
    await first.close()
  }
})
