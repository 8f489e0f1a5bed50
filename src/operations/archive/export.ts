// Exports a project as an archive in Strapi's format: all rows in one snapshot of the database, and the files that they name.

import type { StoredFiles } from '../../content/media/stored-files.js'
import type { RowSource } from '../../database/transfer/rows.js'
import { stoppableWork } from '../../foundation/runtime/stoppable-work.js'
import type { Model } from '../../model/schema/types.js'
import { describeTables } from '../../model/tables/tables.js'
import { type ArchiveWriter, openArchiveWriter, type WrittenArchive } from './archive-writer.js'
import { type ContainerOptions, openSink } from './entry-sink.js'
import { type MissingFile, pinAssets, writeAssets } from './exported-assets.js'
import { exportedConfiguration } from './exported-configuration.js'
import { exportedLinks, storedRelations } from './exported-links.js'
import { exportedOwnRows } from './exported-own-rows.js'
import { type ExportedTables, exportedRows, openExportedTables } from './exported-rows.js'
import { loadedSchemas, registeredTypes } from './loaded-schemas.js'
import { type ArchiveScope, isExportable } from './scope.js'

/** What an export is doing. `total`: null where it is not known. */
export interface ExportReport {
  readonly stage: 'entities' | 'assets' | 'links' | 'configuration'
  readonly what: string
  readonly done: number
  readonly total: number | null
}

/** What to export, and how. */
export interface ExportOptions {
  readonly scope: ArchiveScope
  readonly container: ContainerOptions
  /** The path of the archive without its endings. */
  readonly base: string
  /** Where the files are; null: they are left out. */
  readonly files: StoredFiles | null
  /** Octavo's version. */
  readonly version: string
  readonly now: Date
  report(progress: ExportReport): void
  /** Called with what removes everything that was written, before anything is. */
  begun(abandon: () => Promise<void>): void
}

/** What was exported. */
export interface ExportedArchive extends WrittenArchive {
  readonly entities: number
  readonly assets: number
  readonly links: number
  readonly configuration: number
  /** Files that rows name and that are not there, or not in the project's storage. */
  readonly missing: readonly MissingFile[]
  /** Links from or to rows that do not exist, or belong to nothing. */
  readonly dangling: number
  /** Tables with rows that the model does not have: `menus (7 rows)`. */
  readonly unknown: readonly string[]
}

/**
 * Writes an archive. What fails leaves nothing behind.
 * @throws ConfigError if there is one of this name, and whatever the database or the disk fails with
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
  /** Ends the export by an error, if it was stopped. */
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

/** Tables that belong to plugins, or to types that are gone. */
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
