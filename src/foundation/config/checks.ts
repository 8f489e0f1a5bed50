// Checks of settings beyond their types: URLs, origins, secrets, and unknown or renamed names.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import { closest, didYouMean } from '../errors/did-you-mean.js'
import { ConfigError } from '../errors/errors.js'
import type { Environment } from './environment.js'

/** The environment variables that the service reads; those of the file storage are in storage.ts. */
export const variableNames = [
  'HOST',
  'PORT',
  'NODE_ENV',
  'LOG_LEVEL',
  'DATABASE_FILENAME',
  'DATABASE_CLIENT',
  'UPLOADS_DIR',
  'API_TOKEN_SALT',
  'JWT_SECRET',
  'ADMIN_JWT_SECRET',
  'OCTAVO_CONFIG',
  'OCTAVO_DATABASE_READER_THREADS',
  'OCTAVO_DATABASE_MAX_READER_THREADS',
  'OCTAVO_DATABASE_INDEXES',
  'OCTAVO_MANAGEMENT_PORT',
  'OCTAVO_MANAGEMENT_HOST',
  'OCTAVO_MANAGEMENT_TOKEN',
  'OCTAVO_TRACING',
  'OCTAVO_AUDIT_LOG',
  'OCTAVO_ARCHIVE_KEY',
  'PUBLIC_URL',
  'OCTAVO_TRUST_PROXY',
  'OCTAVO_PROCESSES',
  'SMTP_URL',
  'MAIL_FROM',
  'STRAPI_PLUGIN_I18N_INIT_LOCALE_CODE',
]

/** New names of settings of earlier builds, by their path in octavo.config. */
const renamedSettings: ReadonlyMap<string, string> = new Map([
  ['proxies', 'trustProxy'],
  ['auth.callbacks', 'allowedCallbacks'],
  ['database.readers', 'readerThreads'],
  ['database.maxReaders', 'maxReaderThreads'],
  ['limits.planNodes', 'queryComplexity'],
  ['limits.unsentBytes', 'maxBufferedResponseBytes'],
  ['limits.imagesAtOnce', 'imageConcurrency'],
  ['limits.authRequests', 'authRateLimit'],
  ['limits.answerBytes', 'responseBytes'],
  ['limits.answerTimeout', 'responseTimeout'],
  ['limits.unreadBytes', 'maxBufferedBodyBytes'],
  ['limits.filledLinks', 'copiedLinks'],
  ['limits.imageWork', 'imageCpuTime'],
  ['limits.replicaWait', 'replicaTimeout'],
  ['limits.webhookPause', 'webhookRetryDelay'],
  ['limits.webhookLongestPause', 'webhookMaxRetryDelay'],
  ['limits.processStart', 'processStartTimeout'],
])

/** Limits of earlier builds that are fixed now. */
const fixedLimits: ReadonlySet<string> = new Set(
  [
    'headerCount bodyDepth bodyValues bodyKeys componentEntries relationTargets documentPasswords writtenBytes discardTime heavyReadQueue',
    'cachedPlans cachedPlanCharacters cachedQueries cachedCallers cachedDescriptions uploadFieldBytes imageSide imageFrames',
    'mailRecipients mailTimeout findTypes findTime findOfType findResults hookDepth startWait modelChangeDrain modelChangeQueue',
    'webhookLookups webhookTotalConcurrency webhookResponseBytes eventStreamBytes processSettled processLongestPause processFailures',
    'writeQueue compressionConcurrency surrogateKeyBytes uploadFiles uploadFields uploadConcurrency bulkFiles rateLimitKeys',
    'passwordConcurrency passwordQueue mailConcurrency mailQueue historyBytes bulkDocuments idempotencyTime idempotencyKeys',
    'transactionOperations eventBytes eventStreamReadBytes archiveRatio webhookConcurrency webhookQueue',
    'listenerAttempts processRestartDelay processPause logBytes eventLoopLag uploadTurns passwordsAtOnce countedCallers mediaTogether webhookWaiting',
  ].flatMap((names) => names.split(' ').map((name) => `limits.${name}`)),
)

