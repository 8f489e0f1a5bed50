// Names in the content-type builder: their forms, the reserved ones, uids, tables and paths.
import slugify from '@sindresorhus/slugify'
import pluralize from 'pluralize'
import { snake } from '../schema/names.js'

/** The form of an attribute's name. */
export const attributeName = /^[A-Za-z][_0-9A-Za-z]*$/
/** The form of a category and of a collectionName. */
export const categoryName = /^[A-Za-z][-_0-9A-Za-z]*$/
/** The form of an icon's name. */
export const iconName = /^[A-Za-z0-9][-A-Za-z0-9]*$/
/** The form of singularName and pluralName. */
export const kebabCase = /^[a-z0-9]+(?:-[a-z0-9]+)*$/

const anyStrapi = ['strapi*', '_strapi*', '__strapi*']
/** Reserved names of types; `*` matches any suffix. */
const reservedTypes = ['boolean', 'date', 'date_time', 'time', 'upload', 'document', 'then', ...anyStrapi]
/** Reserved names of attributes; `*` matches any suffix. */
const reservedAttributes = [
  ...['id', 'document_id', 'created_at', 'updated_at', 'published_at', 'created_by_id', 'updated_by_id', 'created_by', 'updated_by'],
  ...['entry_id', 'localizations', 'meta', 'locale', '__component', '__contentType'],
  ...anyStrapi,
  'status',
]

const isAmong = (names: readonly string[], name: string): boolean =>
  names.some((one) => (one.endsWith('*') ? snake(name).startsWith(one.slice(0, -1)) : snake(name) === one))

export const isReservedType = (name: string): boolean => isAmong(reservedTypes, name)
export const isReservedAttribute = (name: string): boolean => isAmong(reservedAttributes, name)

/** Returns the names that share a column with another one. */
export function sameColumns(names: readonly string[]): string[] {
  const columns = names.map(snake)
  const counts = new Map<string, number>()
  for (const column of columns) counts.set(column, (counts.get(column) ?? 0) + 1)
  return names.filter((_, index) => counts.get(columns[index]!)! > 1)
}

const slug = (text: string, separator: '-' | '_' = '-'): string => slugify(text, { separator })

/** The folder of a category: its name as a slug. */
export const categorySlug = (category: string): string => slug(category)
/** The uid of a component with this category and displayName. */
export const componentUid = (category: string, displayName: string): string => `${slug(category)}.${slug(displayName)}`
/** The table of a new component. */
export const componentTableName = (category: string, displayName: string): string =>
  `components_${slug(category, '_')}_${slug(pluralize(displayName), '_')}`
/** The default collectionName of a new type. */
export const typeTableName = (pluralName: string): string => slug(pluralName, '_')

/** The uid of a type of src/api, or of a plugin; null and the empty text name none. */
export const typeUid = (singularName: string, plugin?: string | null): string =>
  plugin ? `plugin::${plugin}.${singularName}` : `api::${singularName}.${singularName}`

/** The file of a new schema; null for types of the admin panel, which have none. */
export function schemaPath(uid: string): string | null {
  const [category, component] = uid.split('.') as [string, string]
  if (!uid.includes('::')) return `src/components/${category}/${component}.json`
  const [kind, owner] = category.split('::') as [string, string]
  if (kind === 'api') return `src/api/${owner}/content-types/${component}/schema.json`
  return kind === 'plugin' ? `src/extensions/${owner}/content-types/${component}/schema.json` : null
}
