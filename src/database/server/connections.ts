// Options of the reads and writes of a service on a server, and statistics about waiting for connections.

import type { Config } from '../../foundation/config/config.js'
import type { ServerSettings } from '../../foundation/config/database.js'
import { elapsed } from '../../foundation/runtime/clock.js'
import type { PoolActivity, ReadDatabase } from '../database.js'
import { maxWriteResponseBytes } from '../limits.js'
import type { Signer } from '../response/signed-addresses.js'

/** For reads. */
export interface ReadOptions {
  readonly settings: ServerSettings
  /** Connections at most. */
  readonly connections: number
  /** Light reads that may wait for a connection. */
  readonly readQueue: number
  /** Milliseconds that a read may take, waiting included. */
  readonly readTimeoutMs: number
  /** Bytes of one answer at most. */
  readonly responseBytes: number
  /** Signs addresses of files; null: all are public. */
  readonly signer: Signer | null
}

/** For writes. */
export interface WriteOptions {
  readonly settings: ServerSettings
  /** Connections at most. */
  readonly connections: number
  /** Transactions that may wait for a connection. */
  readonly writeQueue: number
  /** Milliseconds that one transaction may take, waiting and tries included. */
  readonly writeTimeoutMs: number
  /** The largest answer that a bounded read may have, in bytes. */
  readonly writtenBytes: number
  /** Signs addresses of files in results; null: all are public. */
  readonly signer: Signer | null
}

/** The options of a service: its reads and its writes share the connections of the settings. */
export function connectionOptions(
  { limits }: Pick<Config, 'limits'>,
  settings: ServerSettings,
  signer: Signer | null,
): { readonly reads: ReadOptions; readonly writes: WriteOptions } {
  const { max } = settings.pool
  const forWrites = Math.max(1, max >> 1)
  const { readQueue, readTimeout, responseBytes, writeQueue, writeTimeout } = limits
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
    writes: { settings, signer, connections: forWrites, writeQueue, writeTimeoutMs: writeTimeout, writtenBytes },
  }
}

/** Counted since the start. */
export type WaitCounts = Pick<PoolActivity, 'timeouts' | 'waits' | 'waitedSeconds'>

/** The waits of one pool. */
export interface ConnectionWaits {
  /** Counts one wait, however it ends. `work` asks for the connection. */
  count<Connection>(work: () => Promise<Connection>): Promise<Connection>
  counts(): WaitCounts
}

/** Begins to count. `isTimeout`: whether an error says that all connections were in use for too long. */
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

/** Reads, with the connections that they have. */
export interface ServerReads extends ReadDatabase {
  activity(): PoolActivity
}
