// The model on start: that of the project's files and, if the database has another one, the change from that to the model of the files.
import { isDeepStrictEqual } from 'node:util'
import { type DatabaseView, databaseNames, hasColumns, type RowReader } from '../../database/database.js'
import type { Config } from '../../foundation/config/config.js'
import { ApiError, ConfigError } from '../../foundation/errors/errors.js'
import { commandLine } from '../../foundation/runtime/terminal.js'
import type { Rename } from '../../model/diff/types.js'
import { allSchemas } from '../../model/schema/graph.js'
import type { FileChanges } from '../../model/schema/schema-files.js'
import type { Model, SchemaSource } from '../../model/schema/types.js'
import { describeTables, unmanagedTables } from '../../model/tables/tables.js'
import type { ChangeRequest, LiveModelOptions, StartDecisions, StartOfModel } from './change.js'
import {
  changesAfter,
  differencesOf,
  isSchema,
  lastChange,
  type RecordedChange,
  type SchemaTexts,
  storedSchemas,
  unfiledChanges,
} from './change-log.js'
import type { CountedContent } from './counted-plan.js'
import { filesOf, loadFormerWith, loadWith, refuseForeignDatabase } from './follow.js'
import { named, refuseNewNames, renameText } from './refusals.js'

/** Without decisions, nothing is hidden or renamed. */
export const undecided: StartDecisions = { agreed: new Set() }

/** The project to start. */
export type StartingProject = Pick<LiveModelOptions, 'config' | 'findFields'> & {
  /** A command compares the files as they are. */
  readonly isCommand: boolean
}

/** Reads the files of a project, and the state of its database; `view`: null without a database. */
export async function readStart({ config, findFields, isCommand }: StartingProject, view: DatabaseView | null): Promise<StartOfModel> {
  const tables = await view?.tables()
  const isKnown = tables?.has('octavo_schemas') === true && tables.has('octavo_model_history')
  // Read first, so that later changes are noticed.
  const change = isKnown ? await lastChange(view!.main) : null
  const stored = isKnown ? await storedSchemas(view!.main) : null
  // Files of changes that were applied but not written count as written.
  const unfiled = isKnown ? filesOf(await unfiledChanges(view!.main)) : new Map()
  const load = (files: FileChanges) => loadWith({ config, findFields }, { unwritten: unfiled }, files)
  let { model, texts } = await load(new Map())
  if (view !== null) await refuseForeignDatabase(config, view, model)
  if (stored === null) refuseNewNames(model, databaseNames[config.database.client], (table) => tables?.has(table) === true)
  if (stored === null || differencesOf(stored, texts).size === 0) return { model, texts, stored, change, former: null, behind: new Map() }
  let behind = filesBehind(config, isCommand, await changesAfter(view!.main, 0), { texts, stored })
  if (behind.size > 0) {
    const newer = await load(behind)
    if (config.modelChanges || onlyAddsTo(model, newer.model)) ({ model, texts } = newer)
    else behind = new Map()
  }
  const formerFiles = new Map([...behind, ...stored, ...differencesOf(texts, stored)])
  const { model: former } = await loadFormerWith({ config, findFields }, { unwritten: unfiled }, formerFiles)
  const isAnother = former.version !== model.version && (await isModelOf(view!.main, former))
  return { model, texts, stored, change, former: isAnother ? former : null, behind }
}

/** True if a database has the tables and columns of a model; otherwise Strapi has changed it since. */
async function isModelOf(database: RowReader, model: Model): Promise<boolean> {
  const panel = unmanagedTables(model, false)
  for (const { name, columns } of describeTables(model)) {
    if (panel.has(name)) continue
    const names = columns.map((column) => column.name)
    if (!(await hasColumns(database, name, names))) return false
  }
  return true
}

/** The change from the model of the database to that of the files. */
export function changeOfFiles({ stored, texts }: StartOfModel, decisions: StartDecisions): ChangeRequest {
  const files = differencesOf(stored!, texts)
  const former: FileChanges = new Map([...files.keys()].map((path) => [path, stored!.get(path) ?? null]))
  return { ...decisions, summary: `files: ${[...files.keys()].join(', ')}`, files, former }
}

/** Explains why a start does not apply the change of the files. Temporary errors, such as tables in use, are returned unchanged. */
export function explained(error: unknown, folder: string): unknown {
  if (!(error instanceof ApiError) || error.status === 503) return error
  const losses = error.details?.losses as readonly CountedContent[] | undefined
  if (losses === undefined) return new ConfigError(`The schema files differ from the model of the database. ${error.message}.`)
  const renames = (error.details?.possibleRenames as readonly Rename[] | undefined) ?? []
  const names = losses.map(({ name }) => name)
  const command = (words: string) => commandLine(`model ${words}`, folder)
  const options = renames.map((rename) => `--rename ${renameText(rename)}`).join(' ')
  const renamed = renames.length === 0 ? '' : `If it was renamed: ${command(`apply ${options}`)}. `
  return new ConfigError(
    `The schema files differ from the model of the database, and content would no longer be shown: ${named(losses)}. Nothing was changed. ${renamed}To hide it: ${command(`apply --agree ${names.join(',')}`)} (${command('undo')} brings it back). ${command('plan')} shows what would be done.`,
  )
}

/**
 * Files that still have the texts from before a model change made while this process was not running, with their current texts. If the
 * model may change in production, processes have separate folders, and code written with the files is included. If it is locked, such files
 * belong to an older deployment; a service then serves the newer model if it only adds to theirs (`onlyAddsTo`), because removing the
 * additions would affect newer processes too.
 */
function filesBehind(
  { production, modelChanges }: Config,
  isCommand: boolean,
  changes: readonly RecordedChange[],
  { texts, stored }: { readonly texts: SchemaTexts; readonly stored: SchemaTexts },
): FileChanges {
  if (!production || (isCommand && !modelChanges)) return new Map()
  const isBehind = (path: string): boolean =>
    changes.some(({ former }) => former.has(path) && former.get(path) === (texts.get(path) ?? null))
  const behind = new Map([...differencesOf(texts, stored)].filter(([path]) => isBehind(path)))
  if (!modelChanges) return behind
  const code = changes
    .filter(({ files }) => [...files.keys()].some((path) => behind.has(path)))
    .flatMap(({ files }) => [...files].filter(([path]) => !isSchema(path)))
  return new Map([...code, ...behind])
}

/**
 * True if a model contains all of another one unchanged, plus further types, components and attributes. Plan steps do not reveal this,
 * because access to attributes and validity of values do not affect tables.
 */
function onlyAddsTo(older: Model, newer: Model): boolean {
  const sources = new Map(allSchemas(newer).map(({ uid, source }) => [uid, source]))
  return allSchemas(older).every(({ uid, source }) => {
    const now = sources.get(uid)
    return now !== undefined && isExtended(source, now)
  })
}

function isExtended({ attributes, ...options }: SchemaSource, { attributes: now, ...optionsNow }: SchemaSource): boolean {
  const isSame = ([name, attribute]: readonly [string, unknown]): boolean =>
    Object.hasOwn(now, name) && isDeepStrictEqual(attribute, now[name])
  return isDeepStrictEqual(options, optionsNow) && Object.entries(attributes).every(isSame)
}
