// Generates missing secrets of a project once, in the first of its processes, and saves them in its .env.

import { existsSync, readFileSync } from 'node:fs'
import type { DatabaseLock } from '../../database/database.js'
import { startTimeoutMs } from '../../database/limits.js'
import { getDriver } from '../../database/open.js'
import type { Config } from '../../foundation/config/config.js'
import { dotEnvOf, generatedSecretsLine, readDotEnv } from '../../foundation/config/files.js'
import { ConfigError } from '../../foundation/errors/errors.js'
import { replaceFile, withoutMark } from '../../foundation/runtime/file-operations.js'

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
  const path = dotEnvOf(folder)
  try {
    replaceFile(path, withValues(existsSync(path) ? withoutMark(readFileSync(path, 'utf8')) : '', values), { isPrivate: true })
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
