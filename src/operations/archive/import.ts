// Imports an archive: unpacks and validates it, reports deletions and losses, and replaces the content in one transaction.

import type { LibrarySwap, LibrarySwaps } from '../../content/media/library-swap.js'
import type { CommandDatabase } from '../../database/database.js'
import { readBatches } from '../../database/transfer/row-batches.js'
import type { CopiedRow, RowReplacement, RowTable } from '../../database/transfer/rows.js'
import { ConfigError } from '../../foundation/errors/errors.js'
import { fileType } from '../../model/schema/link.js'
import type { Model } from '../../model/schema/types.js'
import { archivedSchemas } from './archived-schemas.js'
import { type IdSet, openIdSet, withColumns } from './exported-rows.js'
import { type ArchiveScope, isExportable, linesOf } from './format.js'
import { type CheckedArchive, checkArchive, type ImportContext, type ImportReport } from './import-check.js'
import { changedTables, countRemoved, removeReplaced } from './import-removal.js'
import { writeConfiguration, writeContent } from './import-write.js'
import { openRowIds, type RowIds } from './imported-rows.js'
import type { UnpackedArchive } from './unpack.js'
import { entityIn } from './unpack.js'

export interface ImportPreview {
  readonly context: ImportContext
  readonly checked: CheckedArchive
  /** Number of deleted rows by kind. */
  readonly removed: ReadonlyMap<string, number>
}

/** Validates an archive against a project, without changes. @throws ConfigError for an archive that cannot be imported */
export async function previewImport(
  archive: UnpackedArchive,
  model: Model,
  database: RowReplacement,
  { scope, longestLine }: { readonly scope: ArchiveScope; readonly longestLine: number },
  report: (progress: ImportReport) => void,
): Promise<ImportPreview> {
  const tables = new Map((await database.tables()).map((table) => [table.name, table]))
  const narrowed = await narrow(scope, archive, model, longestLine)
  const context: ImportContext = { archive, model, database, tables, scope: narrowed, longestLine }
  const checked = await checkArchive(context, report)
  return { context, checked, removed: await countRemoved(context) }
}

/** Restricts the scope to content in the archive: an export may have excluded the rest. */
async function narrow(scope: ArchiveScope, archive: UnpackedArchive, model: Model, longestLine: number): Promise<ArchiveScope> {
  const { manifest, lines, uploads } = archive
  const schemas = await archivedSchemas(lines.schemas, longestLine)
  const exported = new Set(manifest?.scope.types ?? schemas.keys())
  const isLeftOut = (uid: string): boolean => manifest !== null && schemas.has(uid) && !exported.has(uid)
  const hasType = (uid: string): boolean => scope.hasType(uid) && !isLeftOut(uid)
  const content = scope.content && lines.entities.length > 0
  return {
    content,
    files: scope.files && uploads.size > 0 && (!content || hasType(fileType)),
    configuration: scope.configuration && lines.configuration.length > 0,
    hasType,
    isWhole: content && [...model.types.keys()].filter(isExportable).every(hasType),
  }
}

interface ImportOptions {
  /** Media library, with the database in addition to the one whose rows are replaced. */
  readonly library: LibrarySwaps
  readonly command: CommandDatabase
  report(progress: ImportReport): void
}

/**
 * Replaces the content of a project. An interruption before the commit leaves the old content; after it, the next start moves the remaining
 * files into place.
 * @throws ConfigError if another program writes to the tables; errors of the database or the storage
 */
export async function carryOutImport({ context, checked }: ImportPreview, { library, command, report }: ImportOptions): Promise<void> {
  const { archive, database, tables, scope } = context
  let swap: LibrarySwap | null = null
  try {
    if (scope.files) {
      const files = wantedUploads(archive, checked.named)
      swap = await library.begin(command, files, (done) => report({ phase: 'files', what: 'files', done, total: files.size }))
    }
    await database.begin(changedTables(context))
    try {
      const users = await presentUsers(context)
      const identities = await keptIdentities(context, users)
      await removeReplaced(context, report)
      const ids = await idsFor(context, checked, users)
      const writing = { context, checked, ids, storage: scope.files ? library : null, report }
      if (scope.content) await writeContent(writing)
      if (identities !== null) await database.insert(identities.table, identities.rows)
      if (scope.configuration) await writeConfiguration(writing)
      if (swap !== null) await database.insert(withColumns(tables.get('octavo_file_swaps')!, ['id']), [[swap.id]])
      await committed(database)
    } catch (error) {
      await database.rollback().catch(() => {})
      throw error
    }
  } finally {
    await swap?.settle()
  }
}

