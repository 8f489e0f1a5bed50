// Tracks the memory used for each client address, and revokes memory from the address that uses most. This runs for every chunk of a
// body, so addresses with revocable memory are in a heap instead of being searched.

/** The memory of one request or response. */
export interface Lease {
  /** False once it has ended or was revoked. */
  isOpen(): boolean
  /** Adds bytes. */
  add(bytes: number): void
  end(): void
}

/** The memory used for all clients. */
export interface ClientMemory {
  /** Bytes of all leases. */
  total(): number
  /** Starts a lease for a client address; `revoked` is called if it is revoked. */
  lease(address: string, revoked: () => void): Lease
  /** Revokes the oldest lease of the address that uses most memory; false if no lease is old enough. */
  revoke(): boolean
}

interface MemoryUser {
  readonly address: string
  bytes: number
  leases: number
  /** Leases that may be revoked, oldest first, and the number of the oldest. */
  readonly revocable: Set<LeaseEntry>
  oldest: number
  /** Index in the heap; -1 if no lease may be revoked. */
  index: number
}

interface LeaseEntry {
  readonly client: MemoryUser
  readonly number: number
  readonly since: number
  bytes: number
  revoked(): void
}

/** Opens the tracking. `minAge`: milliseconds before a lease may be revoked. */
export function openClientMemory(minAge: number): ClientMemory {
  const clients = new Map<string, MemoryUser>()
  const heap = openHeap()
  const young = openYoungLeases(minAge, (entry) => {
    const { client } = entry
    if (client.revocable.size === 0) client.oldest = entry.number
    client.revocable.add(entry)
    heap.put(client)
  })
  let [total, count] = [0, 0]

  const isOpen = (entry: LeaseEntry): boolean => young.entries.has(entry) || entry.client.revocable.has(entry)

  function end(entry: LeaseEntry): void {
    const { client } = entry
    const wasRevocable = client.revocable.delete(entry)
    if (!wasRevocable && !young.entries.delete(entry)) return
    total -= entry.bytes
    client.bytes -= entry.bytes
    const next = first(client.revocable)
    if (next === undefined) heap.remove(client)
    else {
      client.oldest = next.number
      heap.put(client)
    }
    if (--client.leases === 0) clients.delete(client.address)
  }

  return {
    total: () => total,
    lease: (address, revoked) => {
      const client = clientAt(clients, address)
      client.leases++
      const entry: LeaseEntry = { client, number: ++count, since: performance.now(), bytes: 0, revoked }
      young.add(entry)
      return {
        isOpen: () => isOpen(entry),
        add: (bytes) => {
          if (!isOpen(entry)) return
          entry.bytes += bytes
          client.bytes += bytes
          total += bytes
          if (client.index !== -1) heap.put(client)
        },
        end: () => end(entry),
      }
    },
    revoke: () => {
      young.check()
      const most = heap.top()
      if (most === undefined) return false
      const oldest = first(most.revocable)!
      end(oldest)
      oldest.revoked()
      return true
    },
  }
}

function clientAt(clients: Map<string, MemoryUser>, address: string): MemoryUser {
  const existing = clients.get(address)
  if (existing !== undefined) return existing
  const client = { address, bytes: 0, leases: 0, revocable: new Set<LeaseEntry>(), oldest: 0, index: -1 }
  clients.set(address, client)
  return client
}

/** Leases that were not old enough to be revoked at the last check. */
interface YoungLeases {
  /** Oldest first. */
  readonly entries: Set<LeaseEntry>
  add(entry: LeaseEntry): void
  /** Hands over the entries that are old enough now. */
  check(): void
}

function openYoungLeases(minAge: number, becameRevocable: (entry: LeaseEntry) => void): YoungLeases {
  const entries = new Set<LeaseEntry>()
  /** The time before which none of them is old enough. */
  let nextRevocableAt = Number.POSITIVE_INFINITY
  return {
    entries,
    add: (entry) => {
      entries.add(entry)
      nextRevocableAt = Math.min(nextRevocableAt, entry.since + minAge)
    },
    check: () => {
      const now = performance.now()
      if (now <= nextRevocableAt) return
      nextRevocableAt = Number.POSITIVE_INFINITY
      for (const entry of entries) {
        if (entry.since >= now - minAge) {
          nextRevocableAt = entry.since + minAge
          break
        }
        entries.delete(entry)
        becameRevocable(entry)
      }
    },
  }
}

const first = (entries: ReadonlySet<LeaseEntry>): LeaseEntry | undefined => entries.values().next().value

/** Clients with more memory come first; of two with the same amount, the one with the oldest lease. */
const isAbove = (a: MemoryUser, b: MemoryUser): boolean => a.bytes > b.bytes || (a.bytes === b.bytes && a.oldest < b.oldest)

function openHeap() {
  const heap: MemoryUser[] = []

  function place(client: MemoryUser, at: number): void {
    heap[at] = client
    client.index = at
  }

  function reorder(client: MemoryUser): void {
    let at = client.index
    for (let above = (at - 1) >> 1; at > 0 && isAbove(client, heap[above]!); above = (at - 1) >> 1) {
      place(heap[above]!, at)
      at = above
    }
    for (;;) {
      let below = 2 * at + 1
      if (below + 1 < heap.length && isAbove(heap[below + 1]!, heap[below]!)) below++
      if (below >= heap.length || !isAbove(heap[below]!, client)) break
      place(heap[below]!, at)
      at = below
    }
    place(client, at)
  }

  return {
    top: () => heap[0],
    /** Inserts a client, or moves it to its new position. */
    put: (client: MemoryUser): void => {
      if (client.index === -1) place(client, heap.length)
      reorder(client)
    },
    remove: (client: MemoryUser): void => {
      const { index: at } = client
      if (at === -1) return
      const last = heap.pop()!
      client.index = -1
      if (last === client) return
      place(last, at)
      reorder(last)
    },
  }
}
