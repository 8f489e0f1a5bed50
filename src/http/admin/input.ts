// Checks the parameters, the query and the body of a request by the schemas of its resource.
import type { IncomingMessage } from 'node:http'
import * as z from 'zod'
import { ApiError, inputError, mistakenInput } from '../../foundation/errors/errors.js'
import { type IssueCode, issueCodes } from '../../foundation/errors/issues.js'
import { toMistakes } from '../../foundation/errors/schema-issues.js'
import { readParameters } from '../../query/request.js'
import { readBody } from '../body.js'
import type { Resource, ResourceRequest } from './resource.js'
import { type GivenHeaders, readHeaders } from './resource.js'

const maxErrors = 100

/** The checked input of a request. */
export type CheckedInput = Pick<ResourceRequest, 'params' | 'query' | 'body' | keyof GivenHeaders>

/** Reads and checks the input of a request. @throws ApiError 400 with all errors; 428; errors of `readBody` */
export async function readInput(
  resource: Resource,
  { parts, request }: Pick<ResourceRequest, 'parts' | 'request'>,
  given: Readonly<Record<string, string>>,
): Promise<CheckedInput> {
  const { params, query, isNested, headers, respondAgain: again } = resource
  const [, rawQuery = ''] = /\?(.*)$/s.exec(request.raw.url ?? '') ?? []
  return {
    params: checkInput(params, given),
    query: query === null ? undefined : checkInput(query, isNested === true ? readParameters(rawQuery) : parseParameters(rawQuery)),
    body: await readCheckedBody(resource, parts, request),
    ...readHeaders(request.raw, headers, again !== undefined),
  }
}

/** Query parameters as strings. @throws ApiError 400 for a repeated one */
function parseParameters(rawQuery: string): Readonly<Record<string, string>> {
  const pairs = [...new URLSearchParams(rawQuery)]
  const names = new Set<string>()
  for (const [name] of pairs) {
    if (names.has(name)) throw inputError('A parameter of the query appears twice', [name], 'duplicate')
    names.add(name)
  }
  return Object.fromEntries(pairs)
}

/** The codes of errors about input. */
export const inputErrorCode = z.enum(Object.keys(issueCodes) as [IssueCode, ...IssueCode[]])

/** The numbers and texts of a sentence about an error. */
const inputErrorParams = z.strictObject({
  min: z.number().optional(),
  max: z.number().optional(),
  actual: z.number().optional().describe('The length of a text, the number of entries, or the number itself'),
  expected: z.string().optional().describe('The type, or the form of a text'),
  allowed: z.array(z.unknown()).optional(),
  pattern: z.string().optional(),
  name: z.string().optional(),
})

/** An error about input in a response. */
export const inputErrorSchema = z.strictObject({
  path: z.array(z.string()),
  code: inputErrorCode,
  params: inputErrorParams,
  message: z.string(),
  name: z.string(),
})

const noMembers = z.strictObject({})

/** True if a resource reads the body of requests, possibly to check that it is empty. */
export const readsBody = ({ method, body, form }: Resource): boolean => form === undefined && (body !== null || method !== 'GET')

/** A POST without required members needs no body; resources without a body schema refuse members. @throws ApiError 400 */
async function readCheckedBody(resource: Resource, parts: ResourceRequest['parts'], request: ResourceRequest['request']): Promise<unknown> {
  if (!readsBody(resource)) return undefined
  const { method, body } = resource
  const mayBeAbsent = body === null || isOptionalBody(method, body)
  if (mayBeAbsent && isEmpty(request.raw)) return body?.parse({})
  const given = await jsonBody(parts, request)
  return checkInput(body ?? noMembers, mayBeAbsent ? (given ?? {}) : given)
}

/** True if the body is optional. */
export const isOptionalBody = (method: Resource['method'], body: z.ZodType): boolean => method === 'POST' && body.safeParse({}).success

/** True if a request declares that it has no body. */
const isEmpty = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0

async function jsonBody({ bodies, config }: ResourceRequest['parts'], { raw, ip }: ResourceRequest['request']): Promise<unknown> {
  const type = (raw.headers['content-type'] ?? '').split(';')[0]!.trim().toLowerCase()
  if (type !== 'application/json') throw new ApiError('BadRequestError', 'The body must be JSON, with the content type application/json')
  return readBody(raw, ip, bodies, config.limits)
}

/** @throws ApiError 400 with all errors */
function checkInput(schema: z.ZodType, value: unknown): unknown {
  if (hasNull(value)) throw inputError('A text contains the character U+0000, which no database stores', [], 'format', { expected: 'text' })
  const checked = schema.safeParse(value)
  if (checked.success) return checked.data
  throw mistakenInput(toMistakes(checked.error.issues, value, maxErrors))
}

/** True if a value contains the null character. The depth of bodies is limited. */
function hasNull(value: unknown): boolean {
  if (typeof value === 'string') return value.includes('\0')
  if (typeof value !== 'object' || value === null) return false
  return Object.entries(value).some(([key, inner]) => key.includes('\0') || hasNull(inner))
}
