// What a SQLite database says of itself.
import { sql } from 'kysely'
import type { Inspection, MainConnection } from '../database.js'

/** Looks at the tables of a database, its pages and its foreign keys. */
export const inspectSqlite = (main: MainConnection): Inspection => ({
  tables: async () => {
    const rows = await main.rows<{ readonly name: string }>(sql`select name from sqlite_master where type in ('table', 'view')`)
    const names = rows.map(({ name }) => name)
    const known = new Set(names.map((name) => name.toLowerCase()))
    return { has: (table) => known.has(table.toLowerCase()), names }
  },
  damage: async () => {
    const rows = await main.rows<{ readonly quick_check: string }>(sql`select * from pragma_quick_check`)
    return rows.map(({ quick_check }) => quick_check).filter((line) => line !== 'ok')
  },
  danglingRows: async () => {
    const rows = await main.rows<{ readonly table: string; readonly rowid: number | null; readonly parent: string }>(
      sql`select * from pragma_foreign_key_check`,
    )
    return rows.map(({ table, rowid, parent }) => `${table} row ${rowid} references a missing row of ${parent}`)
  },
})
