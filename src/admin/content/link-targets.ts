// Links in a version that was read with its components, and which of their targets exist.

import { getComponentEntries } from '../../content/documents/guard/missing-targets.js'
import type { Body } from '../../content/documents/input/types.js'
import type { ContentType, Model, Relation, Schema } from '../../model/schema/types.js'
import { isObject, type Parameters } from '../../query/request.js'
import { type ContentAccess, findRows, inLocale, unbounded } from './content-access.js'

/** A link at a position of a version. */
export interface DocumentLink {
  /** Names of attributes and positions, as in errors. */
  readonly path: readonly string[]
  /** The type of the target. */
  readonly type: ContentType
  readonly documentId: string
  /** The locale of the linked version; null on types without locales. */
  readonly locale: string | null
}

const idsPerRead = 200

/** The entries of a value: of a list, or itself. */
export const toEntries = (value: unknown): readonly Body[] => (Array.isArray(value) ? value : [value]).filter(isObject)

/** Links to documents of types that `isWanted`, in the order of the model. */
export function findLinks(
  model: Model,
  shape: Schema,
  entry: Body,
  isWanted: (type: ContentType) => boolean,
  above: readonly string[] = [],
): readonly DocumentLink[] {
  return [...shape.attributes.values()].flatMap((attribute): readonly DocumentLink[] => {
    const value = entry[attribute.name]
    const list = Array.isArray(value) ? value : [value]
    return list.flatMap((one: unknown, index): readonly DocumentLink[] => {
      if (!isObject(one)) return []
      const path = [...above, attribute.name, ...(Array.isArray(value) ? [String(index)] : [])]
      const inside = (uid: string): readonly DocumentLink[] => {
        const component = model.components.get(uid)
        return component === undefined ? [] : findLinks(model, component, one, isWanted, path)
      }
      if (attribute.kind === 'component') return inside(attribute.component)
      if (attribute.kind === 'dynamiczone') return inside(String(one.__component))
      const uid = attribute.kind === 'morphTo' ? String(one.__type) : 'target' in attribute ? attribute.target : null
      const type = uid === null ? undefined : model.types.get(uid)
      if (type === undefined || !isWanted(type) || typeof one.documentId !== 'string') return []
      return [{ path, type, documentId: one.documentId, locale: targetLocale(type, one) }]
    })
  })
}

/**
 * True if an attribute of a version or of its components has more than `most` entries, targets or files. Components at the same position
 * are counted together, because they are read together.
 */
export function hasMoreThan(model: Model, type: Schema, version: Body, most: number): boolean {
  const counts = new Map<string, number>()
  const visit = (shape: Schema, entry: Body, above: string): void => {
    for (const attribute of shape.attributes.values()) {
      const { kind, name } = attribute
      const value = entry[name]
      if (kind === 'scalar' || value === undefined) continue
      const path = `${above}/${name}`
      counts.set(path, (counts.get(path) ?? 0) + toEntries(value).length)
      for (const [component, item] of getComponentEntries(model, attribute, value))
        visit(component, item, kind === 'dynamiczone' ? `${path}:${component.uid}` : path)
    }
  }
  visit(type, version, '')
  return [...counts.values()].some((count) => count > most)
}

const targetLocale = ({ localized }: ContentType, { locale }: Body): string | null =>
  localized && typeof locale === 'string' ? locale : null

const targetKey = (uid: string, documentId: string, locale: string | null): string => `${uid} ${documentId} ${locale ?? ''}`

export type TargetExists = (type: ContentType, documentId: string, locale: string | null) => boolean

/** Finds the readable targets of links on one side. */
export async function findTargets(
  reads: Pick<ContentAccess, 'documents' | 'grants'>,
  links: readonly Pick<DocumentLink, 'type' | 'documentId' | 'locale'>[],
  status: 'draft' | 'published',
): Promise<TargetExists> {
  const groups = new Map<string, { readonly type: ContentType; readonly locale: string | null; readonly ids: Set<string> }>()
  for (const { type, locale, documentId } of links) {
    const group = groups.get(`${type.uid} ${locale}`) ?? { type, locale, ids: new Set<string>() }
    groups.set(`${type.uid} ${locale}`, group)
    group.ids.add(documentId)
  }
  const found = new Set<string>()
  for (const { type, locale, ids } of groups.values()) {
    if (!reads.grants.may(`${type.uid}.find`)) continue
    for (const part of chunk([...ids])) {
      const filters = { documentId: { $in: part } }
      const parameters: Parameters = { ...inLocale(locale), status, fields: ['documentId'], filters, limit: part.length }
      const rows = await findRows<{ readonly documentId: string }>(reads, type, parameters, { limits: unbounded })
      for (const { documentId } of rows) found.add(targetKey(type.uid, documentId, locale))
    }
  }
  return (type, documentId, locale) => found.has(targetKey(type.uid, documentId, locale))
}

const chunk = (ids: readonly string[]): readonly (readonly string[])[] =>
  Array.from({ length: Math.ceil(ids.length / idsPerRead) }, (_, at) => ids.slice(at * idsPerRead, (at + 1) * idsPerRead))

/** Row ids of files in media attributes of a version and of its components. */
export function fileIdsIn(model: Model, shape: Schema, entry: Body): readonly number[] {
  return [...shape.attributes.values()].flatMap((attribute) => {
    const value = entry[attribute.name]
    if (attribute.kind === 'media') return toEntries(value).flatMap(({ id }) => (Number.isSafeInteger(id) ? [id as number] : []))
    return getComponentEntries(model, attribute, value).flatMap(([component, one]) => fileIdsIn(model, component, one))
  })
}

/** True if a target can have only one owner. As in Strapi, one-way relations do not prevent several owners. */
export const isExclusive = ({ relation, inverse }: Relation): boolean =>
  inverse !== null && (relation === 'oneToOne' || relation === 'oneToMany')
