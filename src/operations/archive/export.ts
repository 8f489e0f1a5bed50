// Exports a project as an archive in Strapi's format: all rows from one snapshot of the database, and the files that they reference.
import type { Absence, NamedFile, StoredFiles } from '../../content/media/stored-files.js'
import { readBatches } from '../../database/transfer/row-batches.js'
import type { RowSource, RowValue } from '../../database/transfer/rows.js'
import { stoppableWork } from '../../foundation/runtime/shutdown.js'
import { fileType } from '../../model/schema/link.js'
import type { Model } from '../../model/schema/types.js'
import { describeTables } from '../../model/tables/tables.js'
import { type ArchiveWriter, type ContainerOptions, openArchiveWriter, openSink, type WrittenArchive } from './archive-writer.js'
import { loadedSchemas, registeredTypes } from './archived-schemas.js'
import {
  type ExportedTables,
  exportedLinks,
  exportedRows,
  jsonText,
  openExportedTables,
  storedRelations,
  withColumns,
} from './exported-rows.js'
import { type ArchiveScope, isExportable, uploadMetadataName, uploadName } from './format.js'
import { ownTables } from './own-rows.js'

/** Progress of an export. `total`: null if unknown. */
export interface ExportReport {
  readonly stage: 'entities' | 'assets' | 'links' | 'configuration'
  readonly what: string
  readonly done: number
  readonly total: number | null
}

interface ExportOptions {
  readonly scope: ArchiveScope
  readonly container: ContainerOptions
  /** Path of the archive without extensions. */
  readonly base: string
  /** Storage of files; null: they are not exported. */
  readonly files: StoredFiles | null
  readonly version: string
  readonly now: Date
  report(progress: ExportReport): void
  /** Receives the cleanup function before anything is written. */
  begun(abandon: () => Promise<void>): void
}

export interface ExportedArchive extends WrittenArchive {
  readonly entities: number
  readonly assets: number
  readonly links: number
  readonly configuration: number
  /** Referenced files that are missing, or not in the project's storage. */
  readonly missing: readonly MissingFile[]
  /** Number of links from or to rows that do not exist or have no owner. */
  readonly dangling: number
  /** Tables with rows that the model lacks: `menus (7 rows)`. */
  readonly unknown: readonly string[]
}

/**
 * Writes an archive, or removes its files on failure.
 * @throws ConfigError if one with this name exists; errors of the database or the disk
 */
export async function exportArchive(source: RowSource, model: Model, options: ExportOptions): Promise<ExportedArchive> {
  const sink = await openSink(options.base, options.container)
  const writer = openArchiveWriter(sink)
  const { run, look, stop } = stoppableWork(writer.abandon)
  options.begun(stop)
  const report = (progress: ExportReport): void => {
    look()
    options.report(progress)
  }
  return run(async () => write(await openExportedTables(source, model), writer, { ...options, report, look }))
}

interface StoppableExport extends ExportOptions {
  /** Throws if the export was stopped. */
  look(): void
}

async function write(tables: ExportedTables, writer: ArchiveWriter, options: StoppableExport): Promise<ExportedArchive> {
  const { scope, files, report } = options
  const { content, configuration } = scope
  if (files !== null) await pinAssets(tables, files)
  for (const schema of loadedSchemas(tables.model)) await writer.line('schemas', JSON.stringify(schema))
  const entities = content ? await writeEntities(tables, writer, options) : 0
  const assets = files === null ? { written: 0, missing: [] } : await writeAssets(tables, files, writer, reportOf(report, 'assets'))
  const links = content ? await writeLinks(tables, writer, options) : { written: 0, dangling: 0 }
  let settings = 0
  if (configuration)
    for await (const line of exportedConfiguration(tables)) {
      await writer.line('configuration', line)
      settings++
    }
  if (content) for await (const line of exportedOwnRows(tables)) await writer.line('octavo', line)
  const types = content ? [...tables.model.types.keys()].filter(scope.hasType) : []
  const { version, now } = options
  options.look()
  const written = await writer.finish({ version, now, scope: { content, files: files !== null, configuration, types } })
  return {
    ...written,
    entities,
    assets: assets.written,
    missing: assets.missing,
    links: links.written,
    dangling: scope.isWhole ? links.dangling : 0,
    configuration: settings,
    unknown: scope.isWhole ? await unknownTables(tables) : [],
  }
}

