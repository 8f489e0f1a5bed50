// Writes the rows of an archive in the transaction that removed the old ones.
import type { CopiedRow, RowReplacement, RowTable, RowValue } from '../../database/transfer/rows.js'
import { ConfigError } from '../../foundation/errors/errors.js'
import { fileType } from '../../model/schema/link.js'
import type { OctavoColumnType } from '../../model/tables/octavo-tables.js'
import { configurationTables } from './export.js'
import { withColumns } from './exported-rows.js'
import { linesOf } from './format.js'
import { type CheckedArchive, hasRow, type ImportContext, type ImportReport } from './import-check.js'
import type { ImportedRow, RowIds } from './imported-rows.js'
import { importedJson } from './imported-rows.js'
import { type OwnValue, ownersOfTables, ownTables } from './own-rows.js'
import { entityIn, linkIn, valueIn } from './unpack.js'

interface ImportWriting {
  readonly context: ImportContext
  readonly checked: CheckedArchive
  readonly ids: RowIds
  /** Storage of imported files; null: their rows are unchanged. */
  readonly storage: { readonly provider: string; url(name: string): string } | null
  report(progress: ImportReport): void
}

/** Writes entities, relations, and Octavo's data about them. */
export async function writeContent(writing: ImportWriting): Promise<void> {
  await writeEntities(writing)
  await writeLinks(writing)
  await writeOwnRows(writing)
}

const entryColumns = ['entity_id', 'cmp_id', 'component_type', 'field', 'order'] as const

async function writeEntities(writing: ImportWriting): Promise<void> {
  const { context, checked, report } = writing
  const { archive, model, database, longestLine } = context
  const total = [...checked.entities.values()].reduce((sum, count) => sum + count, 0)
  // Entries reference rows, which are inserted first.
  const [rows, entries] = [openRowBuffer(database.insert), openRowBuffer(database.insert)]
  const flush = async () => {
    await rows.flush()
    await entries.flush()
  }
  let done = 0
  for await (const line of linesOf(archive.lines.entities, longestLine)) {
    const { type: uid, id, data } = entityIn(line)
    const type = model.types.get(uid)
    if (type === undefined || !checked.entities.has(uid)) continue
    const read = checked.reader.read(type, id, data, line, () => {})
    addRow(writing, uid === fileType ? placed(writing, read) : read, rows.add, entries.add)
    report({ phase: 'write', what: 'entities', done: ++done, total })
    if (rows.isFull || entries.isFull) await flush()
  }
  await flush()
}

type Add = (table: RowTable, row: CopiedRow) => void

const subsets = new WeakMap<RowTable, RowTable>()

/** Selects columns of a table; always returns the same object for a table. */
function subset(table: RowTable | undefined, columns: readonly string[]): RowTable | undefined {
  if (table === undefined) return undefined
  const made = subsets.get(table) ?? withColumns(table, columns)
  subsets.set(table, made)
  return made
}

/** Adds a row with its components. Returns its id. */
function addRow(writing: ImportWriting, { shape, id, values, entries }: ImportedRow, addShape: Add, addEntry: Add): number {
  const { context, checked, ids } = writing
  const assigned = ids.assign(shape.uid, id)
  addShape(checked.reader.tableOf(shape)!, [assigned, ...values])
  const table = shape.componentTable === null ? undefined : subset(context.tables.get(shape.componentTable), entryColumns)
  for (const { field, order, row } of entries) {
    const component = addRow(writing, row, addShape, addEntry)
    if (table !== undefined) addEntry(table, [assigned, component, row.shape.uid, field, order])
  }
  return assigned
}

/** The row of an imported file, with its location in the storage. */
function placed({ context, checked, storage }: ImportWriting, row: ImportedRow): ImportedRow {
  const { columns } = checked.reader.tableOf(row.shape)!
  const at = (name: string): number => columns.findIndex((column) => column.name === name) - 1
  const textAt = (name: string): string => String(row.values[at(name)] ?? '')
  if (storage === null) return row
  const { uploads } = context.archive
  const changed = new Map<number, RowValue>()
  const name = textAt('hash') + textAt('ext')
  if (uploads.has(name)) {
    changed.set(at('url'), storage.url(name))
    changed.set(at('provider'), storage.provider)
  }
  const formats = placedFormats(row.values[at('formats')] ?? null, (format) => (uploads.has(format) ? storage.url(format) : null))
  if (formats !== null) changed.set(at('formats'), formats)
  return { ...row, values: row.values.map((value, index) => changed.get(index) ?? value) }
}

interface Format {
  readonly hash?: unknown
  readonly ext?: unknown
  readonly url?: unknown
}

/** Formats of an image with their URLs in the storage; null if none changes. */
function placedFormats(json: RowValue, urlOf: (name: string) => string | null): string | null {
  if (typeof json !== 'string' || !json.startsWith('{')) return null
  let isChanged = false
  const formats = Object.entries(JSON.parse(json) as Record<string, Format | null>).map(([type, format]) => {
    const url = format === null ? null : urlOf(`${format.hash ?? ''}${format.ext ?? ''}`)
    if (url === null || url === format?.url) return [type, format]
    isChanged = true
    return [type, { ...format, url }]
  })
  return isChanged ? JSON.stringify(Object.fromEntries(formats)) : null
}

