// Changes the model while serving. A change is prepared beside the model in force: its files are staged, its schemas loaded and checked, its
// plan made. One row makes it; then the installation is replaced and the files are put into their places. Whoever ends before the row leaves the
// former model, whoever ends after it lets the next start finish.
import { ApiError, ConfigError } from '../errors/errors.js'
import type { Installations } from '../installation/installations.js'
import { loadModel } from '../model/load.js'
import { type FileChanges, filesWithChanges, noting } from '../model/schema-files.js'
import type { Model } from '../model/types.js'
import { possibleRenames } from '../model-plans/possible-renames.js'
import { openQueue } from '../runtime/queue.js'
import { finishInSteps, makeChange } from './carry-out.js'
import type { ChangeRequest, ChangeResult, InForce, LiveModelOptions, PlannedChange, PrepareChange } from './change.js'
import {
  changeColumns,
  changesAfter,
  type ListedChange,
  lastChange,
  listChanges,
  noteFiled,
  unfiledChanges,
  unfinishedChange,
} from './change-log.js'
import { type CountedPlan, countedPlan, onlyAdds } from './counted-plan.js'
import { type DescribedPlan, describedPlan } from './described-plan.js'
import { plain, refuseLosses, refuseNames, unloadable } from './refusals.js'
import { changeOfFiles, explained } from './start.js'
import { differencesOf, storeSchemas } from './stored-schemas.js'
import { requestToUndo, type UndoDecisions } from './undo.js'
import { withdraw } from './withdraw.js'
import { discardLeftovers, formerTexts, type StagedFiles, stageFiles } from './write-files.js'

/** The model of a service that changes while it serves. */
export interface LiveModel {
  /** The model at the start, with all changes that were made before. */
  readonly model: Model
  /** The last of these changes; 0 for none. */
  readonly lastChange: number
  /** The last change that is in force now. */
  changeInForce(): number
  /** What other processes change, and how it is followed: as the access rules are read again after a commit. */
  readonly watched: { readonly tables: Readonly<Record<string, readonly string[]>>; reload(): Promise<void> }
  /** The changes that were made, oldest first. */
  history(): Promise<readonly ListedChange[]>
  /** From now on, changes come into force in these installations. */
  serve(installations: Installations): void
  /** Plans a change, and does nothing. @throws ApiError 400 as `change` */
  plan(prepare: PrepareChange): Promise<PlannedChange>
  /**
   * Makes a change; resolves once it is in force. Changes wait for each other.
   * @throws ApiError 400 if the schemas that result cannot be loaded or do not fit the project's code, 409 if content would be hidden that
   * the request does not name (`details.losses`) or if another process changed the model meanwhile, 412 if it was planned for another
   * version, 503 if requests under way do not end, where content is moved
   */
  change(prepare: PrepareChange): Promise<ChangeResult>
  /**
   * Undoes the change with this id, or the last one (null), and gives back what it kept aside.
   * @throws ApiError 404 if there is none, 409 if files were changed since, and as `change`
   */
  undo(id: number | null, decisions: UndoDecisions): Promise<ChangeResult>
}

/** Opens the model for changes, and finishes what an earlier process began: its files are written, and the model is loaded again. */
export async function openLiveModel(options: LiveModelOptions): Promise<LiveModel> {
  const { main } = options.database
  const line = openQueue(1, options.config.limits.modelChangeQueue, 'Too many changes of the model wait')
  const inForce = await modelInForce(options)
  /** Runs work in line, on the model that results from all changes so far. */
  const inLine = <Result>(work: () => Promise<Result>): Promise<Result> =>
    line.run(async () => {
      await follow(options, inForce)
      return work()
    })
  const change = async (prepare: PrepareChange): Promise<ChangeResult> => {
    const request = await prepare(inForce.model)
    const plan = request === null ? null : await make(options, inForce, request)
    return { version: inForce.model.version, plan }
  }
  return {
    model: inForce.model,
    lastChange: inForce.change,
    changeInForce: () => inForce.change,
    watched: { tables: changeColumns, reload: () => reload(options, inForce, line.run) },
    history: () => listChanges(main),
    serve: (served) => {
      inForce.installations = served
    },
    plan: (prepare) =>
      inLine(async () => {
        const request = await prepare(inForce.model)
        const plan = request === null ? null : await described(options, inForce, request)
        return { version: inForce.model.version, plan }
      }),
    change: (prepare) => inLine(() => change(prepare)),
    undo: (id, decisions) => inLine(() => change(() => requestToUndo(options, inForce, id, decisions))),
  }
}

/** A model with its schema files. */
type LoadedModel = Pick<InForce, 'model' | 'texts'>

