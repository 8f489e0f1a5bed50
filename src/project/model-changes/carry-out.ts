// Applies a change of the model to the database: additions while requests are served, moves of content while none is in progress.
import type { RawBuilder } from 'kysely'
import { isSchemaDrift } from '../../database/errors.js'
import { ApiError, ConfigError } from '../../foundation/errors/errors.js'
import type { PlanStep } from '../../model/diff/steps.js'
import type { FileChanges } from '../../model/schema/schema-files.js'
import type { Model } from '../../model/schema/types.js'
import type { Installations } from '../installation.js'
import type { InForce, LiveModelOptions } from './change.js'
import * as log from './change-log.js'
import { type CountedPlan, onlyAdds } from './counted-plan.js'

/** Milliseconds that a change that moves content waits for requests in progress. */
const requestDrainMs = 5_000

interface ReadyChange {
  readonly change: log.NewChange
  readonly model: Model
  readonly plan: CountedPlan
  /** Statements that record the author, in the transaction that records the change. */
  readonly notes: readonly RawBuilder<unknown>[]
}

/** Errors of changes that lost a race against another process. */
const outrun = new WeakSet<object>()

/** True for the error of a change that lost a race against another process. */
export const isOutrun = (error: unknown): boolean => error instanceof ApiError && outrun.has(error)

/** Marks the error of a change that lost a race against another process. */
export function asOutrun(error: ApiError): ApiError {
  outrun.add(error)
  return error
}

const conflict = (): ApiError =>
  asOutrun(new ApiError('ConflictError', 'Another process has changed the model. This change was not applied; send it again'))

/**
 * Applies a change; `made` is called with its id before requests are admitted again.
 * @throws ApiError 409 if it lost a race against another process, 503 if tables are in use or requests do not end
 */
export async function makeChange(
  options: LiveModelOptions,
  inForce: InForce,
  ready: ReadyChange,
  made: (id: number) => void,
): Promise<number> {
  const make = async (): Promise<number> => {
    const id = await (onlyAdds(ready.plan) ? add(options, inForce, ready) : move(options, inForce, ready))
    made(id)
    return id
  }
  if (onlyAdds(ready.plan) || inForce.installations === null) return make()
  return inForce.installations.alone(requestDrainMs, make)
}

/** Adds missing tables and columns, and records the change. */
async function add(options: LiveModelOptions, inForce: InForce, { change, model, plan, notes }: ReadyChange): Promise<number> {
  const { database } = options
  const adding = async () => {
    await database.checkSteps?.(plan.steps)
    await database.addMissing(model)
  }
  await adding().catch((error: unknown) => {
    if (!(error instanceof ConfigError)) throw refused(options, error)
    options.log.warn({ err: error }, 'the tables of a change of the model could not be made')
    throw new ApiError('ServiceUnavailableError', 'The tables could not be changed now. Nothing was changed; the log says why')
  })
  return record(options, inForce, [log.insertChange(inForce.change, change, options.now()), ...notes])
}

async function record({ database }: LiveModelOptions, { change }: InForce, statements: log.RecordingStatements): Promise<number> {
  const id = await log.recordChange(database.writes, change, statements).catch(async (error: unknown) => {
    // The row of another change with the same predecessor violates the constraint.
    if ((await log.lastChange(database.main)) !== change) return null
    throw error
  })
  if (id === null) throw conflict()
  return id
}

/** Executes the steps of a plan, and records the change with them. */
async function move(options: LiveModelOptions, inForce: InForce, { change, model, plan, notes }: ReadyChange): Promise<number> {
  const { database, now } = options
  const { steps } = plan
  if (database.checkSteps !== null) {
    await database.checkSteps(steps).catch((error: unknown) => {
      throw refused(options, error)
    })
    const id = await record(options, inForce, [log.insertChange(inForce.change, change, now(), steps), ...notes])
    await carryOutFrom(options, { id, steps }, model)
    return id
  }
  const isMade = await database
    .applyChange({
      steps,
      model,
      isOutdated: log.isFollowed(inForce.change),
      complete: [log.insertChange(inForce.change, change, now()), ...notes],
      progress: { done: log.doneOf(0), note: () => log.noteDone(0, 0) },
    })
    .catch((error: unknown) => {
      throw refused(options, error)
    })
  if (!isMade) throw conflict()
  const id = await log.lastChange(database.main)
  // Tables left by an earlier model and reused may lack columns.
  await database.addMissing(model)
  return id
}

/** Converts the error of a change that had no effect; returns transient and internal errors unchanged. */
function refused({ log: logger }: LiveModelOptions, error: unknown): unknown {
  const { cause } = error as Error
  const isItsWord = error instanceof ApiError && (error.status < 500 || isSchemaDrift(error)) && cause instanceof Error
  const said = isItsWord ? cause : (error as Error)
  if (!(said as { readonly code?: unknown }).code) return error
  logger.warn({ err: said }, 'the database cannot make a change of the model')
  return new ApiError('ConflictError', `The database cannot make this change: ${said.message}. Nothing was changed`)
}

/** Executes the remaining steps. @throws ApiError 503 with the failed step, from which the next attempt continues */
async function carryOutFrom(
  { database, now }: LiveModelOptions,
  { id, steps }: { readonly id: number; readonly steps: readonly PlanStep[] },
  model: Model,
): Promise<void> {
  try {
    await database.applyChange({
      steps,
      model,
      isOutdated: log.isFinished(id),
      complete: [log.makeChange(id, now())],
      progress: { done: log.doneOf(id), note: (number) => log.noteDone(id, number) },
    })
  } catch (error) {
    // Another process may have finished it, or the response of the last statement was lost.
    if ((await log.unfinishedChange(database.main)) !== null) throw error
  }
  await database.addMissing(model)
}

/**
 * Finishes a change whose steps are committed one by one, which another process has begun: waits for that process, or continues if it has
 * ended. Resolves to true if the change was applied.
 */
export async function finishInSteps(
  options: LiveModelOptions,
  installations: Installations | null,
  load: (files: FileChanges) => Promise<Model>,
): Promise<boolean> {
  const { database } = options
  if (database.checkSteps === null) return false
  const unfinished = await log.unfinishedChange(database.main)
  if (unfinished === null) return false
  const finish = async () => carryOutFrom(options, unfinished, await load(unfinished.files))
  if (installations === null) await finish()
  else
    await installations.alone(requestDrainMs, finish).catch((error: unknown) => {
      options.log.error({ err: error, change: unfinished.summary }, 'a change of the model is not finished')
      throw new ApiError('ServiceUnavailableError', 'A change of the model is not finished; the log says why')
    })
  return true
}
