// A change of the model on its way: what is asked for, what it comes to, and what it is made with.
import type { Logger } from 'pino'
import type { Config } from '../config/config.js'
import type { Database } from '../database/database.js'
import type { Installations } from '../installation.js'
import type { FileChanges } from '../model/schema-files.js'
import type { Model } from '../model/types.js'
import type { KeptPlace, PlanChoices, Rename } from '../model-plans/types.js'
import type { CountedPlan } from './counted-plan.js'

/** A change as it is asked for. */
export interface ChangeRequest {
  /** What is changed, for the log of changes. */
  readonly summary: string
  readonly files: FileChanges
  readonly renames?: readonly Rename[]
  readonly choices?: Pick<PlanChoices, 'neverPublished'>
  /** Names of content that may be hidden (`PlanLoss.name`). */
  readonly agreed: ReadonlySet<string>
  /** The version of the model that it was planned for; undefined: whichever is in force. */
  readonly version?: string
  /** The change that it undoes, and what that kept aside. */
  readonly undoes?: { readonly id: number; readonly kept: readonly KeptPlace[] }
}

/** Returns a change from the project's files as they are when it is its turn, or null for none. */
export type PrepareChange = (model: Model) => Promise<ChangeRequest | null>

/** What a change came to. */
export interface ChangeResult {
  /** The version of the model in force. */
  readonly version: string
  /** Null if nothing was asked for. */
  readonly plan: CountedPlan | null
}

/** What the model of a service needs. */
export interface LiveModelOptions {
  readonly config: Config
  /** The model as it is on disk. */
  readonly model: Model
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
  /** 0: the model is that of the files. */
  change: number
  installations: Installations | null
}
