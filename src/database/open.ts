// The one door to a project's database: which driver it is opened with is decided here.
import type { Config } from '../config/config.js'
import type { DatabaseClient } from '../config/database-server.js'
import type { Driver } from './driver.js'
import { mysqlDriver } from './mysql/driver.js'
import { firstRows } from './open-rows.js'
import { postgresDriver } from './postgres/driver.js'
import { sqliteDriver } from './sqlite/driver.js'

const drivers: Readonly<Record<DatabaseClient, Driver>> = {
  sqlite: sqliteDriver,
  postgres: postgresDriver(firstRows),
  mysql: mysqlDriver(firstRows),
}

/** The driver of the configured database. */
export const driverOf = ({ database }: Config): Driver => drivers[database.client]
