// Leases: named work that is done by one owner at a time, among all processes on one database. Owners store heartbeats; an owner that has
// ended, or whose heartbeats have stopped, is replaced by the next one that asks.

import { randomUUID } from 'node:crypto'
import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'
import { sql } from 'kysely'
import { type MainConnection, serviceTransaction, type Transaction, type WriteDatabase } from '../database/database.js'
import { insertMissing, isSame } from '../database/portable-sql.js'
import { elapsed } from '../foundation/runtime/clock.js'

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

/** Milliseconds between two heartbeats, and after which a lease without heartbeats has expired. */
export const [heartbeat, heartbeatTimeout] = [5_000, 30_000]

/** The owners in this process: one for each lease that it has. */
const activeOwners = new Set<string>()

/** A new owner in this process, until `endOwner`. No two have the same name. */
function beginOwner(): string {
  const owner = `${machine()} ${process.pid} ${randomUUID()}`
  activeOwners.add(owner)
  return owner
}

/** The lease of this owner has expired. */
const endOwner = (owner: string): void => void activeOwners.delete(owner)

/** Returns true if the owner of the lease `name` has ended, or its heartbeats have stopped: `beat` has not changed for too long. */
export type HasExpired = (name: string, owner: string, beat: number) => boolean

/** Opens what this process knows of the owners of leases. */
function openExpiry(): HasExpired {
  /** The last heartbeat seen for each lease, and when it was first seen, by the clock of this process. */
  const heartbeats = new Map<string, { readonly owner: string; readonly beat: number; readonly at: number }>()
  return (name, owner, beat) => {
    if (hasEnded(owner)) return true
    const last = heartbeats.get(name)
    if (last?.owner === owner && last.beat === beat) return elapsed() - last.at > heartbeatTimeout
    heartbeats.set(name, { owner, beat, at: elapsed() })
    return false
  }
}

/** True for an owner in a process of this machine that has ended. Its process id may have been reused by this process. */
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

/**
 * The scope of process ids: containers may share a host name, but count their processes separately; copies of a virtual machine
 * share that too, but each was started by itself.
 */
const machine = (): string => {
  const namespace = orNothing(() => readlinkSync('/proc/self/ns/pid').replace(/\D/g, ''))
  const boot = orNothing(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim())
  return [hostname(), namespace, boot].filter((part) => part !== '').join('/')
}

function orNothing(read: () => string): string {
  try {
    return read()
  } catch {
    return ''
  }
}
