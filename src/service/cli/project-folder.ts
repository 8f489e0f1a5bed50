// The folder of a content project, and what its files say.
import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { refuseUnfinishedRestore } from '../../content/media/unfinished-restore.js'
import { type Config, loadConfig } from '../../foundation/config/config.js'
import { ConfigError } from '../../foundation/errors/errors.js'
import { commandLine } from '../../foundation/runtime/command-line.js'
import { loadModel } from '../../model/schema/load.js'
import { filesOnDisk } from '../../model/schema/schema-files.js'
import type { Model } from '../../model/schema/types.js'
import { withContractOfDatabase } from '../../project/contract.js'
import { openFields } from '../../project/fields.js'
import { calledCommand } from './called-command.js'
import { onDatabase } from './explain-error.js'

const projectMarkers = [
  'src/api',
  'src/components',
  'octavo.config.json',
  'octavo.config.js',
  'octavo.config.mjs',
  'octavo.config.cjs',
  'octavo.config.ts',
]

/** Refuses a folder that is not a project, before any file is created in it. @throws ConfigError */
export function checkProject(folder: string): void {
  if (isProject(folder)) return
  // A word of another command, such as the role in `octavo roles list public`, is taken for a folder.
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

/** What the files of a project say. */
export interface ProjectFiles {
  readonly config: Config
  readonly model: Model
}

/**
 * Reads the configuration and the model of the project in `folder`. `check`: refuses its database, before the model is read.
 * @throws ConfigError if the folder is not a project, its files are not right, or its database is refused
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

/** Loads the configuration for a command that uses no secrets; those that are missing are made up. */
export const loadWithoutSecrets = (folder: string): Promise<Config> => loadConfig(folder, null, () => randomBytes(24).toString('base64url'))

/** For commands that do not use the project's database. */
export const anyDatabase = (): void => {}
