// What the pool of readers and its threads say to each other, and the memory they share.
import type { ReadPlan } from './plan.js'
import type { Signing } from './signed-addresses.js'
import type { SqliteOptions } from './sqlite.js'

/** Bytes of one room. Larger answers travel in memory of their own. */
export const roomBytes = 256 * 1024
/** Rooms of a thread: for its jobs, and for answers that are on their way to clients. */
export const roomsPerThread = 16

/** A job waits in its thread's inbox, has been started, was taken back before it was started, or is done. */
export const jobStates = { waiting: 0, started: 1, revoked: 2, done: 3 } as const

export interface ReaderData {
  readonly sqlite: SqliteOptions
  readonly answerBytes: number
  /** Null: everyone may read files under their addresses. */
  readonly signing: Signing | null
  /** One state per room, shared with the pool. */
  readonly states: Int32Array
  /** The rooms: answers that fit into theirs are not handed over, only named. */
  readonly memory: SharedArrayBuffer
}

export type ToReader =
  | { readonly kind: 'plan'; readonly id: number; readonly plan: ReadPlan }
  | { readonly kind: 'forget'; readonly id: number }
  | { readonly kind: 'run'; readonly room: number; readonly plan: number; readonly values: readonly unknown[] }
  | { readonly kind: 'close' }

export type FromReader =
  /** `name`: by which the system counts the thread's time. */
  | { readonly kind: 'ready'; readonly name: string | null }
  | { readonly kind: 'nothing'; readonly room: number }
  /** `own`: the bytes, where they are not the first `length` of the job's room. */
  | { readonly kind: 'answer'; readonly room: number; readonly length: number; readonly own: Uint8Array<ArrayBuffer> | null }
  | { readonly kind: 'tooLarge'; readonly room: number }
  | { readonly kind: 'failed'; readonly room: number; readonly message: string }
  /** The job had been taken back. */
  | { readonly kind: 'skipped'; readonly room: number }