/** Limits of earlier builds that are a part of another one now. */
const derivedLimits: ReadonlyMap<string, string> = new Map([
  ['limits.headersTimeout', 'requestTimeout'],
  ['limits.compressedFileBytes', 'compressionBytes'],
  ['limits.sourceMapBytes', 'maxBufferedResponseBytes'],
  ['limits.cachedResponseBytes', 'cacheBytes'],
  ['limits.imageBytes', 'imagePixels'],
  ['limits.storageIdleTimeout', 'storageTimeout'],
  ['limits.checkedLinks', 'copiedLinks'],
  ['limits.checkedLinksPerRelation', 'copiedLinks'],
  ['limits.outboxBacklog', 'outboxEvents'],
  ['limits.webhookLookupTimeout', 'webhookTimeout'],
  ['limits.drainBodyTimeout', 'drainTimeout'],
  ['limits.eventStreams', 'connections'],
  ['limits.markedBytes', 'maxBufferedResponseBytes'],
  ['limits.storageSilence', 'storageTimeout'],
  ['limits.cachedAnswerBytes', 'cacheBytes'],
  ['limits.checkedLinksOfRelation', 'copiedLinks'],
  ['limits.drainBodies', 'drainTimeout'],
  ['limits.imageTimeout', 'imageCpuTime'],
  ['limits.webhookLogEntries', 'outboxEvents'],
  ['limits.webhookLog', 'outboxEvents'],
])

const modelChangeTimeout = 'is a fifth of "readTimeout", from 1,000 to 2,000'
/** Limits of earlier builds that follow from others within bounds. */
const boundedLimits: ReadonlyMap<string, string> = new Map([
  [
    'limits.idleTimeout',
    'is five seconds more than the longest of "keepAliveTimeout", "readTimeout", "writeTimeout", "routeTimeout", "hookTimeout", "storageTimeout" and twelve times "imageCpuTime"',
  ],
  ['limits.uploadTimeout', 'is an hour, or longer if "uploadBytes" takes more at 0.6 MB per second'],
  ['limits.doctorTimeout', 'is "routeTimeout", but at least 30,000'],
  ['limits.archiveLineBytes', 'is a quarter of "archiveBytes", but at most 256,000,000'],
  ['limits.modelChangeTimeout', modelChangeTimeout],
  ['limits.modelChangeWait', modelChangeTimeout],
])

/** New names of environment variables of earlier builds. */
const renamedVariables: ReadonlyMap<string, string> = new Map([
  ['OCTAVO_PROXIES', 'OCTAVO_TRUST_PROXY'],
  ['OCTAVO_DATABASE_READERS', 'OCTAVO_DATABASE_READER_THREADS'],
  ['OCTAVO_DATABASE_MAX_READERS', 'OCTAVO_DATABASE_MAX_READER_THREADS'],
])

/** Minimum letters of a name that may be a misspelt variable. */
const minGuessLength = 8
/** Letters of a name per wrong letter: SITE_URL is not a misspelt SMTP_URL. */
const lettersPerGuess = 8
/** Characters below which a secret is refused, and below which it causes a warning. */
const minSecretLength = 3
const strongSecretLength = 16

/** Describes an invalid value as the end of a sentence; for an unknown name, adds its new name or the most similar one. */
export function problemOf(issue: z.core.$ZodIssue, schema: z.ZodType): string {
  const problem = issue.code === 'unrecognized_keys' ? unknownName(issue, schema) : plainMessage(issue.message)
  if (issue.path.length === 0 && problem === missing) return 'it exports no configuration; write export default { … }.'
  return problem.endsWith('?') ? problem : `${problem}.`
}

const missing = 'it is missing'
/** The message of a schema in the words of other messages: a value that is missing, of another kind, or out of its bounds. */
export function plainMessage(message: string): string {
  const [, expected, received] = /^Invalid input: expected (\w+), received (\w+)$/.exec(message) ?? []
  if (received === 'undefined') return missing
  if (expected !== undefined) {
    const kind = expected === 'record' ? 'object' : expected
    return `it must be ${/^[aeio]/.test(kind) ? 'an' : 'a'} ${kind}, but is ${received}`
  }
  const [, choices] = /^Invalid (?:option: expected one of|discriminator value. Expected) (.+)$/.exec(message) ?? []
  if (choices !== undefined)
    return `it must be one of ${choices
      .replace(/["']/g, '')
      .split(/ ?\| ?/)
      .join(', ')}`
  const [, bound, than] = /^Too (?:small|big): expected \w+ to be ([<>]=?)(-?[\d.]+)$/.exec(message) ?? []
  return bound === undefined ? message : `it must be ${bounds[bound]} ${than}`
}

const bounds: Readonly<Record<string, string>> = { '>=': 'at least', '>': 'above', '<=': 'at most', '<': 'below' }

