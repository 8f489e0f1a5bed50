// Turns of the event loop: long work is split among several.
import { setImmediate as nextTurn } from 'node:timers/promises'

export { nextTurn }

/** Runs work in steps, each in a separate turn of the event loop, and resolves to its result. */
export async function inSteps<Result>(work: Iterator<void, Result>): Promise<Result> {
  for (;;) {
    const { done, value } = work.next()
    if (done === true) return value
    await nextTurn()
  }
}

let ending: Promise<void> | null = null

/** Resolves when everything that had arrived by this turn of the event loop has been received. Its callers go on one right after the other. */
export function endOfTurn(): Promise<void> {
  ending ??= nextTurn().then(() => {
    ending = null
  })
  return ending
}

/** Milliseconds for all long work in one turn of the event loop. */
const turnTime = 10
/** Entries that are processed concurrently. */
const batchSize = 100

/** When the work of this turn of the event loop started; null if none has started. */
let startedAt: number | null = null

/** Resolves immediately unless the work of this turn of the event loop has taken too long; then in a later turn. */
export async function yieldIfBusy(): Promise<void> {
  while (isLate()) await nextTurn()
}

function isLate(): boolean {
  if (startedAt !== null) return performance.now() - startedAt > turnTime
  startedAt = performance.now()
  // Runs before any work that yields from now on continues.
  setImmediate(() => {
    startedAt = null
  })
  return false
}

/** Runs `work` for each entry, some of them concurrently; returns the results in the order of the entries. */
export async function mapYielding<Entry, Result>(entries: readonly Entry[], work: (entry: Entry) => Promise<Result>): Promise<Result[]> {
  const results: Result[] = []
  for (let from = 0; from < entries.length; from += batchSize) {
    if (from > 0) await yieldIfBusy()
    results.push(...(await Promise.all(entries.slice(from, from + batchSize).map(work))))
  }
  return results
}
