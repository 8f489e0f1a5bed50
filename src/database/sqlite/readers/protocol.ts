// Messages and shared memory between the reader pool and its threads.
import type { ReadPlan } from '../../plan.js'
import type { Signing } from '../../response/signed-addresses.js'
import type { SqliteOptions } from '../connection.js'

/** Bytes of one slot. Larger responses have separate memory. */
export const slotBytes = 256 * 1024
/** Slots per thread: for its jobs, and for responses being sent to clients. */
export const slotsPerThread = 32

/**
 * State of a slot's job: waiting in the inbox, started, or revoked before or after that; the response is in the slot, is empty, or the
 * outcome is reported by a message.
 */
export const slotStates = { waiting: 0, started: 1, revoked: 2, answered: 3, nothing: 4, reported: 5 } as const

/** Memory shared between the pool and a thread. One notification announces all finished slots, instead of a message per response. */
export interface Shared {
  readonly memory: SharedArrayBuffer
  /** One of `slotStates` per slot. */
  readonly states: Int32Array
  /** Per slot: bytes of the response, and microseconds that its job took. */
  readonly lengths: Int32Array
  readonly times: Int32Array
  /** 1 from the thread's notification until the pool collects the responses. */
  readonly notified: Int32Array
}

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

export interface ReaderData {
  readonly sqlite: SqliteOptions
  readonly responseBytes: number
  /** Signs file URLs; null: all files are public. */
  readonly signing: Signing | null
  readonly shared: Shared
}

export interface Run {
  readonly slot: number
  readonly plan: number
  readonly values: readonly unknown[]
}

export type ToReader =
  | { readonly kind: 'plan'; readonly id: number; readonly plan: ReadPlan }
  | { readonly kind: 'forget'; readonly id: number }
  | { readonly kind: 'run'; readonly runs: readonly Run[] }
  | { readonly kind: 'close' }

export type FromReader =
  | { readonly kind: 'ready' }
  /** Responses are available in slots. */
  | { readonly kind: 'notify' }
  /** A response that did not fit into its slot. */
  | { readonly kind: 'large'; readonly slot: number; readonly bytes: Uint8Array<ArrayBuffer> }
  | { readonly kind: 'tooLarge'; readonly slot: number }
  /** `code` is SQLite's, if any. */
  | { readonly kind: 'failed'; readonly slot: number; readonly message: string; readonly code: string | undefined }
  /** The job was revoked before or during execution. */
  | { readonly kind: 'skipped'; readonly slot: number }
