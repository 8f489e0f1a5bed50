// Connection options of a service's reads and writes, and statistics of connection waits.

import type { Config } from '../../foundation/config/config.js'
import type { ServerSettings } from '../../foundation/config/database.js'
import { elapsed } from '../../foundation/runtime/clock.js'
import type { PoolActivity, ReadDatabase } from '../database.js'
import { maxWriteResponseBytes } from '../limits.js'
import type { Signer } from '../response/signed-addresses.js'

export interface ReadOptions {
  readonly settings: ServerSettings
  readonly connections: number
  /** Maximum number of light reads waiting for a connection. */
  readonly readQueue: number
  /** Milliseconds for a read, including waiting. */
  readonly readTimeoutMs: number
  /** Maximum bytes of one response. */
  readonly responseBytes: number
  /** Signs file URLs; null: all files are public. */
  readonly signer: Signer | null
}

export interface WriteOptions {
  readonly settings: ServerSettings
  readonly connections: number
  /** Milliseconds for a transaction, including waiting and retries. */
  readonly writeTimeoutMs: number
  /** Maximum bytes of a bounded read's response. */
  readonly writtenBytes: number
  /** Signs file URLs in responses; null: all files are public. */
  readonly signer: Signer | null
}

/** Divides the configured connections between reads and writes. */
export function connectionOptions(
  { limits }: Pick<Config, 'limits'>,
  settings: ServerSettings,
  signer: Signer | null,
): { readonly reads: ReadOptions; readonly writes: WriteOptions } {
  const { max } = settings.pool
  const forWrites = Math.max(1, max >> 1)
  const { readQueue, readTimeout, responseBytes, writeTimeout } = limits
  const writtenBytes = maxWriteResponseBytes(limits.bodyBytes)
  return {
    reads: {
      settings,
      signer,
      connections: Math.max(1, max - forWrites),
      readQueue,
      readTimeoutMs: readTimeout,
      responseBytes,
    },
    writes: { settings, signer, connections: forWrites, writeTimeoutMs: writeTimeout, writtenBytes },
  }
}

type WaitCounts = Pick<PoolActivity, 'timeouts' | 'waits' | 'waitedSeconds'>

export interface ConnectionWaits {
  /** Counts a wait, whether it succeeds or fails. `work` acquires the connection. */
  count<Connection>(work: () => Promise<Connection>): Promise<Connection>
  counts(): WaitCounts
}

/** `isTimeout`: whether an error means that no connection became free in time. */
export function createConnectionWaits(isTimeout: (error: unknown) => boolean): ConnectionWaits {
  let timeouts = 0
  let waits = 0
  let waitedSeconds = 0
  return {
    count: async (work) => {
      const started = elapsed()
      waits++
      try {
        return await work()
      } catch (error) {
        if (isTimeout(error)) timeouts++
        throw error
      } finally {
        waitedSeconds += (elapsed() - started) / 1000
      }
    },
    counts: () => ({ timeouts, waits, waitedSeconds }),
  }
}

export interface ServerReads extends ReadDatabase {
  activity(): PoolActivity
}
