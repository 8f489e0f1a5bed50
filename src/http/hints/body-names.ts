// Keys of a body that may not be there: 400 `Invalid key …`, whose details say where the key stands.
import type { Attribute, Schema } from '../../model/schema/types.js'
import { dataOf } from './bodies.js'
import { pathOf } from './documents.js'
import type { Hint, HintedExchange } from './exchange.js'
import { lacks } from './permissions.js'
import { listed, quoted, similar } from './sentences.js'
import { kindOf, nameOf, placeAt, stepsOf } from './shapes.js'

/** A key that does not exist, or that no body may have. */
export const invalidKey: Hint = (exchange) => {
  const { error, type, model, method } = exchange
  const { key, path, source } = (error?.details ?? {}) as Readonly<Record<string, unknown>>
  if (type === null || typeof key !== 'string' || source !== 'body') return null
  const steps = typeof path === 'string' ? stepsOf(model, path) : []
  const above = steps.at(-1) === key ? steps.slice(0, -1) : steps
  const place = placeAt(model, type, above)
  const shapes = entryShapes(exchange, above, place?.shapes ?? [type])
  const attribute = shapes.map((shape) => shape.attributes.get(key)).find((found) => found !== undefined)
  if (above.length === 0 && (key === 'id' || key === 'documentId'))
    return method === 'POST'
      ? `The service makes the ${key} of a new document. To change one, send PUT ${pathOf(exchange, type)}/<documentId>`
      : `The document is named by the path, ${pathOf(exchange, type)}/<documentId>: leave ${key} out of data.`
  if (place?.attribute?.kind === 'relation' || place?.attribute?.kind === 'media') return referenceKey(place.attribute, key)
  if (attribute !== undefined) return refusedKey(exchange, attribute, key)
  return (
    topLevelKey(key, above) ??
    `${listed(shapes.slice(0, 3).map(nameOf))} ${shapes.length === 1 ? 'has' : 'have'} no "${key}".${guess(key, shapes)}`
  )
}

/** In a dynamic zone, the components that its entries name. */
function entryShapes(exchange: HintedExchange, above: readonly string[], shapes: readonly Schema[]): readonly Schema[] {
  const entries = above.length === 1 ? dataOf(exchange)?.[above[0]!] : undefined
  if (!Array.isArray(entries) || shapes.length < 2) return shapes
  const named = new Set(entries.map((entry: { readonly __component?: unknown } | null) => entry?.__component))
  const used = shapes.filter(({ uid }) => named.has(uid))
  return used.length === 0 ? shapes : used
}

/** What belongs into the query string, or into another version of the API. */
function topLevelKey(key: string, above: readonly string[]): string | null {
  if (above.length > 0) return null
  if (key === 'status') return 'status is a parameter of the query, not of the body: ?status=draft or ?status=published'
  if (key === 'attributes')
    return 'data holds the attributes themselves, without "attributes" around them as in Strapi 4: { "data": { "title": … } }'
  return null
}

function referenceKey({ name, kind }: Attribute, key: string): string {
  const form = kind === 'media' ? `${quoted(name)}: <file id>` : `${quoted(name)}: <documentId>, or { "connect": [{ "documentId": … }] }`
  return `${name} takes set, connect and disconnect, or what it refers to, but no "${key}": write ${form}`
}

/** An attribute that exists, but may not be written. */
async function refusedKey(exchange: HintedExchange, attribute: Attribute, key: string): Promise<string | null> {
  const { asked, model } = exchange
  if (attribute.kind === 'scalar' && attribute.system) return `"${key}" is written by the service alone: leave it out.`
  if (attribute.source.writable === false) return `"${key}" is "writable": false in its schema: only code of the project writes it.`
  if (/^(?:created|updated)By$|^localizations$/.test(key)) return `"${key}" is written by the service alone: leave it out.`
  if (attribute.kind === 'morphTo')
    return `"${key}" is ${kindOf(model, attribute)}: each entry names its type, { "__type": "api::article.article", "documentId": … }, and the caller must be allowed to find it.`
  if (asked === null || (attribute.kind !== 'relation' && attribute.kind !== 'morphFrom')) return null
  if (asked.caller.grants.may(`${attribute.target}.find`)) return null
  return `"${key}" exists, but refers to documents that the caller may not find. ${await lacks(exchange, asked, [`${attribute.target}.find`])}`
}

function guess(key: string, shapes: readonly Schema[]): string {
  const names = new Set(
    shapes.flatMap((shape) => [...shape.attributes.values()].flatMap((attribute) => (isGiven(attribute) ? [attribute.name] : []))),
  )
  const close = similar(key, names)
  return close === null ? ` It has ${listed(names)}.` : ` Did you mean "${close}"?`
}

/** True for attributes that a body may give. */
const isGiven = (attribute: Attribute): boolean =>
  !(attribute.kind === 'scalar' && attribute.system) && !/^(?:created|updated)By$|^localizations$/.test(attribute.name)
