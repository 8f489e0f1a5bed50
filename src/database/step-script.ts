// Statements that depend on what earlier ones of them found: whoever executes them, at once or not, goes from one to the next.
import type { RawBuilder } from 'kysely'
import type { Dialect } from './dialect.js'
import type { Stored } from './stored.js'

/** A row by the names of its columns. */
export type ScriptRow = Readonly<Record<string, Stored>>

/** Statements in words of every database, one after the other: each goes to whoever executes them, and its rows come back; none where it has none. */
export type StepScript = Generator<RawBuilder<unknown>, void, readonly ScriptRow[]>

/** What a script has to know of its database: bound rows, and ids for new rows that nobody else gives meanwhile. */
export interface ScriptWords {
  readonly rows: Dialect['rows']
  /** A query with the column `id`. */
  newIds(table: string, count: number): RawBuilder<unknown>
  /** The ids, one for each call, from what that query found. */
  idsFrom(found: readonly number[]): () => number
}

/** Executes a script. */
export async function play(script: StepScript, ask: (query: RawBuilder<unknown>) => Promise<readonly ScriptRow[]>): Promise<void> {
  for (let next = script.next(); next.done !== true; ) next = script.next(await ask(next.value))
}

/** The same where a database answers at once. */
export function playAtOnce(script: StepScript, ask: (query: RawBuilder<unknown>) => readonly ScriptRow[]): void {
  for (let next = script.next(); next.done !== true; ) next = script.next(ask(next.value))
}
