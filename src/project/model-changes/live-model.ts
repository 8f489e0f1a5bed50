// Changes the model while serving. A change is prepared next to the current model: files are staged, schemas loaded and checked, the plan
// computed. A single row commits it; then the installation is replaced and the files are renamed into place. A process that dies before the
// commit leaves the former model; after it, the next start does the rest.
import { ApiError, ConfigError } from '../../foundation/errors/errors.js'
import { openQueue } from '../../foundation/runtime/queues.js'
import { commandLine } from '../../foundation/runtime/terminal.js'
import { possibleRenames } from '../../model/diff/possible-renames.js'
import type { FileChanges } from '../../model/schema/schema-files.js'
import type { Model } from '../../model/schema/types.js'
import type { Installations } from '../installation.js'
import { asOutrun, finishInSteps, isOutrun, makeChange } from './carry-out.js'
import type { ChangeableModel, ChangeRequest, ChangeResult, InForce, LiveModelOptions, PlannedChange, PrepareChange } from './change.js'
import { changeColumns, type ListedChange, lastChange, listChanges, noteFiled, unfiledChanges } from './change-log.js'
import { type CountedPlan, countedPlan, onlyAdds } from './counted-plan.js'
import { type DescribedPlan, describedPlan } from './described-plan.js'
import {
  filesOf,
  follow,
  type LoadedModel,
  loadFormerWith,
  loadWith,
  noteWritten,
  putInForce,
  refuseForeignTables,
  reload,
  store,
} from './follow.js'
import { refuseLosses, refuseNames, unloadable } from './refusals.js'
import { changeOfFiles, explained } from './start.js'
import { requestToRestore, requestToUndo, type UndoDecisions } from './undo.js'
import { discardLeftovers, formerTexts, type StagedFiles, stageFiles } from './write-files.js'

export interface LiveModel {
  /** The current model. */
  model(): Model
  /** The last change in force; 0: none. */
  changeInForce(): number
  /** Changes by other processes, followed like access rules, which are reloaded after a commit. */
  readonly watched: { readonly tables: Readonly<Record<string, readonly string[]>>; reload(): Promise<void> }
  /** All changes, oldest first. */
  history(): Promise<readonly ListedChange[]>
  /** Applies subsequent changes to these installations. */
  serve(installations: Installations): void
  /** Plans a change without applying it. @throws ApiError 400 as `change` */
  plan(prepare: PrepareChange): Promise<PlannedChange>
  /**
   * Applies a change; resolves once it is in force. Changes are serialized.
   * @throws ApiError 400 if the resulting schemas cannot be loaded or do not match the project's code, 409 if content would be hidden that
   * the request does not name (`details.losses`) or if another process changed the model concurrently, 412 if it was planned for another
   * version, 503 if requests in progress do not end before content is moved
   */
  change(prepare: PrepareChange): Promise<ChangeResult>
  /**
   * Undoes the last change, and restores its archived content; `id`: its expected id, or null.
   * @throws ApiError 404 if there is none, 409 if it is not the last one or if files were changed since, and as `change`
   */
  undo(id: number | null, decisions: UndoDecisions): Promise<ChangeResult>
  /**
   * Restores the archived values of an attribute, named as in losses.
   * @throws ApiError 404 if the model lacks it or nothing is archived, 409 if the values do not convert to its type
   */
  restore(attribute: string, decisions: Pick<UndoDecisions, 'note'>): Promise<ChangeResult>
}

/** Maximum number of queued changes. */
const maxWaitingChanges = 100

