// Reads on replicas. A replica is used if it has replayed everything visible on the primary after the request arrived; otherwise the
// primary is used. Clients cannot observe the difference.

import type { Logger } from 'pino'
import type { Config } from '../../../foundation/config/config.js'
import type { ServerSettings } from '../../../foundation/config/database.js'
import { ApiError } from '../../../foundation/errors/errors.js'
import { elapsed } from '../../../foundation/runtime/clock.js'
import { shared } from '../../../foundation/runtime/coalesce.js'
import type { ReadDatabase, ReadResult, ReplicaActivity } from '../../database.js'
import { databaseErrorClass } from '../../errors.js'
import type { ReadOptions, ServerReads } from '../connections.js'
import { formatServer } from '../kind.js'
import type { RoleReads } from '../reads.js'
import { includesPosition, type LogPosition, type PositionAfter, parsePosition, replayedLog } from './commit-log.js'
import { isReplicaFailure, otherStandby, timeoutError } from './errors.js'
import { type AskServer, execute, onConnection, openPool, type Statements } from './pool.js'
import { openReads, standby } from './reads.js'

interface ReadsWithReplicas extends ServerReads {
  /** Null: no replicas. */
  replicas(): ReplicaActivity | null
}

const never = () => false

const ignore = () => {}

/**
 * Distributes reads over the replicas round-robin, falling back to the primary if none is current and free. `readTimeout`: total
 * milliseconds of a read, including waits.
 */
export function readsWithReplicas(
  primary: RoleReads,
  replicas: readonly Replica[],
  positionAfter: PositionAfter,
  readTimeout: number,
): ReadsWithReplicas {
  if (replicas.length === 0) return { ...primary, replicas: () => null }
  const counts = { used: 0, fellBack: 0, repeated: 0 }
  let turn = 0

  const execute: ReadDatabase['execute'] = async (
    known,
    values,
    isGone = never,
    since = elapsed(),
    executing = ignore,
  ): Promise<ReadResult> => {
    const end = elapsed() + readTimeout
    const onPrimary = () => {
      executing('primary')
      return primary.executeBy(known, values, { isGone, end, standby: null })
    }
    const position = await positionAfter(since).catch(() => null)
    for (const _ of position === null ? [] : replicas) {
      turn = (turn + 1) % replicas.length
      const replica = replicas[turn]!
      const standby = await replica.standbyAt(position!)
      if (standby === null) continue
      try {
        executing('replica')
        const result = await replica.execute(known, values, { isGone, end, standby })
        counts.used++
        return result
      } catch (error) {
        if (isBusy(error)) continue
        if (isRefusal(error)) throw error
        // A recovery conflict is not a failure of the replica.
        if (isReplicaFailure(error instanceof ApiError ? error.cause : error)) replica.failed()
        counts.repeated++
        return onPrimary()
      }
    }
    counts.fellBack++
    return onPrimary()
  }

  return {
    ...primary,
    execute,
    unregister: (known) => {
      primary.unregister(known)
      for (const { unregister } of replicas) unregister(known)
    },
    replicas: () => ({ reads: { ...counts }, behind: replicas.map(({ behind }) => behind()) }),
    close: async () => {
      await Promise.all([primary.close(), ...replicas.map(({ close }) => close())])
    },
  }
}

/** Another server may have free connections. */
const isBusy = (error: unknown): boolean => databaseErrorClass(error) === 'overload'

/** Another server would refuse the read, too: it is too large, cancelled or out of time. */
const isRefusal = (error: unknown): boolean => error instanceof ApiError && (error.status < 500 || error.cause === undefined)

interface Replica {
  /** Waits until the standby has replayed `position` and resolves to its identity; null if it lags or is suspended. */
  standbyAt(position: LogPosition): Promise<string | null>
  /** Executes a read on that standby. @throws if it is a different one, or stops responding */
  readonly execute: RoleReads['executeBy']
  readonly unregister: ReadDatabase['unregister']
  /** Suspends the replica until it responds again. */
  failed(): void
  /**
   * Its monitoring connection was lost: checks the replica before its next use. A server that recovers from a crash is still the same
   * standby, but may have replayed less.
   */
  forget(): void
  /** Seconds since it was last current enough to use; 0: in use. */
  behind(): number
  close(): Promise<void>
}

/** Milliseconds: minimum interval of polls, interval while suspended, and response timeout. */
const minPollIntervalMs = 1
const retryIntervalMs = 200
const responseTimeoutMs = 1_000

/** The identity of a standby, and its position. */
const state = `select ${standby}, ${replayedLog}`

interface ReplicaOptions {
  readonly ask: AskServer
  readonly reads: RoleReads
  /** Maximum milliseconds that a read waits for it to catch up. */
  readonly wait: number
  /** Called when the replica is suspended (false) or used again. */
  changed(isUsed: boolean): void
}

