// Content-types and components as hints speak of them: their names, what their attributes are, and what a path of names leads to.
import { fileType } from '../../model/schema/link.js'
import type { Attribute, Model, Schema } from '../../model/schema/types.js'
import { assertNever } from '../../model/schema/types.js'
import { withArticle } from './sentences.js'

/** The name by which people know a type or component. */
export const nameOf = (shape: Schema): string => (shape.kind === 'contentType' ? shape.singularName : shape.uid)

/** True for what no request may name. */
export const isUnreadable = (attribute: Attribute): boolean =>
  attribute.private || (attribute.kind === 'scalar' && attribute.type === 'password')

/** The names that `fields` takes. */
export const fieldNames = ({ attributes }: Schema): readonly string[] =>
  [...attributes.values()].filter((attribute) => attribute.kind === 'scalar' && !isUnreadable(attribute)).map(({ name }) => name)

/** The names that `populate` takes. */
export const populateNames = ({ attributes }: Schema): readonly string[] =>
  [...attributes.values()].filter((attribute) => attribute.kind !== 'scalar' && !attribute.private).map(({ name }) => name)

/** What an attribute is, with its article: `a string`, `a relation to author`. */
export function kindOf(model: Model, attribute: Attribute): string {
  switch (attribute.kind) {
    case 'scalar':
      return withArticle(attribute.type)
    case 'relation':
    case 'morphFrom':
      return `a relation to ${model.types.get(attribute.target)?.singularName ?? attribute.target}`
    case 'morphTo':
      return 'a relation to many types'
    case 'media':
      return 'a media attribute'
    case 'component':
      return `a component (${attribute.component})`
    case 'dynamiczone':
      return 'a dynamic zone'
    default:
      return assertNever(attribute)
  }
}

/** The types and components that an attribute leads to. */
export function shapesOf(model: Model, attribute: Attribute): readonly Schema[] {
  const known = (shapes: readonly (Schema | undefined)[]): readonly Schema[] => shapes.filter((shape) => shape !== undefined)
  switch (attribute.kind) {
    case 'scalar':
    case 'morphTo':
      return []
    case 'relation':
    case 'morphFrom':
      return known([model.types.get(attribute.target)])
    case 'media':
      return known([model.types.get(fileType)])
    case 'component':
      return known([model.components.get(attribute.component)])
    case 'dynamiczone':
      return known(attribute.components.map((uid) => model.components.get(uid)))
    default:
      return assertNever(attribute)
  }
}

/** What a path leads to: the types or components, and the last attribute. */
export interface PathTarget {
  readonly shapes: readonly Schema[]
  readonly attribute: Attribute | null
}

/** The steps of a path as errors write it; a uid in it has a dot of its own. */
export function stepsOf(model: Model, path: string): readonly string[] {
  const parts = path.split('.')
  const steps: string[] = []
  for (let at = 0; at < parts.length; at++) {
    const uid = `${parts[at]}.${parts[at + 1]}`
    const isUid = parts[at - 1] === 'on' && (model.components.has(uid) || model.types.has(uid))
    steps.push(isUid ? uid : parts[at]!)
    if (isUid) at++
  }
  return steps
}

/** Follows the names of a path from a type; null where it leads nowhere. Indexes and words of the query language are skipped. */
export function placeAt(model: Model, type: Schema, path: readonly (string | number)[]): PathTarget | null {
  let place: PathTarget = { shapes: [type], attribute: null }
  for (const step of path) {
    if (typeof step === 'number' || /^(?:\d+|populate|on|\$.*)$/.test(step)) continue
    const named = model.components.get(step) ?? model.types.get(step)
    if (named !== undefined) {
      place = { shapes: [named], attribute: place.attribute }
      continue
    }
    const attribute = place.shapes.map((shape) => shape.attributes.get(step)).find((found) => found !== undefined)
    if (attribute === undefined) return null
    place = { shapes: shapesOf(model, attribute), attribute }
  }
  return place
}

/** Attributes by which people know documents, the most usual first. */
const usualLabels = ['name', 'title', 'label', 'heading', 'headline', 'displayName', 'username', 'slug']

/** The attribute by which people know documents of a type; null if it has no text. */
export function labelOf(shape: Schema): string | null {
  const texts = [...shape.attributes.values()].filter(
    (attribute) =>
      attribute.kind === 'scalar' && !attribute.system && !isUnreadable(attribute) && /^(?:string|text|uid|email)$/.test(attribute.type),
  )
  return usualLabels.find((label) => texts.some(({ name }) => name === label)) ?? texts[0]?.name ?? null
}

/** True for text in the form of a documentId. */
export const looksLikeDocumentId = (text: string): boolean => /^[a-z0-9]{24}$/.test(text)
