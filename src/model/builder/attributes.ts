// The attributes of a request: their keys and order in schema files, and both sides of relations.
import type { AttributeSource } from '../schema/types.js'
import { attributeName, isReservedAttribute, schemaPath } from './names.js'
import {
  type BuilderAttributes,
  type Draft,
  edit,
  getAttribute,
  getAttributes,
  isComponentUid,
  type ProjectSchema,
  without,
} from './project-schemas.js'
import type { ListedType } from './update-schema-request.js'

/** The keys of the other side, which are written again by `setAttributes`. */
const inverseKeys = ['targetAttribute', 'inversedBy', 'mappedBy', 'dominant']
const isWritten = ([key, value]: readonly [string, unknown]): boolean =>
  value !== undefined && (key !== 'private' || value === true) && (key !== 'configurable' || value === false)

function orderedRelation(attribute: Readonly<Record<string, unknown>>): AttributeSource {
  const { type, relation, target, ...rest } = attribute
  return Object.fromEntries(Object.entries({ type, relation, target, ...rest }).filter(isWritten)) as AttributeSource
}

/** A relation without its other side. Options of `before` that the request omits stay, such as `useJoinTable`. */
function relationAttribute(sent: AttributeSource, before: AttributeSource | undefined): AttributeSource {
  const existing = before?.type === 'relation' ? without(before, ...inverseKeys) : {}
  return orderedRelation({ ...existing, ...without(sent, ...inverseKeys) })
}

const scalarAttribute = (sent: AttributeSource): AttributeSource =>
  Object.fromEntries(Object.entries(without(sent, 'targetAttribute')).filter(isWritten)) as AttributeSource

/** Options of hand-written files; without them the column's values would be lost (content-type-builder.10). */
const columnOptions = ['column', 'columnName'] as const
function keepColumn(sent: AttributeSource, before: AttributeSource | undefined): AttributeSource {
  if (before === undefined || before.type !== sent.type) return sent
  const existing = columnOptions.filter((key) => before[key] !== undefined && sent[key] === undefined).map((key) => [key, before[key]])
  return { ...sent, ...Object.fromEntries(existing) }
}

/** The attributes of a schema after a request, without the other sides of relations. */
export interface NewAttributes {
  readonly attributes: BuilderAttributes
  /** The name of the other side, by attribute. */
  readonly inverses: ReadonlyMap<string, string>
}

/** Non-configurable attributes, and Strapi's own ones (`builtin`), stay unchanged and come first. */
export function newAttributes(before: BuilderAttributes, sent: BuilderAttributes, builtin: readonly string[] = []): NewAttributes {
  const fixed = Object.entries(before).filter(([name, { configurable }]) => configurable === false || builtin.includes(name))
  const fixedNames = new Set(fixed.map(([name]) => name))
  const written = Object.entries(sent)
    .filter(([name]) => !fixedNames.has(name))
    .map(([name, attribute]) => {
      const earlier = Object.hasOwn(before, name) ? before[name] : undefined
      if (attribute.type === 'relation') return [name, relationAttribute(attribute, earlier)] as const
      return [name, keepColumn(scalarAttribute(attribute), earlier)] as const
    })
  const inverses = new Map<string, string>()
  for (const [name, { type, targetAttribute }] of Object.entries(sent))
    if (type === 'relation' && typeof targetAttribute === 'string' && targetAttribute !== '' && !fixedNames.has(name))
      inverses.set(name, targetAttribute)
  return { attributes: Object.fromEntries([...fixed, ...written]), inverses }
}

/** Updates drop empty defaults, and the `targetField` of a uid whose target was removed. */
export function withoutStaleOptions(attributes: BuilderAttributes): BuilderAttributes {
  return Object.fromEntries(
    Object.entries(attributes).map(([name, attribute]) => {
      const isStale =
        attribute.type === 'uid' && typeof attribute.targetField === 'string' && !Object.hasOwn(attributes, attribute.targetField)
      const removed = [...(attribute.default === '' ? ['default'] : []), ...(isStale ? ['targetField'] : [])]
      return [name, removed.length === 0 ? attribute : (without(attribute, ...removed) as AttributeSource)]
    }),
  )
}

