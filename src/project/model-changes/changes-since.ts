// The changes since one of them, each with the models before and after it: the files of the model in force, taken back one change after the other.
import { ApiError } from '../../foundation/errors/errors.js'
import { inCommon, type MadeChange } from '../../model/diff/followed.js'
import { loadFormerModel } from '../../model/schema/load.js'
import { filesWithChanges } from '../../model/schema/schema-files.js'
import type { Model } from '../../model/schema/types.js'
import type { InForce, LiveModelOptions } from './change.js'
import { changesAfter } from './change-log.js'
import { plain } from './refusals.js'
import { differencesOf, isSchema, type SchemaTexts } from './stored-schemas.js'

/** Returns the change with this id and all that were made since, oldest first. @throws ApiError 409 if a former model cannot be read any more */
export async function changesSince(
  { config, database, findFields }: LiveModelOptions,
  { model, texts, unwritten }: Pick<InForce, 'model' | 'texts' | 'unwritten'>,
  first: number,
): Promise<readonly MadeChange[]> {
  const all = await changesAfter(database.main, 0)
  const at = all.findIndex(({ id }) => id === first)
  const found: MadeChange[] = []
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
    found.unshift({ id, summary, undoes, number: (all[index - 1]?.id ?? 0) + 1, ...inCommon(from, to, renames) })
    to = from
  }
  return found

  async function modelOf(files: SchemaTexts, id: number): Promise<Model> {
    try {
      const changes = new Map([...unwritten, ...differencesOf(texts, files)])
      return await loadFormerModel(config, filesWithChanges(config.folder, changes), findFields)
    } catch (error) {
      throw new ApiError('ConflictError', `The model before change ${id} cannot be read any more: ${plain(error, config.folder)}`)
    }
  }
}
