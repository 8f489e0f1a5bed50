// Records the last change of each table. A cached result is valid until a later change of one of its tables.
import { LRUCache } from 'lru-cache'
import { storedName } from '../../model/tables/table.js'
import type { ReadPlan } from '../plan.js'

export interface TableChanges {
  now(): number
  /** Records a change of these tables and of those affected by their cascading deletes. */
  note(tables: Iterable<string>): void
  /** Records a change that may affect any table. */
  noteAll(): void
  /** The last change that may affect one of these tables; 0: none. */
  lastOf(tables: ReadonlySet<string>): number
}

export interface CommitWatch {
  readonly changes: TableChanges
  /** Records all commits acknowledged before `since` (`elapsed`). Returns false if they cannot be determined now. */
  look(since: number): boolean | Promise<boolean>
}

export interface ChangedTables {
  add(statement: string): void
  /** All tables added; null: unknown. */
  all(): ReadonlySet<string> | null
}

export function collectChangedTables(): ChangedTables {
  const tables = new Set<string>()
  let isKnown = true
  return {
    add: (statement) => {
      const changed = changedTables(statement)
      if (changed === null) isKnown = false
      else for (const table of changed) tables.add(table)
    },
    all: () => (isKnown ? tables : null),
  }
}

/** Records a change of these tables, if any; null: may affect any table. */
export function noteChanged(changes: TableChanges, tables: ReadonlySet<string> | null): void {
  if (tables === null) changes.noteAll()
  else if (tables.size > 0) changes.note(tables)
}

/** Tables whose rows the database changes along with those of a table (by cascade). Null: unknown. */
export type DependentTables = ReadonlyMap<string, readonly string[]> | null

/** Dependent tables derived from foreign keys, given as (referenced table, referencing table). */
export function toDependents(keys: Iterable<readonly [above: string, below: string]>): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>()
  for (const [above, below] of keys) {
    const name = tableKey(above)
    found.set(name, [...(found.get(name) ?? []), tableKey(below)])
  }
  return found
}

/** `dependents` is called for each change; if it fails, the change may affect any table. */
export function createTableChanges(dependents: () => DependentTables): TableChanges {
  const last = new Map<string, number>()
  let count = 0
  let lastOfAll = 0

  function noteAll(): void {
    lastOfAll = ++count
    last.clear()
  }

  return {
    now: () => count,
    note: (tables) => {
      const known = dependentsOrNull(dependents)
      if (known === null) return noteAll()
      count++
      for (const table of withDependents(tables, known)) last.set(table, count)
    },
    noteAll,
    lastOf: (tables) => {
      let found = lastOfAll
      // Iterate over the smaller set: plans name many columns.
      if (last.size < tables.size) {
        for (const [table, change] of last) if (change > found && tables.has(table)) found = change
      } else for (const table of tables) found = Math.max(found, last.get(table) ?? 0)
      return found
    },
  }
}

function dependentsOrNull(dependents: () => DependentTables): DependentTables {
  try {
    return dependents()
  } catch {
    return null
  }
}

/** The tables with their direct and indirect dependents. */
function withDependents(tables: Iterable<string>, dependents: ReadonlyMap<string, readonly string[]>): ReadonlySet<string> {
  const all = new Set(tables)
  // A Set's iteration also visits elements added during the loop.
  for (const table of all) for (const dependent of dependents.get(table) ?? []) all.add(dependent)
  return all
}

/** Names, quoted or not. */
const anyName = /"(?:[^"]|"")+"|`(?:[^`]|``)+`|[\w$]+/g

/** A statement that modifies rows, and its table. */
const target =
  /\b(?:insert\s+(?:or\s+\w+\s+|ignore\s+)?into|replace\s+into|update(?:\s+or\s+\w+)?|delete\s+from|merge\s+into)\s+(?:only\s+)?((?:"(?:[^"]|"")+"|`(?:[^`]|``)+`|[\w$]+)(?:\s*\.\s*(?:"(?:[^"]|"")+"|`(?:[^`]|``)+`|[\w$]+))*)/gi

/** Normalizes a table name: most databases ignore case, and PostgreSQL truncates long names. */
export const tableKey = (name: string): string => storedName(storedName(name).toLowerCase())

/** The key of the table in a qualified name. */
function toTableKey(qualified: string): string {
  const last = qualified.match(anyName)!.at(-1)!
  const quote = last[0]!
  return tableKey(/["`]/.test(quote) ? last.slice(1, -1).replaceAll(quote + quote, quote) : last)
}

/** Statements that modify no rows, unless they name a target. */
const changesNothing = /^\s*(?:select|with|values|explain|savepoint|release|rollback|set\s+local|lock)\b/i

/** Changed tables by statement text, bounded by total text length. */
const parsed = new LRUCache<string, { readonly tables: readonly string[] | null }>({
  maxSize: 1_000_000,
  sizeCalculation: (_, text) => text.length,
})

/** The tables that a statement may change; null: unknown. */
export function changedTables(text: string): readonly string[] | null {
  const known = parsed.get(text)
  if (known !== undefined) return known.tables
  const found = [...text.matchAll(target)].map(([, qualified]) => toTableKey(qualified!))
  const tables = found.length > 0 || changesNothing.test(text) ? [...new Set(found)] : null
  parsed.set(text, { tables })
  return tables
}

/** All names in a plan's statements: a superset of the tables it reads. */
export function readTables(plan: ReadPlan): ReadonlySet<string> {
  const names = new Set<string>()
  for (const text of statementsOf(plan)) for (const [found] of text.matchAll(anyName)) names.add(toTableKey(found))
  return names
}

/** True if a plan's result includes rows of a type. */
export const includesType = (plan: unknown, uid: string): boolean =>
  typeof plan === 'object' &&
  plan !== null &&
  Object.entries(plan).some(([key, inner]) => (key === 'uid' ? inner === uid : includesType(inner, uid)))

function* statementsOf(value: unknown): Generator<string> {
  if (typeof value !== 'object' || value === null) return
  for (const [key, inner] of Object.entries(value)) {
    if (key === 'sql') yield inner as string
    else yield* statementsOf(inner)
  }
}
