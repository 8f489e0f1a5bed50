// What a comparison knows of the content model: from the services, if the caller may read it there, or from the project's schemas.
import type { AttributeSource, Model } from '../../src/model/schema/types.js'
import { isRecord } from './difference.js'

/** A content-type or component. */
export interface KnownShape {
  readonly uid: string
  readonly attributes: Readonly<Record<string, AttributeSource>>
}

/** A content-type with its routes. */
export interface KnownType extends KnownShape {
  /** Its name in the path. */
  readonly segment: string
  readonly isSingle: boolean
  readonly hasDrafts: boolean
  readonly isLocalized: boolean
}

/** The model. */
export interface KnownModel {
  /** Types with routes of their own, by their name in the path in lower case. */
  readonly types: ReadonlyMap<string, KnownType>
  /** Types and components by uid. */
  readonly shapes: ReadonlyMap<string, KnownShape>
}

/** Nothing known. */
export const noModel: KnownModel = { types: new Map(), shapes: new Map() }

/** Takes the model from a project's schemas. */
export function ofProject({ types, components }: Model): KnownModel {
  const known = [...types.values()].map((type) => ({
    uid: type.uid,
    attributes: type.source.attributes,
    isExposed: type.exposed,
    segment: type.singleType ? type.singularName : type.pluralName,
    isSingle: type.singleType,
    hasDrafts: type.draftAndPublish,
    isLocalized: type.localized,
  }))
  return modelOf(
    known,
    [...components.values()].map(({ uid, source }) => ({ uid, attributes: source.attributes })),
  )
}

/** Takes the model from the responses of `/content-type-builder/content-types` and `/components`; null if they are something else. */
export function ofResponses(types: unknown, components: unknown): KnownModel | null {
  const [listed, parts] = [listOf(types), listOf(components)]
  if (listed === null || parts === null) return null
  const known = listed.flatMap(({ uid, schema }) => {
    const { singularName, pluralName, kind, attributes, draftAndPublish, pluginOptions } = schema
    if (typeof singularName !== 'string' || typeof pluralName !== 'string') return []
    const isSingle = kind === 'singleType'
    return [
      {
        ...{ uid, attributes: attributesOf(attributes), isExposed: uid.startsWith('api::'), isSingle },
        segment: isSingle ? singularName : pluralName,
        hasDrafts: draftAndPublish === true,
        isLocalized: isRecord(pluginOptions) && isRecord(pluginOptions.i18n) && pluginOptions.i18n.localized === true,
      },
    ]
  })
  return modelOf(
    known,
    parts.map(({ uid, schema }) => ({ uid, attributes: attributesOf(schema.attributes) })),
  )
}

function modelOf(types: readonly (KnownType & { readonly isExposed: boolean })[], components: readonly KnownShape[]): KnownModel {
  return {
    types: new Map(types.filter(({ isExposed }) => isExposed).map((type) => [type.segment.toLowerCase(), type])),
    shapes: new Map([...types, ...components].map((shape) => [shape.uid, shape])),
  }
}

function listOf(body: unknown): readonly { readonly uid: string; readonly schema: Readonly<Record<string, unknown>> }[] | null {
  if (!isRecord(body) || !Array.isArray(body.data)) return null
  return body.data.flatMap((entry: unknown) =>
    isRecord(entry) && typeof entry.uid === 'string' && isRecord(entry.schema) ? [{ uid: entry.uid, schema: entry.schema }] : [],
  )
}

const attributesOf = (value: unknown): Readonly<Record<string, AttributeSource>> =>
  isRecord(value)
    ? Object.fromEntries(
        Object.entries(value).filter(
          (entry): entry is [string, AttributeSource] => isRecord(entry[1]) && typeof entry[1].type === 'string',
        ),
      )
    : {}

const populatable = new Set(['relation', 'media', 'component', 'dynamiczone'])

/** Whether an attribute is only in responses that populate it. */
export const isPopulatable = (attribute: AttributeSource | undefined): boolean => attribute !== undefined && populatable.has(attribute.type)

/** The uids of what an attribute contains: of one relation or component, or of all components of a dynamic zone. */
export function contentsOf({ type, target, component, components }: AttributeSource): readonly string[] {
  if (type === 'media') return ['plugin::upload.file']
  if (type === 'dynamiczone') return Array.isArray(components) ? components.filter((uid) => typeof uid === 'string') : []
  return [target, component].filter((uid) => typeof uid === 'string')
}

/** What a path below the prefix addresses. */
export interface Addressed {
  readonly type: KnownType | null
  /** The document id in the path; null for lists and single types. */
  readonly documentId: string | null
  /** The first part of the path below the prefix. */
  readonly segment: string
}

/** Finds what a path addresses; null if it is not below the prefix. */
export function addressedBy({ types }: KnownModel, prefix: string, path: string): Addressed | null {
  if (!path.toLowerCase().startsWith(`${prefix.toLowerCase()}/`)) return null
  const [segment = '', documentId = null] = path
    .slice(prefix.length + 1)
    .split('/')
    .filter((part) => part !== '')
  return { type: types.get(segment.toLowerCase()) ?? null, documentId, segment }
}
