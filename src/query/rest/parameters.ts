// The query string becomes nested plain data. Bounds as Strapi's: depth 20, lists up to index 99, 1000 parameters.
import qs from 'qs'

export type Parameters = Readonly<Record<string, unknown>>

/** Parses `a[b][c]=d&e[0]=f`; deeper keys stay literal, later parameters are dropped. Never throws. */
export function parseParameters(query: string): Parameters {
  if (query === '') return {}
  return qs.parse(query, { strictNullHandling: true, arrayLimit: 100, depth: 20, parameterLimit: 1000 })
}

/** True for an object of parameters, false for lists, strings and null. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
