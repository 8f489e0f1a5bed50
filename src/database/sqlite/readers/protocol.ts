// What the pool of readers and its threads say to each other, and the memory they share.

import type { Signing } from '../../answer/signed-addresses.js'
import type { ReadPlan } from '../../plan.js'
import type { SqliteOptions } from '../connection.js'

/** Bytes of one room. Larger answers travel in memory of their own. */
export const slotBytes = 256 * 1024
/** Rooms of a thread: for its jobs, and for answers that are on their way to clients. */
export const slotsPerThread = 32

/**
 * What became of the job in a room: it waits in its thread's inbox, was started, or was revoked, before that or at work; its answer
 * stands in the room, there is nothing to answer, or a message says more.
 */
export const slotStates = { waiting: 0, started: 1, revoked: 2, answered: 3, nothing: 4, told: 5 } as const

/** What the pool and a thread both see. Most answers need no message of their own: a call says that some are there. */
export interface Shared {
  /** The rooms: answers that fit into theirs are not handed over, only named. */
  readonly memory: SharedArrayBuffer
  /** One of `roomStates` per room. */
  readonly states: Int32Array
  /** The bytes of the answer in each room, and the microseconds that its job took. */
  readonly lengths: Int32Array
  readonly times: Int32Array
  /** 1 from the thread's call until the pool looks. */
  readonly called: Int32Array
}

export function shareSlots(): Shared {
  const numbers = (count: number) => new Int32Array(new SharedArrayBuffer(count * Int32Array.BYTES_PER_ELEMENT))
  return {
    memory: new SharedArrayBuffer(slotsPerThread * slotBytes),
    states: numbers(slotsPerThread),
    lengths: numbers(slotsPerThread),
    times: numbers(slotsPerThread),
    called: numbers(1),
  }
}

export interface ReaderData {
  readonly sqlite: SqliteOptions
  readonly answerBytes: number
  /** Null: everyone may read files under their addresses. */
  readonly signing: Signing | null
  readonly shared: Shared
}

export interface Run {
  readonly room: number
  readonly plan: number
  readonly values: readonly unknown[]
}

export type ToReader =
  | { readonly kind: 'plan'; readonly id: number; readonly plan: ReadPlan }
  | { readonly kind: 'forget'; readonly id: number }
  | { readonly kind: 'run'; readonly runs: readonly Run[] }
  | { readonly kind: 'close' }

export type FromReader =
  /** `name`: by which the system counts the thread's time. */
  | { readonly kind: 'ready'; readonly name: string | null }
  /** Rooms are done. */
  | { readonly kind: 'call' }
  /** An answer that did not fit into its room. */
  | { readonly kind: 'large'; readonly room: number; readonly bytes: Uint8Array<ArrayBuffer> }
  | { readonly kind: 'tooLarge'; readonly room: number }
  /** `code`: SQLite's, where it has one. */
  | { readonly kind: 'failed'; readonly room: number; readonly message: string; readonly code: string | undefined }
  /** The job had been revoked: it was not begun, or is given up. */
  | { readonly kind: 'skipped'; readonly room: number }
