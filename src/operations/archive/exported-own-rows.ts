// Rows of Octavo's own tables as the lines of `octavo/`: those that are about exported rows.
import { batchesOf } from '../../database/transfer/row-batches.js'
import { type ExportedTables, withColumns } from './exported-rows.js'
import { ownTables } from './own-rows.js'

/** The lines of all own tables. */
export async function* exportedOwnRows({ source, model, tables, exported }: ExportedTables): AsyncGenerator<string> {
  for (const { name, columns, reference } of ownTables) {
    const table = tables.get(name)
    const names = Object.keys(columns)
    if (table === undefined || !names.every((column) => table.columns.some((each) => each.name === column))) continue
    const read = withColumns(table, [...table.key.filter((column) => !names.includes(column)), ...names])
    const first = read.columns.length - names.length
    for await (const batch of batchesOf(source, read))
      for (const row of batch) {
        const value = Object.fromEntries(names.map((column, index) => [column, row[first + index] as string | number | null]))
        const uid = reference === null ? String(value.type) : reference.uidOf(model, value)
        const ids = uid === undefined ? undefined : exported.get(uid)
        const isExported = reference === null ? ids !== undefined && ids.size > 0 : ids?.has(Number(value[reference.column])) === true
        if (isExported) yield JSON.stringify({ type: name, value })
      }
  }
}
