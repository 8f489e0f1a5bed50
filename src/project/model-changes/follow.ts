// Follows model changes of other processes before later requests are served.
import { type Database, type DatabaseView, hasColumns } from '../../database/database.js'
import type { Config } from '../../foundation/config/config.js'
import { ApiError, ConfigError } from '../../foundation/errors/errors.js'
import { loadFormerModel, loadModel } from '../../model/schema/load.js'
import { type FileChanges, filesWithChanges, recordReads } from '../../model/schema/schema-files.js'
import type { Model } from '../../model/schema/types.js'
import {
  describeForeignTable,
  type FoundTables,
  foreignTables,
  nameOf,
  refuseForeign,
  refuseOlderStrapi,
} from '../../model/tables/compare-database.js'
import { describeTables } from '../../model/tables/tables.js'
import { finishInSteps } from './carry-out.js'
import type { InForce, LiveModelOptions } from './change.js'
import { changesAfter, differencesOf, lastChange, noteFiled, storeSchemas, unfinishedChange } from './change-log.js'
import { plain, refusedName } from './refusals.js'
import { stageFiles } from './write-files.js'

/** Follows other processes. Returns without waiting if nothing changed: a change of this process may be waiting for the caller. */
export async function reload(
  options: LiveModelOptions,
  inForce: InForce,
  inLine: (work: () => Promise<void>) => Promise<void>,
): Promise<void> {
  const { main } = options.database
  if ((await lastChange(main)) === inForce.change && (await unfinishedChange(main)) === null) return
  await inLine(() => follow(options, inForce))
}

const notFollowed = (why: string): ApiError => new ApiError('ServiceUnavailableError', `The model was changed by another process, ${why}`)

/**
 * Follows the changes of other processes. `writesFiles`: writes their files to the folder of this process.
 * @throws ApiError 503 if the files of this process lead to another model
 */
export async function follow(options: LiveModelOptions, inForce: InForce, writesFiles = true): Promise<void> {
  const { config, database } = options
  await finishInSteps(options, inForce.installations, async (files) => (await loadFormerWith(options, inForce, files)).model)
  const changes = await changesAfter(database.main, inForce.change)
  const last = changes.at(-1)
  if (last === undefined) return writesFiles ? writeAgain(options, inForce) : undefined
  const files = filesOf(changes)
  const next = await loadWith(options, inForce, files).catch((error: unknown) => {
    throw notFollowed(`whose change this one cannot follow: ${plain(error, config.folder)}`)
  })
  if (next.model.version !== last.version) throw notFollowed('whose files differ from those of this one')
  await options.check(next.model).catch((error: unknown) => {
    throw error instanceof ConfigError ? notFollowed(`whose change the code of this one does not fit: ${error.message}`) : error
  })
  await database.addMissing(next.model)
  putInForce(inForce, next, last.id)
  noteWritten(inForce, files, false)
  if (writesFiles) await writeAgain(options, inForce)
}

/**
 * Writes current texts that are not on disk. If a start left the files of an older deployment unchanged, none are written: a mixture of old
 * and new files may not form a model.
 */
async function writeAgain({ config, start, database, log }: LiveModelOptions, inForce: InForce): Promise<void> {
  const files = inForce.unwritten
  const areOlder = !config.modelChanges && start.behind.size > 0
  if (files.size === 0 || areOlder) return
  try {
    await (await stageFiles(config.folder, files)).place()
    noteWritten(inForce, files, true)
    if (inForce.unfiled > 0) await noteFiled(database.writes, inForce.unfiled)
    inForce.unfiled = 0
  } catch (error) {
    log.error({ err: error, files: [...files.keys()] }, 'could not write the files of changes of the model; the next change tries again')
  }
}

export type LoadedModel = Pick<InForce, 'model' | 'texts'>

