// Rows by keys and by spans.

/** Rows that Page Up and Page Down pass. */
const pageOfRows = 10

/** Index of the row that a key leads to, within the table; null for other keys. */
export function indexByKey(key: string, from: number, count: number): number | null {
  const steps: Readonly<Record<string, number>> = {
    ArrowDown: 1,
    j: 1,
    J: 1,
    ArrowUp: -1,
    k: -1,
    K: -1,
    PageDown: pageOfRows,
    PageUp: -pageOfRows,
    Home: -count,
    End: count,
  }
  const step = steps[key]
  return step === undefined ? null : Math.min(Math.max(from + step, 0), count - 1)
}

/** The keys from one to another, in either order; only the second where the first is not among them. */
export function spanBetween(keys: readonly string[], from: string, to: string): readonly string[] {
  const [a, b] = [keys.indexOf(from), keys.indexOf(to)]
  return a === -1 || b === -1 ? [to] : keys.slice(Math.min(a, b), Math.max(a, b) + 1)
}
