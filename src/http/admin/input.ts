// Checks the parameters, the query and the body of a request by the schemas of its resource.
import type { IncomingMessage } from 'node:http'
import * as z from 'zod'
import { nestedQuery } from '../../admin/content/document-list.js'
import { ApiError, mistakenInput, validationError } from '../../foundation/errors/errors.js'
import { readBody } from '../body.js'
import { type GivenHeaders, readHeaders } from './headers.js'
import type { Resource, ResourceRequest } from './resource.js'

/** The most errors of one request that are told. */
const mostErrors = 100

/** The checked input of a request. */
export type CheckedInput = Pick<ResourceRequest, 'params' | 'query' | 'body' | keyof GivenHeaders>

/** Reads and checks what a request sends. @throws ApiError 400 with all errors; 428; what `readBody` throws */
export async function readInput(
  resource: Resource,
  { parts, request }: Pick<ResourceRequest, 'parts' | 'request'>,
  given: Readonly<Record<string, string>>,
): Promise<CheckedInput> {
  const { params, query, isNested, headers, again } = resource
  const [, rawQuery = ''] = /\?(.*)$/s.exec(request.raw.url ?? '') ?? []
  return {
    params: checkedInput(params, given),
    query: query === null ? undefined : checkedInput(query, isNested === true ? nestedQuery(rawQuery) : parametersOf(rawQuery)),
    body: await checkedBody(resource, parts, request),
    ...readHeaders(request.raw, headers, again !== undefined),
  }
}

/** The parameters of a query as texts. @throws ApiError 400 for one that is there twice */
function parametersOf(rawQuery: string): Readonly<Record<string, string>> {
  const pairs = [...new URLSearchParams(rawQuery)]
  const names = new Set(pairs.map(([name]) => name))
  if (names.size < pairs.length) throw validationError('A parameter of the query is there twice')
  return Object.fromEntries(pairs)
}

const noMembers = z.strictObject({})

/** Whether the body of a request to a resource is read: also where it takes no members. */
export const readsBody = ({ method, body, form }: Resource): boolean => form === undefined && (body !== null || method !== 'GET')

/** A POST of which every member of the body may be absent needs no body; what has none takes no members. @throws ApiError 400 */
async function checkedBody(resource: Resource, parts: ResourceRequest['parts'], request: ResourceRequest['request']): Promise<unknown> {
  if (!readsBody(resource)) return undefined
  const { method, body } = resource
  const mayBeAbsent = body === null || isOptionalBody(method, body)
  if (mayBeAbsent && isEmpty(request.raw)) return body?.parse({})
  const given = await jsonBody(parts, request)
  return checkedInput(body ?? noMembers, mayBeAbsent ? (given ?? {}) : given)
}

/** Whether a resource may be asked without its body. */
export const isOptionalBody = (method: Resource['method'], body: z.ZodType): boolean => method === 'POST' && body.safeParse({}).success

/** True for a request that says that it has no body. */
const isEmpty = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0

async function jsonBody({ bodies, config }: ResourceRequest['parts'], { raw, ip }: ResourceRequest['request']): Promise<unknown> {
  const type = (raw.headers['content-type'] ?? '').split(';')[0]!.trim().toLowerCase()
  if (type !== 'application/json') throw new ApiError('BadRequestError', 'The body must be JSON, with the content type application/json')
  return readBody(raw, ip, bodies, config.limits)
}

/** @throws ApiError 400 with all errors */
function checkedInput(schema: z.ZodType, value: unknown): unknown {
  if (hasNull(value)) throw validationError('A text contains the character U+0000, which no database stores')
  const checked = schema.safeParse(value)
  if (checked.success) return checked.data
  throw mistakenInput(checked.error.issues.slice(0, mostErrors).map(({ path, message }) => ({ path: path.map(String), message })))
}

/** True if a text anywhere in a value contains the null character. The depth of a body is limited. */
function hasNull(value: unknown): boolean {
  if (typeof value === 'string') return value.includes('\0')
  if (typeof value !== 'object' || value === null) return false
  return Object.entries(value).some(([key, inner]) => key.includes('\0') || hasNull(inner))
}
