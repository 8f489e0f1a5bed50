// The populate that makes a response contain what another one contains: read from the content of Strapi's response and the model.
import { isRecord } from './difference.js'
import { contentsOf, isPopulatable, type KnownModel, type KnownShape } from './known-model.js'

/** What is populated below one attribute; true: nothing further. */
export type PopulatedPart =
  | true
  | {
      readonly populate?: PopulateTree
      readonly fields?: readonly string[]
      readonly on?: Readonly<Record<string, PopulatedPart>>
    }

/** Populated attributes by name. */
export type PopulateTree = Readonly<Record<string, PopulatedPart>>

/** Attributes of every document that a response has unless `fields` leaves them out. */
const systemAttributes = ['createdAt', 'updatedAt', 'publishedAt']

/** Relations nested deeper than this are not followed. */
const deepest = 12

/** Reads the populate for these attributes of the documents of a response. */
export function populateOf(
  documents: readonly Readonly<Record<string, unknown>>[],
  names: readonly string[],
  shape: KnownShape | null,
  model: KnownModel,
): PopulateTree {
  return Object.fromEntries(
    names.map((name) => {
      const values = documents.flatMap((document) => [document[name]].flat()).filter(isRecord)
      return [name, populated(values, shapesOf(name, shape, model), model, 1)] as const
    }),
  )
}

/** The shapes that an attribute may contain, by uid; empty if the model is not known. `localizations` contain their own type. */
function shapesOf(name: string, shape: KnownShape | null, { shapes }: KnownModel): readonly KnownShape[] {
  if (shape !== null && name === 'localizations') return [shape]
  const attribute = shape?.attributes[name]
  return attribute === undefined ? [] : contentsOf(attribute).flatMap((uid) => shapes.get(uid) ?? [])
}

type PopulatedEntry = Readonly<Record<string, unknown>>

function populated(entries: readonly PopulatedEntry[], shapes: readonly KnownShape[], model: KnownModel, depth: number): PopulatedPart {
  if (entries.length === 0 || depth > deepest) return true
  if (entries.some(({ __component }) => typeof __component === 'string')) return zone(entries, shapes, model, depth)
  return below(entries, shapes.length === 1 ? shapes[0]! : null, model, depth)
}

/** A dynamic zone. `on` leaves out the components that it does not name, so it names all that the zone may have. */
function zone(entries: readonly PopulatedEntry[], shapes: readonly KnownShape[], model: KnownModel, depth: number): PopulatedPart {
  const uids = new Set([...shapes.map(({ uid }) => uid), ...entries.map(({ __component }) => String(__component))])
  const on = Object.fromEntries(
    [...uids].map((uid) => {
      const own = entries.filter(({ __component }) => __component === uid)
      return [uid, own.length === 0 ? true : below(own, model.shapes.get(uid) ?? null, model, depth)] as const
    }),
  )
  return Object.values(on).every((each) => each === true) ? true : { on }
}

function below(entries: readonly PopulatedEntry[], shape: KnownShape | null, model: KnownModel, depth: number): PopulatedPart {
  const names = [...new Set(entries.flatMap((entry) => Object.keys(entry)))]
  const isInside = (name: string): boolean =>
    shape === null
      ? entries.some((entry) => looksPopulated(entry[name]))
      : name === 'localizations' || isPopulatable(shape.attributes[name])
  const inside = names.filter(isInside)
  const fields = shape === null ? null : chosenFields(entries, names, shape)
  if (inside.length === 0 && fields === null) return true
  const populate = Object.fromEntries(
    inside.map((name) => {
      const values = entries.flatMap((entry) => [entry[name]].flat()).filter(isRecord)
      return [name, populated(values, shapesOf(name, shape, model), model, depth + 1)] as const
    }),
  )
  return { ...(fields === null ? {} : { fields }), ...(inside.length === 0 ? {} : { populate }) }
}

/** The attributes that were chosen by `fields`; null if there are all. */
function chosenFields(
  entries: readonly PopulatedEntry[],
  names: readonly string[],
  { uid, attributes }: KnownShape,
): readonly string[] | null {
  const isContentType = uid.includes('::')
  const own = Object.entries(attributes).flatMap(([name, attribute]) =>
    isPopulatable(attribute) || attribute.private === true || attribute.type === 'password' ? [] : [name],
  )
  const expected = [...own, ...(isContentType && entries.some(({ documentId }) => documentId !== undefined) ? systemAttributes : [])]
  const missing = expected.filter((name) => !names.includes(name))
  // One attribute that is missing may be private by a setting; fields were chosen where the times are missing too.
  const isChosen = isContentType ? missing.includes('updatedAt') : missing.length > 0 && missing.length === own.length - 1
  return isChosen ? expected.filter((name) => names.includes(name)) : null
}

const looksPopulated = (value: unknown): boolean =>
  Array.isArray(value) ? value.some((entry) => isRecord(entry) && 'id' in entry) : isRecord(value) && 'id' in value

/** Joins what two responses need: the union of both. */
export function joined(one: PopulateTree, other: PopulateTree): PopulateTree {
  return joinedRecords(one, other)
}

const joinedRecords = (one: Readonly<Record<string, PopulatedPart>>, other: Readonly<Record<string, PopulatedPart>>) =>
  Object.fromEntries(
    [...new Set([...Object.keys(one), ...Object.keys(other)])].map((name) => [name, joinedOf(one[name], other[name])] as const),
  )

function joinedOf(one: PopulatedPart | undefined, other: PopulatedPart | undefined): PopulatedPart {
  if (one === undefined || one === true) return other ?? one ?? true
  if (other === undefined || other === true) return one
  const populate = { ...(one.populate || other.populate ? { populate: joinedRecords(one.populate ?? {}, other.populate ?? {}) } : {}) }
  const on = one.on || other.on ? { on: joinedRecords(one.on ?? {}, other.on ?? {}) } : {}
  const fields = one.fields && other.fields ? { fields: [...new Set([...one.fields, ...other.fields])] } : {}
  return { ...fields, ...populate, ...on }
}
