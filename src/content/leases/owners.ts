// Owners of leases. Owners store heartbeats in the database; a lease expires when its owner has ended, or its heartbeats have
// stopped.
import { randomUUID } from 'node:crypto'
import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'
import { elapsed } from '../../foundation/runtime/clock.js'

/** Milliseconds between two heartbeats, and after which a lease without heartbeats has expired. */
export const [heartbeat, heartbeatTimeout] = [5_000, 30_000]

/** The owners in this process: one for each lease that it has. */
const activeOwners = new Set<string>()

/** A new owner in this process, until `endOwner`. No two have the same name. */
export function beginOwner(): string {
  const owner = `${machine()} ${process.pid} ${randomUUID()}`
  activeOwners.add(owner)
  return owner
}

/** The lease of this owner has expired. */
export const endOwner = (owner: string): void => void activeOwners.delete(owner)

/** Returns true if the owner of the lease `name` has ended, or its heartbeats have stopped: `beat` has not changed for too long. */
export type HasExpired = (name: string, owner: string, beat: number) => boolean

/** Opens what this process knows of the owners of leases. */
export function openExpiry(): HasExpired {
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
