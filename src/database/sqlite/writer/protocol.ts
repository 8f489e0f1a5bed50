// Messages between the writer and its thread, sent in batches and processed in order.
import type { ChangeResult } from '../../database.js'
import type { ReadPlan } from '../../plan.js'
import type { Signing } from '../../response/signed-addresses.js'
import type { SqliteOptions } from '../connection.js'
import type { FileIdentities } from '../file/health.js'

export interface WriterData {
  readonly sqlite: SqliteOptions
  readonly signing: Signing | null
  /** The files that the service has opened; null: not watched. */
  readonly files: FileIdentities | null
  readonly writtenBytes: number
  /** Report the number of executed statements with each commit. */
  readonly counts: boolean
}

/** A text is sent once, with a number for later references; -1: none. */
interface StatementOf {
  readonly text: number
  readonly told: string | null
  readonly parameters: readonly unknown[]
}

export type ToWriter =
  /** `change`: the model change that its statements were built for; null: independent of the model. */
  | { readonly id: number; readonly kind: 'begin'; readonly change: number | null }
  | { readonly id: number; readonly kind: 'rollback' }
  /** `more`: another transaction follows, so it may share this commit. */
  | { readonly id: number; readonly kind: 'commit'; readonly more: boolean }
  | ({ readonly id: number; readonly kind: 'rows' | 'run' } & StatementOf)
  /** A statement without a response; the commit reports its failure. */
  | ({ readonly id: 0; readonly kind: 'follow' } & StatementOf)
  /** A read inside the transaction. A plan is sent once, with a number for later references. */
  | {
      readonly id: number
      readonly kind: 'read'
      readonly plan: number
      readonly told: ReadPlan | null
      readonly parameters: readonly unknown[]
      /** Limits the response to `writtenBytes`. */
      readonly isBounded: boolean
    }
  /** Checks for commits of other processes since the last check. */
  | { readonly id: number; readonly kind: 'look' }
  | { readonly kind: 'forget'; readonly plan: number }
  /** No transaction follows: commits held transactions. */
  | { readonly kind: 'flush' }
  | { readonly kind: 'close' }

/** Error code for a transaction built for an outdated model. */
export const outdated = 'OCTAVO_OUTDATED_MODEL'

export type FromWriter =
  | { readonly id: number; readonly rows: readonly unknown[] }
  | { readonly id: number; readonly changed: Inserted }
  | { readonly id: number; readonly bytes: Uint8Array | null }
  | { readonly id: number; readonly statements: number }
  | { readonly id: number; readonly isAlone: boolean }
  | { readonly id: number; readonly code: string; readonly message: string }

/** Result of a write, with the last inserted id. */
export interface Inserted extends ChangeResult {
  readonly id: number
}
