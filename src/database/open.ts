// The one door to a project's database: which driver it is opened with is decided here.
import type { Config } from '../foundation/config/config.js'
import type { DatabaseClient } from '../foundation/config/database-client.js'
import { onceDone } from '../foundation/runtime/once-done.js'
import type { Driver } from './driver.js'
import { firstRows } from './first-rows.js'

/** Only what the configured database needs is loaded: the clients of servers cost a start more than its own code. */
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

/** The driver of the configured database. */
export const driverOf = ({ database: { client } }: Config): Promise<Driver> => drivers[client]()
