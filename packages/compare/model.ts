// The content model of a comparison, read from a service or from the project's schemas, and populate trees over it.
import type { AttributeSource, Model } from '../../src/model/schema/types.js'
import { isRecord } from './differences.js'

export interface KnownShape {
  readonly uid: string
  readonly attributes: Readonly<Record<string, AttributeSource>>
}

/** A content-type with its routes. */
export interface KnownType extends KnownShape {
  /** Name in the path. */
  readonly segment: string
  readonly isSingle: boolean
  readonly hasDrafts: boolean
  readonly isLocalized: boolean
}

export interface KnownModel {
  /** Types with routes, by lower-case name in the path. */
  readonly types: ReadonlyMap<string, KnownType>
  /** Types and components by uid. */
  readonly shapes: ReadonlyMap<string, KnownShape>
}

export const noModel: KnownModel = { types: new Map(), shapes: new Map() }

export function modelFromProject({ types, components }: Model): KnownModel {
  const known = [...types.values()].map((type) => ({
    uid: type.uid,
    attributes: type.source.attributes,
    isExposed: type.exposed,
    segment: type.singleType ? type.singularName : type.pluralName,
    isSingle: type.singleType,
    hasDrafts: type.draftAndPublish,
    isLocalized: type.localized,
  }))
  return createModel(
    known,
    [...components.values()].map(({ uid, source }) => ({ uid, attributes: source.attributes })),
  )
}

/** Reads the responses of `/content-type-builder/content-types` and `/components`; null if they are invalid. */
export function modelFromResponses(types: unknown, components: unknown): KnownModel | null {
  const [listed, parts] = [readEntries(types), readEntries(components)]
  if (listed === null || parts === null) return null
  const known = listed.flatMap(({ uid, schema }) => {
    const { singularName, pluralName, kind, attributes, draftAndPublish, pluginOptions } = schema
    if (typeof singularName !== 'string' || typeof pluralName !== 'string') return []
    const isSingle = kind === 'singleType'
    return [
      {
        uid,
        attributes: readAttributes(attributes),
        isExposed: uid.startsWith('api::'),
        isSingle,
        segment: isSingle ? singularName : pluralName,
        hasDrafts: draftAndPublish === true,
        isLocalized: isRecord(pluginOptions) && isRecord(pluginOptions.i18n) && pluginOptions.i18n.localized === true,
      },
    ]
  })
  return createModel(
    known,
    parts.map(({ uid, schema }) => ({ uid, attributes: readAttributes(schema.attributes) })),
  )
}

function createModel(types: readonly (KnownType & { readonly isExposed: boolean })[], components: readonly KnownShape[]): KnownModel {
  return {
    types: new Map(types.filter(({ isExposed }) => isExposed).map((type) => [type.segment.toLowerCase(), type])),
    shapes: new Map([...types, ...components].map((shape) => [shape.uid, shape])),
  }
}

function readEntries(body: unknown): readonly { readonly uid: string; readonly schema: Readonly<Record<string, unknown>> }[] | null {
  if (!isRecord(body) || !Array.isArray(body.data)) return null
  return body.data.flatMap((entry: unknown) =>
    isRecord(entry) && typeof entry.uid === 'string' && isRecord(entry.schema) ? [{ uid: entry.uid, schema: entry.schema }] : [],
  )
}

const readAttributes = (value: unknown): Readonly<Record<string, AttributeSource>> =>
  isRecord(value)
    ? Object.fromEntries(
        Object.entries(value).filter(
          (entry): entry is [string, AttributeSource] => isRecord(entry[1]) && typeof entry[1].type === 'string',
        ),
      )
    : {}

const populatable = new Set(['relation', 'media', 'component', 'dynamiczone'])

/** True if responses contain the attribute only when it is populated. */
export const isPopulatable = (attribute: AttributeSource | undefined): boolean => attribute !== undefined && populatable.has(attribute.type)

/** Uids of the target or component of an attribute, or of all components of a dynamic zone. */
function getContentUids({ type, target, component, components }: AttributeSource): readonly string[] {
  if (type === 'media') return ['plugin::upload.file']
  if (type === 'dynamiczone') return Array.isArray(components) ? components.filter((uid) => typeof uid === 'string') : []
  return [target, component].filter((uid) => typeof uid === 'string')
}

