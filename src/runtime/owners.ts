// Which process owns a lease that only one may have at a time. Owners store heartbeats in the database; the lease of one that has ended, or
// whose heartbeats have stopped, expires.
import { randomUUID } from 'node:crypto'
import { readlinkSync } from 'node:fs'
import { hostname } from 'node:os'
import { elapsed } from './clock.js'

/** This process as an owner, and what it knows of others. */
export interface Owners {
  /** The name of this process as an owner. */
  readonly me: string
  /** True if the owner of the lease `name` has ended, or its heartbeats have stopped: `beat` has not changed for too long. */
  hasExpired(name: string, owner: string, beat: number): boolean
  /** Every lease of this process has expired. */
  close(): void
}

/** Milliseconds between two heartbeats, and after which the lease of a process without heartbeats has expired. */
export const [heartbeat, heartbeatTimeout] = [5_000, 30_000]

/** The active owners in this process. */
const activeOwners = new Set<string>()

export function openOwners(): Owners {
  const me = `${machine()} ${process.pid} ${randomUUID()}`
  activeOwners.add(me)
  /** The last heartbeat seen for each lease, and when it was first seen, by the clock of this process. */
  const heartbeats = new Map<string, { readonly owner: string; readonly beat: number; readonly at: number }>()
  return {
    me,
    hasExpired: (name, owner, beat) => {
      if (hasEnded(owner)) return true
      const last = heartbeats.get(name)
      if (last?.owner === owner && last.beat === beat) return elapsed() - last.at > heartbeatTimeout
      heartbeats.set(name, { owner, beat, at: elapsed() })
      return false
    },
    close: () => void activeOwners.delete(me),
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
