// Which connections may lead to a former primary. A server that refuses writes may have been the primary before a switchover; once one is written to again,
// what was connected before that connection may still lead to the other.
import { elapsed } from '../../../foundation/runtime/clock.js'
import type { Client } from './client.js'

/** When the attempts began to make connections (`elapsed`). */
const begun = new WeakMap<Client, number>()
/** Connections that were begun before are not used again. */
let usableFrom = Number.NEGATIVE_INFINITY
/** Whether writes were refused since the last one that was committed. */
let isRefused = false

/** Notes when a connection was begun. */
export function noteBegun(client: Client, at: number): void {
  begun.set(client, at)
}

/** Whether a connection may be used. */
export const isUsable = (client: Client): boolean => begun.get(client)! >= usableFrom

/** A server has refused a write because it is read-only. */
export function noteRefused(): void {
  if (!isRefused) usableFrom = elapsed()
  isRefused = true
}

/** A write was committed on a connection. */
export function noteWritten(client: Client): void {
  if (!isRefused) return
  isRefused = false
  usableFrom = Math.max(usableFrom, begun.get(client)!)
}