/** The attributes of a type or component in a request, without the deleted ones. */
export const listedAttributes = ({ attributes }: Pick<ListedType, 'attributes'>): BuilderAttributes =>
  Object.fromEntries(attributes.flatMap(({ action, name, properties }) => (action === 'delete' ? [] : [[name, properties!]])))

/** The requested attributes by uid. */
type RequestedAttributes = ReadonlyMap<string, NewAttributes>

interface RelationSide {
  readonly uid: string
  readonly name: string
}

const opposite: Readonly<Record<string, string>> = {
  oneToOne: 'oneToOne',
  oneToMany: 'manyToOne',
  manyToOne: 'oneToMany',
  manyToMany: 'manyToMany',
}

const inverseName = (attribute: AttributeSource | undefined): string | undefined =>
  attribute?.type === 'relation' ? ((attribute.inversedBy ?? attribute.mappedBy) as string | undefined) : undefined

const isOtherSide = (attribute: AttributeSource | undefined, side: RelationSide): boolean =>
  attribute?.type === 'relation' && attribute.target === side.uid && inverseName(attribute) === side.name

const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other)

/** Replaces an attribute in its position, or appends it. */
function put(draft: Draft, { uid, name }: RelationSide, attribute: AttributeSource): void {
  const attributes = getAttributes(draft, uid)
  if (!isSame(getAttribute(draft, uid, name), attribute)) edit(draft, uid, { attributes: { ...attributes, [name]: attribute } })
}

function remove(draft: Draft, { uid, name }: RelationSide): void {
  if (getAttribute(draft, uid, name) !== undefined) edit(draft, uid, { attributes: without(getAttributes(draft, uid), name) })
}

interface Change {
  readonly draft: Draft
  readonly before: ReadonlyMap<string, ProjectSchema>
  readonly requested: RequestedAttributes
}

/** Sets the requested attributes and writes both sides of every relation. Returns an error; the draft is unusable then. */
export function setAttributes(draft: Draft, before: ReadonlyMap<string, ProjectSchema>, requested: RequestedAttributes): string | null {
  const change: Change = { draft, before, requested }
  for (const [uid, { attributes }] of requested) edit(draft, uid, { attributes })
  for (const [uid, own] of requested) removeOtherSides(change, uid, own)
  const written = new Set<string>()
  for (const [uid, { inverses }] of requested)
    for (const [name, inverse] of inverses) {
      const here = { uid, name }
      const attribute = getAttribute(draft, uid, name)
      if (attribute === undefined || written.has(`${uid} ${name}`)) continue
      const there = { uid: attribute.target as string, name: inverse }
      const message = wrongName(attribute, here, there) ?? writeBothSides(change, attribute, here, there, written)
      if (message !== null) return message
    }
  return null
}

/**
 * Removes the other side of each removed or changed relation, except in schemas of the request, which list it themselves. If a relation now
 * targets another type and its former other side owns the links, that side stays as a one-sided relation.
 */
function removeOtherSides({ draft, before, requested }: Change, uid: string, own: NewAttributes): void {
  for (const [name, old] of Object.entries(getAttributes(before, uid))) {
    const inverse = inverseName(old)
    const now = getAttribute(draft, uid, name)
    if (inverse === undefined || now === old || typeof old.target !== 'string' || requested.has(old.target)) continue
    const stays = now?.type === 'relation' && now.relation === old.relation && now.target === old.target
    if (stays && own.inverses.get(name) === inverse) continue
    const other = getAttribute(draft, old.target, inverse)
    const leadsElsewhere = now?.type === 'relation' && now.target !== old.target
    if (!isOtherSide(other, { uid, name })) continue
    const there = { uid: old.target, name: inverse }
    if (leadsElsewhere && other!.inversedBy === name) put(draft, there, relationAttribute(other!, undefined))
    else remove(draft, there)
  }
}

function wrongName({ relation }: AttributeSource, here: RelationSide, there: RelationSide): string | null {
  if (opposite[relation as string] === undefined || isComponentUid(here.uid))
    return `The attribute ${here.name} of ${here.uid} cannot have another side: remove targetAttribute`
  if (!attributeName.test(there.name) || isReservedAttribute(there.name))
    return `${JSON.stringify(there.name)} cannot be the name of an attribute of ${there.uid}: choose another targetAttribute`
  return schemaPath(there.uid) === null ? `${there.uid} is part of the system: remove targetAttribute of ${here.name}` : null
}

