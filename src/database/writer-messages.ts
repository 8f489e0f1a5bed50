// What the writer and its thread say to each other.
import type { Changed } from './database.js'
import type { ReadPlan } from './plan.js'
import type { Signing } from './signed-addresses.js'
import type { SqliteOptions } from './sqlite.js'

export interface WriterData {
  readonly sqlite: SqliteOptions
  readonly signing: Signing | null
}

export interface ToWriter {
  readonly id: number
  readonly kind: 'begin' | 'rows' | 'run' | 'read' | 'commit' | 'rollback' | 'close'
  /** For `read`: what to answer from inside the transaction. */
  readonly plan?: ReadPlan
  readonly sql?: string
  readonly parameters?: readonly unknown[]
}

export type FromWriter =
  | { readonly id: number; readonly rows: readonly unknown[] }
  | { readonly id: number; readonly changed: Changed }
  | { readonly id: number; readonly bytes: Uint8Array | null }
  | { readonly id: number; readonly code: string; readonly message: string }
