// Queues: limited concurrency and length, one work at a time for each id, and fair turns between callers.

import { LRUCache } from 'lru-cache'
import { ApiError } from '../errors/errors.js'
import { elapsed } from './clock.js'

/** A queue with limited concurrency. */
export interface Queue {
  /** Runs `work` when it is its turn. @throws ApiError 503 if the queue is full. */
  run<Result>(work: () => Promise<Result>): Promise<Result>
}

/** Opens a queue with `concurrency` running and at most `maxWaiting` waiting works. `refusal`: the message if it is full. */
export function openQueue(concurrency: number, maxWaiting: number, refusal: string): Queue {
  const waiting: (() => void)[] = []
  let running = 0
  return {
    run: async (work) => {
      if (running >= concurrency) {
        if (waiting.length >= maxWaiting) throw new ApiError('ServiceUnavailableError', refusal)
        await new Promise<void>((start) => waiting.push(start))
      } else running++
      try {
        return await work()
      } finally {
        // Starts the next work directly, so that no other can take its place.
        const next = waiting.shift()
        if (next === undefined) running--
        else next()
      }
    },
  }
}

/** One queue per id, which runs one work at a time. */
interface SerialQueues {
  /** Runs `work` after all earlier work for the same `id`. */
  inLine<Result>(id: number, work: () => Promise<Result>): Promise<Result>
}

/** Opens queues by id. */
export function openSerialQueues(): SerialQueues {
  const last = new Map<number, Promise<unknown>>()
  return {
    inLine: (id, work) => {
      const turn = (last.get(id) ?? Promise.resolve()).then(work)
      const over = turn
        .catch(() => {})
        .then(() => {
          if (last.get(id) === over) last.delete(id)
        })
      last.set(id, over)
      return turn
    },
  }
}

/** Work of several callers, a few at a time. */
interface Turns {
  /** Runs `work` when it is the caller's turn. @throws ApiError 503 if too many wait */
  run<Result>(caller: string, work: () => Promise<Result>): Promise<Result>
}

interface Waiting {
  start(): void
  refuse(): void
}

/** A caller whose work is under way or waits. */
interface Asking {
  readonly waiting: Waiting[]
  running: number
}

/** Minimum milliseconds of slow work, and how long the speed of a caller is remembered. */
const [slowFrom, remembered] = [2_000, 60_000]
/** Callers whose speed is known at the same time. */
const mostKnown = 1_000

/**
 * Opens turns with `places` works at a time and at most `maxWaiting` waiting ones. Callers take turns. One slot is reserved for quick work: callers
 * whose last work was slow share the others, and an unknown caller may use all but one. If too many wait, the last work of the caller with
 * the longest queue is refused with `refusal`.
 */
export function openTurns(places: number, maxWaiting: number, refusal: string): Turns {
  /** In the order of their turns. */
  const callers = new Map<string, Asking>()
  const speeds = openSpeeds()
  let [running, waiting] = [0, 0]
  /** Those that callers with slow work may have together. */
  const placesOfSlow = Math.max(1, places - 1)
  function mayStart(caller: string, asking: Asking): boolean {
    const isSlow = speeds.isSlow(caller)
    if (isSlow !== true) return isSlow === false || asking.running < placesOfSlow
    return runningOf(callers, (name) => speeds.isSlow(name) === true) < placesOfSlow
  }

  function startNext(): void {
    while (running < places) {
      const found = [...callers].find(([caller, asking]) => asking.waiting.length > 0 && mayStart(caller, asking))
      if (found === undefined) return
      const [caller, asking] = found
      // Its next turn comes after those of all others.
      callers.delete(caller)
      callers.set(caller, asking)
      running++
      waiting--
      asking.running++
      asking.waiting.shift()!.start()
    }
  }

  /** Makes room for one more of `caller`. @throws ApiError 503 where none waits with more than it */
  function makeRoom(caller: Asking): void {
    if (waiting < maxWaiting) return
    const most = longestLine(caller, callers.values())
    if (most === caller) throw new ApiError('ServiceUnavailableError', refusal)
    waiting--
    most.waiting.pop()!.refuse()
  }

  return {
    run: async (caller, work) => {
      const asking = callers.get(caller) ?? { waiting: [], running: 0 }
      if (running >= places || asking.waiting.length > 0 || !mayStart(caller, asking)) makeRoom(asking)
      callers.set(caller, asking)
      await new Promise<void>((start, reject) => {
        asking.waiting.push({ start, refuse: () => reject(new ApiError('ServiceUnavailableError', refusal)) })
        waiting++
        startNext()
      })
      const measured = speeds.measure(caller)
      try {
        return await work()
      } finally {
        measured()
        running--
        asking.running--
        if (asking.running === 0 && asking.waiting.length === 0) callers.delete(caller)
        startNext()
      }
    },
  }
}

const runningOf = (callers: ReadonlyMap<string, Asking>, isCounted: (name: string) => boolean): number =>
  [...callers].reduce((sum, [name, { running }]) => sum + (isCounted(name) ? running : 0), 0)

/** The caller with the longest queue; `first` unless another one is longer. */
function longestLine(first: Asking, others: Iterable<Asking>): Asking {
  let most = first
  for (const asking of others) if (asking.waiting.length > most.waiting.length) most = asking
  return most
}

/** Speed of the last work of each caller. */
interface Speeds {
  /** Undefined where nothing is known. */
  isSlow(caller: string): boolean | undefined
  /** Begins to measure a work; the result is called when it has ended. */
  measure(caller: string): () => void
}

function openSpeeds(): Speeds {
  const slow = new LRUCache<string, boolean>({ max: mostKnown, ttl: remembered })
  return {
    isSlow: (caller) => slow.get(caller),
    measure: (caller) => {
      const begun = elapsed()
      const becomesSlow = setTimeout(() => slow.set(caller, true), slowFrom).unref()
      return () => {
        clearTimeout(becomesSlow)
        slow.set(caller, elapsed() - begun >= slowFrom)
      }
    },
  }
}
