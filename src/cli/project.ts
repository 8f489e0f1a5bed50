// A project opened for a command that reads and writes a few rows beside a service that may be running.
import { existsSync, mkdirSync } from 'node:fs'
import type { Database } from 'better-sqlite3'
import { type Config, loadConfig } from '../config.js'
import type { DirectDatabase, WriteDatabase } from '../database/database.js'
import { openDirect } from '../database/direct.js'
import { createOwnTables } from '../database/own-tables.js'
import { openSqlite } from '../database/sqlite.js'
import { openWriter } from '../database/writer.js'
import { ConfigError } from '../errors.js'
import { loadModel } from '../model/load.js'
import type { Model } from '../model/types.js'
import { checkProject, keepSecrets } from './folder.js'

export interface Project {
  readonly config: Config
  readonly model: Model
  readonly database: DirectDatabase
  readonly writer: WriteDatabase
}

/**
 * Opens the project in `folder`, does `work`, closes it again. A project that was never started gets its database and its
 * secrets first, as a start would give them.
 * @throws ConfigError for a folder that is no project, or has a database and no secrets.
 */
export async function withProject<Result>(folder: string, work: (project: Project) => Promise<Result>): Promise<Result> {
  const config = await loadConfig(folder)
  checkProject(config.folder)
  const isNew = !existsSync(config.database.filename)
  const missing = Object.keys(config.missingSecrets)
  if (missing.length > 0 && !isNew) throw new ConfigError(`${missing.join(' and ')} is not set. Set it in the environment or in .env.`)
  const model = await loadModel(config.folder, config.privateAttributes)
  const connection = openSqlite(config.database)
  const { writeQueue, writeTimeout } = config.limits
  // A command that cannot write says so by the error of its write.
  const writer = openWriter({ sqlite: config.database, signing: null, writeQueue, writeTimeout }, () => {})
  try {
    if (isNew) await prepareNew(config, connection, model)
    createOwnTables(connection)
    return await work({ config, model, database: openDirect(connection), writer })
  } finally {
    await writer.close()
    connection.close()
  }
}

/** Standard output belongs to the command: what is made on the way is told on standard error. */
async function prepareNew(config: Config, connection: Database, model: Model): Promise<void> {
  process.stderr.write(keepSecrets(config.folder, config.missingSecrets))
  mkdirSync(config.uploadsFolder, { recursive: true })
  const { prepareProject } = await import('../service.js')
  await prepareProject(config, connection, model, { info: () => {}, warn: () => {} })
  process.stderr.write(`Made the database ${config.database.filename}.\n`)
}

export const print = (line: string): void => void process.stdout.write(`${line}\n`)

/** A table of plain text: columns as wide as their longest entry. */
export function printTable(head: readonly string[], rows: readonly (readonly string[])[]): void {
  const widths = head.map((title, index) => Math.max(title.length, ...rows.map((row) => row[index]!.length)))
  for (const row of [head, ...rows])
    print(
      row
        .map((cell, index) => cell.padEnd(widths[index]!))
        .join('  ')
        .trimEnd(),
    )
}

/** A moment as people write it; a dash for none. */
export const moment = (milliseconds: number | null): string =>
  milliseconds === null ? '-' : new Date(Number(milliseconds)).toISOString().slice(0, 16).replace('T', ' ')
