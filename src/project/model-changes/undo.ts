// Undoes the last model change: restores files and archived content, and reverses renames. Also restores a single archived attribute.
import { hasColumns } from '../../database/database.js'
import { ApiError, notFound } from '../../foundation/errors/errors.js'
import { getSchema } from '../../model/diff/comparison.js'
import { archiveLocation, restoreAttribute } from '../../model/diff/restoration.js'
import type { ArchivedContent, Rename } from '../../model/diff/types.js'
import type { ChangeRequest, InForce, LiveModelOptions } from './change.js'
import { changesAfter } from './change-log.js'
import { formerTexts } from './write-files.js'

export type UndoDecisions = Pick<ChangeRequest, 'agreed' | 'note'>

/** The request that undoes the last change; `wanted`: its expected id, or null. @throws ApiError 404, 409 */
export async function requestToUndo(
  { config, database }: LiveModelOptions,
  { unwritten }: Pick<InForce, 'unwritten'>,
  wanted: number | null,
  decisions: UndoDecisions,
): Promise<ChangeRequest> {
  const changes = await changesAfter(database.main, 0)
  const last = changes.at(-1)
  if (last === undefined || (wanted !== null && !changes.some(({ id }) => id === wanted)))
    throw notFound(wanted === null ? 'There is no change to undo' : `There is no change ${wanted}`)
  const { id, files, former, kept, renames, summary } = last
  if (wanted !== null && wanted !== id)
    throw new ApiError(
      'ConflictError',
      `Only the last change can be undone, which is change ${id} (${summary}). Archived values of an attribute are restored by its name: octavo model restore`,
    )
  if (former.size === 0) throw new ApiError('ConflictError', `The change ${id} (${summary}) cannot be undone: it changed no files`)
  const now = await formerTexts(config.folder, files, unwritten)
  const changed = [...files].filter(([path, text]) => now.get(path) !== text).map(([path]) => path)
  if (changed.length > 0)
    throw new ApiError('ConflictError', `The change ${id} cannot be undone: ${changed.join(', ')} was changed since`, { files: changed })
  return { ...decisions, summary: `undo ${id}: ${summary}`, files: former, renames: renames.map(turned), undoes: { id, kept } }
}

/** Reverses a rename. The schema of an attribute has its name in the later model. */
function turned(rename: Rename, _index: number, all: readonly Rename[]): Rename {
  const { from, to } = rename
  if (rename.kind !== 'attribute') return { kind: rename.kind, from: to, to: from }
  const { schema } = rename
  const ofSchema = all.find((other) => other.kind !== 'attribute' && other.from === schema)
  return { kind: 'attribute', schema: ofSchema?.to ?? schema, from: to, to: from }
}

/** The request that restores the archived values of an attribute (`api::note.note.body`). @throws ApiError 404, 409 */
export async function requestToRestore(
  { database }: Pick<LiveModelOptions, 'database'>,
  { model, change }: Pick<InForce, 'model' | 'change'>,
  name: string,
  decisions: Pick<ChangeRequest, 'note'>,
): Promise<ChangeRequest> {
  const dot = name.lastIndexOf('.')
  const schema = getSchema(model, name.slice(0, Math.max(dot, 0)))
  const attribute = schema?.attributes.get(name.slice(dot + 1))
  if (schema === undefined || attribute === undefined) throw notFound(`The model has no attribute ${name}`)
  const location = archiveLocation(schema, attribute)
  if (location === null)
    throw new ApiError('ConflictError', `${name} is a relation: its links are restored by the undo of the last change, and not by name`)
  const archives: ArchivedContent[] = []
  for (const { kept } of (await changesAfter(database.main, 0)).toReversed()) {
    // Entries of a table without attributes for them are archived with it.
    const alike = kept.filter(({ kind, name: of, table }) =>
      kind === 'table' ? table === location.table : kind === location.kind && of === location.name,
    )
    const own = alike.filter((place) => place.table === location.table)
    // The table may have been renamed since.
    const [archive] = own.length === 0 && alike.length === 1 ? alike : own
    if (archive === undefined || archives.some(({ as }) => as === archive.as)) continue
    if (archive.kind === 'column' && archive.type === undefined && archive.conversion === undefined) continue
    const { kind, as } = archive
    const isThere = kind === 'column' ? hasColumns(database.main, location.table, [as]) : kind === 'field' || hasColumns(database.main, as)
    if (await isThere) archives.push(archive)
  }
  if (archives.length === 0) throw notFound(`${name} has no archived values`)
  const { spans } = database
  try {
    const restores = restoreAttribute({ model, schema, attribute, number: change + 1, spans }, archives)
    return { ...decisions, summary: `restore ${name}`, files: new Map(), former: new Map(), agreed: new Set(), restores }
  } catch (error) {
    throw new ApiError('ConflictError', `${name} cannot be restored: ${(error as Error).message}`)
  }
}
