// Undoes a change of the model: files get their former texts, renames are reversed, archived content is restored.
import { ApiError, notFound } from '../../foundation/errors/errors.js'
import { type AppliedChange, compareCommon } from '../../model/diff/followed.js'
import type { Rename } from '../../model/diff/types.js'
import { loadFormerModel } from '../../model/schema/load.js'
import { filesWithChanges } from '../../model/schema/schema-files.js'
import type { Model } from '../../model/schema/types.js'
import type { ChangeRequest, InForce, LiveModelOptions } from './change.js'
import { changesAfter, changeToUndo, differencesOf, isSchema, type SchemaTexts } from './change-log.js'
import { plain } from './refusals.js'
import { formerTexts } from './write-files.js'

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

/** Returns the change with this id and all later ones, oldest first. @throws ApiError 409 if a former model is no longer readable */
async function changesSince(
  { config, database, findFields }: LiveModelOptions,
  { model, texts, unwritten }: Pick<InForce, 'model' | 'texts' | 'unwritten'>,
  first: number,
): Promise<readonly AppliedChange[]> {
  const all = await changesAfter(database.main, 0)
  const at = all.findIndex(({ id }) => id === first)
  const found: AppliedChange[] = []
  const then = new Map(texts)
  let to = model
  for (let index = all.length - 1; index >= at; index--) {
    const { id, summary, undoes, former, renames } = all[index]!
    for (const [path, text] of former) {
      if (text === null) then.delete(path)
      else if (isSchema(path)) then.set(path, text)
    }
    const from = await modelOf(then, id)
    // The number follows the last change before it.
    found.unshift({ id, summary, undoes, number: (all[index - 1]?.id ?? 0) + 1, ...compareCommon(from, to, renames) })
    to = from
  }
  return found

  async function modelOf(files: SchemaTexts, id: number): Promise<Model> {
    try {
      const changes = new Map([...unwritten, ...differencesOf(texts, files)])
      return await loadFormerModel(config, filesWithChanges(config.folder, changes), findFields)
    } catch (error) {
      throw new ApiError('ConflictError', `The model before change ${id} can no longer be read: ${plain(error, config.folder)}`)
    }
  }
}