/** Opens the model for changes, and finishes those of earlier processes: writes their files and reloads the model. */
export async function openLiveModel(options: LiveModelOptions): Promise<LiveModel> {
  const { main } = options.database
  const line = openQueue(1, maxWaitingChanges, 'Too many changes of the model wait')
  const inForce = await modelInForce(options)
  /** Runs work in the queue of changes, on the resulting model. */
  const inLine = <Result>(work: () => Promise<Result>): Promise<Result> =>
    line.run(async () => {
      await follow(options, inForce)
      return work()
    })
  const changeable = (): ChangeableModel => {
    const { config, findFields } = options
    return { model: inForce.model, unwritten: inForce.unwritten, findFields, isStrapis: config.contract === 'strapi' }
  }
  const change = async (prepare: PrepareChange): Promise<ChangeResult> => {
    const request = await prepare(changeable())
    const plan = request === null ? null : await make(options, inForce, request)
    return { version: inForce.model.version, plan }
  }
  return {
    model: () => inForce.model,
    changeInForce: () => inForce.change,
    watched: { tables: changeColumns, reload: () => reload(options, inForce, line.run) },
    history: () => listChanges(main),
    serve: (served) => {
      inForce.installations = served
      // Another process may have changed the model since the installations were opened.
      if (served.model() !== inForce.model) served.replace(inForce.model, inForce.change)
    },
    plan: (prepare) =>
      inLine(async () => {
        const request = await prepare(changeable())
        const plan = request === null ? null : await described(options, inForce, request)
        return { version: inForce.model.version, plan }
      }),
    change: (prepare) => inLine(() => change(prepare)),
    undo: (id, decisions) => inLine(() => change(() => requestToUndo(options, inForce, id, decisions))),
    restore: (attribute, decisions) => inLine(() => change(() => requestToRestore(options, inForce, attribute, decisions))),
  }
}

/** The model of the files, after applying the change from the model of the database. */
async function modelInForce(options: LiveModelOptions): Promise<InForce> {
  const { start, decisions } = options
  const hasFinished = await finishInSteps(
    options,
    null,
    async (files) => (await loadFormerWith(options, { unwritten: start.behind }, files)).model,
  )
  if (hasFinished && start.former !== null)
    throw asOutrun(
      new ApiError(
        'ConflictError',
        'A change of the model that another process began was finished. The schema files may have changed since: start again',
      ),
    )
  const { model, texts, former } = start
  const stored = start.stored ?? new Map()
  // A change made after the files were read is followed before the first request.
  const change = start.change ?? (await lastChange(options.database.main))
  const inForce: InForce = { model: former ?? model, texts, stored, change, unwritten: new Map(), unfiled: 0, installations: null }
  await discardLeftovers(options.config.folder)
  await placeBehind(options, inForce)
  const unfiled = await placeUnfiled(options, inForce)
  if (former === null) {
    if (unfiled.size > 0) await putUnfiledInForce(options, inForce, unfiled)
  } else {
    await make(options, inForce, changeOfFiles(start, decisions)).catch((error: unknown) => {
      throw isOutrun(error) ? error : explained(error, options.config.folder)
    })
  }
  await store(options, inForce)
  return inForce
}

/** Writes the files of changes that were applied without them; resolves to these files. */
async function placeUnfiled({ config, database, log }: LiveModelOptions, inForce: InForce): Promise<FileChanges> {
  const unfiled = await unfiledChanges(database.main)
  const files = filesOf(unfiled)
  if (unfiled.length === 0) return files
  const changes = unfiled.map(({ summary }) => summary)
  try {
    await (await stageFiles(config.folder, files)).place()
    await noteFiled(database.writes, unfiled.at(-1)!.id)
    log.info({ changes }, 'finished changes of the model that an earlier process began')
  } catch (error) {
    noteWritten(inForce, files, false)
    inForce.unfiled = unfiled.at(-1)!.id
    log.error({ err: error, changes }, 'the files of changes of the model could not be written; the next start tries again')
  }
  return files
}

/**
 * Writes the files of changes made while this process was not running. If the model is locked, the files belong to a deployment and are not
 * changed.
 */
async function placeBehind({ config, start: { behind }, log }: LiveModelOptions, inForce: InForce): Promise<void> {
  if (behind.size === 0) return
  const files = [...behind.keys()]
  if (!config.modelChanges) {
    noteWritten(inForce, behind, false)
    log.warn(
      { files },
      `the schema files are older than the model of the database, which only adds to them and is served; ${commandLine('model apply', config.folder)} would take its additions back`,
    )
    return
  }
  try {
    await (await stageFiles(config.folder, behind)).place()
    log.info({ files }, 'the model was changed while this process was not there; its files were written')
  } catch (error) {
    noteWritten(inForce, behind, false)
    log.error({ err: error, files }, 'the model was changed while this process was not there, and its files could not be written')
  }
}

