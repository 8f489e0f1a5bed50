// Rows under the names of the model: PostgreSQL has cut off long ones, and takes both in statements.
import type { Model } from '../../../model/schema/types.js'
import { storedName } from '../../../model/tables/stored-name.js'
import { describeTables } from '../../../model/tables/tables.js'
import type { RowSource, RowTarget } from '../../transfer/rows.js'

/** What has tables under the names that the catalog gives them. */
type StoredRows = Pick<RowSource, 'tables'> & Partial<Pick<RowSource, 'lastNumbers'> & Pick<RowTarget, 'references'>>

/** A table of the model, with its columns by their names in the catalog. */
interface NamedTable {
  readonly name: string
  readonly columns: ReadonlyMap<string, string>
}

/** The same rows, with tables and columns named as in the model: those whose names were cut off would be found by nobody. */
export function withModelNames<Rows extends StoredRows>(rows: Rows, model: Model): Rows {
  const byStoredName = new Map(
    describeTables(model).map(({ name, columns }): [string, NamedTable] => [
      storedName(name),
      { name, columns: new Map(columns.map((column) => [storedName(column.name), column.name])) },
    ]),
  )
  const tableOf = (stored: string): string => byStoredName.get(stored)?.name ?? stored
  const columnOf = (table: string, stored: string): string => byStoredName.get(table)?.columns.get(stored) ?? stored
  const { lastNumbers, references } = rows
  return {
    ...rows,
    tables: async () =>
      (await rows.tables()).map(({ name, columns, key }) => ({
        name: tableOf(name),
        columns: columns.map((column) => ({ ...column, name: columnOf(name, column.name) })),
        key: key.map((column) => columnOf(name, column)),
      })),
    ...(lastNumbers !== undefined && {
      lastNumbers: async () => new Map([...(await lastNumbers())].map(([table, number]) => [tableOf(table), number])),
    }),
    ...(references !== undefined && {
      references: async () =>
        (await references()).map(({ table, column, to, ...reference }) => ({
          ...reference,
          ...{ table: tableOf(table), column: columnOf(table, column) },
          to: { table: tableOf(to.table), column: columnOf(to.table, to.column) },
        })),
    }),
  }
}
