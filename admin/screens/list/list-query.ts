// Columns, order and requests of a list, from its type and its address.

import type { ListState } from '../../addresses.js'
import type { Data } from '../../server/client.js'
import type { QueryData } from '../../server/query-string.js'
import { wordsOf } from '../../words/format.js'
import { type ComparedKind, type FilterContext, isPersonAttribute, resolveFilters } from './conditions.js'

/** A type as the API describes it, with the attribute that names its documents. */
export type TypeInfo = Data<'/types/{type}', 'GET'> & { readonly naming: string | null }

/** An attribute of a type; the members depend on its kind. */
export type AttributeInfo = TypeInfo['attributes'][string] & {
  readonly relation?: string
  readonly target?: string
  readonly multiple?: boolean
  readonly enum?: readonly string[]
}

/** Columns that are no attributes. */
export const stateColumn = '$state'
export const localesColumn = '$locales'

const builtIn: Readonly<Record<string, AttributeInfo>> = {
  id: { type: 'integer' },
  documentId: { type: 'string' },
  createdAt: { type: 'datetime' },
  updatedAt: { type: 'datetime' },
  createdBy: { type: 'relation', relation: 'oneToOne', target: 'admin::user' },
  updatedBy: { type: 'relation', relation: 'oneToOne', target: 'admin::user' },
}

/** Kinds without a short text. */
const unlisted = new Set(['json', 'blocks', 'richtext', 'component', 'dynamiczone', 'password'])

/** An attribute by its name, also one of those that every type has. */
export const attributeOf = (type: TypeInfo, name: string): AttributeInfo | undefined =>
  (type.attributes[name] as AttributeInfo | undefined) ?? builtIn[name]

/** The attribute that names a document. */
export const mainField = ({ naming }: TypeInfo): string => naming ?? 'documentId'

/** Columns that may be shown, the naming one first. */
export function possibleColumns(type: TypeInfo): readonly string[] {
  const main = mainField(type)
  const names = [...Object.keys(type.attributes), 'createdAt', 'updatedAt', 'createdBy', 'updatedBy', 'id', 'documentId']
  const attributes = names.filter((name) => {
    const kind = attributeOf(type, name)?.type
    return name !== main && kind !== undefined && !unlisted.has(kind) && type.fields.read.includes(name)
  })
  return [main, ...(type.draftAndPublish ? [stateColumn] : []), ...(type.localized ? [localesColumn] : []), ...attributes]
}

/** Columns of the saved list settings, with state, languages and the last change. */
function usualColumns(type: TypeInfo): readonly string[] {
  const saved = type.layout.layouts.list.filter((name) => name !== 'id' && name !== mainField(type))
  return [stateColumn, ...saved, localesColumn, 'updatedAt']
}

/** The shown columns: those of the address, or the usual ones. */
export function shownColumns(type: TypeInfo, chosen: readonly string[] | null): readonly string[] {
  const possible = possibleColumns(type)
  const wanted = [mainField(type), ...(chosen ?? usualColumns(type))]
  return [...new Set(wanted)].filter((name) => possible.includes(name))
}

/** The attribute of a relation's target that names it. */
export function relationField(type: TypeInfo, name: string): string {
  if (isPersonAttribute(name)) return 'firstname'
  const field = type.layout.metadatas[name]?.edit.mainField
  return typeof field === 'string' && field !== 'id' ? field : 'documentId'
}

const isToMany = ({ relation = '' }: AttributeInfo): boolean => /ToMany$|^morph.*Many$|^morphMany$/.test(relation)

/** The key of a column in `sort`; null where the order means nothing. */
export function sortKey(type: TypeInfo, name: string): string | null {
  const attribute = attributeOf(type, name)
  if (attribute === undefined || attribute.type === 'media' || unlisted.has(attribute.type)) return null
  if (type.layout.metadatas[name]?.list.sortable === false) return null
  if (attribute.type !== 'relation') return name
  const field = relationField(type, name)
  return isToMany(attribute) || attribute.relation?.startsWith('morph') || field === 'documentId' ? null : `${name}.${field}`
}

