// Leases: named work with one owner at a time, among all processes of a database. Owners renew leases by heartbeats; a lease whose owner
// has ended, or has stopped its heartbeats, passes to the next one that acquires it.

import { randomUUID } from 'node:crypto'
import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'
import { sql } from 'kysely'
import { type MainConnection, serviceTransaction, type Transaction, type WriteDatabase } from '../database/database.js'
import { insertMissing, isSame } from '../database/portable-sql.js'
import { elapsed } from '../foundation/runtime/clock.js'

export interface Leases {
  /** Acquires the lease `name`; null while another owner has it, in any process, or if `also` refuses. */
  acquire(name: string, options?: LeaseOptions): Promise<WorkLease | null>
  /** Stops heartbeats: leases that were not released expire. */
  close(): void
}

interface LeaseOptions {
  /** Runs in the transaction that acquires the lease; false: the lease is not acquired. */
  also?(transaction: Transaction): Promise<boolean>
  /** Called when another owner has taken over, or may because the heartbeat could not be written; possibly more than once. */
  doubted?(): void
}

/** The right to do named work, renewed by heartbeats until it is released. */
export interface WorkLease {
  /** True after a takeover: the previous owner did not release the lease. */
  readonly isTakenOver: boolean
  /** False if another owner might acquire the lease within this many milliseconds: do not begin work that takes as long. */
  isValid(within: number): boolean
  /** True once another owner has acquired the lease, or its row was deleted. */
  isLost(): boolean
  /** Locks the lease in a transaction; false if it is lost, and nothing may be written. */
  confirm(transaction: Transaction): Promise<boolean>
  release(): Promise<void>
}

interface LeaseRow {
  readonly owner: string | null
  readonly beat: number
}

const tableName = 'octavo_leases'
const table = sql.table(tableName)
/** Milliseconds allowed for a heartbeat to become visible to other processes. */
const leeway = 2_000

/** Statement that deletes a lease, which its owner then loses. */
export const deleteLease = (name: string) => sql`delete from ${table} where name = ${name}`

/** `failed` receives failures of heartbeats. */
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

type LeaseWriter = Pick<WriteDatabase, 'transaction' | 'run'>

const released = (name: string, owner: string) =>
  sql`update ${table} set owner = null, beat = beat + 1 where name = ${name} and owner = ${owner}`

interface OpenedLease {
  readonly name: string
  readonly owner: string
  readonly isTakenOver: boolean
  /** A time before the lease was stored, by the clock that stops while the process is suspended, and by one that does not. */
  readonly since: { readonly running: number; readonly always: number }
  /** Callbacks that end the leases of this process. */
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

/** Milliseconds between heartbeats, and after which a lease without heartbeats has expired. */
const heartbeat = 5_000
const heartbeatTimeout = 30_000

/** Owners in this process, one per lease. */
const activeOwners = new Set<string>()

/** Registers a new, unique owner in this process until `endOwner`. */
function beginOwner(): string {
  const owner = `${machine()} ${process.pid} ${randomUUID()}`
  activeOwners.add(owner)
  return owner
}

const endOwner = (owner: string): void => void activeOwners.delete(owner)

/** True if the owner of a lease has ended, or `beat` has not changed for too long. */
type HasExpired = (name: string, owner: string, beat: number) => boolean

function openExpiry(): HasExpired {
  /** The last heartbeat seen of each lease, and when it was first seen by the clock of this process. */
  const heartbeats = new Map<string, { readonly owner: string; readonly beat: number; readonly at: number }>()
  return (name, owner, beat) => {
    if (hasEnded(owner)) return true
    const last = heartbeats.get(name)
    if (last?.owner === owner && last.beat === beat) return elapsed() - last.at > heartbeatTimeout
    heartbeats.set(name, { owner, beat, at: elapsed() })
    return false
  }
}

/** True for an ended owner on this machine. This process may have the same process id. */
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
 * Scope of process ids. Containers may share a host name but number their processes separately; copies of a virtual machine share the
 * namespace too, but not the boot id.
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
