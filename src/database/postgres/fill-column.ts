// Fills a column from another one of its table, value by value, inside a transaction whose settings are those of copies (rows.ts).
import type pg from 'pg'
import { type Filling, fillColumn, valueConverter } from '../server/converted-values.js'
import { storedName } from './create-tables.js'
import { fitterFor } from './fitting.js'
import { reading, updateRows } from './rows.js'

/** Fills it. Resolves to whether the new column says all that the former one said. */
export async function fillPostgresColumn(client: pg.ClientBase, filling: Filling): Promise<boolean> {
  const { tables, read } = reading(client, '')
  const table = (await tables()).find(({ name }) => name === storedName(filling.table))!
  const columnOf = (name: string) => table.columns.find((column) => column.name === storedName(name))!
  const [id, from, to] = [columnOf('id'), columnOf(filling.from), columnOf(filling.to)]
  const withId = (column: typeof id) => ({ name: table.name, columns: [id, column], key: ['id'] })
  const former = filling.restores === undefined ? null : columnOf(filling.restores.from)
  return fillColumn(
    {
      read: (column, after, limit) => read(withId(column), after === null ? null : [after], limit),
      write: (column, rows) => updateRows(client, withId(column), rows),
    },
    from,
    to,
    valueConverter(filling, from, to, fitterFor(to)),
    former && { column: former, convert: valueConverter(filling.restores!, former, from, fitterFor(from)) },
  )
}
