// Reads a table in batches of bounded size, however large the rows are.
import type { CopiedRow, RowSource, RowTable } from './rows.js'

const maxBatchRows = 5_000
const targetBatchChars = 4_000_000

/** Returns a function that extracts a row's key values. */
export const keyGetter = ({ columns, key }: RowTable): ((row: CopiedRow) => CopiedRow) => {
  const positions = key.map((name) => columns.findIndex((column) => column.name === name))
  return (row) => positions.map((position) => row[position]!)
}

/** Limit for the next batch, lower if these rows were large. */
function nextLimit(rows: readonly CopiedRow[]): number {
  let size = 0
  for (const row of rows) for (const value of row) if (typeof value === 'object' || typeof value === 'string') size += value?.length ?? 0
  return Math.max(1, Math.min(maxBatchRows, Math.floor((rows.length * targetBatchChars) / Math.max(1, size))))
}

/** Reads all rows after the key `after`. The next batch is prefetched while the current one is in use. */
export async function* readBatches(
  database: Pick<RowSource, 'read'>,
  table: RowTable,
  after: CopiedRow | null = null,
): AsyncGenerator<readonly CopiedRow[]> {
  const isWhole = table.key.length === 0
  const key = keyGetter(table)
  let limit = isWhole ? Number.MAX_SAFE_INTEGER : Math.floor(maxBatchRows / 10)
  let reading = database.read(table, after, limit)
  for (;;) {
    const rows = await reading
    const isLast = rows.length < limit
    if (!isLast) {
      limit = nextLimit(rows)
      reading = database.read(table, key(rows.at(-1)!), limit)
      // A failure is thrown where `reading` is awaited.
      reading.catch(() => {})
    }
    if (rows.length > 0) yield rows
    if (isLast) return
  }
}