/** @throws ConfigError if the database does not respond, so that the outcome is unknown */
async function committed(database: RowReplacement): Promise<void> {
  try {
    await database.commit()
  } catch (error) {
    if (error instanceof ConfigError) throw error
    throw new ConfigError(
      `The database did not confirm the import (${(error as Error).message}). See whether the new content is there; if it is not, repeat the import`,
    )
  }
}

/** Uploads referenced by rows of the archive, or by retained rows of the project. */
const wantedUploads = ({ uploads }: UnpackedArchive, named: ReadonlySet<string>): UnpackedArchive['uploads'] =>
  new Map([...uploads].filter(([name]) => named.has(name)))

const userType = 'plugin::users-permissions.user'

/** Ids of imported rows. `users`: those who are the same in archive and project. */
async function idsFor(context: ImportContext, { largest }: CheckedArchive, users: IdSet): Promise<RowIds> {
  const { database, model, scope } = context
  const last = await database.lastNumbers()
  const lastOf = (uid: string): number => last.get((model.types.get(uid) ?? model.components.get(uid))?.table ?? '') ?? 0
  const components = scope.isWhole ? new Map<string, IdSet>() : await remainingComponents(context)
  return openRowIds({
    largest: (uid) => largest.get(uid) ?? 0,
    last: lastOf,
    // Tokens of a former user must not become valid for another one.
    isTaken: (uid, id) => (uid === userType ? id <= lastOf(uid) && !users.has(id) : components.get(uid)?.has(id) === true),
  })
}

/** Users who exist in archive and project under the same id. */
async function presentUsers({ archive, database, model, tables, scope, longestLine }: ImportContext): Promise<IdSet> {
  const present = openIdSet()
  const type = model.types.get(userType)
  const table = type === undefined ? undefined : tables.get(type.table)
  if (table === undefined || !scope.content || !scope.hasType(userType)) return present
  let waiting = new Map<number, string>()
  const look = async (): Promise<void> => {
    const rows = await database.readWhere(withColumns(table, ['id', 'document_id']), 'id', [...waiting.keys()])
    for (const [id, documentId] of rows) if (waiting.get(Number(id)) === documentId) present.add(Number(id))
    waiting = new Map()
  }
  for await (const line of linesOf(archive.lines.entities, longestLine)) {
    if (!line.text.startsWith(`{"type":"${userType}"`)) continue
    const { id, data } = entityIn(line)
    waiting.set(id, String((JSON.parse(data) as { readonly documentId?: unknown }).documentId))
    if (waiting.size >= 500) await look()
  }
  await look()
  return present
}

/** Ids of component rows of entities that are not replaced. */
async function remainingComponents({ database, model, tables }: ImportContext): Promise<ReadonlyMap<string, IdSet>> {
  const found = new Map<string, IdSet>()
  for (const { uid, table: name } of model.components.values()) {
    const table = tables.get(name)
    const ids = openIdSet()
    found.set(uid, ids)
    if (table !== undefined)
      for await (const rows of readBatches(database, withColumns(table, ['id']))) for (const [id] of rows) ids.add(Number(id))
  }
  return found
}

/** External accounts of users who are the same in archive and project; null if they are not affected, or in the archive. */
async function keptIdentities(
  { archive, database, tables, scope }: ImportContext,
  users: IdSet,
): Promise<{ readonly table: RowTable; readonly rows: readonly CopiedRow[] } | null> {
  const table = tables.get('octavo_identities')
  if (table === undefined || archive.manifest !== null || !scope.content || !scope.hasType(userType)) return null
  const columns = withColumns(table, ['provider', 'subject', 'user_id'])
  const all = await database.read({ ...columns, key: [] }, null, 0)
  return { table: columns, rows: all.filter(([, , user]) => users.has(Number(user))) }
}
