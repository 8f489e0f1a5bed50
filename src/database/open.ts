// Loads the driver of the configured database.
import type { Config } from '../foundation/config/config.js'
import type { DatabaseClient } from '../foundation/config/database.js'
import { onceDone } from '../foundation/runtime/coalesce.js'
import { newDocumentId } from '../model/schema/names.js'
import type { Model } from '../model/schema/types.js'
import type { FillDatabase } from './database.js'
import type { Driver, WriteFirstRows } from './driver.js'
import { firstContents } from './sqlite/prepare-database.js'
import { sqliteSource } from './sqlite/rows.js'
import { copyFirstRows } from './transfer/copy.js'

/** Drivers are loaded on demand: a server's client takes longer to load than the rest of the service. */
const load: Readonly<Record<DatabaseClient, () => Promise<Driver>>> = {
  sqlite: async () => (await import('./sqlite/driver.js')).sqliteDriver,
  postgres: async () => (await import('./server/postgres/driver.js')).postgresDriver(firstRows),
  mysql: async () => (await import('./server/mysql/driver.js')).mysqlDriver(firstRows),
}

const drivers: Readonly<Record<DatabaseClient, () => Promise<Driver>>> = {
  sqlite: onceDone(load.sqlite),
  postgres: onceDone(load.postgres),
  mysql: onceDone(load.mysql),
}

export const getDriver = ({ database: { client } }: Config): Promise<Driver> => drivers[client]()

/** Fills a new server database with a model's first content, which is created in memory. `locale`: the default locale. */
export const firstRows =
  (locale: string, model: Model, fill: FillDatabase): WriteFirstRows =>
  async (target) => {
    const memory = await firstContents(model, { now: new Date(), newDocumentId, locale }, fill)
    try {
      await copyFirstRows(
        sqliteSource(memory, 'the first content', () => {}),
        target,
      )
    } finally {
      memory.close()
    }
  }
