// Opens a project for a command, possibly while a service uses the same database.
import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { refuseUnfinishedRestore } from '../../content/media/unfinished-restore.js'
import { type DatabaseView, hasColumns, type MainConnection, type WriteDatabase } from '../../database/database.js'
import { getDriver } from '../../database/open.js'
import { type Config, loadConfig } from '../../foundation/config/config.js'
import { signOfStrapi } from '../../foundation/config/files.js'
import { ConfigError } from '../../foundation/errors/errors.js'
import { formatAuditLine, openAuditOutput } from '../../foundation/runtime/audit-log.js'
import { commandLine } from '../../foundation/runtime/terminal.js'
import { loadModel } from '../../model/schema/load.js'
import { filesOnDisk } from '../../model/schema/schema-files.js'
import type { Model } from '../../model/schema/types.js'
import { seedLoader } from '../../operations/seed/loader.js'
import { withContractOfDatabase } from '../../project/contract.js'
import { openFields } from '../../project/fields.js'
import { auditedWrites } from '../audited-writes.js'
import { calledCommand } from './called-command.js'
import { onDatabase } from './explain-error.js'
import { ensureSecrets, reportCreated } from './secrets.js'

const projectMarkers = [
  'src/api',
  'src/components',
  'octavo.config.json',
  'octavo.config.js',
  'octavo.config.mjs',
  'octavo.config.cjs',
  'octavo.config.ts',
]

/** Refuses a folder that is not a project, before files are created in it. @throws ConfigError */
export function checkProject(folder: string): void {
  if (isProject(folder)) return
  // The word may be an argument, such as the role in `octavo roles list public`.
  const advice = isProject(process.cwd())
    ? `The current folder is one: leave out "${relative(process.cwd(), folder)}".`
    : `Pass the project's folder: ${commandLine(calledCommand(), null)}`
  throw new ConfigError(
    `${folder} is not a content project: it has none of ${projectMarkers.join(', ')}, and no package.json that depends on @strapi/strapi. ${advice}`,
  )
}

function isProject(folder: string): boolean {
  if (projectMarkers.some((path) => existsSync(join(folder, path)))) return true
  const packageFile = join(folder, 'package.json')
  return existsSync(packageFile) && readFileSync(packageFile, 'utf8').includes('"@strapi/strapi"')
}

interface ProjectFiles {
  readonly config: Config
  readonly model: Model
}

/**
 * Reads the configuration and the model of the project in `folder`. `check` may refuse the database before the model is read.
 * @throws ConfigError if the folder is not a project, its files are invalid, or its database is refused
 */
export async function readProjectFolder(
  folder: string,
  check: (config: Config, folder: string) => void | Promise<void>,
  load: (folder: string) => Promise<Config> = loadConfig,
): Promise<ProjectFiles> {
  const config = await withContractOfDatabase(await load(folder))
  checkProject(config.folder)
  refuseUnfinishedRestore(config)
  await check(config, folder)
  const fields = openFields(config, { isOptional: check === anyDatabase })
  return { config, model: await onDatabase(config, () => loadModel(config, filesOnDisk, fields)) }
}

/** Loads the configuration for a command that uses no secrets; missing ones are generated, but not saved. */
export const loadWithoutSecrets = (folder: string): Promise<Config> => loadConfig(folder, null, () => randomBytes(24).toString('base64url'))

/** For commands that do not use the project's database. */
export const anyDatabase = (): void => {}

export interface Project {
  readonly config: Config
  readonly model: Model
  readonly database: MainConnection
  readonly writer: WriteDatabase
}

/**
 * Runs `work`, which may write, on the opened project in `folder`. A project that was never started gets its database and secrets first, as
 * with `octavo start`.
 * @throws ConfigError if the folder is not a project or its database was lost
 */
export async function withProject<Result>(folder: string, work: (project: Project) => Promise<Result>): Promise<Result> {
  const { config, model } = await readProjectFolder(folder, refuseLost)
  return onDatabase(config, () => withDatabase(config, model, work))
}

