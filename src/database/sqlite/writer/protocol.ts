// What the writer and its thread say to each other. Messages are sent several at a time, and performed in order.
import type { Changed } from '../../database.js'
import type { ReadPlan } from '../../plan.js'
import type { Signing } from '../../response/signed-addresses.js'
import type { SqliteOptions } from '../connection.js'
import type { FileIdentities } from '../file/file-watch.js'

export interface WriterData {
  readonly sqlite: SqliteOptions
  /** How addresses of files are signed in answers; null: not at all. */
  readonly signing: Signing | null
  /** The files that the service has opened; null: they are not watched. */
  readonly files: FileIdentities | null
  readonly writtenBytes: number
  /** Tell with each commit how many statements the driver ran. */
  readonly counts: boolean
}

/** A text is sent once, with the number by which it is known from then on; -1: it gets none. */
interface StatementOf {
  readonly text: number
  readonly told: string | null
  readonly parameters: readonly unknown[]
}

export type ToWriter =
  /** `change`: the last change of the model that its statements were made for; null: they depend on no model. */
  | { readonly id: number; readonly kind: 'begin'; readonly change: number | null }
  | { readonly id: number; readonly kind: 'rollback' }
  /** `more`: another transaction comes next, so the commit to disk may be shared with it. */
  | { readonly id: number; readonly kind: 'commit'; readonly more: boolean }
  | ({ readonly id: number; readonly kind: 'rows' | 'run' } & StatementOf)
  /** A statement that nobody waits for: only its failure is told, with the commit. */
  | ({ readonly id: 0; readonly kind: 'follow' } & StatementOf)
  /** What to answer from inside the transaction; a plan is sent once and known by its number from then on. */
  | {
      readonly id: number
      readonly kind: 'read'
      readonly plan: number
      readonly told: ReadPlan | null
      readonly parameters: readonly unknown[]
      /** At most `writtenBytes`. */
      readonly isBounded: boolean
    }
  /** Whether anybody else has committed since it was last asked. */
  | { readonly id: number; readonly kind: 'look' }
  | { readonly kind: 'forget'; readonly plan: number }
  /** No transaction comes next: what shares a commit is committed. */
  | { readonly kind: 'flush' }
  | { readonly kind: 'close' }

/** The code of the error of a transaction for a model that is not in force any more. */
export const outdated = 'OCTAVO_OUTDATED_MODEL'

export type FromWriter =
  | { readonly id: number; readonly rows: readonly unknown[] }
  | { readonly id: number; readonly changed: Inserted }
  | { readonly id: number; readonly bytes: Uint8Array | null }
  | { readonly id: number; readonly statements: number }
  | { readonly id: number; readonly isAlone: boolean }
  | { readonly id: number; readonly code: string; readonly message: string }

/** What the thread tells of a statement that changed rows: also the id of the last one that was inserted. */
export interface Inserted extends Changed {
  readonly id: number
}
