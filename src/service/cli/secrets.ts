// Generates missing secrets of a project once, in the first of its processes, and saves them in its .env.

import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { DatabaseLock } from '../../database/database.js'
import { startTimeoutMs } from '../../database/limits.js'
import { getDriver } from '../../database/open.js'
import type { Config } from '../../foundation/config/config.js'
import { dotEnvOf, generatedSecretsLine, readDotEnv } from '../../foundation/config/files.js'
import { ConfigError } from '../../foundation/errors/errors.js'
import { withoutMark } from '../../foundation/runtime/file-operations.js'

const privateFile = 0o600
/** Masks of a mode. */
const ownerAndGroup = 0o770
const others = 0o007

interface SavedSecrets {
  /** The configuration with all secrets. */
  readonly config: Config
  /** Names of the generated secrets. */
  readonly made: readonly string[]
}

/**
 * Saves secrets that are neither in the environment nor in .env to .env, so that tokens stay valid after a restart. The database lock
 * serializes concurrent processes; the file of a new database exists afterwards.
 * @throws ConfigError if .env cannot be written, or if the database has tokens that a new salt would invalidate
 */
export async function ensureSecrets(config: Config): Promise<SavedSecrets> {
  const names = Object.keys(config.missingSecrets)
  if (names.length === 0) return { config, made: [] }
  const driver = await getDriver(config)
  const lock = await driver.lock(config, startTimeoutMs)
  try {
    const present = readDotEnv(config.folder)
    const made = names.filter((name) => present[name] === undefined)
    if (made.includes('API_TOKEN_SALT')) await checkTokens(lock)
    const values = Object.fromEntries(made.map((name) => [name, config.missingSecrets[name]!]))
    if (made.length > 0) addToDotEnv(config.folder, values)
    const { API_TOKEN_SALT = config.secrets.apiTokenSalt, JWT_SECRET = config.secrets.jwtSecret } = { ...values, ...pick(present, names) }
    return {
      config: { ...config, secrets: { ...config.secrets, apiTokenSalt: API_TOKEN_SALT, jwtSecret: JWT_SECRET }, missingSecrets: {} },
      made,
    }
  } finally {
    await lock.release()
  }
}

/** Names the generated secrets in a line; empty if there are none. */
export const reportCreated = ({ made }: SavedSecrets): string =>
  made.length === 0 ? '' : `Generated ${made.join(' and ')} and saved them in .env.\n`

const pick = (from: Readonly<Record<string, string | undefined>>, names: readonly string[]) =>
  Object.fromEntries(names.flatMap((name) => (from[name] === undefined ? [] : [[name, from[name]]])))

/** Refuses a new salt that would invalidate existing API tokens, whose keys are hashed with it. */
async function checkTokens(lock: DatabaseLock): Promise<void> {
  const tokens = await lock.countTokens()
  if (tokens > 0)
    throw new ConfigError(
      `API_TOKEN_SALT is not set, but the database has ${tokens} API tokens that are only valid with the salt they were created with. Set it in the environment or in .env. If it is lost, set a new one (openssl rand -hex 24) and create the tokens again.`,
    )
}

/** Atomically sets variables in .env that have no value. */
function addToDotEnv(folder: string, values: Readonly<Record<string, string>>): void {
  const path = existsSync(dotEnvOf(folder)) ? realpathSync(dotEnvOf(folder)) : dotEnvOf(folder)
  try {
    replaceFile(path, withValues(existsSync(path) ? withoutMark(readFileSync(path, 'utf8')) : '', values))
  } catch (error) {
    throw new ConfigError(
      `Cannot write .env (${(error as Error).message}). Make it writable, or set ${Object.keys(values).join(' and ')} in the environment.`,
    )
  }
}

/** Sets each variable: on its own line if that has no value, else at the end. */
function withValues(text: string, values: Readonly<Record<string, string>>): string {
  let changed = text
  const added: string[] = []
  for (const [name, value] of Object.entries(values)) {
    const empty = new RegExp(`^([ \\t]*(?:export[ \\t]+)?${name}[ \\t]*=)[ \\t]*(?:(?:""|'')[ \\t]*|#.*)?$`, 'm')
    if (empty.test(changed)) changed = changed.replace(empty, (_, start: string) => `${start}${value}`)
    else added.push(`${name}=${value}\n`)
  }
  const end = changed === '' || changed.endsWith('\n') ? '' : '\n'
  return `${changed}${end}${generatedSecretsLine}\n${added.join('')}`
}

/** Removes temporary files of processes that were killed before the rename to `path`. */
function removeTemporaryFiles(path: string): void {
  const [folder, name] = [dirname(path), basename(path)]
  for (const other of readdirSync(folder))
    if (other.startsWith(`${name}.`) && /^[0-9a-f]{12}$/.test(other.slice(name.length + 1))) rmSync(join(folder, other))
}

/**
 * Copies the permissions of a replaced file, except those of others. As root, preserves its owner; a new file, or one that others could
 * read, gets the owner of the folder, who must be able to read it.
 */
function keepRights(file: string, former: Stats | null): void {
  if (former !== null) chmodSync(file, former.mode & ownerAndGroup)
  if (process.getuid?.() !== 0) return
  const isPrivate = former !== null && (former.mode & others) === 0
  const { uid, gid } = isPrivate ? former : statSync(dirname(file))
  chownSync(file, uid, gid)
}

function replaceFile(path: string, text: string): void {
  removeTemporaryFiles(path)
  const next = `${path}.${randomBytes(6).toString('hex')}`
  try {
    const file = openSync(next, 'wx', privateFile)
    try {
      writeSync(file, text)
      fsyncSync(file)
    } finally {
      closeSync(file)
    }
    keepRights(next, existsSync(path) ? statSync(path) : null)
    renameSync(next, path)
  } catch (error) {
    rmSync(next, { force: true })
    throw error
  }
  // The rename is durable only after the folder is synced; some file systems do not permit opening a folder.
  try {
    const folder = openSync(dirname(path), 'r')
    fsyncSync(folder)
    closeSync(folder)
  } catch {}
}
