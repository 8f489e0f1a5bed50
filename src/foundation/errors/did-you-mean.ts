// Suggests the most similar known name for an unknown one. The input is untrusted, so the work of a comparison is bounded.

/** Names are similar if at most a third of their letters differ. */
const tolerated = 1 / 3
/** Letters of a text that may be a misspelt name; a longer one is similar to nothing. */
const longestName = 100
/** Pairs of letters that are compared for one text; further names are ignored. */
const mostCompared = 200_000

/** Returns `; did you mean "published"?` for the end of a sentence, or an empty text if no name is similar. */
export function didYouMean(given: string, known: Iterable<string>): string {
  const close = closest(given, known)
  return close === null ? '' : `; did you mean "${close}"?`
}

/** True for a text that is short enough to be a misspelt name. */
export const mayBeName = (text: string): boolean => text.length <= longestName

/** One of two letters may be wrong, and none of one: every other letter would be similar. */
const mostDifferent = (given: string): number => (given.length < 2 ? 0 : Math.max(1, Math.floor(given.length * tolerated)))

/** Returns the most similar name with at most `most` different letters, or null. */
export function closest(given: string, known: Iterable<string>, most = mostDifferent(given)): string | null {
  if (!mayBeName(given)) return null
  const wanted = given.toLowerCase()
  const work = { left: mostCompared }
  let best: string | null = null
  let least = most + 1
  for (const name of known) {
    if (work.left <= 0) break
    work.left--
    // A name that is longer or shorter by more letters than may differ cannot be similar.
    if (name === given || Math.abs(name.length - given.length) >= least) continue
    const steps = distance(wanted, name.toLowerCase(), least, work)
    if (steps < least) [best, least] = [name, steps]
  }
  return best
}

/**
 * The edit distance: letters added, removed, replaced or swapped with their neighbour. It ends early, with any number from `enough` on, once
 * that many differ.
 */
function distance(from: string, to: string, enough: number, work: { left: number }): number {
  let [before, last] = [[] as number[], Array.from({ length: to.length + 1 }, (_, index) => index)]
  for (let row = 1; row <= from.length; row++) {
    const next = [row]
    for (let column = 1; column <= to.length; column++) {
      const same = from[row - 1] === to[column - 1]
      const steps = Math.min(last[column]! + 1, next[column - 1]! + 1, last[column - 1]! + Number(!same))
      const swapped = row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1]
      next.push(swapped ? Math.min(steps, before[column - 2]! + 1) : steps)
    }
    work.left -= to.length
    // Swapped letters lead on from the row before the last.
    if (Math.min(...next) >= enough && Math.min(...last) >= enough) return enough
    ;[before, last] = [last, next]
  }
  return last[to.length]!
}
