// Fills a column from another one of its table, value by value, inside a transaction whose settings are those of copies (rows.ts).
import type pg from 'pg'
import { storedName } from '../../../model/tables/stored-name.js'
import { type Filling, fillColumn } from '../converted-values.js'
import { fitterFor } from './coerce-values.js'
import { reading, updateRows } from './rows.js'

/** Fills it. */
export function fillPostgresColumn(client: pg.ClientBase, { table, from, to, conversion, restores }: Filling): Promise<void> {
  const { tables, read } = reading(client, '')
  const name = storedName(table)
  return fillColumn(
    {
      columns: async () => new Map((await tables()).find((each) => each.name === name)!.columns.map((column) => [column.name, column])),
      fitterFor,
      read: (columns, after, limit) => read({ name, columns, key: ['id'] }, after === null ? null : [after], limit),
      write: (columns, rows) => updateRows(client, { name, columns, key: ['id'] }, rows),
    },
    {
      ...{ table: name, from: storedName(from), to: storedName(to), conversion },
      restores: restores === undefined ? undefined : { ...restores, from: storedName(restores.from) },
    },
  )
}