const reportOf =
  (report: ExportOptions['report'], stage: ExportReport['stage']) =>
  (done: number): void =>
    report({ stage, what: 'files', done, total: null })

async function writeEntities(tables: ExportedTables, writer: ArchiveWriter, { scope, report }: ExportOptions): Promise<number> {
  let written = 0
  for (const type of registeredTypes(tables.model)) {
    const table = tables.tables.get(type.table)
    if (table === undefined || !scope.hasType(type.uid)) continue
    const total = await tables.source.count(table)
    const head = `{"type":${JSON.stringify(type.uid)},"id":`
    let done = 0
    for await (const { id, text } of exportedRows(tables, type)) {
      await writer.line('entities', `${head}${id},"data":${text}}`)
      report({ stage: 'entities', what: type.uid, done: ++done, total })
    }
    written += done
  }
  return written
}

async function writeLinks(
  tables: ExportedTables,
  writer: ArchiveWriter,
  { scope, report }: ExportOptions,
): Promise<{ readonly written: number; readonly dangling: number }> {
  let [written, dangling] = [0, 0]
  const types = registeredTypes(tables.model).filter(({ uid }) => isExportable(uid) && scope.hasType(uid))
  for (const shape of [...types, ...tables.model.components.values()])
    for (const relation of storedRelations(shape))
      for await (const link of exportedLinks(tables, shape, relation)) {
        if (link === null) {
          dangling++
          continue
        }
        await writer.line('links', JSON.stringify(link))
        report({ stage: 'links', what: `${shape.uid}.${relation.name}`, done: ++written, total: null })
      }
  return { written, dangling }
}

/** Tables of plugins, or of removed types. */
async function unknownTables({ source, model, tables }: ExportedTables): Promise<readonly string[]> {
  const known = new Set(describeTables(model).map(({ name }) => name))
  const found: string[] = []
  for (const [name, table] of tables) {
    if (known.has(name) || /^(?:octavo|strapi|admin)_/.test(name)) continue
    const rows = await source.count(table)
    if (rows > 0) found.push(`${name} (${rows} row${rows === 1 ? '' : 's'})`)
  }
  return found
}

/** A file to export, with its metadata as JSON. */
interface Asset extends NamedFile {
  readonly metadata: string
}

interface FileData {
  readonly hash?: unknown
  readonly ext?: unknown
  readonly url?: unknown
  readonly provider?: unknown
  readonly formats?: unknown
}

async function* assetsOf(tables: ExportedTables): AsyncGenerator<Asset> {
  for await (const { id, text } of exportedRows(tables, tables.model.types.get(fileType)!)) {
    const file = JSON.parse(text) as FileData
    const provider = String(file.provider)
    yield { name: nameOf(file), url: String(file.url), provider, metadata: `{"id":${id},${text.slice(1)}` }
    for (const [type, format] of formatsOf(file)) {
      const metadata = JSON.stringify({ ...format, type, id, mainHash: file.hash })
      yield { name: nameOf(format), url: String(format.url), provider, metadata }
    }
  }
}

const nameOf = ({ hash, ext }: FileData): string => `${hash ?? ''}${ext ?? ''}`

function formatsOf({ formats }: FileData): readonly [string, FileData][] {
  if (typeof formats !== 'object' || formats === null || Array.isArray(formats)) return []
  return Object.entries(formats).filter((entry): entry is [string, FileData] => typeof entry[1] === 'object' && entry[1] !== null)
}

/** Names of a file and its formats, from its row as JSON. */
export function namesOfFile(data: string): readonly string[] {
  const file = JSON.parse(data) as FileData
  return [nameOf(file), ...formatsOf(file).map(([, format]) => nameOf(format))]
}

