// Parses the query string. Limits as in Strapi: depth 20, lists of 100 members unless configured otherwise, 1000 parameters.
import qs from 'qs'
import { type ApiError, validationError } from '../../foundation/errors/errors.js'

export type Parameters = Readonly<Record<string, unknown>>

/** Parses `a[b][c]=d&e[0]=f`; deeper keys stay literal, later parameters are dropped, longer lists become objects. Never throws. */
export function parseParameters(query: string, arrayLimit = 100): Parameters {
  if (query === '') return {}
  return qs.parse(query, { strictNullHandling: true, arrayLimit, depth: 20, parameterLimit: 1000 })
}

/** The same for a request. @throws ApiError 400 for a list of more members than `arrayLimit` */
export function readParameters(query: string, arrayLimit = 100): Parameters {
  const parameters = parseParameters(query, arrayLimit)
  for (const name of listParameters) refuseLongLists(parameters[name], [name], arrayLimit)
  return parameters
}

/** The parameters that may have lists. */
const listParameters = ['filters', 'sort', 'fields', 'populate', 'locale']

function refuseLongLists(value: unknown, path: readonly string[], max: number): void {
  if (typeof value !== 'object' || value === null) return
  const entries = Object.entries(value)
  if (entries.length > max && entries.every(([key]) => /^\d+$/.test(key))) throw tooLongError(path, entries.length, max)
  for (const [key, inner] of entries) refuseLongLists(inner, [...path, key], max)
}

function tooLongError(path: readonly string[], members: number, max: number): ApiError {
  const [param = '', ...rest] = path
  const message =
    path.at(-1) === 'populate'
      ? `Too many populate entries (${members}). The maximum number of populate entries when using array notation is ${max}. Consider using object notation (populate[field]=true), nested population, or reducing the number of fields.`
      : `Too many members in ${param}${rest.map((key) => `[${key}]`).join('')} (${members}). A list in a query string has at most ${max} members (api.rest.arrayLimit).`
  return validationError(message, { source: 'query', param })
}

/** True for an object of parameters, false for lists, strings and null. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
