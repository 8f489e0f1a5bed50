// Which process owns something that only one may have at a time: owners show signs of life in the database, and those that have ended or are
// silent are replaced.
import { randomUUID } from 'node:crypto'
import { readlinkSync } from 'node:fs'
import { hostname } from 'node:os'
import { elapsed } from './clock.js'

/** This process as an owner, and what it knows of others. */
export interface Owners {
  /** The name under which this process owns something. */
  readonly me: string
  /** True if the owner of `name` has ended, or has shown no sign of life for too long: `beat` has stayed the same. */
  hasTimedOut(name: string, owner: string, beat: number): boolean
  /** This process owns nothing any more under its name. */
  close(): void
}

/** Milliseconds between two signs of life, and without one after which a process counts as ended. */
export const [heartbeat, heartbeatTimeout] = [5_000, 30_000]

/** The active owners in this process. */
const activeOwners = new Set<string>()

export function openOwners(): Owners {
  const me = `${machine()} ${process.pid} ${randomUUID()}`
  activeOwners.add(me)
  /** The last sign of life that was seen, and when it was first seen, by the clock of this process. */
  const heartbeats = new Map<string, { readonly owner: string; readonly beat: number; readonly at: number }>()
  return {
    me,
    hasTimedOut: (name, owner, beat) => {
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
