// Validates a whole archive before any change, counts its content, and lists what the project cannot store.
import { readBatches } from '../../database/transfer/row-batches.js'
import type { RowReplacement, RowTable, RowValue } from '../../database/transfer/rows.js'
import { ConfigError } from '../../foundation/errors/errors.js'
import { fileType } from '../../model/schema/link.js'
import type { Model } from '../../model/schema/types.js'
import { type ArchivedSchema, archivedSchemas, checkVersions, schemaDifferences } from './archived-schemas.js'
import { configurationTables, namesOfFile } from './export.js'
import { type IdSet, jsonText, openIdSet, withColumns } from './exported-rows.js'
import type { LinkLine } from './format.js'
import { type ArchiveScope, isExportable, linesOf } from './format.js'
import {
  type ArchivedRowReader,
  type ImportedRow,
  isHeldByRight,
  type Loss,
  type Losses,
  openLosses,
  openRelations,
  openRowReader,
  type ResolveRelation,
} from './imported-rows.js'
import type { UnpackedArchive } from './unpack.js'
import { entityIn, linkIn, valueIn } from './unpack.js'

export interface ImportContext {
  readonly archive: UnpackedArchive
  readonly model: Model
  readonly database: RowReplacement
  /** Tables of the database, by name. */
  readonly tables: ReadonlyMap<string, RowTable>
  readonly scope: ArchiveScope
  /** Maximum bytes of a line. */
  readonly longestLine: number
}

/** Progress of an import, in lines. */
export interface ImportReport {
  readonly phase: 'unpack' | 'check' | 'remove' | 'write' | 'files'
  readonly what: string
  readonly done: number
  readonly total: number | null
}

/** Content of an archive, checked against a project. */
export interface CheckedArchive {
  readonly reader: ArchivedRowReader
  readonly relations: ResolveRelation
  /** Ids of imported rows, and the largest one, by uid of type or component. */
  readonly ids: ReadonlyMap<string, IdSet>
  readonly largest: ReadonlyMap<string, number>
  /** Number of entities by type. */
  readonly entities: ReadonlyMap<string, number>
  readonly links: number
  readonly settings: number
  /** Values and rows that the project cannot store. */
  readonly losses: readonly Loss[]
  /** Differences between schemas. */
  readonly differences: readonly string[]
  /** Number of relations of orphaned rows, which Strapi does not delete. */
  readonly unowned: number
  /** Number of relations to types outside of the scope. */
  readonly outside: number
  /** Referenced files, of the archive or of retained rows of the project. */
  readonly named: ReadonlySet<string>
  /** Files that imported rows reference and the archive lacks. */
  readonly missing: readonly string[]
}

/** Sets of ids by uid. */
function openIds() {
  const ids = new Map<string, IdSet>()
  const largest = new Map<string, number>()
  return {
    ids,
    largest,
    /** True if the id is new. */
    add(uid: string, id: number): boolean {
      const set = ids.get(uid) ?? openIdSet()
      ids.set(uid, set)
      largest.set(uid, Math.max(id, largest.get(uid) ?? 0))
      return set.add(id)
    },
  }
}

/**
 * Validates an archive.
 * @throws ConfigError with error and location
 */
export async function checkArchive(context: ImportContext, report: (progress: ImportReport) => void): Promise<CheckedArchive> {
  const { archive, model, database, tables, scope, longestLine } = context
  const schemas = await archivedSchemas(archive.lines.schemas, longestLine)
  const losses = openLosses()
  const componentOf = (uid: string, attribute: string): string | undefined => {
    const { component } = schemas.get(uid)?.attributes[attribute] ?? {}
    return typeof component === 'string' ? component : undefined
  }
  const reader = openRowReader(model, tables, database.coercion, componentOf)
  const relations = openRelations(model, tables)
  const found = openIds()
  const files = new Set<string>()
  const entities = scope.content
    ? await checkEntities(context, { schemas, reader, found, files, losses, report })
    : new Map<string, number>()
  const links = scope.content ? await checkLinks(context, relations, found.ids, losses, report) : { count: 0, unowned: 0, outside: 0 }
  if (scope.files && !scope.content) await noteOwnFiles(context, files)
  const settings = scope.configuration ? await checkConfiguration(context) : 0
  return {
    reader,
    relations,
    ids: found.ids,
    largest: found.largest,
    entities,
    links: links.count,
    settings,
    losses: losses.list,
    differences: scope.content ? schemaDifferences(schemas, model, (uid) => scope.hasType(uid) || !uid.includes('::')) : [],
    unowned: links.unowned,
    outside: links.outside,
    named: files,
    missing: scope.files && scope.content ? [...files].filter((name) => !archive.uploads.has(name)) : [],
  }
}

interface EntityChecks {
  readonly schemas: ReadonlyMap<string, ArchivedSchema>
  readonly reader: ArchivedRowReader
  readonly found: ReturnType<typeof openIds>
  /** Names of referenced files. */
  readonly files: Set<string>
  readonly losses: Losses
  report(progress: ImportReport): void
}

