// Callers of requests, and their credentials, which are never printed.
import { readFileSync } from 'node:fs'
import { ConfigError } from '../../src/foundation/errors/errors.js'
import { decodeEscapes } from './requests.js'

export type ServiceName = 'strapi' | 'octavo'

/** A caller with its headers for each service. */
export interface ComparedCaller {
  readonly name: string
  readonly headers: Readonly<Record<ServiceName, Readonly<Record<string, string>>>>
}

export interface CallerOptions {
  /** `name=token`, `name=@file`, or `name=` for a caller without a token. */
  readonly as?: readonly string[]
  readonly header?: readonly string[]
  readonly strapiToken?: string
  readonly octavoToken?: string
}

/** Parses the callers; by default, a single one without a token, named public. @throws ConfigError */
export function parseCallers({ as = [], header = [], strapiToken, octavoToken }: CallerOptions): readonly ComparedCaller[] {
  const shared = Object.fromEntries(header.map(parseHeader))
  const caller = (name: string, strapi: string, octavo: string): ComparedCaller => ({
    name,
    headers: { strapi: { ...shared, ...bearer(strapi) }, octavo: { ...shared, ...bearer(octavo) } },
  })
  const named = as.map((text) => {
    const [, name, token] = /^([\w-]+)=(.*)$/s.exec(text) ?? []
    if (name === undefined || token === undefined) throw new ConfigError('--as must be name=token, name=@file, or name= without a token.')
    const key = readToken(token)
    return caller(name, key, key)
  })
  const twice = named.find(({ name }, index) => named.findIndex((other) => other.name === name) !== index)
  if (twice !== undefined) throw new ConfigError(`--as names "${twice.name}" twice.`)
  const [strapi, octavo] = [strapiToken ?? octavoToken, octavoToken ?? strapiToken].map((token) => readToken(token ?? ''))
  if (strapi !== '' || octavo !== '') return [caller('token', strapi!, octavo!), ...named]
  return named.length > 0 ? named : [caller(Object.hasOwn(shared, 'authorization') ? 'header' : 'public', '', '')]
}

const bearer = (token: string): Readonly<Record<string, string>> => (token === '' ? {} : { authorization: `Bearer ${token}` })

function parseHeader(text: string): readonly [string, string] {
  const [, name, value] = /^([\w-]+):\s*(.*)$/s.exec(text) ?? []
  if (name === undefined || value === undefined) throw new ConfigError(`--header "${text.split(':')[0]}" must be "Name: value".`)
  return [name.toLowerCase(), value]
}

/** The token itself, or with @ the file that contains it, which keeps it out of process lists. */
function readToken(text: string): string {
  if (!text.startsWith('@')) return text.replace(/^Bearer\s+/i, '')
  try {
    return readFileSync(text.slice(1), 'utf8').trim()
  } catch (error) {
    throw new ConfigError(`The token file ${text.slice(1)} cannot be read (${(error as Error).message}).`)
  }
}

/** Headers with credentials. */
const credentialHeaders: ReadonlySet<string> = new Set(['authorization', 'cookie', 'proxy-authorization', 'x-api-key'])

/** Keys of credentials in responses and bodies. */
const secretKey = /^(?:jwt|secret|api[-_]?key|accessKey|\w*password\w*|\w*[Tt]oken)$/i
/** URL parameters that grant access. */
const secretParameter = /^(?:code|key|confirmation|signature|x-amz-(?:signature|credential|security-token)|oauth_\w+)$/i

const isSecretKey = (name: string): boolean => secretKey.test(name)

/** Replaces the values of secret parameters by "…". */
const withoutSecrets = (path: string): string =>
  path.replace(/([?&])([^=&#]+)=([^&#]*)/g, (whole, sign: string, name: string) => {
    const parts = decodeEscapes(name)
      .split(/[[\]]+/)
      .filter((part) => part !== '')
    const isSecret = isSecretKey(parts.at(-1) ?? '') || (parts.length === 1 && secretParameter.test(parts[0]!))
    return isSecret ? `${sign}${name}=…` : whole
  })

/** Creates a function that removes the credentials of callers from texts. */
export function createRedactor(callers: readonly ComparedCaller[]): (text: string) => string {
  const secrets = callers.flatMap(({ headers }) =>
    Object.values(headers).flatMap((each) =>
      Object.entries(each).flatMap(([name, value]) => (credentialHeaders.has(name) ? [value, value.replace(/^\w+\s+/, '')] : [])),
    ),
  )
  const known = [...new Set(secrets)].filter((secret) => secret.length >= 8).sort((one, other) => other.length - one.length)
  return (text) => known.reduce((now, secret) => now.replaceAll(secret, '…'), text)
}

/** Maximum lengths of a value and of a path. */
const maxValueCharacters = 160
const maxPathCharacters = 300

/** A value on one line, without values of secret keys. */
export function shownValue(value: unknown, name?: string | number): string {
  if (value === undefined) return 'missing'
  if (typeof name === 'string' && isSecretKey(name) && value !== null) return '…'
  return short(
    JSON.stringify(value, (key, below: unknown) => (isSecretKey(key) && typeof below === 'string' ? '…' : below)),
    maxValueCharacters,
  )
}

/** A path with readable escapes decoded, without values of secret parameters. */
export function shownPath(path: string): string {
  const safe = withoutSecrets(path).replace(/%(?:5B|5D|24|2C|3A|2A)/gi, decodeURIComponent)
  return short(safe, maxPathCharacters)
}

function short(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most - 1)}…`
}
