// Values that each service makes up in writes: ids and times. Document ids of Strapi are replaced by those that Octavo gave in their place.
import { isRecord, type JsonPath } from './difference.js'

/** Keys whose values differ between two databases. */
const madeUpKeys = new Set(['id', 'createdAt', 'updatedAt', 'publishedAt', 'lastUsedAt', 'jwt', 'refreshToken', 'accessKey', 'hash', 'url'])

/** Whether a place of a response is made up by the service. */
export const isMadeUp = (path: JsonPath): boolean => madeUpKeys.has(String(path.at(-1)))

/** The document ids that stand for each other. */
export interface Ids {
  /** Notes the ids of two responses to one write. */
  learn(strapi: unknown, octavo: unknown): void
  /** A value of Strapi's with Octavo's ids. */
  translate(value: unknown): unknown
}

/** Opens an empty list of ids. */
export function openIds(): Ids {
  const known = new Map<string, string>()
  const learn = (strapi: unknown, octavo: unknown): void => {
    if (Array.isArray(strapi) && Array.isArray(octavo)) for (const [index, entry] of strapi.entries()) learn(entry, octavo[index])
    else if (isRecord(strapi) && isRecord(octavo)) {
      const { documentId } = strapi
      if (typeof documentId === 'string' && typeof octavo.documentId === 'string' && !known.has(documentId))
        known.set(documentId, octavo.documentId)
      for (const [key, value] of Object.entries(strapi)) learn(value, octavo[key])
    }
  }
  const translate = (value: unknown): unknown => {
    if (typeof value === 'string') return known.get(value) ?? value
    if (Array.isArray(value)) return value.map(translate)
    return isRecord(value) ? Object.fromEntries(Object.entries(value).map(([key, below]) => [key, translate(below)])) : value
  }
  return { learn, translate }
}
