// Names that people choose for themselves: what cannot be told from another name by looking at it is refused.

/** Alphabets whose letters look like each other's. */
const lookAlike = [/\p{Script=Latin}/u, /\p{Script=Cyrillic}/u, /\p{Script=Greek}/u, /\p{Script=Armenian}/u, /\p{Script=Cherokee}/u]

/** Controls, marks of direction, letters without width, separators of lines, and what Unicode has not assigned. */
const invisible = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cn}]/u

/**
 * Whether a name is what it looks like: without anything invisible, without blanks at its ends, in the form that Unicode calls
 * compatible (no full-width letters), and in one of the alphabets that resemble each other.
 */
export function isUnmistakable(name: string): boolean {
  if (invisible.test(name) || name.trim() !== name || name.normalize('NFKC') !== name) return false
  return lookAlike.filter((alphabet) => alphabet.test(name)).length <= 1
}
