// Memory that is lent to clients, and who holds most of it. A chunk of a body may ask, so nothing here walks through all that is lent:
// addresses with something that may be taken back are in a heap, the one that holds most on top.

/** What one request or answer holds. */
export interface Loan {
  /** False once it has ended or was taken back. */
  isOpen(): boolean
  /** It holds so many bytes more. */
  more(bytes: number): void
  end(): void
}

export interface ClientMemory {
  /** Bytes of all loans. */
  total(): number
  /** Begins a loan to somebody at this address, who is told when it is taken back. */
  lend(address: string, takenBack: () => void): Loan
  /** Takes back the oldest loan of the address that holds most, of those that are older than the patience; false: there is none. */
  takeBack(): boolean
}

interface Holder {
  readonly address: string
  bytes: number
  loans: number
  /** Those that may be taken back, the oldest first, and the number of that one. */
  readonly ripe: Set<One>
  oldest: number
  /** Its place in the heap; -1 where nothing of it is ripe. */
  place: number
}

interface One {
  readonly holder: Holder
  readonly number: number
  readonly since: number
  bytes: number
  takenBack(): void
}

/** `patience`: milliseconds that every loan has before it may be taken back. */
export function openClientMemory(patience: number): ClientMemory {
  const holders = new Map<string, Holder>()
  const heap = openHeap()
  /** Loans that have not been looked at since they were young, the oldest first, and the moment before which none of them is ripe. */
  const young = new Set<One>()
  let ripens = Number.POSITIVE_INFINITY
  let [total, count] = [0, 0]

  function ripen(): void {
    const now = performance.now()
    if (now <= ripens) return
    ripens = Number.POSITIVE_INFINITY
    for (const one of young) {
      if (one.since >= now - patience) {
        ripens = one.since + patience
        break
      }
      young.delete(one)
      const { holder } = one
      if (holder.ripe.size === 0) holder.oldest = one.number
      holder.ripe.add(one)
      heap.put(holder)
    }
  }

  const isOpen = (one: One): boolean => young.has(one) || one.holder.ripe.has(one)

  function end(one: One): void {
    const { holder } = one
    const wasRipe = holder.ripe.delete(one)
    if (!wasRipe && !young.delete(one)) return
    total -= one.bytes
    holder.bytes -= one.bytes
    const next = first(holder.ripe)
    if (next === undefined) heap.remove(holder)
    else {
      holder.oldest = next.number
      heap.put(holder)
    }
    if (--holder.loans === 0) holders.delete(holder.address)
  }

  function holderAt(address: string): Holder {
    const known = holders.get(address)
    if (known !== undefined) return known
    const holder = { address, bytes: 0, loans: 0, ripe: new Set<One>(), oldest: 0, place: -1 }
    holders.set(address, holder)
    return holder
  }

  return {
    total: () => total,
    lend: (address, takenBack) => {
      const holder = holderAt(address)
      holder.loans++
      const one: One = { holder, number: ++count, since: performance.now(), bytes: 0, takenBack }
      young.add(one)
      ripens = Math.min(ripens, one.since + patience)
      return {
        isOpen: () => isOpen(one),
        more: (bytes) => {
          if (!isOpen(one)) return
          one.bytes += bytes
          holder.bytes += bytes
          total += bytes
          if (holder.place !== -1) heap.put(holder)
        },
        end: () => end(one),
      }
    },
    takeBack: () => {
      ripen()
      const most = heap.top()
      if (most === undefined) return false
      const slow = first(most.ripe)!
      end(slow)
      slow.takenBack()
      return true
    },
  }
}

const first = (ones: ReadonlySet<One>): One | undefined => ones.values().next().value

/** Who holds more is above; of two that hold the same, the one with the oldest loan. */
const isAbove = (a: Holder, b: Holder): boolean => a.bytes > b.bytes || (a.bytes === b.bytes && a.oldest < b.oldest)

function openHeap() {
  const heap: Holder[] = []

  function place(holder: Holder, at: number): void {
    heap[at] = holder
    holder.place = at
  }

  function settle(holder: Holder): void {
    let at = holder.place
    for (let above = (at - 1) >> 1; at > 0 && isAbove(holder, heap[above]!); above = (at - 1) >> 1) {
      place(heap[above]!, at)
      at = above
    }
    for (;;) {
      let below = 2 * at + 1
      if (below + 1 < heap.length && isAbove(heap[below + 1]!, heap[below]!)) below++
      if (below >= heap.length || !isAbove(heap[below]!, holder)) break
      place(heap[below]!, at)
      at = below
    }
    place(holder, at)
  }

  return {
    top: () => heap[0],
    /** Puts a holder where it belongs, whether it was there or not. */
    put: (holder: Holder): void => {
      if (holder.place === -1) place(holder, heap.length)
      settle(holder)
    },
    remove: (holder: Holder): void => {
      const { place: at } = holder
      if (at === -1) return
      const last = heap.pop()!
      holder.place = -1
      if (last === holder) return
      place(last, at)
      settle(last)
    },
  }
}