/** Pins the current content of all files, which may be replaced or removed while the export runs. */
async function pinAssets(tables: ExportedTables, files: StoredFiles): Promise<void> {
  for await (const asset of assetsOf(tables)) await files.pin(asset)
}

/** A file missing from the archive. */
interface MissingFile {
  readonly name: string
  readonly url: string
  readonly why: Absence
}

/** Writes all files. Returns their number, and the missing ones. */
async function writeAssets(
  tables: ExportedTables,
  files: StoredFiles,
  writer: ArchiveWriter,
  report: (done: number) => void,
): Promise<{ readonly written: number; readonly missing: readonly MissingFile[] }> {
  const missing: MissingFile[] = []
  const seen = new Set<string>()
  for await (const asset of assetsOf(tables)) {
    if (seen.has(asset.name)) continue
    seen.add(asset.name)
    const file = await files.find(asset)
    if (typeof file === 'string') {
      missing.push({ name: asset.name, url: asset.url, why: file })
      continue
    }
    const metadata = Buffer.from(asset.metadata)
    await writer.text(uploadMetadataName(asset.name), metadata)
    await writer.file(uploadName(asset.name), file.bytes, file.open())
    report(seen.size - missing.length)
  }
  return { written: seen.size - missing.length, missing }
}

/** JSON form of a column. */
type ColumnForm = 'json' | 'text' | 'number' | 'boolean'

/** A table of configuration. */
interface ConfigurationTable {
  readonly table: string
  /** Type of its rows in the archive. */
  readonly type: 'core-store' | 'webhook'
  readonly columns: Readonly<Record<string, ColumnForm>>
}

export const configurationTables: readonly ConfigurationTable[] = [
  {
    table: 'strapi_core_store_settings',
    type: 'core-store',
    columns: { id: 'number', key: 'text', value: 'json', type: 'text', environment: 'text', tag: 'text' },
  },
  {
    table: 'strapi_webhooks',
    type: 'webhook',
    columns: { id: 'number', name: 'text', url: 'text', headers: 'json', events: 'json', enabled: 'boolean' },
  },
]

/** Lines of all settings and webhooks. */
async function* exportedConfiguration({ source, tables }: ExportedTables): AsyncGenerator<string> {
  for (const { table: name, type, columns } of configurationTables) {
    const table = tables.get(name)
    if (table === undefined) continue
    for await (const batch of readBatches(source, withColumns(table, Object.keys(columns))))
      for (const row of batch) {
        const members = Object.entries(columns).map(([column, form], index) => `${JSON.stringify(column)}:${written(form, row[index]!)}`)
        yield `{"type":"${type}","value":{${members.join(',')}}}`
      }
  }
}

function written(form: ColumnForm, value: RowValue): string {
  if (value === null || value instanceof Uint8Array) return 'null'
  switch (form) {
    case 'json':
      return jsonText(value)
    case 'number':
      return String(value)
    case 'boolean':
      return String(value === 1)
    case 'text':
      return JSON.stringify(String(value))
  }
}

/** Lines of Octavo's own tables. */
async function* exportedOwnRows({ source, model, tables, exported }: ExportedTables): AsyncGenerator<string> {
  for (const { name, columns, reference } of ownTables) {
    const table = tables.get(name)
    const names = Object.keys(columns)
    if (table === undefined || !names.every((column) => table.columns.some((each) => each.name === column))) continue
    const read = withColumns(table, [...table.key.filter((column) => !names.includes(column)), ...names])
    const first = read.columns.length - names.length
    for await (const batch of readBatches(source, read))
      for (const row of batch) {
        const value = Object.fromEntries(names.map((column, index) => [column, row[first + index] as string | number | null]))
        const uid = reference === null ? String(value.type) : reference.uidOf(model, value)
        const ids = uid === undefined ? undefined : exported.get(uid)
        const isExported = reference === null ? ids !== undefined && ids.size > 0 : ids?.has(Number(value[reference.column])) === true
        if (isExported) yield JSON.stringify({ type: name, value })
      }
  }
}
