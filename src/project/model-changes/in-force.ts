// The model in force in this process: how it is loaded, put in force, and stored with its schema files.
import { loadFormerModel, loadModel } from '../../model/schema/load.js'
import { type FileChanges, filesWithChanges, noting } from '../../model/schema/schema-files.js'
import type { InForce, LiveModelOptions } from './change.js'
import { differencesOf, storeSchemas } from './stored-schemas.js'

/** A model with its schema files. */
export type LoadedModel = Pick<InForce, 'model' | 'texts'>

/** Loads the model from the files on disk, with what is in force and not written there, and with changes of both. */
export async function loadWith(
  { config, findFields }: Pick<LiveModelOptions, 'config' | 'findFields'>,
  { unwritten }: Pick<InForce, 'unwritten'>,
  files: FileChanges,
  load: typeof loadModel = loadModel,
): Promise<LoadedModel> {
  const read = noting(config.folder, filesWithChanges(config.folder, new Map([...unwritten, ...files])))
  return { model: await load(config, read, findFields), texts: read.texts }
}

/** The same for files that were in force. */
export const loadFormerWith = (...[options, inForce, files]: Parameters<typeof loadWith>): Promise<LoadedModel> =>
  loadWith(options, inForce, files, loadFormerModel)

/** The files as several changes, one after the other, leave them. */
export const filesOf = (changes: readonly { readonly files: FileChanges }[]): FileChanges =>
  new Map(changes.flatMap(({ files }) => [...files]))

/** Puts a model in force for the requests that come from now on. `change`: the last change that it contains. */
export function putInForce(inForce: InForce, { model, texts }: LoadedModel, change: number): void {
  inForce.model = model
  inForce.texts = texts
  inForce.change = change
  inForce.installations?.replace(model, change)
}

/** Notes whether files that are in force are on disk. */
export function noteWritten(inForce: InForce, files: FileChanges, isWritten: boolean): void {
  const unwritten = new Map(inForce.unwritten)
  for (const [path, text] of files) {
    if (isWritten) unwritten.delete(path)
    else unwritten.set(path, text)
  }
  inForce.unwritten = unwritten
}

/** Lets the database know the schema files of the model in force. Where that fails, the log of changes has them. */
export async function store({ database, log }: LiveModelOptions, inForce: InForce): Promise<void> {
  if (differencesOf(inForce.stored, inForce.texts).size === 0) return
  try {
    await storeSchemas(database.writes, inForce.stored, inForce.texts, inForce.change)
    inForce.stored = inForce.texts
  } catch (error) {
    log.warn({ err: error }, 'the schema files could not be stored in the database; the next start tries again')
  }
}
