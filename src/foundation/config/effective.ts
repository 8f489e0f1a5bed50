// The settings that are in force in a project, each with its source, for `octavo config`. Secrets are masked.
import { variableNames, withoutPassword } from './checks.js'
import { type Config, readConfig, type SettingSources } from './config.js'
import { databaseVariables } from './database.js'
import { storageVariables } from './storage.js'

/** A setting in force. */
interface EffectiveSetting {
  /** Its path in octavo.config, such as `api.rest.maxLimit`, or an environment variable without one. */
  readonly name: string
  /** Its value; `null` if it is not set, the length for a list of code. A secret is masked. */
  readonly value: unknown
  /** `default`, the name of a file, `environment` or the variable that has it. */
  readonly source: string
}

/** The variables that take precedence over a setting, by its path. */
const variables: Readonly<Record<string, string>> = {
  host: 'HOST',
  port: 'PORT',
  url: 'PUBLIC_URL',
  trustProxy: 'OCTAVO_TRUST_PROXY',
  processes: 'OCTAVO_PROCESSES',
  'database.filename': 'DATABASE_FILENAME',
  'database.indexes': 'OCTAVO_DATABASE_INDEXES',
  'database.readerThreads': 'OCTAVO_DATABASE_READER_THREADS',
  'database.maxReaderThreads': 'OCTAVO_DATABASE_MAX_READER_THREADS',
  'uploads.folder': 'UPLOADS_DIR',
  'mail.url': 'SMTP_URL',
  'mail.from': 'MAIL_FROM',
  'log.level': 'LOG_LEVEL',
  'management.port': 'OCTAVO_MANAGEMENT_PORT',
  'management.host': 'OCTAVO_MANAGEMENT_HOST',
  'management.token': 'OCTAVO_MANAGEMENT_TOKEN',
  tracing: 'OCTAVO_TRACING',
  auditLog: 'OCTAVO_AUDIT_LOG',
}

/** Settings whose value depends on others, or on the machine, where nothing sets them. */
const completed: Readonly<Record<string, (config: Config) => unknown>> = {
  host: ({ host }) => host,
  port: ({ port }) => port,
  url: ({ publicUrl }) => publicUrl,
  processes: ({ processes }) => processes,
  trustProxy: ({ trustProxy }) => trustProxy,
  'api.rest.contract': ({ contract }) => contract,
  'auth.sharedLimits': ({ auth }) => auth.sharedLimits,
  'database.filename': ({ database }) => (database.client === 'sqlite' ? database.filename : null),
  'database.readerThreads': ({ database }) => database.readerThreads,
  'database.maxReaderThreads': ({ database }) => database.maxReaderThreads,
  'database.indexes': ({ database }) => database.indexes,
  'uploads.folder': ({ uploadsFolder }) => uploadsFolder,
  'mail.url': ({ mail }) => mail.url,
  'mail.from': ({ mail }) => mail.from,
  'log.level': ({ logLevel }) => logLevel,
  'limits.drainDelay': ({ limits }) => limits.drainDelay,
  tracing: ({ tracing }) => tracing,
  auditLog: ({ auditLog }) => auditLog,
}

/**
 * Returns every setting in force in the project in `folder`, sorted by name.
 * @throws ConfigError as for `loadConfig`
 */
export async function effectiveSettings(folder: string): Promise<readonly EffectiveSetting[]> {
  const { config, read } = await readConfig(folder)
  const paths = new Map([...leavesOf(read.settings), ...Object.keys(completed).map((name) => [name, undefined] as const)].reverse())
  const settings = [...paths].map(([name, parsed]): EffectiveSetting => {
    const variable = variables[name]
    const isSet = variable !== undefined && read.environment[variable] !== undefined
    const value = completed[name]?.(config) ?? (isSet ? read.environment[variable] : parsed)
    return { name, value: shown(name, value), source: isSet ? sourceOfVariable(variable, read) : sourceOf(name, read) }
  })
  const taken = new Set(Object.values(variables))
  const others = [...variableNames, ...databaseVariables(), ...storageVariables]
  const alone = [...new Set(others)]
    .filter((name) => !taken.has(name) && name !== 'OCTAVO_CONFIG' && read.environment[name] !== undefined)
    .map((name) => ({ name, value: shown(name, read.environment[name]), source: sourceOfVariable(name, read) }))
  return [...alone, ...settings].sort((a, b) => (a.name < b.name ? -1 : 1))
}

function sourceOfVariable(name: string, { own, environment, strapiSecrets }: SettingSources): string {
  if (strapiSecrets[name] !== undefined) return strapiSecrets[name]
  return own[name] !== undefined && own[name] === environment[name] ? `${name} in .env` : `${name} in the environment`
}

function sourceOf(name: string, { given, source, strapi }: SettingSources): string {
  const path = name.split('.')
  if (has(given, path)) return source(path)
  return strapi.find(({ config }) => has(config, path))?.source ?? 'default'
}

function has(value: unknown, [key, ...rest]: readonly string[]): boolean {
  if (key === undefined) return value !== undefined
  return typeof value === 'object' && value !== null && Object.hasOwn(value, key) && has((value as Record<string, unknown>)[key], rest)
}

/** Sections that are empty where nothing is set. */
const sections = new Set(Object.keys(completed).map((name) => name.slice(0, Math.max(0, name.lastIndexOf('.')))))

/** The values that are not objects with settings, by path. */
function leavesOf(value: object, above = ''): readonly (readonly [string, unknown])[] {
  return Object.entries(value).flatMap(([key, inner]): readonly (readonly [string, unknown])[] => {
    const name = above === '' ? key : `${above}.${key}`
    const isGroup = typeof inner === 'object' && inner !== null && !Array.isArray(inner)
    return isGroup && (Object.keys(inner).length > 0 || sections.has(name)) ? leavesOf(inner, name) : [[name, inner]]
  })
}

const secretNames = /(?:secret|salt|password|token|accesskey|accesskeyid|sessiontoken|defaultheaders\.[^.]+|providers\.[^.]+\.key)$/i
/** Other variables and settings with such a word in them. */
const secretVariables = /(?:SECRET|SALT|PASSWORD|TOKEN|_KEY)(?:_|$)/

function shown(name: string, value: unknown): unknown {
  if (value === undefined || value === null) return null
  if (typeof value === 'function') return 'a function'
  if (Array.isArray(value)) return value.every((entry) => typeof entry === 'string') ? value : `${value.length} entries`
  if (typeof value !== 'string') return value
  return secretNames.test(name) || secretVariables.test(name) ? '•••' : withoutPassword(value)
}
