// The driver of MySQL and MariaDB.
import type { Model } from '../../../model/schema/types.js'
import type { FillDatabase } from '../../database.js'
import type { Driver, FillRows } from '../../driver.js'
import { createIndexes } from './indexes.js'
import { leavingMysql } from './leaving.js'
import { openMysqlDatabase, openMysqlForCommand } from './open.js'
import { mysqlReplacement, mysqlRows } from './project-rows.js'
import { placeOf, reach } from './reach.js'
import { lockMysql } from './start-lock.js'
import { lookIntoMysql, snapshotOfMysql } from './view.js'

/** `firstRows`: what fills a new database with the first content of a model. */
export const mysqlDriver = (firstRows: (locale: string, model: Model, fill: FillDatabase) => FillRows): Driver => ({
  exists: () => true,
  nameOf: ({ database }) => placeOf(database.server!),
  // A server's database is there or cannot be reached.
  refuseLost: () => {},
  refuseEmptied: () => {},
  faultOf: () => null,
  open: (config, model, host) => openMysqlDatabase(config, model, host, firstRows(config.initialLocale, model, host.fill)),
  openForCommand: (config, model, fill) => openMysqlForCommand(config, model, firstRows(config.initialLocale, model, fill)),
  lookInto: lookIntoMysql,
  snapshotOf: snapshotOfMysql,
  rows: mysqlRows,
  fileSnapshot: null,
  replacement: (config, model, fill) => mysqlReplacement(config, model, firstRows(config.initialLocale, model, fill)),
  leaving: leavingMysql,
  createMissingIndexes: async (config, model, report) => {
    const { small, close } = await reach(config)
    try {
      return await createIndexes(small, model, ({ name }, done, missing) => report(name, done, missing))
    } finally {
      await close()
    }
  },
  lock: lockMysql,
})
