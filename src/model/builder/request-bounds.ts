// Limits of names and attributes in requests that change the model. Checked first, since later work grows with them.

import { boundedText } from '../../foundation/errors/errors.js'
import { maxNameCharacters, maxUidCharacters } from '../schema/check.js'

/** Attributes of a schema in a request: no table has more columns. */
const maxAttributes = 2_000

/** Keys whose values are names. */
const naming: ReadonlySet<string> = new Set([
  ...['uid', 'tmpUID', 'schema', 'from', 'to', 'action', 'kind', 'category', 'plugin', 'icon', 'name'],
  ...['collectionName', 'singularName', 'pluralName', 'displayName', 'type', 'relation', 'target', 'targetAttribute'],
  ...['inversedBy', 'mappedBy', 'morphBy', 'targetField', 'component', 'components', 'enum', 'enumName', 'customField', 'columnName'],
])

const maxQuotedCharacters = 60

/** `message` is the end of a sentence. */
interface Excess {
  readonly path: readonly string[]
  readonly message: string
}

/** Finds the first key or name that is too long, or schema with too many attributes. */
export function excessOf(body: unknown): Excess | null {
  const path: string[] = []
  const tooLong = (name: string): Excess => ({
    path: [...path, boundedText(name, maxQuotedCharacters)],
    message: `has ${name.length} characters, more than the ${maxNameCharacters} of a name`,
  })
  const search = (value: unknown, isNaming: boolean): Excess | null => {
    if (typeof value === 'string') return isNaming && isLongerThan(value, maxNameCharacters) ? { ...tooLong(value), path: [...path] } : null
    if (typeof value !== 'object' || value === null) return null
    for (const [key, inner] of Object.entries(value)) {
      if (isLongerThan(key, maxNameCharacters)) return tooLong(key)
      path.push(key)
      const count = key === 'attributes' && typeof inner === 'object' && inner !== null ? Object.keys(inner).length : 0
      if (count > maxAttributes) return { path, message: `has ${count} entries, more than the ${maxAttributes} of a schema` }
      const found = search(inner, Array.isArray(value) ? isNaming : naming.has(key))
      if (found !== null) return found
      path.pop()
    }
    return null
  }
  return search(body, false)
}

/** The end of an error message, or null. */
export const longUid = (uid: string): string | null =>
  uid.length > maxUidCharacters ? `has ${uid.length} characters, more than the ${maxUidCharacters} of a uid` : null

/** Counts characters as databases do, not UTF-16 units. */
function isLongerThan(text: string, max: number): boolean {
  return text.length > max && (text.length > 2 * max || [...text].length > max)
}
