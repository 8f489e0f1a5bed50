// Texts in our own tables are compared by character: names and keys that differ only in case, or in spaces at their ends, are different.
import { expect, it } from 'vitest'
import { describeMariadb, environmentOf } from '../servers/server.js'
import { serveProject } from '../support/serve.js'

describeMariadb('a database whose collation ignores case', (server) => {
  it('has no column of ours that does', async () => {
    const url = await server().createDatabase()
    await server().run(url, 'alter database character set utf8mb4 collate utf8mb4_general_ci')
    const served = await serveProject({}, { environment: environmentOf(url) })
    try {
      const columns = await served.sql(
        `select table_name as "table", column_name as "column", collation_name as "collation" from information_schema.columns
          where table_schema = database() and table_name like 'octavo%' and collation_name is not null`,
      )
      expect(columns.length).toBeGreaterThan(20)
      expect(columns.filter(({ collation }) => !/_bin$/.test(collation))).toEqual([])
      for (const name of ['a', 'A', 'a '])
        await served.sql('insert into octavo_consumers (name, sequence, paused_until) values (?, 1, 0)', name)
      expect(await served.sql('select name from octavo_consumers where name = ?', 'A')).toEqual([{ name: 'A' }])
    } finally {
      await served.close()
    }
  })
})
