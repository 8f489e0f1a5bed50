// Tracks the memory used for each client address, and revokes memory from the address that uses most. This runs for every chunk of a
// body, so addresses are in a heap instead of being searched.

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
  /**
   * Revokes the oldest lease of the address that uses most memory, whatever its age: whoever begins again and again must not be spared.
   * False if it holds no more than its share of `limit` bytes, or if it is the only address and the lease is not old enough.
   */
  revoke(limit: number): boolean
}

interface MemoryUser {
  readonly address: string
  bytes: number
  /** Oldest first, and the number of the oldest. */
  readonly leases: Set<LeaseEntry>
  oldest: number
  /** Index in the heap. */
  index: number
}

interface LeaseEntry {
  readonly client: MemoryUser
  readonly number: number
  readonly since: number
  bytes: number
  revoked(): void
}

/** Opens the tracking. `minAge`: milliseconds before a lease may be revoked that only leases of the same address compete with. */
export function openClientMemory(minAge: number): ClientMemory {
  const clients = new Map<string, MemoryUser>()
  const heap = openHeap()
  let [total, count] = [0, 0]

  function end(entry: LeaseEntry): void {
    const { client } = entry
    if (!client.leases.delete(entry)) return
    total -= entry.bytes
    client.bytes -= entry.bytes
    const next = first(client.leases)
    if (next === undefined) {
      heap.remove(client)
      clients.delete(client.address)
    } else {
      client.oldest = next.number
      heap.put(client)
    }
  }

  return {
    total: () => total,
    lease: (address, revoked) => {
      const client = clientAt(clients, address, ++count)
      const entry: LeaseEntry = { client, number: count, since: performance.now(), bytes: 0, revoked }
      client.leases.add(entry)
      heap.put(client)
      return {
        isOpen: () => client.leases.has(entry),
        add: (bytes) => {
          if (!client.leases.has(entry)) return
          entry.bytes += bytes
          client.bytes += bytes
          total += bytes
          heap.put(client)
        },
        end: () => end(entry),
      }
    },
    revoke: (limit) => {
      const most = heap.top()
      if (most === undefined || most.bytes <= limit / clients.size) return false
      const oldest = first(most.leases)!
      if (clients.size === 1 && oldest.since >= performance.now() - minAge) return false
      end(oldest)
      oldest.revoked()
      return true
    },
  }
}

function clientAt(clients: Map<string, MemoryUser>, address: string, number: number): MemoryUser {
  const existing = clients.get(address)
  if (existing !== undefined) return existing
  const client = { address, bytes: 0, leases: new Set<LeaseEntry>(), oldest: number, index: -1 }
  clients.set(address, client)
  return client
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
