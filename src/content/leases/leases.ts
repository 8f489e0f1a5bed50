// Leases: work that has a name is done by one owner at a time, of all processes on one database. An owner that has ended, or whose
// heartbeats have stopped, is replaced by the next one that asks.
import { sql } from 'kysely'
import { type MainConnection, serviceTransaction, type Transaction, type WriteDatabase } from '../../database/database.js'
import { insertMissing, isSame } from '../../database/portable-sql.js'
import { elapsed } from '../../foundation/runtime/clock.js'
import { beginOwner, endOwner, heartbeat, heartbeatTimeout, openExpiry } from './owners.js'

/** The leases of this process. */
export interface Leases {
  /** Acquires the lease `name`; null while another owner has it, in this process or another one, or if `also` refuses. */
  acquire(name: string, options?: LeaseOptions): Promise<WorkLease | null>
  /** Every lease that was not released expires. */
  close(): void
}

/** Events of a lease. */
export interface LeaseOptions {
  /** Executed in the transaction that acquires the lease; if it resolves to false, the lease is not acquired. */
  also?(transaction: Transaction): Promise<boolean>
  /** Called when another owner has acquired the lease, or may do so because no heartbeat could be stored; maybe more than once. */
  doubted?(): void
}

/** The right to do some work, renewed by heartbeats until it is released. */
export interface WorkLease {
  /** True if the owner before has not released it: it ended, or was taken for ended. */
  readonly isTakenOver: boolean
  /** False if another owner might acquire the lease within this time: no work that takes as long may begin. */
  isValid(within: number): boolean
  /** True if another owner has acquired the lease, or its row was deleted. */
  isLost(): boolean
  /** Locks the lease within a transaction; false if it is lost, and nothing may be written then. */
  confirm(transaction: Transaction): Promise<boolean>
  /** Lets others acquire the lease. */
  release(): Promise<void>
}

interface LeaseRow {
  readonly owner: string | null
  readonly beat: number
}

const tableName = 'octavo_leases'
const table = sql.table(tableName)
/** Allowance in milliseconds between a heartbeat and its visibility to another process. */
const leeway = 2_000

/** The statement after which a lease is lost, and that nothing is left of. */
export const deleteLease = (name: string) => sql`delete from ${table} where name = ${name}`

/** Opens the leases. `failed` receives failures of heartbeats. */
export function openLeases(database: Pick<MainConnection, 'rows'>, writer: LeaseWriter, failed: (error: unknown) => void): Leases {
  const hasExpired = openExpiry()
  const held = new Set<() => void>()
  const read = async (name: string): Promise<LeaseRow | undefined> =>
    (await database.rows<LeaseRow>(sql`select owner, beat from ${table} where name = ${name}`))[0]

  async function readOrInsert(name: string): Promise<LeaseRow> {
    const known = await read(name)
    if (known !== undefined) return known
    await writer.run(insertMissing(tableName, ['name', 'beat'], sql`values (${name}, 0)`))
    return (await read(name)) ?? { owner: null, beat: 0 }
  }

  return {
    acquire: async (name, { also = async () => true, doubted = () => {} } = {}) => {
      const { owner: former, beat } = await readOrInsert(name)
      if (former !== null && !hasExpired(name, former, beat)) return null
      const owner = beginOwner()
      const since = { running: elapsed(), always: performance.now() }
      const isMine = await serviceTransaction(writer, async (transaction) => {
        const { rows } = await transaction.run(
          sql`update ${table} set owner = ${owner}, beat = beat + 1 where name = ${name} and ${isSame(sql`owner`, former)} and beat = ${beat}`,
        )
        if (rows !== 1) return false
        if (await also(transaction)) return true
        transaction.follow(released(name, owner))
        return false
      }).catch((error: unknown) => {
        endOwner(owner)
        throw error
      })
      if (isMine) return openLease(writer, { name, owner, isTakenOver: former !== null, since, held, doubted, failed })
      endOwner(owner)
      return null
    },
    close: () => {
      for (const end of held) end()
    },
  }
}

/** The storage of leases. */
export type LeaseWriter = Pick<WriteDatabase, 'transaction' | 'run'>

const released = (name: string, owner: string) =>
  sql`update ${table} set owner = null, beat = beat + 1 where name = ${name} and owner = ${owner}`

interface OpenedLease {
  readonly name: string
  readonly owner: string
  readonly isTakenOver: boolean
  /** A moment before the lease was stored, by the clock that stops while the process is paused, and by one that does not. */
  readonly since: { readonly running: number; readonly always: number }
  /** Ends the leases of this process. */
  readonly held: Set<() => void>
  doubted(): void
  failed(error: unknown): void
}

function openLease(writer: LeaseWriter, { name, owner, isTakenOver, since, held, doubted, failed }: OpenedLease): WorkLease {
  let confirmed = since
  let isLost = false
  const confirm = async (transaction: Transaction): Promise<boolean> => {
    const { rows } = await transaction.run(sql`update ${table} set beat = beat + 1 where name = ${name} and owner = ${owner}`)
    isLost ||= rows !== 1
    return rows === 1
  }
  const beat = async (): Promise<void> => {
    const at = { running: elapsed(), always: performance.now() }
    try {
      if (await serviceTransaction(writer, confirm)) confirmed = at
      else doubted()
    } catch (error) {
      failed(error)
      if (elapsed() - confirmed.running > heartbeatTimeout - heartbeat) doubted()
    }
  }
  const timer = setInterval(beat, heartbeat)
  timer.unref()
  const end = (): void => {
    clearInterval(timer)
    endOwner(owner)
    held.delete(end)
  }
  held.add(end)
  return {
    isTakenOver,
    isValid: (within) => !isLost && performance.now() - confirmed.always < Math.max(2 * heartbeat, heartbeatTimeout - leeway - within),
    isLost: () => isLost,
    confirm,
    release: async () => {
      clearInterval(timer)
      try {
        if (!isLost) await writer.run(released(name, owner))
      } finally {
        end()
      }
    },
  }
}
