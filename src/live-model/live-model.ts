// Changes the model while serving. A change is prepared beside the model in force: its files are staged, its schemas loaded and checked, its
// tables and columns added. One row makes it; then the installation is replaced and the files are put into their places. Whoever ends before the
// row leaves the former model, whoever ends after it lets the next start finish.
import type { Logger } from 'pino'
import type { Config } from '../config/config.js'
import type { Database } from '../database/database.js'
import { ApiError, ConfigError } from '../errors/errors.js'
import type { Installations } from '../installation.js'
import { loadModel } from '../model/load.js'
import { type FileChanges, filesWithChanges } from '../model/schema-files.js'
import type { Model } from '../model/types.js'
import { openQueue } from '../runtime/queue.js'
import {
  changeColumns,
  changesAfter,
  type ListedChange,
  lastChange,
  listChanges,
  noteFiled,
  type RecordedChange,
  recordChange,
  unfiledChanges,
} from './change-log.js'
import { plain, refuseLosses, refuseTakenTables } from './refusals.js'
import { type StagedFiles, stageFiles } from './write-files.js'

/** A change as it is asked for. */
export interface ChangeRequest {
  /** What is changed, for the log of changes. */
  readonly summary: string
  readonly files: FileChanges
  /** Names of content that may be hidden (`Removal.name`). */
  readonly agreed: ReadonlySet<string>
}

/** The model of a service that changes while it serves. */
export interface LiveModel {
  /** The model at the start, with all changes that were made before. */
  readonly model: Model
  /** What other processes change, and how it is followed: as the access rules are read again after a commit. */
  readonly watched: { readonly tables: Readonly<Record<string, readonly string[]>>; reload(): Promise<void> }
  /** The changes that were made while serving, oldest first. */
  history(): Promise<readonly ListedChange[]>
  /** From now on, changes come into force in these installations. */
  serve(installations: Installations): void
  /**
   * Makes a change; resolves to the version of the model once it is in force. `prepare` returns the change from the project's files as they are
   * then, or null for none; changes wait for each other.
   * @throws ApiError 400 if the schemas that result cannot be loaded or do not fit the project's code, 409 if content would be hidden that
   * the request does not name (`details.losses`), if something cannot be done while serving (`details.obstacles`), or if another process
   * changed the model meanwhile
   */
  change(prepare: (model: Model) => Promise<ChangeRequest | null>): Promise<string>
}

export interface LiveModelOptions {
  readonly config: Config
  /** The model as it is on disk. */
  readonly model: Model
  readonly database: Database
  readonly log: Logger
  /** The time of day in milliseconds since 1970. */
  now(): number
  /** Checks the project's code against a model. @throws ConfigError */
  check(model: Model): Promise<void>
}

/** The model in force, and the last change that led to it. */
interface InForce {
  model: Model
  /** 0: the model is that of the files. */
  change: number
  installations: Installations | null
}

/** Opens the model for changes, and finishes what an earlier process began: its files are written, and the model is loaded again. */
export async function openLiveModel(options: LiveModelOptions): Promise<LiveModel> {
  const { main } = options.database
  const line = openQueue(1, options.config.limits.modelChangeQueue, 'Too many changes of the model wait')
  const inForce: InForce = { model: options.model, change: await lastChange(main), installations: null }
  await finishChanges(options, inForce)
  return {
    model: inForce.model,
    watched: { tables: changeColumns, reload: () => line.run(() => follow(options, inForce)) },
    history: () => listChanges(main),
    serve: (served) => {
      inForce.installations = served
    },
    change: (prepare) =>
      line.run(async () => {
        await follow(options, inForce)
        const request = await prepare(inForce.model)
        if (request !== null) await make(options, inForce, request)
        return inForce.model.version
      }),
  }
}

/** Loads the model from the files, with changes of them that are not on disk yet. */
const load = ({ config }: LiveModelOptions, files: FileChanges = new Map()): Promise<Model> =>
  loadModel(config.folder, config.privateAttributes, filesWithChanges(config.folder, files))

/** The files as several changes, one after the other, leave them. */
const filesOf = (changes: readonly RecordedChange[]): FileChanges => new Map(changes.flatMap(({ files }) => [...files]))

