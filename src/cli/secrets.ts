// Secrets that a project lacks are made once and kept in its .env, whichever of its processes comes first.
import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { Config } from '../config/config.js'
import { dotEnvOf, madeLine, readDotEnv } from '../config/files.js'
import type { DatabaseLock } from '../database/database.js'
import { lockDatabase } from '../database/open.js'
import { ConfigError } from '../errors/errors.js'

const privateFile = 0o600

export interface Kept {
  /** The configuration with the secrets that the project has from now on. */
  readonly config: Config
  /** The names of the secrets that were made. */
  readonly made: readonly string[]
}

/**
 * Writes the secrets that neither the environment nor .env has to .env, so that tokens stay valid after a restart. The lock of the
 * database orders processes that do it at once; a new database's file is there afterwards.
 * @throws ConfigError where .env cannot be written, and where the database has tokens that a new salt would void
 */
export function keepSecrets(config: Config): Kept {
  const names = Object.keys(config.missingSecrets)
  if (names.length === 0) return { config, made: [] }
  const lock = lockDatabase(config, config.limits.startWait)
  try {
    const present = readDotEnv(config.folder)
    const made = names.filter((name) => present[name] === undefined)
    if (made.includes('API_TOKEN_SALT')) checkTokens(lock)
    const values = Object.fromEntries(made.map((name) => [name, config.missingSecrets[name]!]))
    if (made.length > 0) addToDotEnv(config.folder, values)
    const { API_TOKEN_SALT = config.secrets.apiTokenSalt, JWT_SECRET = config.secrets.jwtSecret } = { ...values, ...pick(present, names) }
    return { config: { ...config, secrets: { apiTokenSalt: API_TOKEN_SALT, jwtSecret: JWT_SECRET }, missingSecrets: {} }, made }
  } finally {
    lock.release()
  }
}

/** A line that says what was made, or nothing. */
export const reportCreated = ({ made }: Kept): string => (made.length === 0 ? '' : `Made ${made.join(' and ')} and kept them in .env.\n`)

const pick = (from: Readonly<Record<string, string | undefined>>, names: readonly string[]) =>
  Object.fromEntries(names.flatMap((name) => (from[name] === undefined ? [] : [[name, from[name]]])))

/** Keys of API tokens are hashed with the salt: with another one none of them is known any more. */
function checkTokens(lock: DatabaseLock): void {
  const tokens = lock.countTokens()
  if (tokens > 0)
    throw new ConfigError(
      `API_TOKEN_SALT is not set, and the database has ${tokens} API tokens that hold only with the one they were made with. Set it in the environment or in .env; if it is lost, set a new one: openssl rand -hex 24`,
    )
}

/** Sets names in .env that have no value there, in one step: a reader sees the file before or after, whole. */
function addToDotEnv(folder: string, values: Readonly<Record<string, string>>): void {
  const path = existsSync(dotEnvOf(folder)) ? realpathSync(dotEnvOf(folder)) : dotEnvOf(folder)
  try {
    replaceFile(path, withValues(existsSync(path) ? readFileSync(path, 'utf8') : '', values))
  } catch (error) {
    throw new ConfigError(
      `.env cannot be written (${(error as Error).message}). Make that possible, or set ${Object.keys(values).join(' and ')} in the environment.`,
    )
  }
}

/** The text with each name set: in its own line where that has no value, else at the end. */
function withValues(text: string, values: Readonly<Record<string, string>>): string {
  let changed = text
  const added: string[] = []
  for (const [name, value] of Object.entries(values)) {
    const empty = new RegExp(`^([ \\t]*(?:export[ \\t]+)?${name}[ \\t]*=)[ \\t]*(?:(?:""|'')[ \\t]*|#.*)?$`, 'm')
    if (empty.test(changed)) changed = changed.replace(empty, (_, start: string) => `${start}${value}`)
    else added.push(`${name}=${value}\n`)
  }
  const end = changed === '' || changed.endsWith('\n') ? '' : '\n'
  return `${changed}${end}${madeLine}\n${added.join('')}`
}

/** Files that were to take the place of `path` when the process that wrote them was killed. */
function removeHalfDone(path: string): void {
  const [folder, name] = [dirname(path), basename(path)]
  for (const other of readdirSync(folder))
    if (other.startsWith(`${name}.`) && /^[0-9a-f]{12}$/.test(other.slice(name.length + 1))) rmSync(join(folder, other))
}

function replaceFile(path: string, text: string): void {
  removeHalfDone(path)
  const next = `${path}.${randomBytes(6).toString('hex')}`
  try {
    const file = openSync(next, 'wx', privateFile)
    try {
      writeSync(file, text)
      fsyncSync(file)
    } finally {
      closeSync(file)
    }
    if (existsSync(path)) chmodSync(next, statSync(path).mode & 0o777)
    renameSync(next, path)
  } catch (error) {
    rmSync(next, { force: true })
    throw error
  }
  // The name is on disk when its folder is; not every file system lets a folder be opened.
  try {
    const folder = openSync(dirname(path), 'r')
    fsyncSync(folder)
    closeSync(folder)
  } catch {}
}