function createReplica({ ask, reads, wait, changed }: ReplicaOptions): Replica {
  const { look, seen, forget } = createReplayMonitor(ask)
  /** The position required to be used again. */
  let wanted: LogPosition | null = null
  const lost = new Set<() => void>()
  const isRecent = () =>
    look().then(
      () => wanted === null || includesPosition(seen().position, wanted),
      () => false,
    )
  const outages = createOutages(isRecent, changed)

  function failed(): void {
    outages.begin()
    for (const reject of lost) reject()
    lost.clear()
  }

  async function catchUp(position: LogPosition): Promise<string | null> {
    const end = elapsed() + wait
    try {
      do await look()
      while (!includesPosition(seen().position, position) && elapsed() < end && outages.since() === null)
    } catch {
      failed()
      return null
    }
    if (!includesPosition(seen().position, position)) outages.begin()
    return outages.since() === null ? seen().standby : null
  }

  return {
    standbyAt: async (position) => {
      wanted = position
      if (outages.since() !== null) return null
      return includesPosition(seen().position, position) ? seen().standby : catchUp(position)
    },
    execute: (...asked) => untilLost(reads.executeBy(...asked), { lost, look, failed }),
    unregister: reads.unregister,
    failed,
    forget,
    behind: () => {
      const since = outages.since()
      return since === null ? 0 : (elapsed() - since) / 1_000
    },
    close: async () => {
      outages.close()
      await reads.close()
    },
  }
}

/** Periods during which a replica is suspended. */
interface Outages {
  begin(): void
  /** Start of the current outage (`elapsed`); null: none. */
  since(): number | null
  close(): void
}

/** An outage ends when `isOver` resolves to true. */
function createOutages(isOver: () => Promise<boolean>, changed: ReplicaOptions['changed']): Outages {
  let since: number | null = null
  let isClosed = false
  let timer: NodeJS.Timeout | undefined
  function again(): void {
    timer = setTimeout(async () => {
      const ends = await isOver()
      if (isClosed) return
      if (!ends) return again()
      since = null
      changed(true)
    }, retryIntervalMs)
    timer.unref()
  }
  return {
    since: () => since,
    begin: () => {
      if (since !== null || isClosed) return
      since = elapsed()
      changed(false)
      again()
    },
    close: () => {
      isClosed = true
      clearTimeout(timer)
    },
  }
}

/** The last known position of a replica. */
interface ReplayMonitor {
  /** Polls. @throws if it does not respond or is not a standby */
  look(): Promise<void>
  seen(): Standby
  /** Discards the known position, including the result of a running poll. */
  forget(): void
}

interface Standby {
  readonly standby: string
  readonly position: LogPosition
}

const nothing: Standby = { standby: '', position: { history: '', at: 0n } }

function createReplayMonitor(ask: AskServer): ReplayMonitor {
  let seen = nothing
  let forgotten = 0
  return {
    seen: () => seen,
    forget: () => {
      seen = nothing
      forgotten++
    },
    look: shared(async () => {
      const before = forgotten
      const [row] = await inTime(ask(state, []))
      const [standby, position] = row as [string | null, string | null]
      if (standby === null || position === null) throw otherStandby()
      if (before === forgotten) seen = { standby, position: parsePosition(position) }
    }, minPollIntervalMs),
  }
}

/** Rejects if a replica does not respond in time. */
function inTime<Result>(asked: Promise<Result>): Promise<Result> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(timeoutError(null)), responseTimeoutMs)
  })
  return Promise.race([asked, late]).finally(() => clearTimeout(timer))
}

interface Watching {
  readonly lost: Set<() => void>
  readonly look: () => Promise<void>
  readonly failed: () => void
}

/** Resolves with a read; rejects when the replica fails, which is checked during long reads. */
function untilLost<Result>(read: Promise<Result>, { lost, look, failed }: Watching): Promise<Result> {
  let reject = () => {}
  const failure = new Promise<never>((_, refuse) => {
    reject = () => refuse(timeoutError(null))
  })
  failure.catch(() => {})
  lost.add(reject)
  const timer = setInterval(() => look().catch(failed), responseTimeoutMs)
  timer.unref()
  return Promise.race([read, failure]).finally(() => {
    clearInterval(timer)
    lost.delete(reject)
  })
}

/** Short, since another server can execute the read. */
const connectionTimeout = 1_000

/** Replicas are connected to on demand. */
export function createReplicas(
  { database, limits }: Pick<Config, 'database' | 'limits'>,
  options: ReadOptions,
  statements: Statements,
  logger: Pick<Logger, 'info' | 'warn'>,
): readonly Replica[] {
  return database.replicas.map((url) => {
    const settings: ServerSettings = { ...options.settings, url, connectionTimeout }
    // A lost connection alone is inconclusive: the next poll decides.
    const failed = () => replica.forget()
    const small = openPool(settings, { max: 1, pipelined: false, mayBeStandby: true, failed })
    const reads = openReads({ ...options, settings }, statements, failed, 'replica')
    const context = { replica: formatServer('postgres', settings) }
    const replica = createReplica({
      wait: limits.replicaTimeout,
      reads: { ...reads, close: async () => void (await Promise.all([reads.close(), small.end()])) },
      ask: async (text, values) =>
        (await onConnection(small, (client) => execute(statements, client, text, values), connectionTimeout)).rows,
      changed: (isUsed) =>
        isUsed
          ? logger.info(context, 'a read replica is used again')
          : logger.warn(context, 'a read replica lags or cannot be reached: reads go elsewhere until it has caught up'),
    })
    small.on('remove', replica.forget)
    return replica
  })
}
