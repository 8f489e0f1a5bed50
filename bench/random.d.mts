/** Pseudo-random values that are the same in every run. */
export function seededRandom(seed: number): {
  /** A number from 0 up to, but without, `below`. */
  integer(below: number): number
  pick<Value>(list: readonly Value[]): Value
}
