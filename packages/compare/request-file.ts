// Reads the requests of a file: one path or `METHOD path` per line, or JSON lines with headers and bodies.
import * as z from 'zod'
import { ConfigError } from '../../src/foundation/errors/errors.js'
import { type ComparedRequest, pathOfTarget } from './request.js'

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

/** Parses the lines of a file. Empty lines and lines that begin with # are left out. @throws ConfigError that names the line */
export function parseRequests(lines: readonly string[], source: string): readonly ComparedRequest[] {
  return lines.flatMap((text, index) => {
    const trimmed = text.trim()
    if (trimmed === '' || trimmed.startsWith('#')) return []
    const fail = (problem: string): never => {
      throw new ConfigError(`${source}, line ${index + 1}: ${problem}`)
    }
    return [trimmed.startsWith('{') ? ofJson(trimmed, fail) : ofText(trimmed, fail)]
  })
}

type Fail = (problem: string) => never

function ofText(text: string, fail: Fail): ComparedRequest {
  const [, method = 'GET', target] = /^(?:([A-Z]+)\s+)?(\S.*)$/.exec(text) ?? []
  // As browsers do it: filters[title]=A Film.
  const path = target === undefined ? null : pathOfTarget(target.replaceAll(' ', '%20'))
  if (path === null) return fail(`"${text.slice(0, 80)}" is not a path; a line is a path, METHOD path, or a JSON object.`)
  return { method, path, headers: {}, as: null, body: null, name: null, count: 1 }
}

function ofJson(text: string, fail: Fail): ComparedRequest {
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
  const path = pathOfTarget(parsed.data.path)
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
