// ChangedNode paths become the data of an update: entries of components that are on the way keep their ids, and with them all that is not named.
import { isExtraKey } from '../../content/documents/input/keys.js'
import type { Body } from '../../content/documents/input/types.js'
import { mistakenInput } from '../../foundation/errors/errors.js'
import { type AttributeGrants, grantedBelow, isGranted } from '../../foundation/grants.js'
import type { ContentType, Model, Schema } from '../../model/schema/types.js'

/** What stands at paths such as `title`, `seo/metaTitle` or `sections/3/picture`. */
export type ChangedPaths = Readonly<Record<string, unknown>>

/** The most names of a path. */
const deepest = 50

/** A tree of what is changed: a value, or what is changed below. */
interface ChangedNode {
  value?: { readonly set: unknown }
  readonly below: Map<string, ChangedNode>
}

/**
 * The data that sets what stands at the paths. `row`: the version that is changed, with the ids of its components; null: there is none.
 * Positions in lists are those of `row`.
 * @throws ApiError 400 for paths that lead nowhere, and for one below another
 */
export function dataOf(
  model: Model,
  type: ContentType,
  changes: ChangedPaths,
  row: Body | null,
  readable: AttributeGrants,
): Readonly<Record<string, unknown>> {
  const root: ChangedNode = { below: new Map() }
  for (const [path, value] of Object.entries(changes)) {
    const names = path.split('/')
    if (names.length > deepest || names.includes('')) throw nowhere(path)
    let at = root
    for (const name of names) {
      if (at.value !== undefined) throw overlapping(path)
      const next: ChangedNode = at.below.get(name) ?? { below: new Map() }
      at.below.set(name, next)
      at = next
    }
    if (at.below.size > 0 || at.value !== undefined) throw overlapping(path)
    at.value = { set: value }
  }
  return entryOf({ model, shape: type, readable }, root, row ?? {}, '')
}

const wrong = (path: string, message: string) => mistakenInput([{ path: path.split('/'), message }])
const nowhere = (path: string) => wrong(path, `The path ${path} leads nowhere`)
const overlapping = (path: string) => wrong(path, `The path ${path} stands below another one`)
const localeAsked = 'The locale is a parameter of the query, such as ?locale=en'

/** Holds the data of a new document to what sets something. @throws ApiError 400 */
export function checkGiven(type: ContentType, data: Body): void {
  const mistakes = Object.keys(data)
    .filter((name) => isExtraKey(type, name))
    .map((name) => ({
      path: [name],
      message: name === 'locale' ? localeAsked : `${type.uid} has no attribute ${name} that can be given`,
    }))
  if (mistakes.length > 0) throw mistakenInput(mistakes)
}

/** What entries are of, and what the administrator sees of them. */
interface ChangedPlace {
  readonly model: Model
  readonly shape: Schema
  readonly readable: AttributeGrants
}

function entryOf(place: ChangedPlace, changed: ChangedNode, row: Body, above: string): Record<string, unknown> {
  return Object.fromEntries(
    [...changed.below].map(([name, below]) => {
      const path = `${above}${name}`
      if (isExtraKey(place.shape, name)) throw path === 'locale' ? wrong(path, localeAsked) : nowhere(path)
      return [name, changedValue(place, name, below, row[name], path)] as const
    }),
  )
}

function changedValue(
  { model, shape, readable }: ChangedPlace,
  name: string,
  changed: ChangedNode,
  stored: unknown,
  path: string,
): unknown {
  if (changed.value !== undefined) return changed.value.set
  const attribute = shape.attributes.get(name)
  // How many entries there are is not told of what may not be seen.
  const isSeen = isGranted(readable, name)
  if (!isSeen || (attribute?.kind !== 'component' && attribute?.kind !== 'dynamiczone')) throw nowhere(path)
  const uidOf = (entry: Body): string => (attribute.kind === 'component' ? attribute.component : String(entry.__component))
  const kept = (entry: Body): Body => ({ id: entry.id, ...(attribute.kind === 'dynamiczone' ? { __component: entry.__component } : {}) })
  const inside = (entry: Body, below: ChangedNode, at: string): Body => {
    const component = model.components.get(uidOf(entry))
    if (component === undefined) throw nowhere(at)
    const place = { model, shape: component, readable: grantedBelow(readable, name) }
    return { ...kept(entry), ...entryOf(place, below, entry, `${at}/`) }
  }
  if (attribute.kind === 'component' && !attribute.repeatable) {
    if (typeof stored !== 'object' || stored === null) throw nowhere(path)
    return inside(stored as Body, changed, path)
  }
  const entries = Array.isArray(stored) ? (stored as readonly Body[]) : []
  for (const [position, { value }] of changed.below)
    if (!/^(?:0|[1-9]\d{0,5})$/.test(position) || Number(position) >= entries.length || value !== undefined)
      throw nowhere(`${path}/${position}`)
  return entries.map((entry, index) => {
    const below = changed.below.get(String(index))
    return below === undefined ? kept(entry) : inside(entry, below, `${path}/${index}`)
  })
}