const totalOf = ({ archive }: ImportContext, kind: 'entities' | 'links'): number | null =>
  archive.lines[kind].reduce<number | null>((sum, { name }) => {
    const lines = archive.manifest?.files[name]?.lines
    return sum === null || lines === undefined ? null : sum + lines
  }, 0)

async function checkEntities(context: ImportContext, checks: EntityChecks): Promise<ReadonlyMap<string, number>> {
  const { archive, model, scope, longestLine } = context
  const { schemas, reader, found, files, losses, report } = checks
  const counts = new Map<string, number>()
  const total = totalOf(context, 'entities')
  let done = 0
  for await (const line of linesOf(archive.lines.entities, longestLine)) {
    const { type: uid, id, data } = entityIn(line)
    report({ phase: 'check', what: 'entities', done: ++done, total })
    if (!isExportable(uid)) {
      losses.note(`${uid.slice(0, 200)}: entities of the admin panel are never imported`)
      continue
    }
    if (!scope.hasType(uid)) continue
    const type = model.types.get(uid)
    if (type === undefined || reader.tableOf(type) === null) {
      losses.note(`${uid.slice(0, 200)}: the project has no such content-type; its entities`)
      continue
    }
    if (!counts.has(uid)) checkVersions(schemas.get(uid), model)
    counts.set(uid, (counts.get(uid) ?? 0) + 1)
    if (!found.add(uid, id)) throw new ConfigError(`${line.where}: ${uid} ${id} appears twice. Nothing was changed`)
    const row = reader.read(type, id, data, line, losses.note)
    noteComponents(row, found)
    if (uid === fileType) for (const name of namesOfFile(data)) files.add(name)
  }
  return counts
}

/** Collects the names of files referenced by rows of the project. */
async function noteOwnFiles({ database, model, tables }: ImportContext, files: Set<string>): Promise<void> {
  const table = tables.get(model.types.get(fileType)!.table)!
  for await (const rows of readBatches(database, withColumns(table, ['id', 'hash', 'ext', 'formats'])))
    for (const [, hash, ext, formats] of rows)
      for (const name of namesOfFile(`{"hash":${JSON.stringify(hash)},"ext":${JSON.stringify(ext)},"formats":${formatsText(formats!)}}`))
        files.add(name)
}

const formatsText = (value: RowValue): string => (value === null || value instanceof Uint8Array ? 'null' : jsonText(value))

/** A component with two owners, as Strapi may export it, becomes two. */
function noteComponents({ entries }: ImportedRow, found: ReturnType<typeof openIds>): void {
  for (const { row } of entries) {
    found.add(row.shape.uid, row.id)
    noteComponents(row, found)
  }
}

async function checkLinks(
  context: ImportContext,
  relations: ResolveRelation,
  ids: ReadonlyMap<string, IdSet>,
  losses: Losses,
  report: (progress: ImportReport) => void,
): Promise<{ readonly count: number; readonly unowned: number; readonly outside: number }> {
  const { archive, model, scope, longestLine } = context
  const total = totalOf(context, 'links')
  const isOutside = (uid: string): boolean => model.types.has(uid) && !scope.hasType(uid)
  let [done, count, unowned, outside] = [0, 0, 0, 0]
  for await (const line of linesOf(archive.lines.links, longestLine)) {
    const link = linkIn(line)
    report({ phase: 'check', what: 'relations', done: ++done, total })
    const { left, right } = link
    const resolved = relations(link)
    if (resolved.kind === 'ignore') continue
    if (isOutside(left.type) || isOutside(right.type)) outside++
    else if (resolved.kind === 'loss') losses.note(resolved.what)
    else {
      const { target, isById } = resolved
      const ends = { left: hasRow(ids, left), right: !isById || hasRow(ids, right) }
      const holder = isHeldByRight(link) ? 'right' : 'left'
      if (target !== null && target !== right.type) losses.note(`${left.type}.${left.field}: the project relates another type there`)
      else if (!ends[holder]) unowned++
      else if (!ends.left || !ends.right) losses.note(`${left.type}.${left.field}: relations to entities that are not imported`)
      else count++
    }
  }
  return { count, unowned, outside }
}

export const hasRow = (ids: ReadonlyMap<string, IdSet>, { type, ref }: LinkLine['left'] | LinkLine['right']): boolean =>
  typeof ref === 'number' && ids.get(type)?.has(ref) === true

async function checkConfiguration({ archive, longestLine }: ImportContext): Promise<number> {
  const keys = new Set<string>()
  let count = 0
  for await (const line of linesOf(archive.lines.configuration, longestLine)) {
    const { type, value } = valueIn(line)
    const table = configurationTables.find((each) => each.type === type)
    if (table === undefined) throw new ConfigError(`${line.where} is neither a setting nor a webhook. Nothing was changed`)
    const key = value.get('key') ?? ''
    if (type === 'core-store' && (!key.startsWith('"') || keys.size === keys.add(key).size))
      throw new ConfigError(`${line.where} is a setting without a name, or one that appears twice. Nothing was changed`)
    count++
  }
  return count
}