const oppositeKey = { inversedBy: 'mappedBy', mappedBy: 'inversedBy' } as const

/** The key of the other side in schema files. */
function inverseKey(
  before: Change['before'],
  attribute: AttributeSource,
  here: RelationSide,
  there: RelationSide,
): 'inversedBy' | 'mappedBy' {
  if (attribute.relation === 'oneToMany') return 'mappedBy'
  if (attribute.relation === 'manyToOne') return 'inversedBy'
  const wasHere = getAttribute(before, here.uid, here.name)
  const wasThere = getAttribute(before, there.uid, there.name)
  const wasOwner =
    isOtherSide(wasThere, here) && wasThere?.inversedBy === here.name && wasThere.relation === opposite[attribute.relation as string]
  return wasOwner || (wasHere?.target === there.uid && wasHere.mappedBy !== undefined) ? 'mappedBy' : 'inversedBy'
}

/** True if the request declares both sides of a new relation, and lists the other type later. */
function isForLaterType({ requested, before }: Change, here: RelationSide, there: RelationSide): boolean {
  const uids = [...requested.keys()]
  return (
    isNewPair(before, here, there) &&
    uids.indexOf(there.uid) > uids.indexOf(here.uid) &&
    requested.get(there.uid)!.inverses.get(there.name) === here.name
  )
}

const isNewPair = (before: Change['before'], here: RelationSide, there: RelationSide): boolean =>
  here.uid !== there.uid && [here, there].every(({ uid, name }) => getAttribute(before, uid, name)?.type !== 'relation')

/** Writes a relation and its other side, or returns an error. */
function writeBothSides(
  change: Change,
  attribute: AttributeSource,
  here: RelationSide,
  there: RelationSide,
  written: Set<string>,
): string | null {
  const { draft, before, requested } = change
  const relation = opposite[attribute.relation as string]!
  const wasHere = getAttribute(before, here.uid, here.name)
  const wasThere = getAttribute(before, there.uid, there.name)
  const other = getAttribute(draft, there.uid, there.name)
  const wasPair = isOtherSide(wasThere, here) && inverseName(wasHere) === there.name
  const claimed = other?.target === here.uid ? (requested.get(there.uid)?.inverses.get(there.name) ?? inverseName(other)) : undefined
  if (wasPair && requested.has(there.uid) && claimed !== here.name) {
    remove(draft, here)
    return null
  }
  const isItself = there.uid === here.uid && there.name === here.name
  const isFree =
    other === undefined || (claimed !== undefined && (claimed === here.name || getAttribute(draft, here.uid, claimed) === undefined))
  if (isItself || !isFree)
    return `The type ${there.uid} already has an attribute ${there.name}: choose another targetAttribute for ${here.name}`
  if (isForLaterType(change, here, there)) return null
  if (other !== undefined && other.relation !== relation && requested.has(there.uid) && !isNewPair(before, here, there)) {
    const changedHere = attribute.relation !== wasHere?.relation
    const changedThere = other.relation !== wasThere?.relation
    if (changedHere && changedThere) return `${here.uid}.${here.name} and ${there.uid}.${there.name} do not fit together`
    if (changedThere) return null
  }
  const ours = inverseKey(before, attribute, here, there)
  const theirs = oppositeKey[ours]
  put(draft, here, { ...relationAttribute(attribute, undefined), [ours]: there.name })
  const isThere = isOtherSide(other, here) && other?.relation === relation && other[theirs] === here.name
  if (!isThere) put(draft, there, { ...relationAttribute({ type: 'relation', relation, target: here.uid }, other), [theirs]: here.name })
  written.add(`${here.uid} ${here.name}`).add(`${there.uid} ${there.name}`)
  return null
}

/** Removes all relations to a deleted type. */
export function removeRelationsTo(draft: Draft, deleted: string): void {
  for (const { uid, content } of [...draft.values()])
    for (const [name, { type, target }] of Object.entries(content.attributes))
      if (type === 'relation' && target === deleted) remove(draft, { uid, name })
}