function unknownName({ keys, path, message }: z.core.$ZodIssueUnrecognizedKeys, schema: z.ZodType): string {
  const hints = keys.flatMap((key) => hintOf([...path, key].join('.'), keys.length === 1 ? null : `"${key}"`) ?? [])
  return hints.length > 0 ? [message, ...hints].join('; ') : `${message}${didYouMean(keys[0]!, namesAt(schema, path))}`
}

/** What to do about a setting of earlier builds. `subject`: its name, if the sentence has others too. */
function hintOf(name: string, subject: string | null): string | null {
  const now = renamedSettings.get(name)
  const basis = derivedLimits.get(name)
  const rule = boundedLimits.get(name)
  if (rule !== undefined) return `${subject ?? 'this limit'} ${rule}`
  if (fixedLimits.has(name)) return `${subject ?? 'this limit'} is fixed and cannot be configured`
  if (basis !== undefined) return `${subject ?? 'this limit'} follows from "${basis}", which can be set in its place`
  return now === undefined ? null : `${subject ?? 'it'} is now called "${now}"`
}

/** The names that an object of the configuration may have; empty if the object's schema depends on a value. */
function namesAt(schema: z.ZodType, path: readonly PropertyKey[]): readonly string[] {
  let at = bare(schema)
  for (const step of path)
    at = bare(
      at instanceof z.ZodObject
        ? at.shape[String(step)]
        : at instanceof z.ZodArray
          ? at.element
          : at instanceof z.ZodRecord
            ? at.valueType
            : null,
    )
  return at instanceof z.ZodObject ? Object.keys(at.shape) : []
}

function bare(schema: unknown): unknown {
  let inner = schema
  while (
    inner instanceof z.ZodPrefault ||
    inner instanceof z.ZodDefault ||
    inner instanceof z.ZodOptional ||
    inner instanceof z.ZodReadonly
  )
    inner = inner.unwrap()
  return inner
}

/** @throws ConfigError for an environment variable that has a new name */
export function checkRenamed(environment: Environment): void {
  for (const [old, now] of renamedVariables) if (environment[old] !== undefined) throw new ConfigError(`${old} is now called ${now}.`)
}

/** @throws ConfigError for a secret that is easy to guess */
export function checkSecret(name: string, value: string): void {
  if (value.length < minSecretLength || new Set(value).size === 1)
    throw new ConfigError(
      `${name} is too weak: it has ${value.length} character${value.length === 1 ? '' : 's'}${value.length < minSecretLength ? '' : ', all the same'}. Generate one with: openssl rand -hex 24`,
    )
}

/** @throws ConfigError for a secret that is short enough to be found by trying */
export function checkLength(name: string, value: string): void {
  if (value.length < strongSecretLength)
    throw new ConfigError(
      `${name} has ${value.length} characters; in production it needs at least ${strongSecretLength}. Generate one with: openssl rand -hex 24`,
    )
}

/** The start of every secret in the example files of this package. */
const published = 'replace-this-'

/** @throws ConfigError for a variable with a secret from an example file */
export function checkPublished(environment: Environment): void {
  for (const [name, value] of Object.entries(environment))
    if (value?.includes(published))
      throw new ConfigError(
        `${name} still has the value of an example file, which everybody can read. Replace it, for example by the output of: openssl rand -hex 24`,
      )
}

/** @throws ConfigError if `url` is not the URL of a mail server */
export function checkMailServer(source: string, url: string): void {
  const parsed = parseUrl(url)
  if ((parsed?.protocol !== 'smtp:' && parsed?.protocol !== 'smtps:') || parsed.hostname === '')
    throw new ConfigError(`${source} is "${withoutPassword(url)}"; it must be a URL like smtps://name:password@mail.example.org.`)
}

/** @throws ConfigError if the sender has no valid e-mail address */
export function checkSender(source: string, from: string): void {
  if (!/^(?:[^<>\r\n]*<[^\s<>@]+@[^\s<>@]+>|[^\s<>@]+@[^\s<>@]+)$/.test(from.trim()))
    throw new ConfigError(`${source} is "${from}"; it must be a sender like Magazine <desk@example.org>.`)
}

/** Removes slashes from the end of a URL. */
export function withoutSlashes(address: string): string {
  let end = address.length
  while (address[end - 1] === '/') end--
  return address.slice(0, end)
}

