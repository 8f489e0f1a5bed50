// Removes Octavo from a server's database: tables, indexes and permissions. PostgreSQL does it in one transaction; on MySQL, repeating the
// command continues an interrupted removal.
import { ConfigError } from '../../foundation/errors/errors.js'
import { pause } from '../../foundation/runtime/clock.js'
import { isOctavoTable } from '../../model/tables/octavo-tables.js'
import { quoted } from '../../model/tables/table.js'
import { permissionTables, type Uninstallation } from '../driver.js'

/** The statements that depend on the server. */
export interface UninstallParts {
  /** Selects the names of all tables. */
  readonly tables: string
  /** Selects (index, table) of Octavo's indexes on other tables. */
  readonly indexes: string
  /** Other open connections, as the end of a `select`; and the error message. */
  readonly connected: string
  readonly connectedProblem: string
  begin(waitMs: number): string
  readonly commit: string
  dropIndex(name: string, table: string): string
  isLockWait(error: unknown): boolean
  readonly inUseProblem: string
}

type RunStatement = (text: string) => Promise<readonly (readonly unknown[])[]>

interface UninstallOptions {
  readonly actions: readonly string[]
  /** Lock timeout in milliseconds. */
  readonly wait: number
  close(): Promise<void>
}

/** Nothing is changed before `remove`. */
export function openUninstallation(query: RunStatement, parts: UninstallParts, { actions, wait, close }: UninstallOptions): Uninstallation {
  const count = async (from: string): Promise<number> => Number((await query(`select count(*) from ${from}`))[0]![0])
  const isOurs = `action in (${['null', ...actions.map((action) => `'${action.replaceAll("'", "''")}'`)].join(', ')})`

  /** The names of Octavo's objects, and the existing permission tables. */
  async function findObjects() {
    const tables = (await query(parts.tables)).flat() as readonly string[]
    const indexes = (await query(parts.indexes)) as readonly (readonly [name: string, table: string])[]
    return { tables: tables.filter(isOctavoTable), indexes, permissions: permissionTables.filter((table) => tables.includes(table)) }
  }

  return {
    find: async () => {
      const { tables, indexes, permissions } = await findObjects()
      const counts = new Map<string, number>()
      for (const name of tables) counts.set(name, await count(quoted(name)))
      let granted = 0
      for (const table of permissions) granted += await count(`${table} where ${isOurs}`)
      return { tables: counts, indexes: indexes.map(([name]) => name), permissions: granted, others: [] }
    },
    remove: async (report) => {
      await refuseOthers(() => count(parts.connected), parts.connectedProblem)
      await query(parts.begin(wait))
      try {
        const { tables, indexes, permissions } = await findObjects()
        for (const table of permissions) await query(`delete from ${table} where ${isOurs}`)
        for (const [name, table] of indexes) {
          report(name)
          await query(parts.dropIndex(name, table))
        }
        for (const name of tables) {
          report(name)
          await query(`drop table ${quoted(name)}`)
        }
        await query(parts.commit)
      } catch (error) {
        await query('rollback').catch(() => {})
        throw parts.isLockWait(error) ? new ConfigError(parts.inUseProblem) : error
      }
    },
    close,
  }
}

/** Time limit for other connections to close, and interval of the checks. */
const patienceMs = 2_000
const intervalMs = 100

/** @throws ConfigError if other connections are still open */
async function refuseOthers(countOthers: () => Promise<number>, problem: string): Promise<void> {
  // A connection that was just closed may still be listed.
  for (let waited = 0; waited < patienceMs && (await countOthers()) > 0; waited += intervalMs) await pause(intervalMs)
  if ((await countOthers()) > 0) throw new ConfigError(problem)
}
