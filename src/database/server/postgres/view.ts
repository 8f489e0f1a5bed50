// Looks into a PostgreSQL database, and changes nothing in it.
import type { Config } from '../../../foundation/config/config.js'
import type { DatabaseView } from '../../database.js'
import type { Queryable } from './catalog.js'
import { onConnection } from './connection.js'
import { beginSnapshot, inspectPostgres } from './inspection.js'
import { type Lend, openMainConnection } from './main-connection.js'
import { isUnprepared } from './prepare-database.js'
import { type Reached, reach } from './reach.js'
import { declaredColumnsOf, findSchemaMismatches } from './schema-mismatches.js'

/** `connection`: what tells of the database; `lend`: lends what reads it. */
function viewOf({ small, statements }: Reached, connection: Queryable, lend: Lend, close: () => Promise<void>): DatabaseView {
  return {
    ...inspectPostgres(connection),
    main: openMainConnection(lend, statements),
    isEmpty: () => isUnprepared(small),
    mismatches: (model) => findSchemaMismatches(small, model),
    declaredColumns: () => declaredColumnsOf(small),
    close,
  }
}

/** Opens the database for a few reads. */
export async function lookIntoPostgres(config: Config): Promise<DatabaseView> {
  const reached = await reach(config)
  return viewOf(reached, reached.small, (work) => onConnection(reached.small, work), reached.close)
}

/** Opens the database for reads that all belong to one snapshot. */
export async function snapshotOfPostgres(config: Config, longest?: number): Promise<DatabaseView> {
  const reached = await reach(config)
  const client = await reached.small.connect()
  if (longest !== undefined) await client.query(`set statement_timeout = ${Math.ceil(longest)}`)
  const snapshot = await beginSnapshot(client)
  return viewOf(
    reached,
    snapshot,
    (work) => work(snapshot),
    async () => {
      client.release(true)
      await reached.close()
    },
  )
}
