// The two sides of relations: what a changed attribute writes into the type that it points at, and what a removed one takes out there.
import type { AttributeSource } from '../model/types.js'
import type { NewAttributes } from './attributes.js'
import { relationAttribute } from './attributes.js'
import { attributeName, isReservedAttribute, schemaPath } from './names.js'
import { attributesOf, type Draft, edit, isComponentUid, type Mistake, type ProjectSchema, without } from './project-schemas.js'

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
  if (!isSame(attributes[name], attribute)) edit(draft, uid, { attributes: { ...attributes, [name]: attribute } })
}

function remove(draft: Draft, { uid, name }: RelationSide): void {
  if (name in attributesOf(draft, uid)) edit(draft, uid, { attributes: without(attributesOf(draft, uid), name) })
}

/**
 * Sets the attributes of all schemas that a request names, and writes both sides of every relation.
 * Returns the mistakes; the draft is of no use then.
 */
export function setAttributes(draft: Draft, before: ReadonlyMap<string, ProjectSchema>, wishes: Wishes): readonly Mistake[] {
  for (const [uid, { attributes }] of wishes) edit(draft, uid, { attributes })
  for (const [uid, wish] of wishes) takeOutOtherSides(draft, attributesOf(before, uid), uid, wish, wishes)
  const written = new Set<string>()
  const mistakes: Mistake[] = []
  for (const [uid, { inverses }] of wishes)
    for (const [name, inverse] of inverses) {
      const side = { uid, name }
      if (written.has(`${uid} ${name}`)) continue
      const mistake = writeBothSides(draft, before, wishes, side, inverse, written)
      if (mistake !== null) mistakes.push(mistake)
    }
  return mistakes
}

/** Removes the other side of every relation that is removed or becomes another one. A schema that is named decides for itself. */
function takeOutOtherSides(draft: Draft, before: ProjectSchema['content']['attributes'], uid: string, wish: NewAttributes, wishes: Wishes) {
  for (const [name, old] of Object.entries(before)) {
    const inverse = inverseName(old)
    if (inverse === undefined || typeof old.target !== 'string' || wishes.has(old.target)) continue
    const { [name]: now } = wish.attributes
    const stays = now?.type === 'relation' && now.relation === old.relation && now.target === old.target
    if (stays && wish.inverses.get(name) === inverse) continue
    if (isOtherSide(attributesOf(draft, old.target)[inverse], { uid, name })) remove(draft, { uid: old.target, name: inverse })
  }
}

/** Writes a relation and its other side, whichever of both the request names. */
function writeBothSides(
  draft: Draft,
  before: ReadonlyMap<string, ProjectSchema>,
  wishes: Wishes,
  here: RelationSide,
  inverse: string,
  written: Set<string>,
): Mistake | null {
  const attribute = attributesOf(draft, here.uid)[here.name]
  if (attribute === undefined) return null
  const relation = attribute.relation as string
  const there: RelationSide = { uid: attribute.target as string, name: inverse }
  const mistake = (message: string): Mistake => ({ path: [here.uid, here.name], message })
  if (opposite[relation] === undefined || isComponentUid(here.uid)) {
    return mistake(`The attribute ${here.name} of ${here.uid} cannot have another side: remove targetAttribute`)
  }
  if (!attributeName.test(inverse) || isReservedAttribute(inverse))
    return mistake(`${JSON.stringify(inverse)} cannot be the name of an attribute of ${there.uid}: choose another targetAttribute`)
  if (schemaPath(there.uid) === null) return mistake(`${there.uid} is part of the system: remove targetAttribute of ${here.name}`)
  const [wasHere, wasThere] = [attributesOf(before, here.uid)[here.name], attributesOf(before, there.uid)[inverse]]
  const other = attributesOf(draft, there.uid)[inverse]
  const wasPair = isOtherSide(wasThere, here) && inverseName(wasHere) === inverse
  if (other === undefined && wasPair && wishes.has(there.uid)) {
    remove(draft, here)
    return null
  }
  if (other !== undefined && (!isFree(draft, wishes, there, other, here) || (there.name === here.name && there.uid === here.uid)))
    return mistake(`The type ${there.uid} already has an attribute ${inverse}: choose another targetAttribute for ${here.name}`)
  if (other !== undefined && other.relation !== opposite[relation] && wishes.has(there.uid)) {
    const [changedHere, changedThere] = [attribute.relation !== wasHere?.relation, other.relation !== wasThere?.relation]
    if (changedHere && changedThere) return mistake(`${here.uid}.${here.name} and ${there.uid}.${inverse} do not fit together`)
    if (changedThere) return null
  }
  const isMapped =
    relation === 'oneToMany' ||
    (relation !== 'manyToOne' &&
      isOtherSide(wasThere, here) &&
      wasThere?.inversedBy === here.name &&
      wasThere.relation === opposite[relation])
  put(draft, here, { ...relationAttribute(attribute, undefined), [isMapped ? 'mappedBy' : 'inversedBy']: inverse })
  const otherSide = relationAttribute({ type: 'relation', relation: opposite[relation], target: here.uid }, other)
  put(draft, there, { ...otherSide, [isMapped ? 'inversedBy' : 'mappedBy']: here.name })
  written.add(`${here.uid} ${here.name}`).add(`${there.uid} ${inverse}`)
  return null
}

/** True if `attribute` may be, or already is, the other side of `here`. */
function isFree(draft: Draft, wishes: Wishes, there: RelationSide, attribute: AttributeSource, here: RelationSide): boolean {
  if (attribute.type !== 'relation' || attribute.target !== here.uid) return false
  const claimed = wishes.get(there.uid)?.inverses.get(there.name) ?? (wishes.has(there.uid) ? undefined : inverseName(attribute))
  return claimed === here.name || (claimed !== undefined && !(claimed in attributesOf(draft, here.uid)))
}

/** Removes all attributes that point at a type that is deleted. */
export function removeRelationsTo(draft: Draft, deleted: string): void {
  for (const { uid, content } of [...draft.values()])
    for (const [name, { type, target }] of Object.entries(content.attributes))
      if (type === 'relation' && target === deleted) remove(draft, { uid, name })
}
