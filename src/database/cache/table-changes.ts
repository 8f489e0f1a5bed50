// Which tables were changed, and when: a count of changes, and the last one of each table. Everything that is kept of reads is valid until a
// later change of a table that it was read from.
import { changedTables, tableKey } from './named-tables.js'

/** The changes of tables, in their order. */
export interface TableChanges {
  /** The number of changes so far. */
  now(): number
  /** Counts a change of these tables, and of those whose rows are deleted with theirs. */
  note(tables: Iterable<string>): void
  /** Counts a change of unknown extent: it may concern every table. */
  noteAll(): void
  /** The last change that may concern one of these tables; 0: there was none. */
  lastOf(tables: ReadonlySet<string>): number
}

/** What is known of the commits of all processes. */
export interface CommitWatch {
  readonly changes: TableChanges
  /**
   * Notes the changes of all commits that were acknowledged before `since` (`elapsed`), whoever made them. True: that is done; false: they
   * cannot be known now.
   */
  look(since: number): boolean | Promise<boolean>
}

/** The tables that one transaction changes. */
export interface ChangedTables {
  /** Adds those that a statement changes. */
  add(statement: string): void
  /** All that were added; null: they cannot be told. */
  all(): ReadonlySet<string> | null
}

/** Begins to collect what a transaction changes. */
export function collectChanged(): ChangedTables {
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

/** Counts a change of these tables, if there are any. `tables`: null for a change of unknown extent. */
export function noteChanged(changes: TableChanges, tables: ReadonlySet<string> | null): void {
  if (tables === null) changes.noteAll()
  else if (tables.size > 0) changes.note(tables)
}

/**
 * For a table, those whose rows the database changes or deletes where rows of it are deleted. Null: it cannot be told what else a change
 * concerns.
 */
export type DependentTables = ReadonlyMap<string, readonly string[]> | null

/** The dependent tables by foreign keys, each as the table that is referenced and the one that refers to it. */
export function dependentsBy(keys: Iterable<readonly [above: string, below: string]>): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>()
  for (const [above, below] of keys) {
    const name = tableKey(above)
    found.set(name, [...(found.get(name) ?? []), tableKey(below)])
  }
  return found
}

/** Opens the changes of a database. `dependents` is called for each change; where it fails, nothing is known. */
export function openTableChanges(dependents: () => DependentTables): TableChanges {
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
      // Plans name many columns; what was changed since the start is often less.
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

/** The tables with all those that depend on them, whatever the way. */
function withDependents(tables: Iterable<string>, dependents: ReadonlyMap<string, readonly string[]>): ReadonlySet<string> {
  const all = new Set(tables)
  // What is added meanwhile is visited too.
  for (const table of all) for (const dependent of dependents.get(table) ?? []) all.add(dependent)
  return all
}
