// The tables that statements name: those that a write may change, and those that the answer to a plan is read from.
import { LRUCache } from 'lru-cache'
import { storedName } from '../../model/tables/stored-name.js'
import type { ReadPlan } from '../plan.js'

/** Names, in quotes or without. */
const anyName = /"(?:[^"]|"")+"|`(?:[^`]|``)+`|[\w$]+/g

/** What changes rows, and of which table. */
const target =
  /\b(?:insert\s+(?:or\s+\w+\s+|ignore\s+)?into|replace\s+into|update(?:\s+or\s+\w+)?|delete\s+from|merge\s+into)\s+(?:only\s+)?((?:"(?:[^"]|"")+"|`(?:[^`]|``)+`|[\w$]+)(?:\s*\.\s*(?:"(?:[^"]|"")+"|`(?:[^`]|``)+`|[\w$]+))*)/gi

/**
 * A table by what all of its names have in common: databases do not tell them apart by case everywhere, and PostgreSQL's catalog has long ones
 * cut off.
 */
export const tableKey = (name: string): string => storedName(storedName(name).toLowerCase())

/** The key of the table that the part of a name behind the last dot means, without its quotes. */
function bare(qualified: string): string {
  const last = qualified.match(anyName)!.at(-1)!
  const quote = last[0]!
  return tableKey(/["`]/.test(quote) ? last.slice(1, -1).replaceAll(quote + quote, quote) : last)
}

/** How statements begin that change no row, unless they name a target. */
const changesNothing = /^\s*(?:select|with|values|explain|savepoint|release|rollback|set\s+local|lock)\b/i

/** The tables of statements by their texts, bounded by the characters of these. */
const remembered = new LRUCache<string, { readonly tables: readonly string[] | null }>({
  maxSize: 1_000_000,
  sizeCalculation: (_, text) => text.length,
})

/** The tables whose rows a statement may change; null: they cannot be told from its text. */
export function changedTables(text: string): readonly string[] | null {
  const known = remembered.get(text)
  if (known !== undefined) return known.tables
  const found = [...text.matchAll(target)].map(([, qualified]) => bare(qualified!))
  const tables = found.length > 0 || changesNothing.test(text) ? [...new Set(found)] : null
  remembered.set(text, { tables })
  return tables
}

/** All names in the statements of a plan that a table may have: at least every table that its answer is read from. */
export function readTables(plan: ReadPlan): ReadonlySet<string> {
  const names = new Set<string>()
  for (const text of statementsOf(plan)) for (const [found] of text.matchAll(anyName)) names.add(bare(found))
  return names
}

/** Whether rows of a type are part of the answer to a plan. */
export const answersType = (plan: unknown, uid: string): boolean =>
  typeof plan === 'object' &&
  plan !== null &&
  Object.entries(plan).some(([key, inner]) => (key === 'uid' ? inner === uid : answersType(inner, uid)))

/** The texts of all statements in a plan. */
function* statementsOf(value: unknown): Generator<string> {
  if (typeof value !== 'object' || value === null) return
  for (const [key, inner] of Object.entries(value)) {
    if (key === 'sql') yield inner as string
    else yield* statementsOf(inner)
  }
}
