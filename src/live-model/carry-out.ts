// Makes a change of the model in the database: what only adds happens beside requests, what moves content while none is under way.
import type { RawBuilder } from 'kysely'
import { ApiError, ConfigError } from '../errors/errors.js'
import type { Installations } from '../installation.js'
import type { FileChanges } from '../model/schema-files.js'
import type { Model } from '../model/types.js'
import type { InForce, LiveModelOptions } from './change.js'
import * as log from './change-log.js'
import { type CountedPlan, onlyAdds } from './counted-plan.js'

/** A change that is ready to be made. */
interface ReadyChange {
  readonly change: log.NewChange
  readonly model: Model
  readonly plan: CountedPlan
  /** Statements that note who makes it, in the transaction that records it. */
  readonly notes: readonly RawBuilder<unknown>[]
}

const conflict = (): ApiError =>
  new ApiError('ConflictError', 'The model was changed by another process meanwhile. Nothing was changed; send the change again')

/**
 * Makes a change; `made` is called with its id before any request is let in again.
 * @throws ApiError 409 if another process was faster, 503 if tables are in use or requests do not end
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
  return inForce.installations.alone(options.config.limits.modelChangeDrain, make)
}

/** Adds what the database lacks, and makes the change. */
async function add(options: LiveModelOptions, inForce: InForce, { change, model, notes }: ReadyChange): Promise<number> {
  await fit(options, model)
  return record(options, inForce, [log.insertChange(inForce.change, change, options.now()), ...notes])
}

async function fit({ database, log: logger }: LiveModelOptions, model: Model): Promise<void> {
  await database.fit(model).catch((error: unknown) => {
    if (!(error instanceof ConfigError)) throw error
    logger.warn({ err: error }, 'the tables of a change of the model could not be made')
    throw new ApiError('ServiceUnavailableError', 'The tables could not be changed now. Nothing was changed; the log says why')
  })
}

async function record({ database }: LiveModelOptions, { change }: InForce, statements: log.RecordingStatements): Promise<number> {
  const id = await log.recordChange(database.writes, change, statements).catch(async (error: unknown) => {
    // The row of another process that follows the same change refuses ours.
    if ((await log.lastChange(database.main)) !== change) return null
    throw error
  })
  if (id === null) throw conflict()
  return id
}

/** Carries out the steps of a plan, and makes the change with them. */
async function move(options: LiveModelOptions, inForce: InForce, { change, model, plan, notes }: ReadyChange): Promise<number> {
  const { database, now } = options
  const { steps } = plan
  if (database.isModelWorkAtomic) {
    const isMade = await database.carryOut({
      ...{ steps, model, isOutdated: log.isFollowed(inForce.change), make: [log.insertChange(inForce.change, change, now()), ...notes] },
      progress: { done: log.doneOf(0), note: () => log.noteDone(0, 0) },
    })
    if (!isMade) throw conflict()
    const id = await log.lastChange(database.main)
    // What an earlier model left behind and this one uses again may lack columns.
    await database.fit(model)
    return id
  }
  const id = await record(options, inForce, [log.insertChange(inForce.change, change, now(), steps), ...notes])
  await carryOutFrom(options, { id, steps }, model)
  return id
}

async function carryOutFrom(
  { database, now }: LiveModelOptions,
  { id, steps }: Pick<log.UnfinishedChange, 'id' | 'steps'>,
  model: Model,
): Promise<void> {
  await database.carryOut({
    ...{ steps, model, isOutdated: log.isMade(id), make: [log.makeChange(id, now())] },
    progress: { done: log.doneOf(id), note: (number) => log.noteDone(id, number) },
  })
  await database.fit(model)
}

/** Finishes a change whose steps are committed one by one: another process has begun it, and is waited for, or has ended. Resolves to whether there was one. */
export async function finishInSteps(
  options: LiveModelOptions,
  installations: Installations | null,
  load: (files: FileChanges) => Promise<Model>,
): Promise<boolean> {
  const { config, database } = options
  if (database.isModelWorkAtomic) return false
  const unfinished = await log.unfinishedChange(database.main)
  if (unfinished === null) return false
  const finish = async () => carryOutFrom(options, unfinished, await load(unfinished.files))
  await (installations === null ? finish() : installations.alone(config.limits.modelChangeDrain, finish))
  return true
}
