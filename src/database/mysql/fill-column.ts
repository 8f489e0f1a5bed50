// Fills a column from another one of its table, value by value. Batches are committed one by one: whoever begins anew writes the same again.
import { type Filling, fillColumn, valueConverter } from '../server/converted-values.js'
import type { MysqlQueryable } from './catalog.js'
import { fitterFor } from './fitting.js'
import { assignRows, reading } from './rows.js'

/** Fills it. */
export async function fillMysqlColumn(client: MysqlQueryable, filling: Filling): Promise<void> {
  const { tables, read } = reading(client, '')
  const table = (await tables()).find(({ name }) => name === filling.table)!
  const columnOf = (name: string) => table.columns.find((column) => column.name === name)!
  const [id, from, to] = [columnOf('id'), columnOf(filling.from), columnOf(filling.to)]
  const withId = (column: typeof id) => ({ name: table.name, columns: [id, column], key: ['id'] })
  await fillColumn(
    {
      read: (column, after, limit) => read(withId(column), after === null ? null : [after], limit),
      write: (column, rows) => assignRows(client, withId(column), rows),
    },
    from,
    to,
    valueConverter(filling, from, to, fitterFor(to)),
  )
}
