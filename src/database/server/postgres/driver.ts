// The driver of PostgreSQL.
import type { Model } from '../../../model/schema/types.js'
import type { FillDatabase } from '../../database.js'
import type { Driver, FillRows } from '../../driver.js'
import { createIndexes } from './indexes.js'
import { leavingPostgres } from './leaving.js'
import { openPostgresDatabase, openPostgresForCommand } from './open.js'
import { postgresReplacement, postgresRows } from './project-rows.js'
import { placeOf, reach } from './reach.js'
import { lockPostgres } from './start-lock.js'
import { lookIntoPostgres, snapshotOfPostgres } from './view.js'

/** `firstRows`: what fills a new database with the first content of a model. */
export const postgresDriver = (firstRows: (locale: string, model: Model, fill: FillDatabase) => FillRows): Driver => ({
  exists: () => true,
  nameOf: ({ database }) => placeOf(database.server!),
  // A server's database is there or cannot be reached.
  refuseLost: () => {},
  refuseEmptied: () => {},
  faultOf: () => null,
  open: (config, model, host) => openPostgresDatabase(config, model, host, firstRows(config.initialLocale, model, host.fill)),
  openForCommand: (config, model, fill) => openPostgresForCommand(config, model, firstRows(config.initialLocale, model, fill)),
  lookInto: lookIntoPostgres,
  snapshotOf: snapshotOfPostgres,
  rows: postgresRows,
  fileSnapshot: null,
  replacement: (config, model, fill) => postgresReplacement(config, model, firstRows(config.initialLocale, model, fill)),
  leaving: leavingPostgres,
  createMissingIndexes: async (config, model, report) => {
    const { small, close } = await reach(config)
    try {
      return await createIndexes(small, { model, nullsFirst: config.database.nullsFirst }, ({ name }, done, missing) =>
        report(name, done, missing),
      )
    } finally {
      await close()
    }
  },
  lock: lockPostgres,
})
