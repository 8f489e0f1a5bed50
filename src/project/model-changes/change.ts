// A change of the model on its way: what is asked for, what it comes to, and what it is made with.
import type { RawBuilder } from 'kysely'
import type { Logger } from 'pino'
import type { Database } from '../../database/database.js'
import type { Config } from '../../foundation/config/config.js'
import type { PlanChoices, Rename } from '../../model/diff/types.js'
import type { FindFields } from '../../model/schema/custom-fields.js'
import type { FileChanges } from '../../model/schema/schema-files.js'
import type { Model } from '../../model/schema/types.js'
import type { Installations } from '../installations.js'
import type { CountedPlan, UndoneChange } from './counted-plan.js'
import type { DescribedPlan } from './described-plan.js'
import type { SchemaTexts } from './stored-schemas.js'

/** A change as it is asked for. */
export interface ChangeRequest {
  /** What is changed, for the log of changes. */
  readonly summary: string
  readonly files: FileChanges
  /** Where the files come from in the body of the request, by their paths in the project; absent: they are not in one. */
  readonly places?: ReadonlyMap<string, readonly string[]>
  /** What the files were before; undefined: what is on disk. */
  readonly former?: FileChanges
  readonly renames?: readonly Rename[]
  readonly choices?: Pick<PlanChoices, 'neverPublished'>
  /** Names of content that may be hidden (`PlanLoss.name`). */
  readonly agreed: ReadonlySet<string>
  /** The version of the model that it was planned for; undefined: whichever is in force. */
  readonly version?: string
  readonly undoes?: UndoneChange
  readonly note?: NoteChange
  /** Where in the request schemas are, by their uids; undefined: it has none. */
  readonly path?: readonly string[]
}

/** The statement that notes who makes a change. It is executed in the transaction that records the change. */
export type NoteChange = (change: { readonly version: string; readonly summary: string }) => RawBuilder<unknown>

/** What a change is prepared from: the model in force, its files that are not on disk, and what else is known of the project. */
export interface ChangeableModel extends Pick<InForce, 'model' | 'unwritten'>, Pick<LiveModelOptions, 'findFields'> {
  /** Whether Strapi has to start with the files too. */
  readonly isStrapis: boolean
}

/** Returns a change from the project's files as they are when it is its turn, or null for none. */
export type PrepareChange = (inForce: ChangeableModel) => Promise<ChangeRequest | null>

/** What a change would come to. */
export interface PlannedChange {
  /** The version of the model in force. */
  readonly version: string
  /** Null if nothing was asked for. */
  readonly plan: DescribedPlan | null
}

/** What a change came to. */
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
  /** The model of the database; null if it is that of the files, as far as is known. */
  readonly former: Model | null
  /** Files as changes have left them that this process was not there for. They are on disk as they were before. */
  readonly behind: FileChanges
}

/** What an operator decides about a change of the files. */
export type StartDecisions = Pick<ChangeRequest, 'agreed' | 'renames' | 'choices'>

/** What the model of a service needs. */
export interface LiveModelOptions {
  readonly config: Config
  /** Finds the types of custom fields, for every model that is loaded. */
  readonly findFields: FindFields
  readonly start: StartOfModel
  /** What is decided about a change of the files since the last start. */
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
  /** What the database knows of them. */
  stored: SchemaTexts
  /** 0: the model is that of the files. */
  change: number
  /** What is in force of them, and of the code that changes write, and is not on disk. */
  unwritten: FileChanges
  /** The last change that is noted as filed once its files are on disk, because this process could not write them; 0: none. */
  unfiled: number
  installations: Installations | null
}