/** Installs the model of files that an earlier process did not write. */
async function putUnfiledInForce(options: LiveModelOptions, inForce: InForce, files: FileChanges): Promise<void> {
  const loaded = await loadWith(options, inForce, files)
  await options.check(loaded.model)
  await options.database.addMissing(loaded.model)
  putInForce(inForce, loaded, inForce.change)
}

type PlannedFrom = Pick<InForce, 'model' | 'change' | 'unwritten'>

/** Computes the model and the plan of a change. */
async function planned(options: LiveModelOptions, inForce: PlannedFrom, request: ChangeRequest) {
  const { version } = inForce.model
  if (request.version !== undefined && request.version !== version)
    throw new ApiError('PreconditionFailedError', `The model has the version ${version} by now. Plan the change again`, { version })
  const loaded = await checkedModel(options, inForce, request)
  const plan = await countedPlan(options.database, {
    from: inForce.model,
    to: loaded.model,
    renames: request.renames ?? [],
    undoes: request.undoes ?? null,
    choices: { ...request.choices, number: inForce.change + 1 },
  })
  return { loaded, plan: { ...plan, steps: request.restores ?? plan.steps } }
}

async function described(options: LiveModelOptions, inForce: PlannedFrom, request: ChangeRequest): Promise<DescribedPlan> {
  const { loaded, plan } = await planned(options, inForce, request)
  return describedPlan(options.database, plan, inForce.model, loaded.model)
}

async function make(options: LiveModelOptions, inForce: InForce, request: ChangeRequest): Promise<CountedPlan> {
  const { config } = options
  const { loaded, plan } = await planned(options, inForce, request)
  const { model } = loaded
  refuseLosses(plan.losses, request.agreed, possibleRenames(plan.changes, inForce.model, model))
  const { files, summary, renames = [], undoes, note } = request
  const former = request.former ?? (await formerTexts(config.folder, files, inForce.unwritten))
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
    throw error
  })
  const isFiled = await file(options, staged, id, summary)
  noteWritten(inForce, files, isFiled)
  if (!isFiled) inForce.unfiled = id
  await store(options, inForce)
  return plan
}

/** Plans the change from the model of the database to that of the files; null: no change. @throws as `LiveModel.plan` */
export async function planOfFiles(options: LiveModelOptions): Promise<DescribedPlan | null> {
  const { database, start, decisions } = options
  const { former } = start
  if (former === null) return null
  const inForce = { model: former, change: await lastChange(database.main), unwritten: start.behind }
  return described(options, inForce, changeOfFiles(start, decisions))
}

/** Loads the model that results from a change. @throws ApiError 400 */
async function checkedModel(options: LiveModelOptions, inForce: PlannedFrom, request: ChangeRequest): Promise<LoadedModel> {
  const { files, path = [] } = request
  const loaded = await loadWith(options, inForce, files).catch((error: unknown) => {
    throw unloadable(error, options.config.folder, request)
  })
  const models = { from: inForce.model, to: loaded.model }
  refuseNames(models.from, models.to, options.database.names, path)
  await refuseForeignTables(options.config, options.database, models, path)
  await options.check(loaded.model).catch((error: unknown) => {
    if (error instanceof ConfigError) throw new ApiError('ValidationError', `The code of the project does not fit: ${error.message}`)
    throw error
  })
  return loaded
}

/** Renames the staged files of an applied change into place, or leaves that to the next start. True on success. */
async function file({ database, log }: LiveModelOptions, staged: StagedFiles, change: number, summary: string): Promise<boolean> {
  try {
    await staged.place()
    await noteFiled(database.writes, change)
    log.info({ change, summary }, 'the model was changed')
    return true
  } catch (error) {
    log.error({ err: error, change, summary }, 'the model was changed, but its files could not be written; the next start tries again')
    return false
  }
}
