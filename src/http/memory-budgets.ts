// Memory budgets of incomplete request bodies and unsent responses. When one is exhausted, the address that uses most of it loses memory.
// This runs for every chunk of a body, so addresses are in a heap: a search of 10,000 addresses takes 0.4 ms of CPU.
import type { ServerResponse } from 'node:http'
import { ApiError } from '../foundation/errors/errors.js'
import { onceClosed } from './connections.js'

interface Lease {
  /** False once it has ended or was revoked. */
  isOpen(): boolean
  add(bytes: number): void
  end(): void
}

interface ClientMemory {
  total(): number
  /** Starts a lease for a client address; `revoked` is called if it is revoked. */
  lease(address: string, revoked: () => void): Lease
  /**
   * Revokes the oldest lease of the address that uses most memory, regardless of its age, because clients could restart to stay young.
   * False if it holds no more than its share of `limit` bytes, or if it is the only address and the lease is too young.
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

/** `minAgeMs`: minimum age of a revoked lease if only leases of its address compete for the memory. */
export function createClientMemory(minAgeMs: number): ClientMemory {
  const clients = new Map<string, MemoryUser>()
  const heap = createHeap()
  let total = 0
  let count = 0

  function end(entry: LeaseEntry): void {
    const { client } = entry
    if (!client.leases.delete(entry)) return
    total -= entry.bytes
    client.bytes -= entry.bytes
    const next = firstOf(client.leases)
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
      const oldest = firstOf(most.leases)!
      if (clients.size === 1 && oldest.since >= performance.now() - minAgeMs) return false
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

const firstOf = (entries: ReadonlySet<LeaseEntry>): LeaseEntry | undefined => entries.values().next().value

/** Clients with more memory come first; of two with the same amount, the one with the oldest lease. */
const isAbove = (a: MemoryUser, b: MemoryUser): boolean => a.bytes > b.bytes || (a.bytes === b.bytes && a.oldest < b.oldest)

function createHeap() {
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

export interface IncomingBody {
  /** Counts received bytes. @throws ApiError 503 if the limit is reached */
  add(bytes: number): void
  /** Rejects if the body is refused to free memory. */
  readonly refused: Promise<never>
  /** Ends the counting when the body is complete or no longer needed. */
  end(): void
}

/** Budget of incomplete request bodies; slow clients are refused first. */
export interface BodyBudget {
  begin(address: string): IncomingBody
}

/** Minimum age of a body that is refused to free memory for others of its address. */
const minBodyAgeMs = 1_000

export function createBodyBudget(maxBufferedBodyBytes: number): BodyBudget {
  const memory = createClientMemory(minBodyAgeMs)
  return {
    begin: (address) => {
      let refuse = (): void => {}
      const refused = new Promise<never>((_, reject) => {
        refuse = () => reject(tooManyBodies())
      })
      // If the body arrives completely, nothing waits for this promise.
      refused.catch(() => {})
      const lease = memory.lease(address, () => refuse())
      return {
        refused,
        add: (bytes) => {
          if (!lease.isOpen()) throw tooManyBodies()
          lease.add(bytes)
          while (memory.total() > maxBufferedBodyBytes) if (!memory.revoke(maxBufferedBodyBytes)) throw tooManyBodies()
        },
        end: lease.end,
      }
    },
  }
}

const tooManyBodies = (): ApiError => new ApiError('ServiceUnavailableError', 'Too many incomplete request bodies')

interface ResponseBudgetLimits {
  /** Total bytes; from half of that on, slow clients are disconnected. */
  readonly maxBufferedResponseBytes: number
  /** Milliseconds for a client to receive a response. */
  readonly responseTimeout: number
}

/** Budget of large responses that are not completely sent; slow clients are disconnected first. */
export interface ResponseBudget {
  /** Counts a response of `bytes` bytes to a client address until it is sent. */
  watch(response: ServerResponse, address: string, bytes: number): void
}

/** Minimum age of a response that is aborted to free memory for others of its address. */
const minResponseAgeMs = 2_000
const checkIntervalMs = 500

export function createResponseBudget({ maxBufferedResponseBytes, responseTimeout }: ResponseBudgetLimits): ResponseBudget {
  const memory = createClientMemory(minResponseAgeMs)
  let scheduled: NodeJS.Timeout | null = null
  const limit = maxBufferedResponseBytes / 2
  const isTight = (): boolean => memory.total() > limit
  /** New responses would soon be refused for all clients. */
  const isUrgent = (): boolean => memory.total() > 1.5 * limit

  /** Aborts the oldest responses of the address that uses most memory, until the total is below the limit. */
  function freeMemory(): void {
    if (scheduled !== null) clearTimeout(scheduled)
    scheduled = null
    while (isTight() && memory.revoke(limit));
    if (isTight()) scheduleCheck()
  }

  const scheduleCheck = (): void => {
    scheduled ??= setTimeout(freeMemory, checkIntervalMs)
    scheduled.unref()
  }

  return {
    watch: (response, address, bytes) => {
      if (response.closed) return
      const lease = memory.lease(address, () => response.destroy())
      lease.add(bytes)
      const deadline = setTimeout(() => response.destroy(), responseTimeout)
      onceClosed(response, () => {
        clearTimeout(deadline)
        lease.end()
      })
      if (isUrgent()) setImmediate(freeMemory)
      else if (isTight()) scheduleCheck()
    },
  }
}
