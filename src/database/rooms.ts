// What the pool of readers and its threads say to each other, and the memory they share.
import type { ReadPlan } from './plan.js'
import type { SqliteOptions } from './sqlite.js'

export interface ReaderData {
  readonly sqlite: SqliteOptions
  readonly answerBytes: number
  /** One state per job slot, shared with the pool: see `jobStates`. */
  readonly states: Int32Array
  /** Memory shared with the pool, one room for each job that may be under way: answers that fit are not handed over, only named. */
  readonly rooms: SharedArrayBuffer
}

/** Bytes of one room. Larger answers travel in memory of their own. */
export const roomBytes = 256 * 1024

/** A job waits, has been started, or was taken back before it was started. */
export const jobStates = { waiting: 0, started: 1, revoked: 2 } as const

export type ToReader =
  | { readonly kind: 'plan'; readonly id: number; readonly plan: ReadPlan }
  | { readonly kind: 'forget'; readonly id: number }
  | { readonly kind: 'run'; readonly slot: number; readonly plan: number; readonly values: readonly unknown[]; readonly room: number }
  | { readonly kind: 'close' }

export type FromReader =
  | { readonly kind: 'ready' }
  | { readonly kind: 'nothing'; readonly slot: number }
  /** `own`: the bytes, where they are not the first `length` of the job's room. */
  | { readonly kind: 'answer'; readonly slot: number; readonly length: number; readonly own: Uint8Array<ArrayBuffer> | null }
  | { readonly kind: 'tooLarge'; readonly slot: number }
  | { readonly kind: 'failed'; readonly slot: number; readonly message: string }