/** Loads the model from the files, with changes of them that are not on disk yet. */
async function load({ config }: LiveModelOptions, files: FileChanges): Promise<LoadedModel> {
  const read = noting(config.folder, filesWithChanges(config.folder, files))
  return { model: await loadModel(config.folder, config.privateAttributes, read), texts: read.texts }
}

/** The model of the files, after what leads to it from that of the database. */
async function modelInForce(options: LiveModelOptions): Promise<InForce> {
  const { database, start, decisions } = options
  const hasFinished = await finishInSteps(options, null, async (files) => (await load(options, files)).model)
  if (hasFinished && start.former !== null)
    throw new ConfigError(
      'A change of the model that an earlier process began was finished. The schema files have changed since: start again.',
    )
  const { model, texts, former } = start
  const stored = start.stored ?? new Map()
  const inForce: InForce = { model: former ?? model, texts, stored, change: await lastChange(database.main), installations: null }
  await discardLeftovers(options.config.folder)
  await placeBehind(options)
  const unfiled = await placeUnfiled(options)
  if (former === null) {
    if (unfiled.size > 0) await putUnfiledInForce(options, inForce, unfiled)
  } else {
    await make(options, inForce, changeOfFiles(start, decisions)).catch((error: unknown) => {
      throw explained(error)
    })
  }
  await store(options, inForce)
  return inForce
}

/** Lets the database know the schema files of the model in force. Where that fails, the log of changes has them. */
async function store({ database, log }: LiveModelOptions, inForce: InForce): Promise<void> {
  if (differencesOf(inForce.stored, inForce.texts).size === 0) return
  try {
    await storeSchemas(database.writes, inForce.stored, inForce.texts, inForce.change)
    inForce.stored = inForce.texts
  } catch (error) {
    log.warn({ err: error }, 'the schema files could not be stored in the database; the next start tries again')
  }
}

/** The files as several changes, one after the other, leave them. */
const filesOf = (changes: readonly { readonly files: FileChanges }[]): FileChanges => new Map(changes.flatMap(({ files }) => [...files]))

/** Writes the files of changes that were made without them; resolves to these files. */
async function placeUnfiled({ config, database, log }: LiveModelOptions): Promise<FileChanges> {
  const unfiled = await unfiledChanges(database.main)
  const files = filesOf(unfiled)
  if (unfiled.length === 0) return files
  const changes = unfiled.map(({ summary }) => summary)
  try {
    await (await stageFiles(config.folder, files)).place()
    await noteFiled(database.writes, unfiled.at(-1)!.id)
    log.info({ changes }, 'finished changes of the model that an earlier process began')
  } catch (error) {
    log.error({ err: error, changes }, 'the files of changes of the model could not be written; the next start tries again')
  }
  return files
}

/** Writes the files of changes that were made while this process was not there. */
async function placeBehind({ config, start: { behind }, log }: LiveModelOptions): Promise<void> {
  if (behind.size === 0) return
  const files = [...behind.keys()]
  try {
    await (await stageFiles(config.folder, behind)).place()
    log.info({ files }, 'the model was changed while this process was not there; its files were written')
  } catch (error) {
    log.error({ err: error, files }, 'the model was changed while this process was not there, and its files could not be written')
  }
}

/** Puts the model of files in force that an earlier process did not write. */
async function putUnfiledInForce(options: LiveModelOptions, inForce: InForce, files: FileChanges): Promise<void> {
  const loaded = await load(options, files)
  await options.check(loaded.model)
  await options.database.fit(loaded.model)
  putInForce(inForce, loaded, inForce.change)
}

function putInForce(inForce: InForce, { model, texts }: LoadedModel, change: number): void {
  inForce.model = model
  inForce.texts = texts
  inForce.change = change
  inForce.installations?.replace(model, change)
}

/** Follows other processes. Where nothing has changed, nobody is waited for: a change of this process may be waiting for who asks. */
async function reload(options: LiveModelOptions, inForce: InForce, inLine: (work: () => Promise<void>) => Promise<void>): Promise<void> {
  const { main } = options.database
  if ((await lastChange(main)) === inForce.change && (await unfinishedChange(main)) === null) return
  await inLine(() => follow(options, inForce))
}

const notFollowed = (why: string): ApiError => new ApiError('ServiceUnavailableError', `The model was changed by another process, ${why}`)

