// A model change in progress: request, plan and dependencies.

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

/** A requested change. */
export interface ChangeRequest {
  /** A summary for the log of changes. */
  readonly summary: string
  readonly files: FileChanges
  /** Locations in the request body by file path; absent: the files come from elsewhere. */
  readonly places?: ReadonlyMap<string, readonly string[]>
  /** The former texts; default: those on disk. */
  readonly former?: FileChanges
  readonly renames?: readonly Rename[]
  readonly choices?: Pick<PlanChoices, 'neverPublished'>
  /** Names of content that may be hidden (`PlanLoss.name`). */
  readonly agreed: ReadonlySet<string>
  /** The version of the model that it was planned for; default: the current one. */
  readonly version?: string
  readonly undoes?: UndoneChange
  /** Steps that restore archived values, for a request that changes no file. */
  readonly restores?: readonly PlanStep[]
  readonly note?: NoteChange
  /** Location of schemas in the request; absent: it has none. */
  readonly path?: readonly string[]
}

/** Statement that records the author of a change, in the transaction that records the change. */
export type NoteChange = (change: { readonly version: string; readonly summary: string }) => RawBuilder<unknown>

/** The basis of a change: the current model, its files that are not on disk, and the state of the project. */
export interface ChangeableModel extends Pick<InForce, 'model' | 'unwritten'>, Pick<LiveModelOptions, 'findFields'> {
  /** True if Strapi must be able to start with the files. */
  readonly isStrapis: boolean
}

/** Computes a change from the current files when its turn has come; null: no change. */
export type PrepareChange = (inForce: ChangeableModel) => Promise<ChangeRequest | null>

export interface PlannedChange {
  /** Version of the current model. */
  readonly version: string
  /** Null if nothing changes. */
  readonly plan: DescribedPlan | null
}

export interface ChangeResult {
  /** Version of the current model. */
  readonly version: string
  /** Null if nothing changes. */
  readonly plan: CountedPlan | null
}

/** The model of the project's files, and the state of the database. */
export interface StartOfModel {
  readonly model: Model
  /** Schema files of the model. */
  readonly texts: SchemaTexts
  /** Schema files in the database; null if no start has stored them yet. */
  readonly stored: SchemaTexts | null
  /** The last change before all this was read; 0: none; null: the database had no log of changes yet. */
  readonly change: number | null
  /** The model of the database; null if it is assumed to equal that of the files. */
  readonly former: Model | null
  /** Current texts of files written by changes that this process missed; the disk has the former texts. */
  readonly behind: FileChanges
}

/** An operator's decisions about a change of the files. */
export type StartDecisions = Pick<ChangeRequest, 'agreed' | 'renames' | 'choices'>

export interface LiveModelOptions {
  readonly config: Config
  /** Finds the types of custom fields, for every loaded model. */
  readonly findFields: FindFields
  readonly start: StartOfModel
  /** Decisions about changes of the files since the last start. */
  readonly decisions: StartDecisions
  readonly database: Database
  readonly log: Logger
  now(): number
  /** Checks the project's code against a model. @throws ConfigError */
  check(model: Model): Promise<void>
}

/** The current model, and the last change in it. */
export interface InForce {
  model: Model
  /** Its schema files. */
  texts: SchemaTexts
  /** Schema files in the database. */
  stored: SchemaTexts
  /** 0: the model is that of the files. */
  change: number
  /** Current texts of schema files, and of code written by changes, that are not on disk. */
  unwritten: FileChanges
  /** The last change to mark as filed once its files are on disk, because this process failed to write them; 0: none. */
  unfiled: number
  installations: Installations | null
}

/** Prefixes of the tables of Strapi and Octavo. */
const reservedTable = /^(?:strapi|octavo)_/i

/** The first error among names that a schema introduces; messages are ends of sentences. Null: there is none. */
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
