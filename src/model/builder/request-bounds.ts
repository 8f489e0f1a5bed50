// The longest names, and the most attributes of a schema, that a request to change the model may have. They are checked before anything is
// compared with them or made of them.

import { nameCharacters, schemaAttributes, uidCharacters } from '../../foundation/config/limits.js'
import { boundedText } from '../../foundation/errors/bounded-values.js'

/** Keys whose texts, or lists of texts, are names. */
const naming: ReadonlySet<string> = new Set([
  ...['uid', 'tmpUID', 'schema', 'from', 'to', 'action', 'kind', 'category', 'plugin', 'icon', 'name'],
  ...['collectionName', 'singularName', 'pluralName', 'displayName', 'type', 'relation', 'target', 'targetAttribute'],
  ...['inversedBy', 'mappedBy', 'morphBy', 'targetField', 'component', 'components', 'enum', 'enumName', 'customField', 'columnName'],
])

/** Characters of a name that a message repeats. */
const repeated = 60

/** What is too long or too much, and the end of a sentence about it. */
interface Excess {
  readonly path: readonly string[]
  readonly message: string
}

/**
 * The first thing in a body that is too long or too much: a key of any object, a text where a schema names something, or the attributes of
 * a schema; null if there is none.
 */
export function excessOf(body: unknown): Excess | null {
  const path: string[] = []
  const tooLong = (name: string): Excess => ({
    path: [...path, boundedText(name, repeated)],
    message: `has ${name.length} characters, more than the ${nameCharacters} of a name`,
  })
  const search = (value: unknown, isNaming: boolean): Excess | null => {
    if (typeof value === 'string') return isNaming && isLongerThan(value, nameCharacters) ? { ...tooLong(value), path: [...path] } : null
    if (typeof value !== 'object' || value === null) return null
    for (const [key, inner] of Object.entries(value)) {
      if (isLongerThan(key, nameCharacters)) return tooLong(key)
      path.push(key)
      const count = key === 'attributes' && typeof inner === 'object' && inner !== null ? Object.keys(inner).length : 0
      if (count > schemaAttributes) return { path, message: `has ${count} entries, more than the ${schemaAttributes} of a schema` }
      const found = search(inner, Array.isArray(value) ? isNaming : naming.has(key))
      if (found !== null) return found
      path.pop()
    }
    return null
  }
  return search(body, false)
}

/** The end of a sentence about a uid that is too long; null if it is not. */
export const longUid = (uid: string): string | null =>
  uid.length > uidCharacters ? `has ${uid.length} characters, more than the ${uidCharacters} of a uid` : null

/** True for a text of more characters; one that takes two units of a JavaScript string counts once, as in databases. */
function isLongerThan(text: string, most: number): boolean {
  return text.length > most && (text.length > 2 * most || [...text].length > most)
}