/** Finishes the changes whose files were not written. */
async function finishChanges(options: LiveModelOptions, inForce: InForce): Promise<void> {
  const { config, database, log } = options
  const unfiled = await unfiledChanges(database.main)
  if (unfiled.length === 0) return
  const files = filesOf(unfiled)
  inForce.model = await load(options, files)
  await options.check(inForce.model)
  await database.fit(inForce.model)
  const changes = unfiled.map(({ summary }) => summary)
  try {
    await (await stageFiles(config.folder, files)).place()
    await noteFiled(database.writes, unfiled.at(-1)!.id)
    log.info({ changes }, 'finished changes of the model that an earlier process began')
  } catch (error) {
    log.error({ err: error, changes }, 'the files of changes of the model could not be written; the next start tries again')
  }
}

function putInForce(inForce: InForce, model: Model, change: number): void {
  inForce.model = model
  inForce.change = change
  inForce.installations?.replace(model)
}

/** Follows the changes that other processes have made. @throws ApiError 503 if the files of this process lead to another model */
async function follow(options: LiveModelOptions, inForce: InForce): Promise<void> {
  const { config, database, log } = options
  const changes = await changesAfter(database.main, inForce.change)
  const last = changes.at(-1)
  if (last === undefined) return
  const files = filesOf(changes)
  const next = await load(options, files)
  if (next.version !== last.version)
    throw new ApiError('ServiceUnavailableError', 'The model was changed by another process, whose files differ from those of this one')
  await options.check(next)
  await database.fit(next)
  putInForce(inForce, next, last.id)
  try {
    await (await stageFiles(config.folder, files)).place()
  } catch (error) {
    log.error({ err: error }, 'could not write the files of a change of the model that another process has made')
  }
}

async function make(options: LiveModelOptions, inForce: InForce, request: ChangeRequest): Promise<void> {
  const { config, database } = options
  const next = await checkedModel(options, request.files)
  await refuseLosses(database, { from: inForce.model, to: next, agreed: request.agreed })
  const staged = await stageFiles(config.folder, request.files)
  const change = await record(options, inForce, request, next).catch(async (error: unknown) => {
    await staged.discard().catch(() => {})
    throw error
  })
  putInForce(inForce, next, change)
  await file(options, staged, change, request.summary)
}

/** Loads the model that a change leads to. @throws ApiError 400 */
async function checkedModel(options: LiveModelOptions, files: FileChanges): Promise<Model> {
  const model = await load(options, files).catch((error: unknown) => {
    throw new ApiError('ValidationError', plain(error, options.config.folder))
  })
  refuseTakenTables(model)
  await options.check(model).catch((error: unknown) => {
    if (error instanceof ConfigError) throw new ApiError('ValidationError', `The code of the project does not fit: ${error.message}`)
    throw error
  })
  return model
}

/** Adds what the database lacks, and makes the change. Resolves to its id. @throws ApiError 409 if another process was faster */
async function record(
  { database, log, now }: LiveModelOptions,
  inForce: InForce,
  { summary, files }: ChangeRequest,
  model: Model,
): Promise<number> {
  await database.fit(model).catch((error: unknown) => {
    if (!(error instanceof ConfigError)) throw error
    log.warn({ err: error }, 'the tables of a change of the model could not be made')
    throw new ApiError('ServiceUnavailableError', 'The tables could not be changed now. Nothing was changed; the log says why')
  })
  const change = await recordChange(database.writes, inForce.change, { version: model.version, summary, files }, now()).catch(
    async (error: unknown) => {
      // The row of another process that follows the same change refuses ours.
      if ((await lastChange(database.main)) !== inForce.change) return null
      throw error
    },
  )
  if (change !== null) return change
  throw new ApiError('ConflictError', 'The model was changed by another process meanwhile. Nothing was changed; send the change again')
}

/** Puts the files of a change that was made into their places. Where that fails, the next start does it. */
async function file({ database, log }: LiveModelOptions, staged: StagedFiles, change: number, summary: string): Promise<void> {
  try {
    await staged.place()
    await noteFiled(database.writes, change)
    log.info({ change, summary }, 'the model was changed')
  } catch (error) {
    log.error({ err: error, change, summary }, 'the model was changed, but its files could not be written; the next start tries again')
  }
}
