// The driver of SQLite.
import { existsSync } from 'node:fs'
import type { Driver } from '../driver.js'
import { faultOf } from './errors.js'
import { leavingSqlite } from './leaving.js'
import { createSqliteIndexes, lockSqlite, lookIntoSqlite, openSqliteDatabase, openSqliteForCommand, snapshotOfSqlite } from './open.js'
import { refuseEmptiedDatabase, refuseLostDatabase } from './project-file.js'
import { sqliteFileSnapshot, sqliteReplacement } from './project-rows.js'

export const sqliteDriver: Driver = {
  exists: ({ database }) => existsSync(database.filename),
  nameOf: ({ database }) => database.filename,
  refuseLost: refuseLostDatabase,
  refuseEmptied: refuseEmptiedDatabase,
  faultOf,
  open: openSqliteDatabase,
  openForCommand: openSqliteForCommand,
  lookInto: async (config) => lookIntoSqlite(config),
  snapshotOf: async (config) => snapshotOfSqlite(config),
  rows: async (config, _model, beforeSnapshot) => sqliteFileSnapshot(config, beforeSnapshot).rows,
  fileSnapshot: async (config, beforeSnapshot) => sqliteFileSnapshot(config, beforeSnapshot),
  replacement: sqliteReplacement,
  leaving: async (config, actions) => leavingSqlite(config, actions),
  createMissingIndexes: async (config, model, report) => createSqliteIndexes(config, model, report),
  lock: async (config, wait) => lockSqlite(config, wait),
}
