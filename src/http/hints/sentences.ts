// Parts of sentences that hints are made of.
import { closest, mayBeName } from '../../foundation/errors/did-you-mean.js'

/** Characters of a value, and names of a list, that a hint shows. */
const [longestShown, mostListed] = [60, 12]

/** A value of a request in quotes, shortened. */
export function quoted(value: unknown): string {
  const text = typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value)
  return `"${text.length > longestShown ? `${text.slice(0, longestShown)}…` : text}"`
}

/** `a, b and c`; of many names the first ones. */
export function listed(names: Iterable<string>): string {
  const all = [...names]
  if (all.length > mostListed) return `${all.slice(0, mostListed).join(', ')} and ${all.length - mostListed} more`
  return all.length < 2 ? (all[0] ?? 'none') : `${all.slice(0, -1).join(', ')} and ${all.at(-1)}`
}

/** ` Did you mean "author"?`, or nothing if no name is similar. */
export function didYouMean(given: string, known: Iterable<string>): string {
  const close = similar(given, known)
  return close === null ? '' : ` Did you mean "${close}"?`
}

/** The most similar of these names, whatever their case and separators; null if none is similar. */
export function similar(given: string, known: Iterable<string>): string | null {
  if (!mayBeName(given)) return null
  const names = [...known]
  const bare = (name: string): string => name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '')
  const wanted = bare(given)
  return (wanted === '' ? undefined : names.find((name) => bare(name) === wanted)) ?? closest(given, names)
}

/** A value as it stands in a query string, shortened. */
export const shown = (text: string): string => (text.length > longestShown ? `${text.slice(0, longestShown)}…` : text)

/** `an article`, `a tag`. */
export const withArticle = (noun: string): string => `${/^[aeio]/i.test(noun) ? 'an' : 'a'} ${noun}`
