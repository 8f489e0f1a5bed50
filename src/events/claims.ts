// The cursor of each consumer, stored in the database, so that delivery continues after a crash. One process at a time delivers to a
// consumer; another takes over if that process has ended or shows no sign of life.
import { randomUUID } from 'node:crypto'
import { readlinkSync } from 'node:fs'
import { hostname } from 'node:os'
import { sql } from 'kysely'
import type { MainConnection, Transaction, WriteDatabase } from '../database/database.js'
import { insertMissing, same } from '../database/fragments.js'
import { elapsed } from '../runtime/clock.js'

/** The cursors of all consumers. */
export interface ConsumerClaims {
  /** Gives new consumers the cursor `last`, because they do not get past events. */
  register(names: readonly string[], last: number): Promise<void>
  /** The cursors of these consumers, as far as they have one. */
  cursors(names: readonly string[]): Promise<ReadonlyMap<string, number>>
  /**
   * ConsumerClaims a consumer for this process, whose attempts take at most `longestAttempt` milliseconds; null while another process delivers to
   * it, or if it has no cursor.
   */
  claim(name: string, longestAttempt: number): Promise<ConsumerClaim | null>
  close(): void
}

/** A consumer that this process delivers to. */
export interface ConsumerClaim {
  /** The cursor: the consumer is done with every event up to it. */
  readonly sequence: number
  /** False when another process might take the consumer over before an attempt ends: none may begin until it is true again. */
  isSure(): boolean
  /** True if another process has taken the consumer over. */
  isLost(): boolean
  /** Moves the cursor within a transaction; false if another process has taken the consumer over. */
  move(transaction: Transaction, sequence: number): Promise<boolean>
  /** Lets other processes claim the consumer. */
  release(): Promise<void>
}

interface CursorRow {
  readonly sequence: number
  readonly owner: string | null
  readonly beat: number
}

/** The active owners in this process. */
const activeOwners = new Set<string>()
/** The name of the table of cursors. */
export const cursorTable = 'octavo_listener_cursors'
const table = sql.table(cursorTable)
/** Milliseconds between two heartbeats, and without a heartbeat after which a process counts as ended. */
const [heartbeat, heartbeatTimeout] = [5_000, 30_000]
/** Milliseconds for what is between a heartbeat and the moment at which another process sees it. */
const leeway = 2_000

/** The statement that gives a consumer a cursor unless it has one. */
export const registration = (name: string, sequence: number) =>
  insertMissing(cursorTable, ['name', 'sequence', 'beat'], sql`values (${name}, ${sequence}, 0)`)

/** Opens the cursors. `failed` receives failed heartbeats. */
export function openClaims(database: MainConnection, writer: WriteDatabase, failed: (error: unknown) => void): ConsumerClaims {
  const me = `${machine()} ${process.pid} ${randomUUID()}`
  activeOwners.add(me)
  const owners = openOwners()
  const readCursor = async (name: string): Promise<CursorRow | undefined> =>
    (await database.rows<CursorRow>(sql`select sequence, owner, beat from ${table} where name = ${name}`))[0]
  return {
    register: async (names, last) => {
      const known = await readCursors(database, names)
      const missing = names.filter((name) => !known.has(name))
      if (missing.length === 0) return
      await writer.transaction(async (transaction) => {
        for (const name of missing) transaction.follow(registration(name, last))
      })
    },
    cursors: (names) => readCursors(database, names),
    claim: async (name, longestAttempt) => {
      const cursor = await readCursor(name)
      if (cursor === undefined) return null
      const { owner, beat } = cursor
      if (owner !== null && owner !== me && !owners.hasTimedOut(name, owner, beat)) return null
      const since = performance.now()
      const isMine = await hasChanged(writer, (transaction) =>
        transaction.run(
          sql`update ${table} set owner = ${me}, beat = beat + 1 where name = ${name} and ${same(sql`owner`, owner)} and beat = ${beat}`,
        ),
      )
      const claimed = isMine ? await readCursor(name) : undefined
      return claimed === undefined ? null : openClaim(writer, { name, me, sequence: claimed.sequence, since, longestAttempt, failed })
    },
    close: () => void activeOwners.delete(me),
  }
}

interface ClaimOptions {
  readonly name: string
  readonly me: string
  readonly sequence: number
  /** When the claim was written at the earliest, by `performance.now`. */
  readonly since: number
  readonly longestAttempt: number
  failed(error: unknown): void
}

function openClaim(writer: WriteDatabase, { name, me, sequence, since, longestAttempt, failed }: ClaimOptions): ConsumerClaim {
  let confirmedAt = since
  let isLost = false
  const sureFor = Math.max(2 * heartbeat, heartbeatTimeout - leeway - longestAttempt)
  const mine = sql`name = ${name} and owner = ${me}`
  const beat = async (): Promise<void> => {
    const at = performance.now()
    if (await hasChanged(writer, (transaction) => transaction.run(sql`update ${table} set beat = beat + 1 where ${mine}`))) confirmedAt = at
    else isLost = true
  }
  const timer = setInterval(() => beat().catch(failed), heartbeat)
  timer.unref()
  return {
    sequence,
    isSure: () => !isLost && performance.now() - confirmedAt < sureFor,
    isLost: () => isLost,
    move: async (transaction, to) => {
      const { rows } = await transaction.run(sql`update ${table} set sequence = ${to}, beat = beat + 1 where ${mine}`)
      isLost ||= rows !== 1
      return rows === 1
    },
    release: async () => {
      clearInterval(timer)
      if (!isLost) await writer.run(sql`update ${table} set owner = null, beat = beat + 1 where ${mine}`)
    },
  }
}

/** Executes a statement that writes to no document; true if it has changed one row. */
const hasChanged = (writer: WriteDatabase, run: (transaction: Transaction) => Promise<{ readonly rows: number }>): Promise<boolean> =>
  writer.transaction(async (transaction) => {
    transaction.history.touchesOneDocument()
    return (await run(transaction)).rows === 1
  })

async function readCursors(database: Pick<MainConnection, 'rows'>, names: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const rows = await database.rows<{ name: string; sequence: number }>(sql`select name, sequence from ${table}`)
  return new Map(rows.filter(({ name }) => names.includes(name)).map(({ name, sequence }) => [name, sequence]))
}

/** The other processes that deliver to consumers. */
interface Owners {
  /** True if the owner of a consumer has ended, or has shown no heartbeat for too long. */
  hasTimedOut(name: string, owner: string, beat: number): boolean
}

function openOwners(): Owners {
  /** The last heartbeat seen for each consumer, and when it was first seen, by the clock of this process. */
  const heartbeats = new Map<string, { readonly owner: string; readonly beat: number; readonly at: number }>()
  return {
    hasTimedOut: (name, owner, beat) => {
      if (hasEnded(owner)) return true
      const last = heartbeats.get(name)
      if (last?.owner === owner && last.beat === beat) return elapsed() - last.at > heartbeatTimeout
      heartbeats.set(name, { owner, beat, at: elapsed() })
      return false
    },
  }
}

/** True for a process of this machine that has ended. Its process id may have been reused by this process. */
function hasEnded(owner: string): boolean {
  const [host, pid] = owner.split(' ')
  if (host !== machine()) return false
  if (Number(pid) === process.pid) return !activeOwners.has(owner)
  try {
    process.kill(Number(pid), 0)
    return false
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH'
  }
}

/** Where process ids mean the same: containers may share a host name, and each counts its processes by itself. */
function machine(): string {
  try {
    return `${hostname()}/${readlinkSync('/proc/self/ns/pid').replace(/\D/g, '')}`
  } catch {
    return hostname()
  }
}
