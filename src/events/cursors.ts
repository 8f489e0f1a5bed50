// The last delivered event of each listener, stored in the database, so that delivery continues after a crash. One process at a time
// delivers to a listener; another takes over if that process has ended or shows no sign of life.
import { type RawBuilder, sql } from 'kysely'
import type { MainConnection, WriteDatabase } from '../database/database.js'
import { insertMissing, same } from '../database/fragments.js'
import { heartbeat, openOwners } from '../runtime/owners.js'

/** The cursors of all listeners. */
export interface ListenerCursors {
  /** Registers new listeners with `last` as their cursor, because they do not get past events. Resolves to all cursors. */
  register(names: readonly string[], last: number): Promise<ReadonlyMap<string, number>>
  /** Claims a listener for this process. Resolves to its cursor, or null while another process delivers to it. */
  claim(name: string): Promise<number | null>
  /** Stores the last delivered event; false if another process has taken the listener over. */
  advance(name: string, sequence: number): Promise<boolean>
  /** Stores the last delivered event and releases the listener for other processes. */
  release(name: string, sequence: number): Promise<void>
  close(): void
}

interface CursorRow {
  readonly sequence: number
  readonly owner: string | null
  readonly beat: number
}

const table = sql.table('octavo_listener_cursors')

/** Opens the cursors. */
export function openListenerCursors(database: MainConnection, writer: WriteDatabase, failed: (error: unknown) => void): ListenerCursors {
  const owners = openOwners()
  const { me } = owners
  const mine = new Set<string>()

  /** Executes a statement that writes to no document; true if it has changed the listener's row. */
  const hasChanged = (statement: RawBuilder<unknown>): Promise<boolean> =>
    writer.transaction(async (transaction) => {
      transaction.history.touchesOneDocument()
      return (await transaction.run(statement)).rows === 1
    })
  const store = (name: string, sequence: number, owner: string | null): Promise<boolean> =>
    hasChanged(sql`update ${table} set sequence = ${sequence}, owner = ${owner}, beat = beat + 1 where name = ${name} and owner = ${me}`)

  const timer = setInterval(() => {
    if (mine.size > 0) writer.run(sql`update ${table} set beat = beat + 1 where owner = ${me}`).catch(failed)
  }, heartbeat)
  timer.unref()

  return {
    register: (names, last) => registerListeners(database, writer, names, last),
    claim: async (name) => {
      const cursor = await readCursor(database, name)
      if (cursor === undefined) return null
      const { owner, beat } = cursor
      if (owner !== null && owner !== me && !owners.hasTimedOut(name, owner, beat)) return null
      const isMine = await hasChanged(
        sql`update ${table} set owner = ${me}, beat = beat + 1 where name = ${name} and ${same(sql`owner`, owner)} and beat = ${beat}`,
      )
      if (!isMine) return null
      mine.add(name)
      return (await readCursor(database, name))!.sequence
    },
    advance: (name, sequence) => store(name, sequence, me),
    release: async (name, sequence) => {
      if (!mine.delete(name)) return
      await store(name, sequence, null)
    },
    close: () => {
      clearInterval(timer)
      owners.close()
    },
  }
}

async function readCursor(database: MainConnection, name: string): Promise<CursorRow | undefined> {
  const [row] = await database.rows<CursorRow>(sql`select sequence, owner, beat from ${table} where name = ${name}`)
  return row
}

async function registerListeners(
  database: MainConnection,
  writer: WriteDatabase,
  names: readonly string[],
  last: number,
): Promise<ReadonlyMap<string, number>> {
  const rows = await database.rows<{ name: string; sequence: number }>(sql`select name, sequence from ${table}`)
  const cursors = new Map(rows.map(({ name, sequence }) => [name, sequence]))
  const missing = names.filter((name) => !cursors.has(name))
  for (const name of missing) cursors.set(name, last)
  if (missing.length > 0) {
    await writer.transaction(async (transaction) => {
      for (const name of missing)
        transaction.follow(insertMissing('octavo_listener_cursors', ['name', 'sequence', 'beat'], sql`values (${name}, ${last}, 0)`))
    })
  }
  return cursors
}
