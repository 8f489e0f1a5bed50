// Long work on the main thread stops now and then, so that the requests of others are served meanwhile.
import { setImmediate as nextTurn } from 'node:timers/promises'

export { nextTurn }

/** Milliseconds that all long work together may take in one turn of the event loop. */
const longest = 10
/** Entries that are worked on side by side. */
const piece = 100

/** When the work of this turn of the event loop began; null: none has yet. */
let begun: number | null = null

/** Goes on at once while the work of this turn of the event loop is short, otherwise in a later one. */
export async function yieldIfBusy(): Promise<void> {
  while (isLate()) await nextTurn()
}

function isLate(): boolean {
  if (begun !== null) return performance.now() - begun > longest
  begun = performance.now()
  // Runs before everybody who is told to wait from now on goes on.
  setImmediate(() => {
    begun = null
  })
  return false
}

/** Does `work` with each entry, some of them side by side; the results come in the order of the entries. */
export async function mapYielding<Entry, Result>(entries: readonly Entry[], work: (entry: Entry) => Promise<Result>): Promise<Result[]> {
  const results: Result[] = []
  for (let from = 0; from < entries.length; from += piece) {
    if (from > 0) await yieldIfBusy()
    results.push(...(await Promise.all(entries.slice(from, from + piece).map(work))))
  }
  return results
}
