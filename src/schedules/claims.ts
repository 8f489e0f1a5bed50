// Which process runs a schedule, and for which time it ran last: rows that are changed only by whoever has seen their last state.
import { type RawBuilder, sql } from 'kysely'
import type { MainConnection, WriteDatabase } from '../database/database.js'
import { insertMissing, same } from '../database/fragments.js'
import type { Owners } from '../runtime/owners.js'

/** What a claim led to. `done`: another process took this time or a later one. `busy`: a former run still goes on. */
export type ClaimOutcome = 'mine' | 'after a lost run' | 'done' | 'busy'

/** The claims of this process. */
export interface ScheduleClaims {
  /** Adds schedules that were never there; for them, time begins at `now`. Resolves to the last time of each. */
  register(names: readonly string[], now: number): Promise<ReadonlyMap<string, number>>
  /** Claims a time of a schedule for this process. */
  claim(name: string, time: number): Promise<ClaimOutcome>
  /** Passes a time while this process runs the schedule for a former one. */
  pass(name: string, time: number): Promise<void>
  /** Shows a sign of life for a schedule that this process runs; false: another process has taken it over. */
  beat(name: string): Promise<boolean>
  /** Ends the run of this process. */
  release(name: string): Promise<void>
}

interface ScheduleRow {
  readonly name: string
  /** Milliseconds since 1970. */
  readonly last_time: number
  readonly owner: string | null
  readonly beat: number
}

const table = sql.table('octavo_schedules')

/** Opens the claims of a process. */
export function openClaims(database: MainConnection, writer: WriteDatabase, owners: Owners): ScheduleClaims {
  const { me } = owners

  /** Executes a statement that writes to no document; true if it has changed the row of a schedule. */
  const hasChanged = (statement: RawBuilder<unknown>): Promise<boolean> =>
    writer.transaction(async (transaction) => {
      transaction.history.touchesOneDocument()
      return (await transaction.run(statement)).rows === 1
    })

  const read = (names: readonly string[]): Promise<readonly ScheduleRow[]> =>
    database.rows<ScheduleRow>(sql`select name, last_time, owner, beat from ${table} where name in (${sql.join(names)})`)

  return {
    register: async (names, now) => {
      const known = await read(names)
      const missing = names.filter((name) => !known.some((row) => row.name === name))
      if (missing.length > 0) {
        await writer.transaction(async (transaction) => {
          transaction.history.touchesOneDocument()
          for (const name of missing)
            transaction.follow(insertMissing('octavo_schedules', ['name', 'last_time', 'beat'], sql`values (${name}, ${now}, 0)`))
        })
      }
      return new Map((missing.length === 0 ? known : await read(names)).map(({ name, last_time }) => [name, Number(last_time)]))
    },
    claim: async (name, time) => {
      const [row] = await read([name])
      if (row === undefined || Number(row.last_time) >= time) return 'done'
      const { owner, beat } = row
      if (owner !== null && (owner === me || !owners.hasExpired(name, owner, beat))) return 'busy'
      const isMine = await hasChanged(sql`update ${table} set last_time = ${time}, owner = ${me}, beat = beat + 1
        where name = ${name} and ${same(sql`owner`, owner)} and beat = ${beat} and last_time < ${time}`)
      if (!isMine) return 'done'
      return owner === null ? 'mine' : 'after a lost run'
    },
    pass: async (name, time) => {
      await hasChanged(sql`update ${table} set last_time = ${time} where name = ${name} and owner = ${me} and last_time < ${time}`)
    },
    beat: (name) => hasChanged(sql`update ${table} set beat = beat + 1 where name = ${name} and owner = ${me}`),
    release: async (name) => {
      await hasChanged(sql`update ${table} set owner = null, beat = beat + 1 where name = ${name} and owner = ${me}`)
    },
  }
}
