// What the writer and its thread say to each other.
import type { Changed } from './database.js'

export interface ToWriter {
  readonly id: number
  readonly kind: 'begin' | 'rows' | 'run' | 'commit' | 'rollback' | 'close'
  readonly sql?: string
  readonly parameters?: readonly unknown[]
}

export type FromWriter =
  | { readonly id: number; readonly rows: readonly unknown[] }
  | { readonly id: number; readonly changed: Changed }
  | { readonly id: number; readonly code: string; readonly message: string }
