// Changes the model while serving. A change is prepared beside the model in force: its files are staged, its schemas loaded and checked, its
// tables and columns added. One row makes it; then the installation is replaced and the files are put into their places. Whoever ends before the
// row leaves the former model, whoever ends after it lets the next start finish.

import { sql } from 'kysely'
import type { Logger } from 'pino'
import type { Config } from '../config/config.js'
import type { Database, MainConnection } from '../database/database.js'
import { describeTables } from '../database/schema/tables.js'
import { ApiError, ConfigError } from '../errors/errors.js'
import type { Installations } from '../installation.js'
import { loadModel } from '../model/load.js'
import { type FileChanges, filesWithChanges } from '../model/schema-files.js'
import type { Model } from '../model/types.js'
import { openQueue } from '../runtime/queue.js'
import { changeColumns, changesAfter, lastChange, type ModelChange, noteFiled, recordChange } from './change-log.js'
import { compareModels, type Obstacle, type Removal, type Values } from './compare.js'
import { type StagedFiles, stageFiles } from './write-files.js'

/** A change as it is asked for. */
export interface ChangeRequest {
  /** What is changed, for the log of changes. */
  readonly summary: string
  readonly files: FileChanges
  /** Names of content that may be hidden (`Removal.name`). */
  readonly agreed: ReadonlySet<string>
}

/** Content that a change would hide, as a response names it. */
export interface Loss {
  readonly name: string
  /** How many values or rows there are; null if they cannot be counted. */
  readonly count: number | null
}

/** The model of a service that changes while it serves. */
export interface LiveModel {
  /** The model at the start, with all changes that were made before. */
  readonly model: Model
  /** What other processes change, and how it is followed: as the access rules are read again after a commit. */
  readonly watched: { readonly tables: Readonly<Record<string, readonly string[]>>; reload(): Promise<void> }
  /** The changes that were made while serving, oldest first. */
  history(): Promise<readonly ModelChange[]>
  /** From now on, changes come into force in these installations. */
  serve(installations: Installations): void
  /**
   * Makes a change; resolves to the version of the model once it is in force. `prepare` returns it from the project's files as they are then; changes wait for each other.
   * @throws ApiError 400 if the schemas that result cannot be loaded or do not fit the project's code, 409 if content would be hidden that
   * the request does not name (`details.losses`), if something cannot be done while serving (`details.obstacles`), or if another process
   * changed the model meanwhile
   */
  change(prepare: (model: Model) => Promise<ChangeRequest>): Promise<string>
}

export interface LiveModelOptions {
  readonly config: Config
  /** The model as it is on disk. */
  readonly model: Model
  readonly database: Database
  readonly log: Logger
  /** Checks the project's code against a model. @throws ConfigError */
  check(model: Model): Promise<void>
}

/** The most changes that wait for another one. */
const mostWaiting = 100

