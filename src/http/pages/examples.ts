// Generates example requests from the model for publicly readable types, for the start page and the output of `octavo start`.
import type { Grants } from '../../grants.js'
import type { ContentType, Model } from '../../model/types.js'

/** An example request with its description. */
export interface Example {
  readonly href: string
  readonly what: string
}

/** The most examples. */
const most = 8

/** Returns example requests that `visitor` may send. Types with drafts come first, because they are usually the main content. */
export function examplesOf(model: Model, visitor: Grants, prefix: string): readonly Example[] {
  const open = [...model.paths].filter(([, type]) => visitor.may(`${type.uid}.find`))
  const rank = (type: ContentType) => (type.singleType ? 2 : type.draftAndPublish ? 0 : 1)
  return open
    .sort(([a, left], [b, right]) => rank(left) - rank(right) || (a < b ? -1 : 1))
    .flatMap(([path, type]) => examplesOfType(type, `${prefix}/${path}`))
    .slice(0, most)
}

function examplesOfType(type: ContentType, href: string): Example[] {
  const name = type.displayName
  if (type.singleType) return [{ href: `${href}?populate=*`, what: `${name} with all relations, one level deep` }]
  const attributes = [...type.attributes.values()].filter((attribute) => !attribute.private)
  const text = attributes.find((attribute) => attribute.kind === 'scalar' && attribute.type === 'string' && !attribute.system)
  const relation = attributes.find((attribute) => attribute.kind === 'relation' && attribute.name !== 'localizations')
  const found: Example[] = []
  if (text !== undefined) {
    found.push({
      href: `${href}?fields[0]=${text.name}&sort=${text.name}&pagination[pageSize]=5`,
      what: `the first five of ${name}, sorted by ${text.name}`,
    })
    found.push({
      href: `${href}?filters[${text.name}][$containsi]=a&fields[0]=${text.name}`,
      what: `entries whose ${text.name} contains "a"`,
    })
  }
  if (relation !== undefined)
    found.push({ href: `${href}?populate[0]=${relation.name}&pagination[pageSize]=3`, what: `three entries with their ${relation.name}` })
  return found
}
