// Reads requests from access logs: the common and combined formats of nginx and Apache, Strapi's log, and JSON lines of other loggers.
import { withoutMark } from '../../src/foundation/runtime/byte-order-mark.js'
import { type ComparedRequest, get, isBelow, isRead, pathOfTarget } from './request.js'

/** The requests of a log, and the lines that were left out, by reason. */
export interface LoggedRequests {
  /** Distinct requests, those that were made most often first. */
  readonly requests: readonly ComparedRequest[]
  readonly leftOut: ReadonlyMap<string, number>
}

interface Line {
  readonly method: string
  readonly target: string
}

/** `"GET /api/articles HTTP/1.1"` as web servers write it, and `http: GET /api/articles (23 ms) 200` as Strapi does. */
const forms = [/"([A-Z]+) (\S+)(?: HTTP\/[\d.]+)?"/, /\b([A-Z]{3,7}) (\/\S*) \(\d+ ?ms\) \d{3}\b/, /^([A-Z]{3,7}) (\S+)$/]
// biome-ignore lint/suspicious/noControlCharactersInRegex: that is how a log colours its lines
const colours = /\u001b\[[\d;]*m/g

/** Where JSON lines have the method and the path: pino and its middlewares, Caddy, Traefik, nginx, Octavo itself. */
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

/** Texts inside JSON lines that contain a request in one of the forms above. */
const messages = ['request', 'message', 'msg']

/** Opens a reader of lines that keeps at most `most` distinct requests, of reads below one of the prefixes. */
export function openLog(prefixes: readonly string[], most: number) {
  const counts = new Map<string, number>()
  const leftOut = new Map<string, number>()
  return {
    add(text: string): void {
      if (text.trim() === '') return
      const line = lineOf(text)
      const reason = line === null ? 'no request in the line' : reasonAgainst(line, prefixes)
      const key = line === null || reason !== null ? null : `${line.method} ${pathOfTarget(line.target)}`
      if (key !== null && (counts.has(key) || counts.size < most)) counts.set(key, (counts.get(key) ?? 0) + 1)
      else {
        const why = reason ?? `beyond ${most} distinct requests`
        leftOut.set(why, (leftOut.get(why) ?? 0) + 1)
      }
    },
    end(): LoggedRequests {
      const requests = [...counts].sort(([, one], [, other]) => other - one).map(([key, count]) => requestOf(key, count))
      return { requests, leftOut }
    },
  }
}

/** Why a request is left out; null if it is not. */
function reasonAgainst({ method, target }: Line, prefixes: readonly string[]): string | null {
  const path = pathOfTarget(target)
  if (path === null) return 'no request in the line'
  if (method !== 'GET' && method !== 'HEAD') return 'writes'
  if (!prefixes.some((prefix) => isBelow(path, prefix))) return `not below ${prefixes.join(' or ')}`
  if (/\/:\w/.test(path)) return 'paths without their ids'
  return isRead({ method, path }) ? null : 'reads that change something'
}

function requestOf(key: string, count: number): ComparedRequest {
  const [method, path] = key.split(' ') as [string, string]
  return { ...get(path), method, count }
}

function lineOf(text: string): Line | null {
  return text.startsWith('{') ? lineOfJson(text) : lineOfText(text.replace(colours, ''))
}

function lineOfText(text: string): Line | null {
  for (const form of forms) {
    const [, method, target] = form.exec(text) ?? []
    if (method !== undefined && target !== undefined) return { method, target }
  }
  return null
}

function lineOfJson(text: string): Line | null {
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
    const found = message === null ? null : (lineOfText(`"${message}"`) ?? lineOfText(message))
    if (found !== null) return found
  }
  return null
}

/** The text at a path of keys; null if there is none. */
function at(value: unknown, path: readonly string[]): string | null {
  let found = value
  for (const key of path) found = typeof found === 'object' && found !== null ? (found as Record<string, unknown>)[key] : undefined
  return typeof found === 'string' ? found : null
}
