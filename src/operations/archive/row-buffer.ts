// Rows on their way into a database: collected, and inserted many at a time.

import type { CopiedRow, RowReplacement, RowTable, RowValue } from '../../database/transfer/rows.js'
import { ConfigError } from '../../foundation/errors/errors.js'

/** Collected rows. A table is always the same value. */
export interface RowBuffer {
  add(table: RowTable, row: CopiedRow): void
  /** Whether so much is collected that it should be written. */
  readonly isFull: boolean
  flush(): Promise<void>
}

/** Rows, and characters of them, that are collected. */
const [mostRows, mostCharacters] = [2_000, 4_000_000]

const sizeOf = (value: RowValue): number => (typeof value === 'string' ? value.length : 8)

/** `write`: inserts or updates rows. */
export function openRowBuffer(write: RowReplacement['insert']): RowBuffer {
  const tables = new Map<RowTable, CopiedRow[]>()
  let [rows, characters] = [0, 0]
  return {
    add: (table, row) => {
      const collected = tables.get(table) ?? []
      tables.set(table, collected)
      collected.push(row)
      rows++
      for (const value of row) characters += sizeOf(value)
    },
    get isFull() {
      return rows >= mostRows || characters >= mostCharacters
    },
    flush: async () => {
      for (const [table, collected] of tables)
        await write(table, collected).catch((error: Error) => {
          throw error instanceof ConfigError
            ? error
            : new ConfigError(`A row of ${table.name} could not be written: ${error.message}. Nothing was changed`)
        })
      tables.clear()
      rows = 0
      characters = 0
    },
  }
}
