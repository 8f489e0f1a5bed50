// The cursor of each consumer, stored in the database, so that delivery continues after a crash, and its lease: one process at a time
// delivers to a consumer, and another takes over if that process has ended or its heartbeats have stopped.
import { sql } from 'kysely'
import type { MainConnection, Transaction, WriteDatabase } from '../database/database.js'
import { insertMissing, same } from '../database/fragments.js'
import { heartbeat, heartbeatTimeout, openOwners } from '../runtime/owners.js'

/** The cursors and leases of all consumers. */
export interface ConsumerLeases {
  /** Gives new consumers the cursor `last`, because they do not get past events. */
  register(names: readonly string[], last: number): Promise<void>
  /** The cursors of these consumers, as far as they have one. */
  cursors(names: readonly string[]): Promise<ReadonlyMap<string, number>>
  /**
   * Acquires the lease of a consumer, whose attempts take at most `longestAttempt` milliseconds; null while another process has it, or if
   * the consumer has no cursor.
   */
  acquire(name: string, longestAttempt: number): Promise<ConsumerLease | null>
  close(): void
}

/** The right of this process to deliver to a consumer, renewed by heartbeats until it is released. */
export interface ConsumerLease {
  /** The cursor: every event up to it was delivered or given up, or has a row. */
  readonly sequence: number
  /** False if the lease might expire before an attempt ends: none may start until it is true again. */
  isValid(): boolean
  /** True if another process has acquired the lease, or the consumer was removed. */
  isLost(): boolean
  /** Stores the cursor within a transaction; false if the lease is lost. */
  advance(transaction: Transaction, sequence: number): Promise<boolean>
  /** Lets other processes acquire the lease. */
  release(): Promise<void>
}

interface CursorRow {
  readonly sequence: number
  readonly owner: string | null
  readonly beat: number
}

/** The name of the table of cursors. */
export const cursorTable = 'octavo_listener_cursors'
const table = sql.table(cursorTable)
/** Milliseconds for what is between a heartbeat and the moment at which another process sees it. */
const leeway = 2_000

/** The statement that gives a consumer a cursor unless it has one. */
export const registration = (name: string, sequence: number) =>
  insertMissing(cursorTable, ['name', 'sequence', 'beat'], sql`values (${name}, ${sequence}, 0)`)

/** Opens the cursors and leases. `failed` receives failed heartbeats. */
export function openLeases(database: MainConnection, writer: WriteDatabase, failed: (error: unknown) => void): ConsumerLeases {
  const owners = openOwners()
  const { me } = owners
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
    acquire: async (name, longestAttempt) => {
      const cursor = await readCursor(name)
      if (cursor === undefined) return null
      const { owner, beat } = cursor
      if (owner !== null && owner !== me && !owners.hasExpired(name, owner, beat)) return null
      const since = performance.now()
      const isMine = await hasChanged(writer, (transaction) =>
        transaction.run(
          sql`update ${table} set owner = ${me}, beat = beat + 1 where name = ${name} and ${same(sql`owner`, owner)} and beat = ${beat}`,
        ),
      )
      const acquired = isMine ? await readCursor(name) : undefined
      return acquired === undefined ? null : openLease(writer, { name, me, sequence: acquired.sequence, since, longestAttempt, failed })
    },
    close: owners.close,
  }
}

interface LeaseOptions {
  readonly name: string
  readonly me: string
  readonly sequence: number
  /** A moment before the lease was stored, by `performance.now`. */
  readonly since: number
  readonly longestAttempt: number
  failed(error: unknown): void
}

function openLease(writer: WriteDatabase, { name, me, sequence, since, longestAttempt, failed }: LeaseOptions): ConsumerLease {
  let confirmedAt = since
  let isLost = false
  const validFor = Math.max(2 * heartbeat, heartbeatTimeout - leeway - longestAttempt)
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
    isValid: () => !isLost && performance.now() - confirmedAt < validFor,
    isLost: () => isLost,
    advance: async (transaction, to) => {
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
