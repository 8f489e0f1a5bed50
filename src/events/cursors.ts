// How far each listener has been told, kept in the database: events that were recorded are told also after a kill. One process at a
// time tells a listener; whoever is gone, or shows no sign of life, loses it to the next.
import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { sql } from 'kysely'
import type { MainConnection, WriteDatabase } from '../database/database.js'
import { insertMissing, same } from '../database/fragments.js'
import { elapsed } from '../runtime/clock.js'

export interface ListenerCursors {
  /** Gives listeners that were never there their place: after `last`, since they are not told of the past. Resolves to all places. */
  enter(names: readonly string[], last: number): Promise<ReadonlyMap<string, number>>
  /** Takes a listener over for this process; its place, or null while another process tells it. */
  claim(name: string): Promise<number | null>
  /** Keeps how far the listener has been told; false where another process has taken it over. */
  advance(name: string, sequence: number): Promise<boolean>
  /** The same, and leaves the listener to whoever comes next. */
  release(name: string, sequence: number): Promise<void>
  close(): void
}

interface Place {
  readonly sequence: number
  readonly owner: string | null
  readonly beat: number
}

/** The owners of this process that are still at work. */
const living = new Set<string>()
const table = sql.table('octavo_listener_cursors')
/** How often a process that tells shows that it is alive, and after how long without that it counts as gone; milliseconds. */
const [interval, silence] = [5_000, 30_000]

export function openListenerCursors(database: MainConnection, writer: WriteDatabase, failed: (error: unknown) => void): ListenerCursors {
  const me = `${hostname()} ${process.pid} ${randomUUID()}`
  living.add(me)
  const mine = new Set<string>()
  /** What was seen of others, and when first, by the clock of this process. */
  const seen = new Map<string, { readonly owner: string; readonly beat: number; readonly at: number }>()

  const placeOf = async (name: string): Promise<Place | undefined> =>
    (await database.rows<Place>(sql`select sequence, owner, beat from ${table} where name = ${name}`))[0]

  function isGone(name: string, owner: string, beat: number): boolean {
    if (hasEnded(owner)) return true
    const before = seen.get(name)
    if (before?.owner === owner && before.beat === beat) return elapsed() - before.at > silence
    seen.set(name, { owner, beat, at: elapsed() })
    return false
  }

  const update = (name: string, sequence: number, owner: string | null): Promise<number> =>
    writer.transaction(async (transaction) => {
      transaction.generation.keep()
      const { rows } = await transaction.run(
        sql`update ${table} set sequence = ${sequence}, owner = ${owner}, beat = beat + 1 where name = ${name} and owner = ${me}`,
      )
      return rows
    })

  const timer = setInterval(() => {
    if (mine.size > 0) writer.run(sql`update ${table} set beat = beat + 1 where owner = ${me}`).catch(failed)
  }, interval)
  timer.unref()

  return {
    enter: async (names, last) => {
      const rows = await database.rows<{ name: string; sequence: number }>(sql`select name, sequence from ${table}`)
      const known = new Map(rows.map(({ name, sequence }) => [name, sequence]))
      const missing = names.filter((name) => !known.has(name))
      for (const name of missing) known.set(name, last)
      if (missing.length > 0) {
        await writer.transaction(async (transaction) => {
          for (const name of missing)
            transaction.follow(insertMissing('octavo_listener_cursors', ['name', 'sequence', 'beat'], sql`values (${name}, ${last}, 0)`))
        })
      }
      return known
    },
    claim: async (name) => {
      const place = await placeOf(name)
      if (place === undefined) return null
      const { owner, beat } = place
      if (owner !== null && owner !== me && !isGone(name, owner, beat)) return null
      const isMine = await writer.transaction(async (transaction) => {
        transaction.generation.keep()
        const claimed = await transaction.run(
          sql`update ${table} set owner = ${me}, beat = beat + 1 where name = ${name} and ${same(sql`owner`, owner)} and beat = ${beat}`,
        )
        return claimed.rows === 1
      })
      if (!isMine) return null
      mine.add(name)
      return (await placeOf(name))!.sequence
    },
    advance: async (name, sequence) => (await update(name, sequence, me)) === 1,
    release: async (name, sequence) => {
      if (!mine.delete(name)) return
      await update(name, sequence, null)
    },
    close: () => {
      clearInterval(timer)
      living.delete(me)
    },
  }
}

/** True for a process of this machine that is known to have ended; another one with its number may be this very one. */
function hasEnded(owner: string): boolean {
  const [host, pid] = owner.split(' ')
  if (host !== hostname()) return false
  if (Number(pid) === process.pid) return !living.has(owner)
  try {
    process.kill(Number(pid), 0)
    return false
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH'
  }
}
