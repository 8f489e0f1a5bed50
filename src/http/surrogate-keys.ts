// Keys by which caches of others forget a response when something is changed that it was read from.
import type { Config } from '../foundation/config/config.js'

/** The key of responses with more keys than a header may have; it is purged with every change. */
const anyType = 't-all'

/** What documentIds are made of; others are no part of a header. */
const plainId = /^[\w-]{1,64}$/

/** The header with the keys of a response. `types`: uids that it was read from; `documentId`: of its only document. */
export function surrogateKeysOf(
  { surrogateKeys, limits }: Pick<Config, 'surrogateKeys' | 'limits'>,
  types: readonly string[],
  documentId: string | undefined,
): Readonly<Record<string, string>> {
  if (surrogateKeys === null) return {}
  const separator = surrogateKeys === 'Cache-Tag' ? ',' : ' '
  const ofDocument = documentId !== undefined && plainId.test(documentId) ? [`d-${documentId}`] : []
  const all = [...types.map((uid) => `t-${uid}`), ...ofDocument].join(separator)
  return { [surrogateKeys.toLowerCase()]: all.length <= limits.surrogateKeyBytes ? all : [anyType, ...ofDocument].join(separator) }
}
