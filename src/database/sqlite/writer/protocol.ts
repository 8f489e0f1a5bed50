// Messages between the writer and its thread. They are sent in batches, and processed in order.
import type { ChangeResult } from '../../database.js'
import type { ReadPlan } from '../../plan.js'
import type { Signing } from '../../response/signed-addresses.js'
import type { SqliteOptions } from '../connection.js'
import type { FileIdentities } from '../file/health.js'

export interface WriterData {
  readonly sqlite: SqliteOptions
  readonly signing: Signing | null
  /** The files that the service has opened; null: they are not watched. */
  readonly files: FileIdentities | null
  readonly writtenBytes: number
  /** Adds the number of the driver's statements to commits. */
  readonly counts: boolean
}

/** A text is sent once, with a number for later references; -1: none. */
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
  /** A statement without a response; its failure is reported by the commit. */
  | ({ readonly id: 0; readonly kind: 'follow' } & StatementOf)
  /** A read inside the transaction; a plan is sent once, and referenced by its number later. */
  | {
      readonly id: number
      readonly kind: 'read'
      readonly plan: number
      readonly told: ReadPlan | null
      readonly parameters: readonly unknown[]
      /** At most `writtenBytes`. */
      readonly isBounded: boolean
    }
  /** Asks for commits of other processes since the last check. */
  | { readonly id: number; readonly kind: 'look' }
  | { readonly kind: 'forget'; readonly plan: number }
  /** No transaction comes next: what shares a commit is committed. */
  | { readonly kind: 'flush' }
  | { readonly kind: 'close' }

/** The error code of a transaction for an outdated model. */
export const outdated = 'OCTAVO_OUTDATED_MODEL'

export type FromWriter =
  | { readonly id: number; readonly rows: readonly unknown[] }
  | { readonly id: number; readonly changed: Inserted }
  | { readonly id: number; readonly bytes: Uint8Array | null }
  | { readonly id: number; readonly statements: number }
  | { readonly id: number; readonly isAlone: boolean }
  | { readonly id: number; readonly code: string; readonly message: string }

/** Result of a statement that changed rows, with the id of the last inserted one. */
export interface Inserted extends ChangeResult {
  readonly id: number
}
