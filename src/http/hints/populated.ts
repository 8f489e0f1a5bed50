// What a request populates: the types and components it goes through, and relations that are left out for want of a permission.
import { fileType } from '../../model/schema/link.js'
import type { Attribute, Model, Schema } from '../../model/schema/types.js'
import { isObject } from '../../query/rest/parameters.js'
import type { Hint } from './exchange.js'
import { lacks } from './permissions.js'
import { listed } from './sentences.js'
import { shapesOf } from './shapes.js'

/** An attribute that a request populates. */
interface PopulatedAttribute {
  readonly path: string
  readonly attribute: Attribute
  readonly shapes: readonly Schema[]
  /** What stands under it; true where there is nothing but its name. */
  readonly value: unknown
}

/** Levels of a populate that hints look at. */
const deepest = 10

/** The attributes that a `populate` names, in any of its forms. What the model lacks is skipped. */
export function* populatedBy(model: Model, shape: Schema, node: unknown, above = '', depth = 0): Generator<PopulatedAttribute> {
  if (depth > deepest || node === undefined || node === null) return
  if (typeof node === 'string') {
    for (const name of node.split(',')) yield* populatedByPath(model, shape, name.trim(), above)
    return
  }
  if (Array.isArray(node)) {
    for (const entry of node) yield* populatedBy(model, shape, entry, above, depth + 1)
    return
  }
  if (!isObject(node)) return
  for (const [name, value] of Object.entries(node)) {
    const attribute = shape.attributes.get(name)
    if (/^\d+$/.test(name)) yield* populatedBy(model, shape, value, above, depth + 1)
    if (attribute === undefined || attribute.kind === 'scalar' || /^(?:false|f|0)$/.test(String(value))) continue
    const here = { ...populated(model, attribute, above), value }
    yield here
    if (isObject(value)) yield* populatedBelow(model, here, value, depth + 1)
  }
}

function* populatedBelow(
  model: Model,
  { path, shapes }: PopulatedAttribute,
  level: Readonly<Record<string, unknown>>,
  depth: number,
): Generator<PopulatedAttribute> {
  for (const shape of shapes) yield* populatedBy(model, shape, level.populate, `${path}.`, depth)
  if (!isObject(level.on)) return
  for (const [uid, fragment] of Object.entries(level.on)) {
    const shape = model.components.get(uid) ?? model.types.get(uid)
    if (shape !== undefined && isObject(fragment)) yield* populatedBy(model, shape, fragment.populate, `${path}.`, depth)
  }
}

function* populatedByPath(model: Model, shape: Schema, path: string, above: string): Generator<PopulatedAttribute> {
  if (path === '*') {
    for (const attribute of shape.attributes.values())
      if (attribute.kind !== 'scalar' && !attribute.private) yield populated(model, attribute, above)
    return
  }
  const [name = '', ...rest] = path.split('.')
  const attribute = shape.attributes.get(name)
  if (attribute === undefined || attribute.kind === 'scalar') return
  const here = populated(model, attribute, above)
  yield here
  if (rest.length > 0) for (const next of here.shapes) yield* populatedByPath(model, next, rest.join('.'), `${here.path}.`)
}

const populated = (model: Model, attribute: Attribute, above: string): PopulatedAttribute => ({
  path: `${above}${attribute.name}`,
  attribute,
  shapes: shapesOf(model, attribute),
  value: true,
})

/** All types and components that a populate goes through. */
export const shapesBelow = (model: Model, shape: Schema, node: unknown): readonly Schema[] => [
  ...new Set([...populatedBy(model, shape, node)].flatMap(({ shapes }) => shapes)),
]

/** The action without which an attribute is left out; null if it needs none. */
function actionOf(attribute: Attribute): string | null {
  if (attribute.kind !== 'relation' && attribute.kind !== 'morphFrom') return null
  if (attribute.kind === 'relation' && (attribute.storage.kind === 'localizations' || /^(?:created|updated)By$/.test(attribute.name)))
    return null
  return attribute.target === fileType ? null : `${attribute.target}.find`
}

/** Relations that are silently left out of a response, because the caller may not find what they lead to. */
export const leftOutOfPopulate: Hint = (exchange) => {
  const { type, parameters, asked, model, status } = exchange
  if (type === null || asked === null || status >= 300 || parameters.populate === undefined) return null
  const closed = [...populatedBy(model, type, parameters.populate)].flatMap(({ path, attribute }) => {
    const action = actionOf(attribute)
    return action === null || asked.caller.grants.may(action) ? [] : [{ path, action }]
  })
  if (closed.length === 0) return null
  const [paths, actions] = [new Set(closed.map(({ path }) => path)), new Set(closed.map(({ action }) => action))]
  return lacks(exchange, asked, [...actions]).then((who) => `Left out of populate: ${listed(paths)}. ${who}`)
}

/** 400: a dynamic zone populated as if it were a relation. */
export const populatedZone: Hint = ({ error, type, model, parameters }) => {
  if (error?.status !== 400 || type === null || 'key' in (error.details ?? {})) return null
  const zone = [...populatedBy(model, type, parameters.populate)].find(
    ({ attribute, value }) =>
      attribute.kind === 'dynamiczone' &&
      !/^(?:true|t|1)$/.test(String(value)) &&
      !(isObject(value) && ('on' in value || 'count' in value)),
  )
  if (zone?.attribute.kind !== 'dynamiczone') return null
  return zoneForms(`populate[${zone.path.split('.').join('][populate][')}]`, zone.attribute)
}

/** How a dynamic zone is populated at a place of the query. */
export const zoneForms = (place: string, { components }: Extract<Attribute, { kind: 'dynamiczone' }>): string =>
  `A dynamic zone is populated by component, ${place}[on][${components[0]}]=true, or for all of them, ${place}[populate]=*. Components: ${listed(components)}.`
