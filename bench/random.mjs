// Pseudo-random values that are the same in every run: a seeded generator, and the words generated content is made of.

const words =
  'acorn basin candle dune engine falcon garden hollow island jacket kettle ladder mantle nickel orbit pebble quarry ripple saddle temple upland valley window yonder zenith'.split(
    ' ',
  )

/**
 * Mulberry32: thirty-two bits of state are plenty for test data.
 * @param {number} seed
 */
export function seededRandom(seed) {
  let state = seed >>> 0

  /** A number from 0 up to, but without, `below`. */
  const integer = (/** @type {number} */ below) => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296) * below)
  }

  /**
   * @template T
   * @param {readonly T[]} list
   * @returns {T}
   */
  const pick = (list) => list[integer(list.length)]

  /**
   * Up to `count` different entries.
   * @template T
   * @param {readonly T[]} list
   * @param {number} count
   * @returns {T[]}
   */
  const some = (list, count) => [...new Set(Array.from({ length: count }, () => pick(list)))]

  /** @param {number} count */
  const text = (count) => Array.from({ length: count }, () => pick(words)).join(' ')

  /** Text that begins with a capital letter. */
  const sentence = (/** @type {number} */ count) => {
    const plain = text(count)
    return plain.charAt(0).toUpperCase() + plain.slice(1)
  }

  /** Twenty-four lower-case letters and digits, a letter first. */
  const documentId = () => {
    let id = String.fromCharCode(97 + integer(26))
    for (let at = 1; at < 24; at++) id += integer(36).toString(36)
    return id
  }

  return { integer, pick, some, text, sentence, documentId }
}
