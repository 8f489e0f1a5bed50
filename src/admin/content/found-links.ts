// The links of a version that was read with its components, and which of their targets there are.
import type { Body } from '../../content/documents/input/types.js'
import type { ContentType, Model, Relation, Schema } from '../../model/schema/types.js'
import type { Parameters } from '../../query/rest/parameters.js'
import { type ContentAccess, inLocale, unbounded } from './content-access.js'

/** A link from a place in a version to a document. */
export interface FoundLink {
  /** Names of attributes and positions, as in errors. */
  readonly path: readonly string[]
  /** The type of the target. */
  readonly type: ContentType
  readonly documentId: string
  /** The locale of the version that it leads to; null on types without locales. */
  readonly locale: string | null
}

/** Documents that are asked for at once. */
const atOnce = 200

const isEntry = (value: unknown): value is Body => typeof value === 'object' && value !== null

/** The links of a version to documents of types that `isWanted`, in the order of the model. */
export function linksOf(
  model: Model,
  shape: Schema,
  entry: Body,
  isWanted: (type: ContentType) => boolean,
  above: readonly string[] = [],
): readonly FoundLink[] {
  return [...shape.attributes.values()].flatMap((attribute): readonly FoundLink[] => {
    const value = entry[attribute.name]
    const list = Array.isArray(value) ? value : [value]
    return list.flatMap((one: unknown, index): readonly FoundLink[] => {
      if (!isEntry(one)) return []
      const path = [...above, attribute.name, ...(Array.isArray(value) ? [String(index)] : [])]
      const inside = (uid: string): readonly FoundLink[] => {
        const component = model.components.get(uid)
        return component === undefined ? [] : linksOf(model, component, one, isWanted, path)
      }
      if (attribute.kind === 'component') return inside(attribute.component)
      if (attribute.kind === 'dynamiczone') return inside(String(one.__component))
      const uid = attribute.kind === 'morphTo' ? String(one.__type) : 'target' in attribute ? attribute.target : null
      const type = uid === null ? undefined : model.types.get(uid)
      if (type === undefined || !isWanted(type) || typeof one.documentId !== 'string') return []
      return [{ path, type, documentId: one.documentId, locale: localeOfTarget(type, one) }]
    })
  })
}

/**
 * Whether an attribute of a version, or of its components, has more than `most` entries, targets or files: those of all components at the same
 * place together, as they are read at once.
 */
export function hasMoreThan(model: Model, type: Schema, version: Body, most: number): boolean {
  const counts = new Map<string, number>()
  const visit = (shape: Schema, entry: Body, above: string): void => {
    for (const attribute of shape.attributes.values()) {
      const { kind, name } = attribute
      const value = entry[name]
      if (kind === 'scalar' || value === undefined) continue
      const items = (Array.isArray(value) ? value : [value]).filter(isEntry)
      const path = `${above}/${name}`
      counts.set(path, (counts.get(path) ?? 0) + items.length)
      if (attribute.kind === 'component') for (const item of items) visit(model.components.get(attribute.component)!, item, path)
      if (attribute.kind !== 'dynamiczone') continue
      for (const item of items) {
        const component = model.components.get(String(item.__component))
        if (component !== undefined) visit(component, item, `${path}:${component.uid}`)
      }
    }
  }
  visit(type, version, '')
  return [...counts.values()].some((count) => count > most)
}

/** The locale of a target, where its type has such. */
const localeOfTarget = ({ localized }: ContentType, { locale }: Body): string | null =>
  localized && typeof locale === 'string' ? locale : null

const keyOf = (uid: string, documentId: string, locale: string | null): string => `${uid} ${documentId} ${locale ?? ''}`

/** Tells which targets there are. */
export type IsThere = (type: ContentType, documentId: string, locale: string | null) => boolean

/** Looks up which targets of links there are, on one side and as far as the administrator may see them. */
export async function targetsOf(
  { documents, grants }: Pick<ContentAccess, 'documents' | 'grants'>,
  links: readonly Pick<FoundLink, 'type' | 'documentId' | 'locale'>[],
  status: 'draft' | 'published',
): Promise<IsThere> {
  const groups = new Map<string, { readonly type: ContentType; readonly locale: string | null; readonly ids: Set<string> }>()
  for (const { type, locale, documentId } of links) {
    const group = groups.get(`${type.uid} ${locale}`) ?? { type, locale, ids: new Set<string>() }
    groups.set(`${type.uid} ${locale}`, group)
    group.ids.add(documentId)
  }
  const found = new Set<string>()
  for (const { type, locale, ids } of groups.values()) {
    if (!grants.may(`${type.uid}.find`)) continue
    for (const part of partsOf([...ids])) {
      const filters = { documentId: { $in: part } }
      const parameters: Parameters = { ...inLocale(locale), status, fields: ['documentId'], filters, limit: part.length }
      const rows = await documents.findData(grants, {
        ...{ type, parameters, mode: 'many', action: `${type.uid}.find`, envelope: 'bare', paged: false, limits: unbounded },
      })
      for (const { documentId } of rows as readonly { readonly documentId: string }[]) found.add(keyOf(type.uid, documentId, locale))
    }
  }
  return (type, documentId, locale) => found.has(keyOf(type.uid, documentId, locale))
}

const partsOf = (ids: readonly string[]): readonly (readonly string[])[] =>
  Array.from({ length: Math.ceil(ids.length / atOnce) }, (_, at) => ids.slice(at * atOnce, (at + 1) * atOnce))

/** The row ids of the files in media attributes of a version, also in components. */
export function fileIdsIn(model: Model, shape: Schema, entry: Body): readonly number[] {
  return [...shape.attributes.values()].flatMap((attribute) => {
    const value = entry[attribute.name]
    const entries = (Array.isArray(value) ? value : [value]).filter(isEntry)
    if (attribute.kind === 'media') return entries.flatMap(({ id }) => (Number.isSafeInteger(id) ? [id as number] : []))
    if (attribute.kind !== 'component' && attribute.kind !== 'dynamiczone') return []
    return entries.flatMap((one) => {
      const component = model.components.get(attribute.kind === 'component' ? attribute.component : String(one.__component))
      return component === undefined ? [] : fileIdsIn(model, component, one)
    })
  })
}

/** Whether a target can have one owner only. A relation without another side keeps nobody from linking to the same target, as in Strapi. */
export const isExclusive = ({ relation, inverse }: Relation): boolean =>
  inverse !== null && (relation === 'oneToOne' || relation === 'oneToMany')
