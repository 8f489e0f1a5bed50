// The functions that statements of ours call, defined on each connection.
import type Database from 'better-sqlite3'
import { endsWithAscii, openSearch } from './text-search.js'

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
  const searches = { exact: openSearch('exact'), ascii: openSearch('ascii') }
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