/** The order of a list: that of the address, or of the saved settings. */
export function orderOf(type: TypeInfo, sort: string | null): { readonly key: string; readonly isDescending: boolean } {
  const { defaultSortBy, defaultSortOrder } = type.layout.settings
  const saved = typeof defaultSortBy === 'string' ? `${defaultSortBy}:${String(defaultSortOrder ?? 'ASC').toLowerCase()}` : 'updatedAt:desc'
  const [key = '', direction] = (sort ?? saved).split(':')
  return { key, isDescending: direction === 'desc' }
}

const usualSize = 50
/** Strapi's default, stored in every configuration. */
const unchosenSize = 10

/** Rows of a page: those of the saved settings. */
function pageSize({ layout }: TypeInfo): number {
  const { pageSize: size = unchosenSize } = layout.settings
  return size === unchosenSize ? usualSize : size
}

/** True unless the saved settings take a part of the list away. */
export const hasPart = ({ layout }: TypeInfo, part: 'searchable' | 'filterable' | 'bulkable'): boolean => layout.settings[part] !== false

/** Parameters of a query. */
type Query = Readonly<Record<string, QueryData>>

/** Parameters that select the rows of all tabs. */
export function tabsSelection(type: TypeInfo, { q, filters, locale }: ListState, context: FilterContext): Query {
  return {
    ...(q.trim() === '' ? {} : { q: q.trim() }),
    ...(filters === null ? {} : { filters: resolveFilters(filters, context) }),
    ...(locale === null || !type.localized ? {} : { locale }),
  }
}

/** Parameters that select the rows, for the list and for actions on all of them. */
export function rowsSelection(type: TypeInfo, state: ListState, context: FilterContext): Query {
  const { filters, ...rest } = tabsSelection(type, state, context)
  if (state.state === null || !type.draftAndPublish) return filters === undefined ? rest : { ...rest, filters }
  const tab = { $state: state.state }
  return { ...rest, filters: filters === undefined ? tab : { $and: [filters, tab] } }
}

/** Parameters of a page of rows: only the shown columns are asked for. */
export function rowsQuery(type: TypeInfo, state: ListState, context: FilterContext) {
  const { key, isDescending } = orderOf(type, state.sort)
  return {
    ...rowsSelection(type, state, context),
    fields: shownColumns(type, state.columns).filter((name) => !name.startsWith('$')),
    sort: `${key}:${isDescending ? 'desc' : 'asc'}`,
    limit: pageSize(type),
    ...(state.after === null ? {} : { after: state.after }),
    ...(state.before === null || state.after !== null ? {} : { before: state.before }),
  }
}

/** Comparisons of an attribute in filters; null where it cannot be filtered by. */
export function comparedKind(name: string, attribute: AttributeInfo | undefined): ComparedKind | null {
  if (name === stateColumn) return 'state'
  if (attribute === undefined) return null
  if (isPersonAttribute(name)) return 'person'
  switch (attribute.type) {
    case 'integer':
    case 'decimal':
    case 'float':
    case 'biginteger':
      return 'number'
    case 'date':
    case 'datetime':
      return 'date'
    case 'boolean':
      return 'boolean'
    case 'enumeration':
      return 'choice'
    case 'relation':
      return attribute.relation?.startsWith('morph') ? null : 'relation'
    case 'string':
    case 'text':
    case 'email':
    case 'uid':
    case 'richtext':
    case 'time':
      return 'text'
    default:
      return null
  }
}

/** The label of an attribute of the type in the saved settings. */
export function labelOf(type: TypeInfo, name: string): string {
  const { list, edit } = type.layout.metadatas[name] ?? {}
  return list?.label || edit?.label || wordsOf(name)
}
