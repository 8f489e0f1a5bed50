// The two sides of relations: what a changed attribute writes into the type that it points at, and what a removed one takes out there.
import type { AttributeSource } from '../schema/types.js'
import type { NewAttributes, SideKey } from './attributes.js'
import { relationAttribute } from './attributes.js'
import { attributeName, isReservedAttribute, schemaPath } from './names.js'
import {
  attributeOf,
  attributesOf,
  type Draft,
  edit,
  isComponentUid,
  type Mistake,
  type ProjectSchema,
  without,
} from './project-schemas.js'

/** The new attributes of the schemas that a request names, by uid. */
export type Wishes = ReadonlyMap<string, NewAttributes>

/** An attribute of a schema. */
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

/** True if `attribute` is the other side of the relation `side`. */
const isOtherSide = (attribute: AttributeSource | undefined, side: RelationSide): boolean =>
  attribute?.type === 'relation' && attribute.target === side.uid && inverseName(attribute) === side.name

const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other)

/** Puts an attribute in its place, or at the end if it is new. */
function put(draft: Draft, { uid, name }: RelationSide, attribute: AttributeSource): void {
  const attributes = attributesOf(draft, uid)
  if (!isSame(attributeOf(draft, uid, name), attribute)) edit(draft, uid, { attributes: { ...attributes, [name]: attribute } })
}

function remove(draft: Draft, { uid, name }: RelationSide): void {
  if (attributeOf(draft, uid, name) !== undefined) edit(draft, uid, { attributes: without(attributesOf(draft, uid), name) })
}

/** What a request changes relations in. */
interface Change {
  readonly draft: Draft
  readonly before: ReadonlyMap<string, ProjectSchema>
  readonly wishes: Wishes
}

/**
 * Sets the attributes of all schemas that a request names, and writes both sides of every relation.
 * Returns the mistakes; the draft is of no use then.
 */
export function setAttributes(draft: Draft, before: ReadonlyMap<string, ProjectSchema>, wishes: Wishes): readonly Mistake[] {
  const change: Change = { draft, before, wishes }
  for (const [uid, { attributes }] of wishes) edit(draft, uid, { attributes })
  for (const [uid, wish] of wishes) takeOutOtherSides(change, uid, wish)
  const written = new Set<string>()
  const mistakes: Mistake[] = []
  for (const [uid, { inverses }] of wishes)
    for (const [name, inverse] of inverses) {
      const here = { uid, name }
      const attribute = attributeOf(draft, uid, name)
      if (attribute === undefined || written.has(`${uid} ${name}`)) continue
      const there = { uid: attribute.target as string, name: inverse }
      const message = wrongName(change, attribute, here, there) ?? writeBothSides(change, attribute, here, there, written)
      if (message !== null) mistakes.push({ path: [uid, name], message })
    }
  return mistakes
}

/**
 * Removes the other side of every relation that is removed or becomes another one. A schema that is named decides for itself; the side that
 * owns the links stays, as a relation without another side, where the other one now leads to another type.
 */
function takeOutOtherSides({ draft, before, wishes }: Change, uid: string, wish: NewAttributes): void {
  for (const [name, old] of Object.entries(attributesOf(before, uid))) {
    const inverse = inverseName(old)
    const now = attributeOf(draft, uid, name)
    if (inverse === undefined || now === old || typeof old.target !== 'string' || wishes.has(old.target)) continue
    const stays = now?.type === 'relation' && now.relation === old.relation && now.target === old.target
    if (stays && wish.inverses.get(name) === inverse) continue
    const other = attributeOf(draft, old.target, inverse)
    const leadsElsewhere = now?.type === 'relation' && now.target !== old.target
    if (!isOtherSide(other, { uid, name })) continue
    const there = { uid: old.target, name: inverse }
    if (leadsElsewhere && other!.inversedBy === name) put(draft, there, relationAttribute(other!, undefined))
    else remove(draft, there)
  }
}

function wrongName(change: Change, { relation }: AttributeSource, here: RelationSide, there: RelationSide): string | null {
  const key = sideKey(change, here) ?? 'targetAttribute'
  if (opposite[relation as string] === undefined || isComponentUid(here.uid))
    return `The attribute ${here.name} of ${here.uid} cannot have another side: remove ${key}`
  if (!attributeName.test(there.name) || isReservedAttribute(there.name))
    return `${JSON.stringify(there.name)} cannot be the name of an attribute of ${there.uid}: choose another ${key}`
  return schemaPath(there.uid) === null ? `${there.uid} is part of the system: remove ${key} of ${here.name}` : null
}

