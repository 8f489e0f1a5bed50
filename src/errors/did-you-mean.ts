// Suggests the most similar known name for an unknown one.

/** Names are similar if at most a third of their letters differ. */
const tolerated = 1 / 3

/** Returns `; did you mean "published"?` for the end of a sentence, or an empty text if no name is similar. */
export function didYouMean(given: string, known: Iterable<string>): string {
  const close = closest(given, known)
  return close === null ? '' : `; did you mean "${close}"?`
}

/** Returns the most similar name with at most `most` different letters, or null. */
export function closest(given: string, known: Iterable<string>, most = Math.max(1, Math.floor(given.length * tolerated))): string | null {
  const wanted = given.toLowerCase()
  let best: string | null = null
  let least = most + 1
  for (const name of known) {
    const steps = name === given ? least : distance(wanted, name.toLowerCase())
    if (steps < least) [best, least] = [name, steps]
  }
  return best
}

/** The edit distance: letters added, removed, replaced or swapped with their neighbour. */
function distance(from: string, to: string): number {
  let [before, last] = [[] as number[], Array.from({ length: to.length + 1 }, (_, index) => index)]
  for (let row = 1; row <= from.length; row++) {
    const next = [row]
    for (let column = 1; column <= to.length; column++) {
      const same = from[row - 1] === to[column - 1]
      const steps = Math.min(last[column]! + 1, next[column - 1]! + 1, last[column - 1]! + Number(!same))
      const swapped = row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1]
      next.push(swapped ? Math.min(steps, before[column - 2]! + 1) : steps)
    }
    ;[before, last] = [last, next]
  }
  return last[to.length]!
}