/** The target of a path relative to the prefix. */
export interface RequestTarget {
  readonly type: KnownType | null
  /** Document id in the path; null for lists and single types. */
  readonly documentId: string | null
  /** First segment after the prefix. */
  readonly segment: string
}

/** Parses the target of a path; null outside of the prefix. */
export function findTarget({ types }: KnownModel, prefix: string, path: string): RequestTarget | null {
  if (!path.toLowerCase().startsWith(`${prefix.toLowerCase()}/`)) return null
  const [segment = '', documentId = null] = path
    .slice(prefix.length + 1)
    .split('/')
    .filter((part) => part !== '')
  return { type: types.get(segment.toLowerCase()) ?? null, documentId, segment }
}

/** Populate of one attribute; true: no nested populate. */
type PopulatedPart =
  | true
  | {
      readonly populate?: PopulateTree
      readonly fields?: readonly string[]
      readonly on?: Readonly<Record<string, PopulatedPart>>
    }

/** Populated attributes by name. */
export type PopulateTree = Readonly<Record<string, PopulatedPart>>

/** Attributes that every document has unless `fields` excludes them. */
const systemAttributes = ['createdAt', 'updatedAt', 'publishedAt']

/** Maximum depth of nested relations. */
const maxPopulateDepth = 12

/** Derives the populate of these attributes from the documents of a response. */
export function derivePopulate(
  documents: readonly Readonly<Record<string, unknown>>[],
  names: readonly string[],
  shape: KnownShape | null,
  model: KnownModel,
): PopulateTree {
  return Object.fromEntries(
    names.map((name) => {
      const values = documents.flatMap((document) => [document[name]].flat()).filter(isRecord)
      return [name, derivePart(values, getShapes(name, shape, model), model, 1)] as const
    }),
  )
}

/** The shapes that an attribute may contain; empty if the model is unknown. `localizations` contain their own type. */
function getShapes(name: string, shape: KnownShape | null, { shapes }: KnownModel): readonly KnownShape[] {
  if (shape !== null && name === 'localizations') return [shape]
  const attribute = shape?.attributes[name]
  return attribute === undefined ? [] : getContentUids(attribute).flatMap((uid) => shapes.get(uid) ?? [])
}

type PopulatedEntry = Readonly<Record<string, unknown>>

function derivePart(entries: readonly PopulatedEntry[], shapes: readonly KnownShape[], model: KnownModel, depth: number): PopulatedPart {
  if (entries.length === 0 || depth > maxPopulateDepth) return true
  if (entries.some(({ __component }) => typeof __component === 'string')) return deriveZone(entries, shapes, model, depth)
  return deriveNested(entries, shapes.length === 1 ? shapes[0]! : null, model, depth)
}

/** A dynamic zone. `on` excludes components that it does not name, so it names all components of the zone. */
function deriveZone(entries: readonly PopulatedEntry[], shapes: readonly KnownShape[], model: KnownModel, depth: number): PopulatedPart {
  const uids = new Set([...shapes.map(({ uid }) => uid), ...entries.map(({ __component }) => String(__component))])
  const on = Object.fromEntries(
    [...uids].map((uid) => {
      const own = entries.filter(({ __component }) => __component === uid)
      return [uid, own.length === 0 ? true : deriveNested(own, model.shapes.get(uid) ?? null, model, depth)] as const
    }),
  )
  return Object.values(on).every((each) => each === true) ? true : { on }
}

function deriveNested(entries: readonly PopulatedEntry[], shape: KnownShape | null, model: KnownModel, depth: number): PopulatedPart {
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
      return [name, derivePart(values, getShapes(name, shape, model), model, depth + 1)] as const
    }),
  )
  return { ...(fields === null ? {} : { fields }), ...(inside.length === 0 ? {} : { populate }) }
}

/** The attributes selected by `fields`; null if all are present. */
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
  // A single missing attribute may be private by a setting; if the times are missing too, fields were selected.
  const isChosen = isContentType ? missing.includes('updatedAt') : missing.length > 0 && missing.length === own.length - 1
  return isChosen ? expected.filter((name) => names.includes(name)) : null
}

const looksPopulated = (value: unknown): boolean =>
  Array.isArray(value) ? value.some((entry) => isRecord(entry) && 'id' in entry) : isRecord(value) && 'id' in value

/** The union of two populate trees. */
export function mergePopulate(one: PopulateTree, other: PopulateTree): PopulateTree {
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
