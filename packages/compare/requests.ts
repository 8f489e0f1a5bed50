// The compared requests: from a file, an access log, or the content model.
import * as z from 'zod'
import { ConfigError } from '../../src/foundation/errors/errors.js'
import { withoutMark } from '../../src/foundation/runtime/file-operations.js'
import { isRecord } from './differences.js'
import type { KnownModel, KnownType } from './model.js'

export interface ComparedRequest {
  readonly method: string
  /** Path and query string as sent. */
  readonly path: string
  /** Header names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  /** Name of the caller; null: each caller of the run. */
  readonly as: string | null
  /** The body of a write; null: none. */
  readonly body: string | null
  /** Name for references in later writes (`{{name.data.documentId}}`); null: none. */
  readonly name: string | null
  /** Occurrences in a log. */
  readonly count: number
}

export const get = (path: string, as: string | null = null): ComparedRequest => ({
  method: 'GET',
  path,
  headers: {},
  as,
  body: null,
  name: null,
  count: 1,
})

/** GET requests with side effects: links in e-mails, and both ends of sign-in through another service. */
const withEffect = [/\/auth\/email-confirmation\b/i, /\/auth\/[^/]+\/callback\b/i, /\/connect\//i]

/** True if a request only reads: GET and HEAD, except for confirmation and sign-in. */
export function isRead({ method, path }: Pick<ComparedRequest, 'method' | 'path'>): boolean {
  if (method !== 'GET' && method !== 'HEAD') return false
  const name = decodeEscapes(getPath(path))
  return !withEffect.some((form) => form.test(name))
}

export const getPath = (path: string): string => /^[^?#]*/.exec(path)![0]

/** The query string, without the question mark; empty without one. */
export const getQuery = (path: string): string => /^[^?#]*\??([^#]*)/.exec(path)![1]!

/** Extracts path and query of a path or URL, without origin and fragment, encoding non-ASCII characters. Null if it is neither. */
function parseTarget(target: string): string | null {
  const path = target.replace(/^https?:\/\/[^/?#]*/i, '').replace(/#.*$/s, '')
  const whole = path.startsWith('?') || (path === '' && target !== '') ? `/${path}` : path
  if (!whole.startsWith('/')) return null
  try {
    return whole.replace(/[^\x21-\x7e]+/gu, encodeURIComponent)
  } catch {
    // An unpaired surrogate cannot be encoded.
    return null
  }
}

/** True if a path starts with the prefix, ignoring case. */
export const isBelow = (path: string, prefix: string): boolean => {
  const name = getPath(path).toLowerCase()
  return name === prefix.toLowerCase() || name.startsWith(`${prefix.toLowerCase()}/`)
}

/** Decodes escapes; unchanged if they are invalid. */
export function decodeEscapes(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}

const line = z
  .strictObject({
    method: z
      .string()
      .regex(/^[A-Za-z]+$/)
      .default('GET'),
    path: z.string().min(1),
    headers: z.record(z.string(), z.string()).default({}),
    as: z.string().min(1).optional(),
    body: z.unknown().optional(),
    name: z
      .string()
      .regex(/^[\w-]+$/)
      .optional(),
    count: z.int().positive().default(1),
  })
  .readonly()

/** Parses the lines of a file, except empty ones and those that start with #. @throws ConfigError that names the line */
export function parseRequests(lines: readonly string[], source: string): readonly ComparedRequest[] {
  return lines.flatMap((text, index) => {
    const trimmed = text.trim()
    if (trimmed === '' || trimmed.startsWith('#')) return []
    const fail = (problem: string): never => {
      throw new ConfigError(`${source}, line ${index + 1}: ${problem}`)
    }
    return [trimmed.startsWith('{') ? parseJsonLine(trimmed, fail) : parseTextLine(trimmed, fail)]
  })
}

type Fail = (problem: string) => never

function parseTextLine(text: string, fail: Fail): ComparedRequest {
  const [, method = 'GET', target] = /^(?:([A-Z]+)\s+)?(\S.*)$/.exec(text) ?? []
  // As in browsers: filters[title]=A Film.
  const path = target === undefined ? null : parseTarget(target.replaceAll(' ', '%20'))
  if (path === null) return fail(`"${text.slice(0, 80)}" is not a path; a line is a path, METHOD path, or a JSON object.`)
  return { method, path, headers: {}, as: null, body: null, name: null, count: 1 }
}

function parseJsonLine(text: string, fail: Fail): ComparedRequest {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    return fail(`${(error as Error).message}.`)
  }
  const parsed = line.safeParse(value)
  if (!parsed.success) {
    const { path, message } = parsed.error.issues[0]!
    return fail(`${path.join('.') || 'the object'}: ${message}.`)
  }
  const { method, headers, as = null, body, name = null, count } = parsed.data
  const path = parseTarget(parsed.data.path)
  if (path === null) return fail(`path: "${parsed.data.path.slice(0, 80)}" is not a path.`)
  const given = Object.fromEntries(Object.entries(headers).map(([header, content]) => [header.toLowerCase(), content]))
  const isText = typeof body === 'string'
  return {
    method: method.toUpperCase(),
    path,
    headers: body === undefined || isText ? given : { 'content-type': 'application/json', ...given },
    as,
    body: body === undefined ? null : isText ? body : JSON.stringify(body),
    name,
    count,
  }
}

/** The requests of a log, and the numbers of omitted lines by reason. */
interface LoggedRequests {
  /** Distinct requests, most frequent first. */
  readonly requests: readonly ComparedRequest[]
  readonly leftOut: ReadonlyMap<string, number>
}

interface LogLine {
  readonly method: string
  readonly target: string
}

/** `"GET /api/articles HTTP/1.1"` from web servers, and `http: GET /api/articles (23 ms) 200` from Strapi. */
const forms = [/"([A-Z]+) (\S+)(?: HTTP\/[\d.]+)?"/, /\b([A-Z]{3,7}) (\/\S*) \(\d+ ?ms\) \d{3}\b/, /^([A-Z]{3,7}) (\S+)$/]
// biome-ignore lint/suspicious/noControlCharactersInRegex: that is how a log colours its lines
const colours = /\u001b\[[\d;]*m/g

/** Keys of method and path in JSON lines: pino and its middlewares, Caddy, Traefik, nginx, Octavo. */
const keys: readonly (readonly [readonly string[], readonly string[]])[] = [
  [
    ['req', 'method'],
    ['req', 'url'],
  ],
  [
    ['request', 'method'],
    ['request', 'uri'],
  ],
  [['RequestMethod'], ['RequestPath']],
  [['request_method'], ['request_uri']],
  [['method'], ['url']],
  [['method'], ['path']],
]

/** Texts in JSON lines that contain a request in one of the forms above. */
const messages = ['request', 'message', 'msg']

/** Reads lines of a log, and collects at most `most` distinct reads below one of the prefixes. */
export function createLogReader(prefixes: readonly string[], most: number) {
  const counts = new Map<string, number>()
  const leftOut = new Map<string, number>()
  return {
    add(text: string): void {
      if (text.trim() === '') return
      const line = parseLogLine(text)
      const reason = line === null ? 'no request in the line' : getOmission(line, prefixes)
      const key = line === null || reason !== null ? null : `${line.method} ${parseTarget(line.target)}`
      if (key !== null && (counts.has(key) || counts.size < most)) counts.set(key, (counts.get(key) ?? 0) + 1)
      else {
        const why = reason ?? `beyond ${most} distinct requests`
        leftOut.set(why, (leftOut.get(why) ?? 0) + 1)
      }
    },
    end(): LoggedRequests {
      const requests = [...counts].sort(([, one], [, other]) => other - one).map(([key, count]) => toRequest(key, count))
      return { requests, leftOut }
    },
  }
}

/** Why a request is omitted, or null. */
function getOmission({ method, target }: LogLine, prefixes: readonly string[]): string | null {
  const path = parseTarget(target)
  if (path === null) return 'no request in the line'
  if (method !== 'GET' && method !== 'HEAD') return 'writes'
  if (!prefixes.some((prefix) => isBelow(path, prefix))) return `not below ${prefixes.join(' or ')}`
  if (/\/:\w/.test(path)) return 'paths without their ids'
  return isRead({ method, path }) ? null : 'reads that change something'
}

function toRequest(key: string, count: number): ComparedRequest {
  const [method, path] = key.split(' ') as [string, string]
  return { ...get(path), method, count }
}

function parseLogLine(text: string): LogLine | null {
  return text.startsWith('{') ? parseLogJson(text) : parseLogText(text.replace(colours, ''))
}

function parseLogText(text: string): LogLine | null {
  for (const form of forms) {
    const [, method, target] = form.exec(text) ?? []
    if (method !== undefined && target !== undefined) return { method, target }
  }
  return null
}

function parseLogJson(text: string): LogLine | null {
  let line: unknown
  try {
    line = JSON.parse(withoutMark(text))
  } catch {
    return null
  }
  for (const [method, target] of keys) {
    const found = [at(line, method), at(line, target)]
    if (found.every((value) => typeof value === 'string')) return { method: found[0]!.toUpperCase(), target: found[1]! }
  }
  for (const name of messages) {
    const message = at(line, [name])
    const found = message === null ? null : (parseLogText(`"${message}"`) ?? parseLogText(message))
    if (found !== null) return found
  }
  return null
}

/** The text at a path of keys, or null. */
function at(value: unknown, path: readonly string[]): string | null {
  let found = value
  for (const key of path) found = typeof found === 'object' && found !== null ? (found as Record<string, unknown>)[key] : undefined
  return typeof found === 'string' ? found : null
}

/** Reads from Strapi as a caller; null unless the response is 200 with JSON. */
type ReadStrapi = (path: string, caller: string) => Promise<unknown>

/** Maximum number of sort keys per type, and of locales. */
const maxOrders = 3
const maxLocales = 10

const sortable = new Set([
  'string',
  'uid',
  'email',
  'enumeration',
  'integer',
  'biginteger',
  'float',
  'decimal',
  'date',
  'datetime',
  'time',
  'boolean',
])

/** Yields requests for each caller and type. Types that a caller may not read are requested once. */
export async function* generateRequests(
  model: KnownModel,
  prefix: string,
  callers: readonly string[],
  look: ReadStrapi,
): AsyncGenerator<ComparedRequest> {
  for (const caller of callers) {
    for (const path of ['i18n/locales', 'users/me', 'users', 'upload/files']) yield get(`${prefix}/${path}`, caller)
    const file = firstFile(await look(`${prefix}/upload/files`, caller))
    if (file !== null) yield get(file, caller)
    const locales = getLocaleCodes(await look(`${prefix}/i18n/locales`, caller))
    for (const type of model.types.values()) {
      const path = `${prefix}/${type.segment}`
      yield get(path, caller)
      const body = await look(path, caller)
      const draft = type.hasDrafts ? await look(`${path}?status=draft`, caller) : null
      if (type.hasDrafts) yield get(`${path}?status=draft`, caller)
      if (body === null && draft === null) continue
      for (const query of [...typeQueries(type), ...localeQueries(type, [...locales, ...getUsedLocales(body)])])
        yield get(`${path}?${query}`, caller)
      if (!type.isSingle) yield* documentRequests(path, type, [body, draft], caller)
    }
  }
}

function typeQueries({ attributes, isSingle, hasDrafts }: KnownType): readonly string[] {
  const draft = hasDrafts ? ['status=draft&populate=*'] : []
  if (isSingle) return ['populate=*', ...draft]
  const orders = Object.entries(attributes)
    .filter(([, { type, private: isPrivate }]) => sortable.has(type) && isPrivate !== true)
    .slice(0, maxOrders)
    .map(([name], index) => `sort=${encodeURIComponent(name)}:${index % 2 === 0 ? 'asc' : 'desc'}`)
  return [
    'populate=*',
    ...draft,
    'pagination[page]=2&pagination[pageSize]=3&sort=id',
    'pagination[start]=1&pagination[limit]=2&sort=id:desc',
    ...orders,
    'sort=updatedAt:desc',
  ]
}

const localeQueries = ({ isLocalized }: KnownType, locales: readonly string[]): readonly string[] =>
  isLocalized ? ['locale=*&sort=id', ...[...new Set(locales)].slice(0, maxLocales).map((code) => `locale=${encodeURIComponent(code)}`)] : []

function* documentRequests(path: string, { hasDrafts }: KnownType, bodies: readonly unknown[], caller: string): Generator<ComparedRequest> {
  const [published, draft] = bodies.map(firstDocument)
  const id = published ?? draft
  if (id === null || id === undefined) return
  const document = `${path}/${encodeURIComponent(id)}`
  yield get(document, caller)
  yield get(`${document}?populate=*`, caller)
  if (hasDrafts) yield get(`${document}?status=draft`, caller)
}

const firstDocument = (body: unknown): string | null => {
  const [first] = getDocuments(body)
  return typeof first?.documentId === 'string' ? first.documentId : null
}

const getUsedLocales = (body: unknown): readonly string[] =>
  getDocuments(body).flatMap(({ locale }) => (typeof locale === 'string' ? [locale] : []))

const getLocaleCodes = (body: unknown): readonly string[] =>
  Array.isArray(body) ? body.flatMap((entry: unknown) => (isRecord(entry) && typeof entry.code === 'string' ? [entry.code] : [])) : []

/** The URL of the first file that the services themselves serve. */
function firstFile(body: unknown): string | null {
  const urls = Array.isArray(body) ? body.flatMap((entry: unknown) => (isRecord(entry) ? [entry.url] : [])) : []
  return (urls.find((url) => typeof url === 'string' && url.startsWith('/uploads/')) as string | undefined) ?? null
}

function getDocuments(body: unknown): readonly Readonly<Record<string, unknown>>[] {
  const data = isRecord(body) ? body.data : null
  return Array.isArray(data) ? data.filter(isRecord) : isRecord(data) ? [data] : []
}