async function withDatabase<Result>(given: Config, model: Model, work: (project: Project) => Promise<Result>): Promise<Result> {
  const driver = await getDriver(given)
  const isNew = !driver.exists(given)
  const saved = await ensureSecrets(given)
  const { config } = saved
  // Standard output belongs to the command, so side effects are reported on standard error.
  process.stderr.write(reportCreated(saved))
  const audit = config.auditLog === null ? null : await openAuditOutput(config.auditLog, auditFailures, printAuditLine)
  const { main, writes, close } = await driver.openForCommand(config, model, seedLoader(config, model, driver.getName(config)))
  if (isNew) process.stderr.write(`Created the database ${driver.getName(config)}.\n`)
  try {
    return await work({ config, model, database: main, writer: audit === null ? writes : auditedWrites(writes, audit.audit) })
  } finally {
    await close()
    await audit?.close()
  }
}

const report = (_details: object, message: string): void => void process.stderr.write(`octavo: ${message}\n`)
const printAuditLine = (line: object): void => void process.stderr.write(`${formatAuditLine(line)}\n`)
const auditFailures = { error: report, warn: report }

/**
 * Runs `work`, which only reads, on the opened project in `folder`. Creates no files.
 * @throws ConfigError if the folder is not a project or has no database yet
 */
export async function lookIntoProject<Result>(
  folder: string,
  work: (project: Omit<Project, 'writer'>) => Promise<Result>,
): Promise<Result> {
  const { config, model } = await readProjectFolder(folder, checkDatabase)
  return onDatabase(config, async () => {
    const driver = await getDriver(config)
    const view = await driver.openView(config)
    try {
      await checkPrepared(view, config, folder)
      return await work({ config, model, database: view.main })
    } finally {
      await view.close()
    }
  })
}

/** Like `lookIntoProject`, for data in Octavo's own tables. @throws ConfigError if Octavo was never started on the database */
export const lookIntoStarted = <Result>(folder: string, work: (project: Omit<Project, 'writer'>) => Promise<Result>): Promise<Result> =>
  lookIntoProject(folder, async (project) => {
    if (await hasColumns(project.database, 'octavo_model_history')) return work(project)
    const database = (await getDriver(project.config)).getName(project.config)
    throw new ConfigError(
      `Octavo has not been started on the database ${database} yet. Start the service once: ${commandLine('start', folder)}`,
    )
  })

/** @throws ConfigError if there is no database; if it was lost, with the message of a start */
export async function checkDatabase(config: Config, folder: string): Promise<void> {
  await refuseLost(config)
  const driver = await getDriver(config)
  if (!driver.exists(config))
    throw new ConfigError(`There is no database at ${driver.getName(config)} yet. Start the service once: ${commandLine('start', folder)}`)
}

/** @throws ConfigError if the project has lost its database */
export const refuseLost = async (config: Config): Promise<void> => (await getDriver(config)).refuseLost(config, strapiEvidence(config))

/** @throws ConfigError if the database has no tables: its first start did not finish, or its content was lost */
export async function checkPrepared(view: DatabaseView, config: Config, folder: string): Promise<void> {
  if (!(await view.isEmpty())) return
  const driver = await getDriver(config)
  driver.refuseEmptied(config)
  if ((await view.tables()).names.length > 0)
    throw new ConfigError(
      `Octavo has not been started on the database ${driver.getName(config)} yet. Its tables are of another program: a start reports if it can be used.`,
    )
  throw new ConfigError(`The database ${driver.getName(config)} is empty. Start the service once: ${commandLine('start', folder)}`)
}

/** Evidence other than Octavo's files that a project without a database had one; null if there is none. */
function strapiEvidence({ folder, database }: Config): string | null {
  const sign = signOfStrapi(folder)
  if (sign === null) return null
  return `${sign}, so the project has one${database.problem === null ? '' : ` (${database.problem})`}`
}