const sideKey = ({ wishes }: Change, { uid, name }: RelationSide): SideKey | undefined => wishes.get(uid)?.sides.get(name)
const oppositeKey = { inversedBy: 'mappedBy', mappedBy: 'inversedBy' } as const

/** The key that names the other side: what the request says about either side, or what the relation was until now. */
function keyOf(change: Change, attribute: AttributeSource, here: RelationSide, there: RelationSide): SideKey {
  const { before } = change
  if (attribute.relation === 'oneToMany') return 'mappedBy'
  if (attribute.relation === 'manyToOne') return 'inversedBy'
  const [ours, theirs] = [sideKey(change, here), sideKey(change, there)]
  if (ours !== undefined) return ours
  if (theirs !== undefined) return oppositeKey[theirs]
  const [wasHere, wasThere] = [attributeOf(before, here.uid, here.name), attributeOf(before, there.uid, there.name)]
  const wasOwner =
    isOtherSide(wasThere, here) && wasThere?.inversedBy === here.name && wasThere.relation === opposite[attribute.relation as string]
  return wasOwner || (wasHere?.target === there.uid && wasHere.mappedBy !== undefined) ? 'mappedBy' : 'inversedBy'
}

/** True if a request declares both sides of a new relation, and the type of `there` comes after that of `here`. */
function isForLaterType({ wishes, before }: Change, here: RelationSide, there: RelationSide): boolean {
  const uids = [...wishes.keys()]
  return (
    isNewPair(before, here, there) &&
    uids.indexOf(there.uid) > uids.indexOf(here.uid) &&
    wishes.get(there.uid)!.inverses.get(there.name) === here.name
  )
}

/** True if neither side was a relation, and they are of two types. */
const isNewPair = (before: Change['before'], here: RelationSide, there: RelationSide): boolean =>
  here.uid !== there.uid && [here, there].every(({ uid, name }) => attributeOf(before, uid, name)?.type !== 'relation')

/** Writes a relation and its other side, whichever of both the request names; returns why it cannot. */
function writeBothSides(
  change: Change,
  attribute: AttributeSource,
  here: RelationSide,
  there: RelationSide,
  written: Set<string>,
): string | null {
  const { draft, before, wishes } = change
  const relation = opposite[attribute.relation as string]!
  const [wasHere, wasThere] = [attributeOf(before, here.uid, here.name), attributeOf(before, there.uid, there.name)]
  const other = attributeOf(draft, there.uid, there.name)
  const wasPair = isOtherSide(wasThere, here) && inverseName(wasHere) === there.name
  const claimed = other?.target === here.uid ? (wishes.get(there.uid)?.inverses.get(there.name) ?? inverseName(other)) : undefined
  if (wasPair && wishes.has(there.uid) && claimed !== here.name) {
    remove(draft, here)
    return null
  }
  const isItself = there.uid === here.uid && there.name === here.name
  const isFree =
    other === undefined || (claimed !== undefined && (claimed === here.name || attributeOf(draft, here.uid, claimed) === undefined))
  if (isItself || !isFree)
    return `The type ${there.uid} already has an attribute ${there.name}: choose another targetAttribute for ${here.name}`
  if (isForLaterType(change, here, there)) return null
  if (other !== undefined && other.relation !== relation && wishes.has(there.uid) && !isNewPair(before, here, there)) {
    const [changedHere, changedThere] = [attribute.relation !== wasHere?.relation, other.relation !== wasThere?.relation]
    if (changedHere && changedThere) return `${here.uid}.${here.name} and ${there.uid}.${there.name} do not fit together`
    if (changedThere) return null
  }
  const ours = keyOf(change, attribute, here, there)
  const theirs = oppositeKey[ours]
  put(draft, here, { ...relationAttribute(attribute, undefined), [ours]: there.name })
  const isThere = isOtherSide(other, here) && other?.relation === relation && other[theirs] === here.name
  if (!isThere) put(draft, there, { ...relationAttribute({ type: 'relation', relation, target: here.uid }, other), [theirs]: here.name })
  written.add(`${here.uid} ${here.name}`).add(`${there.uid} ${there.name}`)
  return null
}

/** Removes all attributes that point at a type that is deleted. */
export function removeRelationsTo(draft: Draft, deleted: string): void {
  for (const { uid, content } of [...draft.values()])
    for (const [name, { type, target }] of Object.entries(content.attributes))
      if (type === 'relation' && target === deleted) remove(draft, { uid, name })
}
