// Random choices that are the same for the same seed.

/** Random numbers by mulberry32, and choices with them. */
export function chances(seed: number) {
  let state = seed * 0x9e3779b1
  const next = () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
  const below = (count: number) => Math.floor(next() * count)
  const pick = <One>(list: readonly One[]): One => list[below(list.length)]!
  const some = <One>(list: readonly One[]): One[] =>
    list
      .map((one) => [next(), one] as const)
      .sort(([one], [other]) => one - other)
      .slice(0, below(list.length + 1))
      .map(([, one]) => one)
  return { below, pick, some, is: (share: number) => next() < share }
}