/** @throws ConfigError if `url` is not the URL of a site */
export function checkSite(source: string, url: string): void {
  const parsed = parseUrl(url)
  if ((parsed?.protocol !== 'http:' && parsed?.protocol !== 'https:') || parsed.hostname === '')
    throw new ConfigError(`${source} is "${url}"; it must be a URL like https://content.example.org.`)
}

/** Describes an invalid origin, or returns null. Browsers send a scheme, a host and an optional port; anything else never matches. */
export function originProblem(origin: string): string | null {
  if (origin === '*') return 'to allow any origin, set origins to "*" without a list'
  const parsed = parseUrl(origin)
  const isWeb = parsed?.protocol === 'http:' || parsed?.protocol === 'https:'
  if (isWeb && parsed.hostname !== '')
    return parsed.origin === origin ? null : `"${origin}" never matches what a browser sends; did you mean "${parsed.origin}"?`
  if (/^[a-z][a-z0-9+.-]*:\/\/[^\s/?#]+$/.test(origin) && !isWeb) return null
  return `"${origin}" is not an origin like https://www.example.org${/^[\w.-]+(?::\d+)?$/.test(origin) ? `; did you mean "http://${origin}"?` : ''}`
}

/** A text; `describe` names the problem of an invalid one, or returns null. */
export const checkedText = (describe: (text: string) => string | null) =>
  z.string().superRefine((text, context) => {
    const problem = describe(text)
    if (problem !== null) context.addIssue({ code: 'custom', message: problem })
  })

/** Returns warnings about likely mistakes. `own`: the variables in the project's .env. */
export function warningsOf(
  root: string,
  environment: Environment,
  own: Environment,
  secrets: Readonly<Record<string, string>>,
): readonly string[] {
  return [...modeWarning(root, environment.NODE_ENV), ...nameWarnings(environment, own), ...Object.entries(secrets).flatMap(weakWarning)]
}

const modes = ['development', 'production', 'test', 'staging']

function modeWarning(root: string, mode: string | undefined): readonly string[] {
  if (mode === undefined || modes.includes(mode) || existsSync(join(root, 'config', 'env', mode))) return []
  return [`NODE_ENV is "${mode}", which is treated as production${didYouMean(mode, modes)}`]
}

/** Warns of unknown OCTAVO_ variables, and of names in .env that resemble ours; a shell has many unrelated ones. */
function nameWarnings(environment: Environment, own: Environment): readonly string[] {
  return Object.keys(environment).flatMap((name) => {
    if (variableNames.includes(name) || environment[name] === '') return []
    if (name.startsWith('OCTAVO_')) return [`${name} is not a known setting${didYouMean(name, variableNames)}`]
    const like =
      name.length >= minGuessLength && name in own
        ? closest(name, variableNames, Math.min(2, Math.floor(name.length / lettersPerGuess)))
        : null
    return like !== null && environment[like] === undefined ? [`${name} has no effect; did you mean "${like}"?`] : []
  })
}

const weakWarning = ([name, value]: readonly [string, string]): readonly string[] =>
  value.length < strongSecretLength ? [`${name} has only ${value.length} characters; anyone who guesses it can forge tokens`] : []

function parseUrl(text: string): URL | null {
  try {
    return new URL(text)
  } catch {
    return null
  }
}

/** Hides the value of a parameter that has a secret, such as `password=x`. */
function withoutSecret(pair: string): string {
  const end = pair.indexOf('=')
  return end !== -1 && /pass|secret|token|key/i.test(pair.slice(0, end)) ? `${pair.slice(0, end)}=…` : pair
}

/** Hides all passwords in a text with URLs, also in a list of them, and in texts that are not quite URLs. */
export const withoutPassword = (text: string): string =>
  text
    .split(/,(?=[a-z][\w+.-]{0,20}:\/\/)/i)
    .map((part) => {
      const [, scheme = '', rest = part] = /^([^/]*:\/\/)(.*)$/s.exec(part) ?? []
      const end = rest.lastIndexOf('@')
      // A name without a password may be a key.
      const named = /^[^:@/]*/.exec(rest)![0]
      const shown =
        end === -1 ? rest : `${rest[named.length] === ':' ? named : '…'}${rest[named.length] === ':' ? ':…' : ''}${rest.slice(end)}`
      return `${scheme}${shown}`
        .split('&')
        .map((pair) => pair.split('?').map(withoutSecret).join('?'))
        .join('&')
    })
    .join(',')
