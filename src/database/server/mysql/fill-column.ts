// Fills a column from another one of its table, value by value. Batches are committed one by one: whoever begins anew writes the same again.
import { type Filling, fillColumn } from '../converted-values.js'
import type { MysqlQueryable } from './catalog.js'
import { fitterFor } from './coerce-values.js'
import { assignRows, reading } from './rows.js'

/** Fills it. */
export function fillMysqlColumn(client: MysqlQueryable, filling: Filling): Promise<void> {
  const { tables, read } = reading(client, '')
  const name = filling.table
  return fillColumn(
    {
      columns: async () => new Map((await tables()).find((each) => each.name === name)!.columns.map((column) => [column.name, column])),
      fitterFor,
      read: (columns, after, limit) => read({ name, columns, key: ['id'] }, after === null ? null : [after], limit),
      write: (columns, rows) => assignRows(client, { name, columns, key: ['id'] }, rows),
    },
    filling,
  )
}
