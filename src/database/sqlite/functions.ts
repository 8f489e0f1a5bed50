// SQL functions for generated statements, defined on each connection.
import type Database from 'better-sqlite3'

/** `look` is called now and then while a statement runs; it throws to end the statement. */
export function defineFunctions(database: Database.Database, look: () => void = () => {}): void {
  // Sigma has two small letters, by its place in a word.
  const fold = (text: unknown) => {
    look()
    return text === null ? null : String(text).toLowerCase().replaceAll('ς', 'σ')
  }
  database.function('octavo_fold', { deterministic: true }, fold)
  // As `like` does: up to a NUL, and a value that has one is found in nothing.
  const upToNul = (text: string) => text.split('\0', 1)[0]!
  const searches = { exact: createSearch('exact'), ascii: createSearch('ascii') }
  const search = (find: (text: string, value: string) => boolean) => (text: unknown, value: unknown) => {
    look()
    return text === null || value === null ? null : Number(find(String(text), String(value)))
  }
  const like = (find: (text: string, value: string) => boolean) => (text: string, value: string) =>
    !value.includes('\0') && find(upToNul(text), value)
  database.function('octavo_contains', { deterministic: true }, search(searches.exact))
  database.function('octavo_like_contains', { deterministic: true }, search(like(searches.ascii)))
  database.function('octavo_like_ends', { deterministic: true }, search(like(endsWithAscii)))
  database.function('octavo_alive', () => {
    look()
    return 1
  })
}

/** Comparison of texts: exact, or ignoring ASCII case as SQLite's `like` does. */
export type Comparison = 'exact' | 'ascii'

const upperA = 65
const upperZ = 90
const toLower = 32
const folded = (unit: number): number => (unit >= upperA && unit <= upperZ ? unit + toLower : unit)
const same = (unit: number): number => unit

/**
 * Returns a function that searches `text` for `value`. It caches the tables of the last value, since a statement searches many rows for
 * one.
 */
export function createSearch(comparison: Comparison): (text: string, value: string) => boolean {
  const unitOf = comparison === 'ascii' ? folded : same
  let last: { readonly value: string; readonly fallbacks: Int32Array } = { value: '', fallbacks: new Int32Array() }
  return (text, value) => {
    if (value.length > text.length) return false
    if (last.value !== value) last = { value, fallbacks: computeFallbacks(value, unitOf) }
    const { fallbacks } = last
    for (let at = 0, matched = 0; at < text.length; at += 1) {
      const unit = unitOf(text.charCodeAt(at))
      while (matched > 0 && unitOf(value.charCodeAt(matched)) !== unit) matched = fallbacks[matched - 1]!
      if (unitOf(value.charCodeAt(matched)) === unit) matched += 1
      if (matched === value.length) return true
    }
    return value.length === 0
  }
}

/** For each beginning of `value`, the length of its longest proper part that is both a beginning and an end of it (Knuth, Morris, Pratt). */
function computeFallbacks(value: string, unitOf: (unit: number) => number): Int32Array {
  const fallbacks = new Int32Array(value.length)
  for (let at = 1, matched = 0; at < value.length; at += 1) {
    const unit = unitOf(value.charCodeAt(at))
    while (matched > 0 && unitOf(value.charCodeAt(matched)) !== unit) matched = fallbacks[matched - 1]!
    if (unitOf(value.charCodeAt(matched)) === unit) matched += 1
    fallbacks[at] = matched
  }
  return fallbacks
}

/** Ignores ASCII case. */
export function endsWithAscii(text: string, value: string): boolean {
  const from = text.length - value.length
  if (from < 0) return false
  for (let at = 0; at < value.length; at += 1) {
    if (folded(value.charCodeAt(at)) !== folded(text.charCodeAt(from + at))) return false
  }
  return true
}