/** Opens the model for changes, and finishes what an earlier process began: its files are written, and the model is loaded again. */
export async function openLiveModel(options: LiveModelOptions): Promise<LiveModel> {
  const { config, database, log } = options
  const { main, writes } = database
  const line = openQueue(1, mostWaiting, 'Too many changes of the model wait')
  const load = (files?: FileChanges): Promise<Model> =>
    loadModel(config.folder, config.privateAttributes, files === undefined ? undefined : filesWithChanges(config.folder, files))
  let model = options.model
  let applied = await lastChange(main)
  let installations: Installations | null = null
  const unfiled = (await changesAfter(main, 0)).filter(({ isFiled }) => !isFiled)
  if (unfiled.length > 0) {
    for (const change of unfiled) await place(await stageFiles(config.folder, change.files))
    model = await load()
    await options.check(model)
    await database.fit(model)
    await noteFiled(writes, applied)
    log.info({ changes: unfiled.map(({ summary }) => summary) }, 'finished changes of the model that an earlier process began')
  }

  function putInForce(next: Model, id: number): void {
    model = next
    applied = id
    installations?.replace(next)
  }

  /** Follows the changes that other processes have made. */
  async function follow(): Promise<void> {
    const changes = await changesAfter(main, applied)
    const last = changes.at(-1)
    if (last === undefined) return
    const staged: StagedFiles[] = []
    for (const { files } of changes) staged.push(await stageFiles(config.folder, files))
    const next = await load(new Map(changes.flatMap(({ files }) => [...files])))
    if (next.version !== last.version)
      throw new ApiError(
        'ServiceUnavailableError',
        'The model was changed by another process, from files that differ from those of this one',
      )
    await options.check(next)
    await database.fit(next)
    putInForce(next, last.id)
    for (const one of staged) await place(one)
  }

  /** Puts staged files into their places. They are what the row says, so a failure is made good by the next start. */
  async function place(staged: StagedFiles): Promise<void> {
    await staged.place().catch((error: unknown) => log.error({ err: error }, 'could not write the files of a change of the model'))
  }

  async function make({ summary, files, agreed }: ChangeRequest): Promise<void> {
    const next = await load(files).catch((error: unknown) => {
      throw new ApiError('ValidationError', plain(error, config.folder))
    })
    refuseTakenTables(next)
    await options.check(next).catch((error: unknown) => {
      if (error instanceof ConfigError) throw new ApiError('ValidationError', `The project's code does not fit: ${error.message}`)
      throw error
    })
    await refuse(database, { from: model, to: next, agreed })
    const staged = await stageFiles(config.folder, files)
    try {
      await database.fit(next)
      const id = await recordChange(writes, applied, { version: next.version, summary, files }, Date.now()).catch((error: unknown) => {
        // Two rows that follow the same change: the other process was faster.
        if (error instanceof ApiError) throw error
        log.warn({ err: error }, 'a change of the model was not recorded')
        return null
      })
      if (id === null)
        throw new ApiError('ConflictError', 'The model was changed by another process meanwhile. Nothing was changed; send it again')
      putInForce(next, id)
      await staged.place()
      await noteFiled(writes, id)
      log.info({ change: id, summary }, 'the model was changed')
    } catch (error) {
      if (model !== next) await staged.discard().catch(() => {})
      else {
        log.error({ err: error }, 'the model was changed, but its files could not be written; the next start tries again')
        return
      }
      throw error
    }
  }

  return {
    model,
    watched: { tables: changeColumns, reload: () => line.run(follow) },
    history: () => changesAfter(main, 0),
    serve: (served) => {
      installations = served
    },
    change: (prepare) =>
      line.run(async () => {
        await follow()
        await make(await prepare(model))
        return model.version
      }),
  }
}

/** Refuses two schemas with one table, as Strapi would at its next start. @throws ApiError 400 */
function refuseTakenTables(model: Model): void {
  const owners = new Map<string, string>()
  for (const { name } of describeTables(model)) {
    if (owners.has(name)) throw new ApiError('ValidationError', `The table ${name} is taken: two schemas or attributes would share it`)
    owners.set(name, name)
  }
}

/** The message of an error without the folder of the project. */
const plain = (error: unknown, folder: string): string => (error as Error).message.replaceAll(`${folder}/`, '')

/** Refuses what cannot be done while serving, and what hides content without being agreed to. @throws ApiError 409 */
async function refuse(
  { main, mismatches }: Database,
  { from, to, agreed }: { readonly from: Model; readonly to: Model; readonly agreed: ReadonlySet<string> },
): Promise<void> {
  const { removals, obstacles } = compareModels(from, to)
  const real: string[] = []
  for (const obstacle of obstacles) if (await isReal(main, obstacle)) real.push(obstacle.message)
  if (real.length === 0) {
    // A column that an attribute of earlier days left behind may hold another kind of values.
    const known = new Set((await mismatches(from)).types)
    real.push(...(await mismatches(to)).types.filter((sentence) => !known.has(sentence)))
  }
  if (real.length > 0) {
    throw new ApiError('ConflictError', `This cannot be done while content is there: ${real[0]!}. Nothing was changed`, { obstacles: real })
  }
  const losses: Loss[] = []
  for (const removal of removals) if (!agreed.has(removal.name)) losses.push(await lossOf(main, removal))
  const felt = losses.filter(({ count }) => count !== 0)
  if (felt.length === 0) return
  throw new ApiError(
    'ConflictError',
    `Content would no longer be shown: ${felt.map(({ name, count }) => (count === null ? name : `${name} (${count})`)).join(', ')}. Nothing was changed; send the header octavo-agree with these names to do it`,
    { losses: felt },
  )
}

async function isReal(database: MainConnection, { unless }: Obstacle): Promise<boolean> {
  return unless === null || (await count(database, { table: unless.table, column: null })) > unless.rows
}

const lossOf = async (database: MainConnection, { name, values }: Removal): Promise<Loss> => ({
  name,
  count: values === null ? null : await count(database, values),
})

async function count(database: MainConnection, { table, column }: Values): Promise<number> {
  const counted = column === null ? sql`*` : sql.ref(column)
  const [row] = await database.rows<{ number: number }>(sql`select count(${counted}) as number from ${sql.table(table)}`)
  return Number(row!.number)
}