/** Follows the changes that other processes have made. @throws ApiError 503 if the files of this process lead to another model */
async function follow(options: LiveModelOptions, inForce: InForce): Promise<void> {
  const { config, database, log } = options
  await finishInSteps(options, inForce.installations, async (files) => (await load(options, files)).model)
  const changes = await changesAfter(database.main, inForce.change)
  const last = changes.at(-1)
  if (last === undefined) return
  const files = filesOf(changes)
  const next = await load(options, files).catch((error: unknown) => {
    throw notFollowed(`whose change this one cannot follow: ${plain(error, config.folder)}`)
  })
  if (next.model.version !== last.version) throw notFollowed('whose files differ from those of this one')
  await options.check(next.model).catch((error: unknown) => {
    throw error instanceof ConfigError ? notFollowed(`whose change the code of this one does not fit: ${error.message}`) : error
  })
  await database.fit(next.model)
  putInForce(inForce, next, last.id)
  try {
    await (await stageFiles(config.folder, files)).place()
  } catch (error) {
    log.error({ err: error }, 'could not write the files of a change of the model that another process has made')
  }
}

/** The model that a change leads to, and its plan. */
async function planned(options: LiveModelOptions, inForce: Pick<InForce, 'model' | 'change'>, request: ChangeRequest) {
  const { version } = inForce.model
  if (request.version !== undefined && request.version !== version)
    throw new ApiError('PreconditionFailedError', `The model has the version ${version} by now. Plan the change again`, { version })
  const loaded = await checkedModel(options, inForce.model, request)
  const plan = await countedPlan(options.database, {
    ...{ from: inForce.model, to: loaded.model, renames: request.renames ?? [], undoes: request.undoes ?? null },
    choices: { ...request.choices, number: inForce.change + 1 },
  })
  return { loaded, plan }
}

/** Plans a change for readers. */
async function described(
  options: LiveModelOptions,
  inForce: Pick<InForce, 'model' | 'change'>,
  request: ChangeRequest,
): Promise<DescribedPlan> {
  const { loaded, plan } = await planned(options, inForce, request)
  return describedPlan(options.database, plan, inForce.model, loaded.model)
}

async function make(options: LiveModelOptions, inForce: InForce, request: ChangeRequest): Promise<CountedPlan> {
  const { config } = options
  const { loaded, plan } = await planned(options, inForce, request)
  const { model } = loaded
  refuseLosses(plan.losses, request.agreed, possibleRenames(plan.changes, inForce.model, model))
  const { files, summary, renames = [], undoes, note } = request
  const former = request.former ?? (await formerTexts(config.folder, files))
  const staged = await stageFiles(config.folder, files)
  const change = {
    version: model.version,
    summary,
    files,
    former,
    renames,
    kept: plan.kept,
    narrowed: plan.narrowed,
    undoes: undoes?.id ?? 0,
    moves: !onlyAdds(plan),
  }
  const notes = note === undefined ? [] : [note(change)]
  const made = makeChange(options, inForce, { change, model, plan, notes }, (id) => putInForce(inForce, loaded, id))
  const id = await made.catch(async (error: unknown) => {
    await staged.discard().catch(() => {})
    throw onlyAdds(plan) ? await withdrawn(options, inForce, plan, error) : error
  })
  await file(options, staged, id, summary)
  await store(options, inForce)
  return plan
}

/** Removes what a change has added that was not made; resolves to its error, which says what could not be removed. */
async function withdrawn(options: LiveModelOptions, inForce: InForce, { steps }: CountedPlan, error: unknown): Promise<unknown> {
  try {
    // Another process may have made a change that uses it.
    await follow(options, inForce)
    const left = await withdraw(options.database, steps, inForce.model)
    if (left.length === 0 || !(error instanceof ApiError)) return error
    return new ApiError(error.name, `${error.message}. What was added to the database stays in it, without content: ${left.join(', ')}`, {
      ...error.details,
      left,
    })
  } catch (failure) {
    options.log.warn({ err: failure }, 'what a change of the model has added may stay in the database, without content')
    return error
  }
}

/** Plans what leads from the model of the database to that of the files; null: nothing. @throws as `LiveModel.plan` */
export async function planOfFiles(options: LiveModelOptions): Promise<DescribedPlan | null> {
  const { database, start, decisions } = options
  const { former } = start
  if (former === null) return null
  const inForce = { model: former, change: await lastChange(database.main) }
  return described(options, inForce, changeOfFiles(start, decisions))
}

/** Loads the model that a change leads to. @throws ApiError 400 */
async function checkedModel(options: LiveModelOptions, former: Model, request: ChangeRequest): Promise<LoadedModel> {
  const { files, path = [] } = request
  const loaded = await load(options, files).catch((error: unknown) => {
    throw unloadable(error, options.config.folder, request)
  })
  refuseNames(former, loaded.model, options.database.names, path)
  await options.check(loaded.model).catch((error: unknown) => {
    if (error instanceof ConfigError) throw new ApiError('ValidationError', `The code of the project does not fit: ${error.message}`)
    throw error
  })
  return loaded
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
