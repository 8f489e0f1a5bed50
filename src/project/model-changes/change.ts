// A change of the model in progress: the request, the plan and the dependencies.

import type { RawBuilder } from 'kysely'
import type { Logger } from 'pino'
import type { Database } from '../../database/database.js'
import type { Config } from '../../foundation/config/config.js'
import { attributeName, categoryName, isReservedAttribute, isReservedType } from '../../model/builder/names.js'
import type { SchemaContent, SchemaError } from '../../model/builder/project-schemas.js'
import type { PlanStep } from '../../model/diff/steps.js'
import type { PlanChoices, Rename } from '../../model/diff/types.js'
import type { FindFields } from '../../model/schema/custom-fields.js'
import type { FileChanges } from '../../model/schema/schema-files.js'
import { oneNameForBoth } from '../../model/schema/schema-format.js'
import type { Model } from '../../model/schema/types.js'
import type { Installations } from '../installation.js'
import type { SchemaTexts } from './change-log.js'
import type { CountedPlan, UndoneChange } from './counted-plan.js'
import type { DescribedPlan } from './described-plan.js'

/** A change as it is asked for. */
export interface ChangeRequest {
  /** A summary for the log of changes. */
  readonly summary: string
  readonly files: FileChanges
  /** Locations in the body of the request by file path; absent: the files come from elsewhere. */
  readonly places?: ReadonlyMap<string, readonly string[]>
  /** The former texts; undefined: those on disk. */
  readonly former?: FileChanges
  readonly renames?: readonly Rename[]
  readonly choices?: Pick<PlanChoices, 'neverPublished'>
  /** Names of content that may be hidden (`PlanLoss.name`). */
  readonly agreed: ReadonlySet<string>
  /** The version of the model that it was planned for; undefined: the current one. */
  readonly version?: string
  readonly undoes?: UndoneChange
  /** The steps that restore archived values, for a request that changes no file. */
  readonly restores?: readonly PlanStep[]
  readonly note?: NoteChange
  /** Locations of schemas in the request by uid; undefined: it has none. */
  readonly path?: readonly string[]
}

/** The statement that notes who makes a change. It is executed in the transaction that records the change. */
export type NoteChange = (change: { readonly version: string; readonly summary: string }) => RawBuilder<unknown>

/** The basis of a change: the current model, its files that are not on disk, and the state of the project. */
export interface ChangeableModel extends Pick<InForce, 'model' | 'unwritten'>, Pick<LiveModelOptions, 'findFields'> {
  /** Whether Strapi must start with the files too. */
  readonly isStrapis: boolean
}

/** Returns a change from the project's files as they are when it is its turn, or null for none. */
export type PrepareChange = (inForce: ChangeableModel) => Promise<ChangeRequest | null>

/** The prepared change. */
export interface PlannedChange {
  /** The version of the model in force. */
  readonly version: string
  /** Null if nothing was asked for. */
  readonly plan: DescribedPlan | null
}

/** The applied change. */
export interface ChangeResult {
  /** The version of the model in force. */
  readonly version: string
  /** Null if nothing was asked for. */
  readonly plan: CountedPlan | null
}

/** The model of the project's files, and what the database has. */
export interface StartOfModel {
  readonly model: Model
  /** The schema files of the model. */
  readonly texts: SchemaTexts
  /** The schema files that the database knows; null: it knows none, because no start has stored them. */
  readonly stored: SchemaTexts | null
  /** The last change that was made before all this was read; 0: none; null: the database had no log of changes that could be read yet. */
  readonly change: number | null
  /** The model of the database; null if it is assumed to be that of the files. */
  readonly former: Model | null
  /** Files as changes have left them that this process was not there for. They are on disk as they were before. */
  readonly behind: FileChanges
}

/** An operator's choices about a change of the files. */
export type StartDecisions = Pick<ChangeRequest, 'agreed' | 'renames' | 'choices'>

export interface LiveModelOptions {
  readonly config: Config
  /** Finds the types of custom fields, for every model that is loaded. */
  readonly findFields: FindFields
  readonly start: StartOfModel
  /** Choices about a change of the files since the last start. */
  readonly decisions: StartDecisions
  readonly database: Database
  readonly log: Logger
  /** The time of day in milliseconds since 1970. */
  now(): number
  /** Checks the project's code against a model. @throws ConfigError */
  check(model: Model): Promise<void>
}

/** The model in force, and the last change that led to it. */
export interface InForce {
  model: Model
  /** Its schema files. */
  texts: SchemaTexts
  /** Their state in the database. */
  stored: SchemaTexts
  /** 0: the model is that of the files. */
  change: number
  /** Current texts of them, and of the code that changes write, that are not on disk. */
  unwritten: FileChanges
  /** The last change that is noted as filed once its files are on disk, because this process could not write them; 0: none. */
  unfiled: number
  installations: Installations | null
}

/** Prefixes of the tables of Strapi and Octavo. */
const reservedTable = /^(?:strapi|octavo)_/i

/** The first fault of the names that a schema gives, and `former` did not; messages are ends of sentences. Null: there is none. */
export function faultOfNames(
  uid: string,
  content: SchemaContent,
  former: SchemaContent | undefined,
  isStrapis: boolean,
): Pick<SchemaError, 'path' | 'message'> | null {
  const isPlugins = uid.startsWith('plugin::')
  return (
    (uid.includes('::') && !isPlugins ? faultOfType(content, former, isStrapis) : null) ??
    faultOfTable(content.collectionName, former?.collectionName, isPlugins) ??
    faultOfAttributes(Object.keys(content.attributes), former?.attributes ?? {})
  )
}

function faultOfType({ info }: SchemaContent, former: SchemaContent | undefined, isStrapis: boolean) {
  for (const key of ['singularName', 'pluralName'] as const) {
    const name = info[key]!
    if (name !== former?.info[key] && isReservedType(name)) return { path: ['info', key], message: `is reserved: ${name}` }
  }
  const isSame = (names: SchemaContent['info'] | undefined) => names !== undefined && names.singularName === names.pluralName
  return isStrapis && isSame(info) && !isSame(former?.info) ? { path: ['info', 'pluralName'], message: oneNameForBoth } : null
}

function faultOfTable(table: string | undefined, former: string | undefined, isPlugins: boolean) {
  if (table === undefined || table === former) return null
  const path = ['collectionName']
  if (!categoryName.test(table)) return { path, message: 'must be a letter from A to Z followed by such letters, digits, - and _' }
  return !isPlugins && reservedTable.test(table) ? { path, message: `is reserved: ${table}` } : null
}

function faultOfAttributes(names: readonly string[], former: SchemaContent['attributes']) {
  for (const name of names.filter((one) => !Object.hasOwn(former, one))) {
    const path = ['attributes', name]
    if (!attributeName.test(name)) return { path, message: 'must be a letter from A to Z followed by such letters, digits and _' }
    if (isReservedAttribute(name)) return { path, message: 'is a reserved name' }
  }
  return null
}
