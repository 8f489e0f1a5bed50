// One read replica: whether it has replayed a position of the primary's log. It is asked, for all requests together, and waited for a moment; one
// that stays behind or does not respond is left alone until it has caught up.
import { elapsed } from '../../../foundation/runtime/clock.js'
import { shared } from '../../../foundation/runtime/shared-calls.js'
import type { ReadDatabase } from '../../database.js'
import { standby } from './compose.js'
import type { AskServer } from './connection.js'
import { otherStandby, timeoutOf } from './errors.js'
import { type LogPosition, positionOf, reaches, replayedLog } from './log-position.js'
import type { RoleReads } from './reads.js'

/** A replica of the primary. */
export interface Replica {
  /** Resolves to the standby that has replayed `position`, and waits for that; to null where it is behind, at once while it is left alone. */
  standbyAt(position: LogPosition): Promise<string | null>
  /** Executes a read on that standby. @throws also when it is another one, or stops responding meanwhile */
  readonly execute: RoleReads['executeBy']
  readonly unregister: ReadDatabase['unregister']
  /** It has failed: it is left alone until it responds again. */
  failed(): void
  /**
   * The connection on which it is asked has ended: it is asked again before it is used. A server whose processes crash starts again as the
   * same standby, and may have replayed less than before; it ends all connections.
   */
  forget(): void
  /** Seconds since it was last recent enough to be used; 0: it is used. */
  behind(): number
  close(): Promise<void>
}

/** Milliseconds between the beginnings of two questions, between questions while it is left alone, and for it to respond. */
const [apart, askAgain, responseTime] = [1, 200, 1_000]

/** Which standby the server is, and what it has replayed. */
const state = `select ${standby}, ${replayedLog}`

export interface ReplicaOptions {
  readonly ask: AskServer
  readonly reads: RoleReads
  /** Milliseconds that a read waits for it. */
  readonly wait: number
  /** It is left alone from now on (false), or used again. */
  changed(isUsed: boolean): void
}

export function openReplica({ ask, reads, wait, changed }: ReplicaOptions): Replica {
  const { look, seen, forget } = openReplayed(ask)
  /** What it has to have replayed before it is used again. */
  let wanted: LogPosition | null = null
  const lost = new Set<() => void>()
  const isRecent = () =>
    look().then(
      () => wanted === null || reaches(seen().position, wanted),
      () => false,
    )
  const alone = openPeriods(isRecent, changed)

  function failed(): void {
    alone.begin()
    for (const reject of lost) reject()
    lost.clear()
  }

  async function catchUp(position: LogPosition): Promise<string | null> {
    const end = elapsed() + wait
    try {
      do await look()
      while (!reaches(seen().position, position) && elapsed() < end && alone.since() === null)
    } catch {
      failed()
      return null
    }
    if (!reaches(seen().position, position)) alone.begin()
    return alone.since() === null ? seen().standby : null
  }

  return {
    standbyAt: async (position) => {
      wanted = position
      if (alone.since() !== null) return null
      return reaches(seen().position, position) ? seen().standby : catchUp(position)
    },
    execute: (...asked) => untilLost(reads.executeBy(...asked), { lost, look, failed }),
    unregister: reads.unregister,
    failed,
    forget,
    behind: () => {
      const since = alone.since()
      return since === null ? 0 : (elapsed() - since) / 1_000
    },
    close: async () => {
      alone.close()
      await reads.close()
    },
  }
}

/** The times in which a replica is left alone. */
interface Periods {
  begin(): void
  /** When the one that lasts began (`elapsed`); null: none does. */
  since(): number | null
  close(): void
}

/** Each ends when `isOver` resolves to true. */
function openPeriods(isOver: () => Promise<boolean>, changed: ReplicaOptions['changed']): Periods {
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
    }, askAgain)
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

/** What a replica has replayed, as it was seen last. */
interface Replayed {
  /** Asks. @throws where it does not respond, or is no standby */
  look(): Promise<void>
  seen(): Standby
  /** Nothing was seen any more, also by a look that is under way. */
  forget(): void
}

interface Standby {
  readonly standby: string
  readonly position: LogPosition
}

const nothing: Standby = { standby: '', position: { history: '', at: 0n } }

function openReplayed(ask: AskServer): Replayed {
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
      if (before === forgotten) seen = { standby, position: positionOf(position) }
    }, apart),
  }
}

/** Rejects when a replica does not respond. */
function inTime<Result>(asked: Promise<Result>): Promise<Result> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(timeoutOf(null)), responseTime)
  })
  return Promise.race([asked, late]).finally(() => clearTimeout(timer))
}

interface Watching {
  readonly lost: Set<() => void>
  readonly look: () => Promise<void>
  readonly failed: () => void
}

/** Resolves as a read does; rejects once the replica has failed meanwhile, which is looked at while the read takes long. */
function untilLost<Result>(read: Promise<Result>, { lost, look, failed }: Watching): Promise<Result> {
  let reject = () => {}
  const failure = new Promise<never>((_, refuse) => {
    reject = () => refuse(timeoutOf(null))
  })
  failure.catch(() => {})
  lost.add(reject)
  const timer = setInterval(() => look().catch(failed), responseTime)
  timer.unref()
  return Promise.race([read, failure]).finally(() => {
    clearInterval(timer)
    lost.delete(reject)
  })
}
