// Detects user names that look like other names.

/** Alphabets with letters that look alike. */
const lookAlike = [/\p{Script=Latin}/u, /\p{Script=Cyrillic}/u, /\p{Script=Greek}/u, /\p{Script=Armenian}/u, /\p{Script=Cherokee}/u]

/** Control characters, direction marks, zero-width characters, line separators, and unassigned code points. */
const invisible = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cn}]/u

/**
 * True if a name is unambiguous: it has no invisible characters, no spaces at its ends, is in the Unicode form NFKC (no full-width
 * letters), and uses at most one of the alphabets that look alike.
 */
export function isUnmistakable(name: string): boolean {
  if (invisible.test(name) || name.trim() !== name || name.normalize('NFKC') !== name) return false
  return lookAlike.filter((alphabet) => alphabet.test(name)).length <= 1
}
