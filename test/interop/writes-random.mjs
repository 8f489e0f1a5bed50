// Random choices that a seed repeats.

/** @param {string} seed */
export function random(seed) {
  let state = 2166136261
  for (const letter of seed) state = Math.imul(state ^ letter.charCodeAt(0), 16777619)
  const next = () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
  const below = (count) => Math.floor(next() * count)
  const chance = (share) => next() < share
  const pick = (list) => list[below(list.length)]
  const some = (list, most) => {
    const rest = [...list]
    return Array.from({ length: Math.min(rest.length, below(most + 1)) }, () => rest.splice(below(rest.length), 1)[0])
  }
  return { next, below, chance, pick, some }
}
