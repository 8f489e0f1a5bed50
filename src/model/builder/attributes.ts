// Attributes on their way into a schema: the keys that are written, their order, and what stays although the request does not name it.
import type { AttributeSource } from '../schema/types.js'
import { type BuilderAttributes, without } from './project-schemas.js'
import type { ListedType } from './update-schema-request.js'

/** Keys of a request that no file has: the other side is written as `inversedBy` or `mappedBy`. */
const ofOtherSide = ['targetAttribute', 'inversedBy', 'mappedBy', 'dominant']
const isWritten = ([key, value]: readonly [string, unknown]): boolean =>
  value !== undefined && (key !== 'private' || value === true) && (key !== 'configurable' || value === false)

/** Relations begin with type, relation and target. */
function orderedRelation(attribute: Readonly<Record<string, unknown>>): AttributeSource {
  const { type, relation, target, ...rest } = attribute
  return Object.fromEntries(Object.entries({ type, relation, target, ...rest }).filter(isWritten)) as AttributeSource
}

/**
 * A relation as it is written, without its other side. It keeps the options of `before` that the request does not name, such as
 * `useJoinTable`.
 */
export function relationAttribute(sent: AttributeSource, before: AttributeSource | undefined): AttributeSource {
  const kept = before?.type === 'relation' ? without(before, ...ofOtherSide) : {}
  return orderedRelation({ ...kept, ...without(sent, ...ofOtherSide) })
}

/** An attribute as it is written: as sent, or in the order in which update-schema reads it. */
const scalarAttribute = (sent: AttributeSource): AttributeSource =>
  Object.fromEntries(Object.entries(without(sent, 'targetAttribute')).filter(isWritten)) as AttributeSource

/** Options for hand-written files, without which the values of a column would be lost (content-type-builder.10). */
const ofColumn = ['column', 'columnName'] as const
function keepColumn(sent: AttributeSource, before: AttributeSource | undefined): AttributeSource {
  if (before === undefined || before.type !== sent.type) return sent
  const kept = ofColumn.filter((key) => before[key] !== undefined && sent[key] === undefined).map((key) => [key, before[key]])
  return { ...sent, ...Object.fromEntries(kept) }
}

/** The attributes of a schema after a request, still without the other sides of relations. */
export interface NewAttributes {
  readonly attributes: BuilderAttributes
  /** The name of the other side, by attribute. */
  readonly inverses: ReadonlyMap<string, string>
  /** The key of the other side, where a request names it as files do. */
  readonly sides: ReadonlyMap<string, SideKey>
}

/** The keys of files that name the other side of a relation: that of the side that owns it, and that of the one that does not. */
export type SideKey = 'inversedBy' | 'mappedBy'

/** The other side that a relation of a request names, and by which key. */
function otherSide({ type, targetAttribute, inversedBy, mappedBy }: AttributeSource): readonly [name: string, key?: SideKey] | null {
  if (type !== 'relation') return null
  const isName = (name: unknown): name is string => typeof name === 'string' && name !== ''
  if (targetAttribute !== undefined) return isName(targetAttribute) ? [targetAttribute] : null
  if (isName(inversedBy)) return [inversedBy, 'inversedBy']
  return isName(mappedBy) ? [mappedBy, 'mappedBy'] : null
}

/**
 * Builds the attributes of a schema from those of a request. Attributes that are not configurable, and those that Strapi brings along (`own`),
 * stay as they are and come first.
 */
export function newAttributes(before: BuilderAttributes, sent: BuilderAttributes, own: readonly string[] = []): NewAttributes {
  const fixed = Object.entries(before).filter(([name, { configurable }]) => configurable === false || own.includes(name))
  const fixedNames = new Set(fixed.map(([name]) => name))
  const written = Object.entries(sent)
    .filter(([name]) => !fixedNames.has(name))
    .map(([name, attribute]) => {
      const earlier = Object.hasOwn(before, name) ? before[name] : undefined
      if (attribute.type === 'relation') return [name, relationAttribute(attribute, earlier)] as const
      return [name, keepColumn(scalarAttribute(attribute), earlier)] as const
    })
  const inverses = new Map<string, string>()
  const sides = new Map<string, SideKey>()
  for (const [name, attribute] of Object.entries(sent)) {
    const [inverse, key] = (fixedNames.has(name) ? null : otherSide(attribute)) ?? []
    if (inverse !== undefined) inverses.set(name, inverse)
    if (key !== undefined) sides.set(name, key)
  }
  return { attributes: Object.fromEntries([...fixed, ...written]), inverses, sides }
}

/** An update takes out empty defaults, and targets of uids that are no attribute any more. */
export function tidied(attributes: BuilderAttributes): BuilderAttributes {
  return Object.fromEntries(
    Object.entries(attributes).map(([name, attribute]) => {
      const isLost =
        attribute.type === 'uid' && typeof attribute.targetField === 'string' && !Object.hasOwn(attributes, attribute.targetField)
      const gone = [...(attribute.default === '' ? ['default'] : []), ...(isLost ? ['targetField'] : [])]
      return [name, gone.length === 0 ? attribute : (without(attribute, ...gone) as AttributeSource)]
    }),
  )
}

/** The attributes of a list of update-schema, without those that it deletes. */
export const listedAttributes = ({ attributes }: Pick<ListedType, 'attributes'>): BuilderAttributes =>
  Object.fromEntries(attributes.flatMap(({ action, name, properties }) => (action === 'delete' ? [] : [[name, properties!]])))
