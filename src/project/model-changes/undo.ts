// Undoing a change of the model: the files get their former texts, renames go back, and what was kept aside is given back.
import { ApiError, notFound } from '../../foundation/errors/errors.js'
import type { Rename } from '../../model/diff/types.js'
import type { ChangeRequest, InForce, LiveModelOptions } from './change.js'
import { changeToUndo } from './change-log.js'
import { changesSince } from './changes-since.js'
import { formerTexts } from './write-files.js'

/** What whoever undoes a change decides. */
export type UndoDecisions = Pick<ChangeRequest, 'agreed' | 'note'>

/** Returns the request that undoes a change; null for `wanted`: the last one. @throws ApiError 404, 409 */
export async function requestToUndo(
  options: LiveModelOptions,
  inForce: Pick<InForce, 'model' | 'texts' | 'unwritten'>,
  wanted: number | null,
  decisions: UndoDecisions,
): Promise<ChangeRequest> {
  const { config, database } = options
  const change = await changeToUndo(database.main, wanted)
  if (change === null) throw notFound(wanted === null ? 'There is no change to undo' : `There is no change ${wanted}`)
  const { id, files, former, kept, renames } = change
  if (former.size === 0) throw new ApiError('ConflictError', `The change ${id} was made by a version that could not undo changes`)
  const now = await formerTexts(config.folder, files, inForce.unwritten)
  const changed = [...files].filter(([path, text]) => now.get(path) !== text).map(([path]) => path)
  if (changed.length > 0)
    throw new ApiError('ConflictError', `The change ${id} cannot be undone: ${changed.join(', ')} was changed since`, { files: changed })
  const undoes = { id, kept, since: await changesSince(options, inForce, id) }
  return { ...decisions, summary: `undo ${id}: ${change.summary}`, files: former, renames: renames.map(turned), undoes }
}

/** A rename the other way. The schema of an attribute is named as the later model does. */
function turned(rename: Rename, _index: number, all: readonly Rename[]): Rename {
  const { from, to } = rename
  if (rename.kind !== 'attribute') return { kind: rename.kind, from: to, to: from }
  const { schema } = rename
  const ofSchema = all.find((other) => other.kind !== 'attribute' && other.from === schema)
  return { kind: 'attribute', schema: ofSchema?.to ?? schema, from: to, to: from }
}
