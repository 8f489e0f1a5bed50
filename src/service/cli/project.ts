// Opens a project for a command that reads or writes a few rows, possibly while a service runs on the same database.
import { type DatabaseView, hasColumns, type MainConnection, type WriteDatabase } from '../../database/database.js'
import { driverOf } from '../../database/open.js'
import type { Config } from '../../foundation/config/config.js'
import { signOfStrapi } from '../../foundation/config/files.js'
import { ConfigError } from '../../foundation/errors/errors.js'
import { commandLine } from '../../foundation/runtime/command-line.js'
import { terminalLines, terminalText } from '../../foundation/runtime/terminal-text.js'
import type { Model } from '../../model/schema/types.js'
import { seedLoader } from '../../operations/seed/loader.js'
import { onDatabase } from './explain-error.js'
import { readProjectFolder } from './project-folder.js'
import { ensureSecrets, reportCreated } from './secrets.js'

/** A project opened for a command. */
export interface Project {
  readonly config: Config
  readonly model: Model
  readonly database: MainConnection
  readonly writer: WriteDatabase
}

/**
 * Opens the project in `folder`, runs `work`, which may write, and closes it. A project that was never started first gets its database
 * and secrets, as `octavo start` would create them.
 * @throws ConfigError if the folder is not a project or its database was lost
 */
export async function withProject<Result>(folder: string, work: (project: Project) => Promise<Result>): Promise<Result> {
  const { config, model } = await readProjectFolder(folder, refuseLost)
  return onDatabase(config, () => withDatabase(config, model, work))
}

async function withDatabase<Result>(given: Config, model: Model, work: (project: Project) => Promise<Result>): Promise<Result> {
  const driver = await driverOf(given)
  const isNew = !driver.exists(given)
  const saved = await ensureSecrets(given)
  const { config } = saved
  // Standard output belongs to the command, so what is created on the way is reported on standard error.
  process.stderr.write(reportCreated(saved))
  const { main, writes, close } = await driver.openForCommand(config, model, seedLoader(config, model, driver.nameOf(config)))
  if (isNew) process.stderr.write(`Created the database ${driver.nameOf(config)}.\n`)
  try {
    return await work({ config, model, database: main, writer: writes })
  } finally {
    await close()
  }
}

/**
 * Opens the project in `folder` for `work` that only reads. Creates no files.
 * @throws ConfigError if the folder is not a project or has no database yet
 */
export async function lookIntoProject<Result>(
  folder: string,
  work: (project: Omit<Project, 'writer'>) => Promise<Result>,
): Promise<Result> {
  const { config, model } = await readProjectFolder(folder, checkDatabase)
  return onDatabase(config, async () => {
    const driver = await driverOf(config)
    const view = await driver.lookInto(config)
    try {
      await checkPrepared(view, config, folder)
      return await work({ config, model, database: view.main })
    } finally {
      await view.close()
    }
  })
}

/** The same for what only Octavo's own tables have. @throws ConfigError if no service of Octavo has been started on the database */
export const lookIntoStarted = <Result>(folder: string, work: (project: Omit<Project, 'writer'>) => Promise<Result>): Promise<Result> =>
  lookIntoProject(folder, async (project) => {
    if (await hasColumns(project.database, 'octavo_model_history')) return work(project)
    const database = (await driverOf(project.config)).nameOf(project.config)
    throw new ConfigError(
      `Octavo has not been started on the database ${database} yet. Start the service once: ${commandLine('start', folder)}`,
    )
  })

/** @throws ConfigError if there is no database; where the project had one, it is what a start says */
export async function checkDatabase(config: Config, folder: string): Promise<void> {
  await refuseLost(config)
  const driver = await driverOf(config)
  if (!driver.exists(config))
    throw new ConfigError(`There is no database at ${driver.nameOf(config)} yet. Start the service once: ${commandLine('start', folder)}`)
}

/** @throws ConfigError if the project had a database that is not there any more */
export const refuseLost = async (config: Config): Promise<void> => (await driverOf(config)).refuseLost(config, strapiEvidence(config))

/** @throws ConfigError if the database has no tables: its first start did not finish, or it lost its content */
export async function checkPrepared(view: DatabaseView, config: Config, folder: string): Promise<void> {
  if (!(await view.isEmpty())) return
  const driver = await driverOf(config)
  driver.refuseEmptied(config)
  if ((await view.tables()).names.length > 0)
    throw new ConfigError(
      `Octavo has not been started on the database ${driver.nameOf(config)} yet. Its tables are of another program: what a start says about them tells whether it can be used.`,
    )
  throw new ConfigError(`The database ${driver.nameOf(config)} is empty. Start the service once: ${commandLine('start', folder)}`)
}

/** Evidence, other than Octavo's own files, that a project without a database had one; null if there is none. */
function strapiEvidence({ folder, database }: Config): string | null {
  const sign = signOfStrapi(folder)
  if (sign === null) return null
  return `${sign}, so the project has one${database.problem === null ? '' : ` (${database.problem})`}`
}

/** Prints a line to standard output, or several. */
export const print = (line: string): void => void process.stdout.write(`${terminalLines(line)}\n`)

/** Options of commands that list something. */
export interface ListOptions {
  /** Prints JSON, for scripts. */
  readonly json?: boolean
}

/** Prints a value as JSON. */
export const printJson = (value: unknown): void => print(JSON.stringify(value, null, 2))

/** Prints a plain-text table with columns as wide as their longest entry. */
export function printTable(head: readonly string[], rows: readonly (readonly string[])[]): void {
  const shown = rows.map((row) => row.map(terminalText))
  const widths = head.map((title, index) => Math.max(title.length, ...shown.map((row) => row[index]!.length)))
  for (const row of [head, ...shown])
    print(
      row
        .map((cell, index) => cell.padEnd(widths[index]!))
        .join('  ')
        .trimEnd(),
    )
}

/** Formats a time to the minute; a dash for null. */
export const moment = (milliseconds: number | null): string =>
  milliseconds === null ? '-' : new Date(Number(milliseconds)).toISOString().slice(0, 16).replace('T', ' ')