/** Loads the model from the files on disk, overridden by current texts that are not on disk, and by `files`. */
export async function loadWith(
  { config, findFields }: Pick<LiveModelOptions, 'config' | 'findFields'>,
  { unwritten }: Pick<InForce, 'unwritten'>,
  files: FileChanges,
  load: typeof loadModel = loadModel,
): Promise<LoadedModel> {
  const read = recordReads(config.folder, filesWithChanges(config.folder, new Map([...unwritten, ...files])))
  return { model: await load(config, read, findFields), texts: read.texts }
}

/** Like `loadWith`, for files that were in force. */
export const loadFormerWith = (...[options, inForce, files]: Parameters<typeof loadWith>): Promise<LoadedModel> =>
  loadWith(options, inForce, files, loadFormerModel)

/** The files after several changes, in order. */
export const filesOf = (changes: readonly { readonly files: FileChanges }[]): FileChanges =>
  new Map(changes.flatMap(({ files }) => [...files]))

/** Installs a model for subsequent requests. `change`: the last change in it. */
export function putInForce(inForce: InForce, { model, texts }: LoadedModel, change: number): void {
  inForce.model = model
  inForce.texts = texts
  inForce.change = change
  inForce.installations?.replace(model, change)
}

/** Records whether current files are on disk. */
export function noteWritten(inForce: InForce, files: FileChanges, isWritten: boolean): void {
  const unwritten = new Map(inForce.unwritten)
  for (const [path, text] of files) {
    if (isWritten) unwritten.delete(path)
    else unwritten.set(path, text)
  }
  inForce.unwritten = unwritten
}

/** Stores the schema files of the current model in the database. If that fails, the log of changes still has them. */
export async function store({ database, log }: LiveModelOptions, inForce: InForce): Promise<void> {
  if (differencesOf(inForce.stored, inForce.texts).size === 0) return
  try {
    await storeSchemas(database.writes, inForce.stored, inForce.texts, inForce.change)
    inForce.stored = inForce.texts
  } catch (error) {
    log.warn({ err: error }, 'the schema files could not be stored in the database; the next start tries again')
  }
}

/** @throws ConfigError with a remedy */
export async function refuseForeignDatabase(config: Config, view: DatabaseView, model: Model): Promise<void> {
  refuseForeign(model, await foundTables(config, view))
}

/**
 * Tables that do not belong to the project, each with missing columns: `things lacks document_id`. @throws ConfigError for a database of
 * Strapi 3 or 4
 */
export async function foreignIn(config: Config, view: DatabaseView, model: Model): Promise<readonly string[]> {
  const found = await foundTables(config, view)
  refuseOlderStrapi(found)
  return foreignTables(model, found).map((table) => `${nameOf(table)} lacks ${table.lacking.join(' and ')}`)
}

async function foundTables(config: Config, view: DatabaseView): Promise<FoundTables> {
  const [{ has }, declared] = [await view.tables(), await view.declaredColumns()]
  return { has, hasColumn: (table, column) => declared(table, column) !== null, schema: schemaOf(config) }
}

const schemaOf = ({ database: { client, server } }: Config): string | null => (client === 'postgres' ? (server?.schema ?? null) : null)

/**
 * Refuses a model change that needs a table of another program. `path`: location of schemas in the request.
 * @throws ApiError 400
 */
export async function refuseForeignTables(
  config: Config,
  database: Database,
  { from, to }: { readonly from: Model; readonly to: Model },
  path: readonly string[],
): Promise<void> {
  const former = new Set(describeTables(from).map(({ name }) => name))
  const added = describeTables(to).filter(({ name }) => !former.has(name))
  if (added.length === 0) return
  const others = new Set((await database.mismatches(from)).tables)
  const found = new Map<string, ReadonlySet<string>>()
  for (const { name, columns } of added.filter((table) => others.has(table.name))) {
    const there = new Set<string>()
    for (const column of columns) if (await hasColumns(database.main, name, [column.name])) there.add(column.name)
    found.set(name, there)
  }
  const [foreign] = foreignTables(to, {
    has: (table) => found.has(table),
    hasColumn: (table, column) => found.get(table)!.has(column),
    schema: schemaOf(config),
  })
  if (foreign !== undefined) throw refusedName(to, foreign.name, null, describeForeignTable(foreign), path)
}
