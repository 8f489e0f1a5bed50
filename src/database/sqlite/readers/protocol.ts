// The messages between the pool of readers and its threads, and the memory they share.
import type { ReadPlan } from '../../plan.js'
import type { Signing } from '../../response/signed-addresses.js'
import type { SqliteOptions } from '../connection.js'

/** Bytes of one slot. Larger responses have separate memory. */
export const slotBytes = 256 * 1024
/** Slots of a thread: for its jobs, and for responses that are being sent to clients. */
export const slotsPerThread = 32

/**
 * The state of the job of a slot: it waits in the inbox of its thread, was started, or was revoked before or after that; its response is
 * in the slot, there is nothing to respond with, or a message reports the outcome.
 */
export const slotStates = { waiting: 0, started: 1, revoked: 2, answered: 3, nothing: 4, reported: 5 } as const

/** Memory that the pool shares with one thread. One notification announces all responses in slots, instead of a message for each. */
export interface Shared {
  /** The slots with the bytes of the responses. */
  readonly memory: SharedArrayBuffer
  /** One of `slotStates` per slot. */
  readonly states: Int32Array
  /** The bytes of the response in each slot, and the microseconds that its job took. */
  readonly lengths: Int32Array
  readonly times: Int32Array
  /** 1 from the thread's notification until the pool collects the responses. */
  readonly notified: Int32Array
}

/** Allocates the shared memory of one thread. */
export function shareSlots(): Shared {
  const numbers = (count: number) => new Int32Array(new SharedArrayBuffer(count * Int32Array.BYTES_PER_ELEMENT))
  return {
    memory: new SharedArrayBuffer(slotsPerThread * slotBytes),
    states: numbers(slotsPerThread),
    lengths: numbers(slotsPerThread),
    times: numbers(slotsPerThread),
    notified: numbers(1),
  }
}

/** Start parameters of a thread. */
export interface ReaderData {
  readonly sqlite: SqliteOptions
  readonly responseBytes: number
  /** Signs addresses of files; null: all are public. */
  readonly signing: Signing | null
  readonly shared: Shared
}

/** A job as it is sent to a thread. */
export interface Run {
  readonly slot: number
  readonly plan: number
  readonly values: readonly unknown[]
}

/** A message from the pool. */
export type ToReader =
  | { readonly kind: 'plan'; readonly id: number; readonly plan: ReadPlan }
  | { readonly kind: 'forget'; readonly id: number }
  | { readonly kind: 'run'; readonly runs: readonly Run[] }
  | { readonly kind: 'close' }

/** A message from a thread. */
export type FromReader =
  | { readonly kind: 'ready' }
  /** There are responses in slots. */
  | { readonly kind: 'notify' }
  /** A response that did not fit into its slot. */
  | { readonly kind: 'large'; readonly slot: number; readonly bytes: Uint8Array<ArrayBuffer> }
  | { readonly kind: 'tooLarge'; readonly slot: number }
  /** `code` is SQLite's, if there is one. */
  | { readonly kind: 'failed'; readonly slot: number; readonly message: string; readonly code: string | undefined }
  /** The job was revoked: it was not begun, or was given up. */
  | { readonly kind: 'skipped'; readonly slot: number }