async function writeLinks({ context, checked, ids, report }: ImportWriting): Promise<void> {
  const { archive, model, database, scope, longestLine } = context
  const [inserted, updated] = [openRowBuffer(database.insert), openRowBuffer(database.update)]
  const isOutside = (uid: string): boolean => model.types.has(uid) && !scope.hasType(uid)
  let done = 0
  for await (const line of linesOf(archive.lines.links, longestLine)) {
    const link = linkIn(line)
    const { left, right } = link
    const resolved = checked.relations(link)
    if (resolved.kind === 'ignore' || resolved.kind === 'loss' || isOutside(left.type) || isOutside(right.type)) continue
    if (resolved.target !== null && resolved.target !== right.type) continue
    if (!hasRow(checked.ids, left) || (resolved.isById && !hasRow(checked.ids, right))) continue
    const target = resolved.isById ? ids.of(right.type, right.ref as number) : right.ref
    const buffer = resolved.kind === 'insert' ? inserted : updated
    buffer.add(resolved.table, resolved.row(link, ids.of(left.type, left.ref), target))
    report({ phase: 'write', what: 'relations', done: ++done, total: checked.links })
    if (buffer.isFull) await buffer.flush()
  }
  await inserted.flush()
  await updated.flush()
}

/** Writes rows of Octavo's tables about imported rows. */
async function writeOwnRows({ context, checked, ids }: ImportWriting): Promise<void> {
  const { archive, model, database, tables, longestLine } = context
  const buffer = openRowBuffer(database.insert)
  for await (const line of linesOf(archive.lines.octavo, longestLine)) {
    const { type, value } = valueIn(line)
    const own = ownTables.find(({ name }) => name === type)
    const table = own === undefined ? undefined : subset(tables.get(own.name), Object.keys(own.columns))
    if (own === undefined || table === undefined) continue
    const row = Object.fromEntries(Object.keys(own.columns).map((column) => [column, JSON.parse(value.get(column) ?? 'null') as OwnValue]))
    const isWhole = Object.entries(own.columns).every(([column, kind]) => isOfKind(row[column]!, kind))
    const isKnown = row.link_table === undefined || ownersOfTables(model).has(String(row.link_table))
    if (!isWhole || !isKnown) continue
    if (own.reference !== null) {
      const { column, uidOf } = own.reference
      const uid = uidOf(model, row)
      const ref = row[column] as number
      if (uid === undefined || !hasRow(checked.ids, { type: uid, field: '', ref })) continue
      row[column] = ids.of(uid, ref)
    } else if (!checked.entities.has(String(row.type))) continue
    buffer.add(table, Object.values(row))
    if (buffer.isFull) await buffer.flush()
  }
  await buffer.flush()
}

function isOfKind(value: OwnValue, kind: OctavoColumnType): boolean {
  if (value === null) return kind.endsWith('?')
  return kind.startsWith('text') ? typeof value === 'string' && value.length <= 255 : typeof value === 'number'
}

export async function writeConfiguration({ context, report, checked }: ImportWriting): Promise<void> {
  const { archive, database, tables, longestLine } = context
  const buffer = openRowBuffer(database.insert)
  let done = 0
  for await (const line of linesOf(archive.lines.configuration, longestLine)) {
    const { type, value } = valueIn(line)
    const { table: name, columns } = configurationTables.find((each) => each.type === type)!
    const names = Object.keys(columns).filter((column) => column !== 'id')
    const written = subset(tables.get(name), names)
    report({ phase: 'write', what: 'settings', done: ++done, total: checked.settings })
    if (written === undefined) continue
    const row = names.map((column, index) => {
      const stored = storedSetting(columns[column]!, column === 'value', value.get(column) ?? 'null')
      return database.coercion(written.columns[index]!)(stored).value
    })
    buffer.add(written, row)
    if (buffer.isFull) await buffer.flush()
  }
  await buffer.flush()
}

/** `isText`: the column stores JSON as text, with strings quoted. */
function storedSetting(form: string, isText: boolean, json: string): RowValue {
  if (json === 'null') return null
  if (form === 'json') return isText ? json : importedJson(json)
  const value = JSON.parse(json) as unknown
  if (form === 'boolean') return value === true ? 1 : 0
  return typeof value === 'string' ? value : json
}

/** A buffer of rows, keyed by table object. */
interface RowBuffer {
  add(table: RowTable, row: CopiedRow): void
  readonly isFull: boolean
  flush(): Promise<void>
}

/** Maximum rows, and characters in them, of a buffer. */
const [mostRows, mostCharacters] = [2_000, 4_000_000]

const sizeOf = (value: RowValue): number => (typeof value === 'string' ? value.length : 8)

/** `write` inserts or updates rows. */
function openRowBuffer(write: RowReplacement['insert']): RowBuffer {
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
