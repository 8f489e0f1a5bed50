// Which names a request may give to attributes, tables and types. Names that a schema has already, by its file, stay.
import { attributeName, categoryName, isReservedAttribute, isReservedType } from '../../model/builder/names.js'
import type { Mistake, SchemaContent } from '../../model/builder/project-schemas.js'
import { oneNameForBoth } from '../../model/schema/schema-keys.js'

/** What the names of tables of Strapi and of Octavo begin with. */
const reservedTable = /^(?:strapi|octavo)_/i

/** The first fault of the names that a schema gives, and `former` did not; messages are ends of sentences. Null: there is none. */
export function faultOfNames(
  uid: string,
  content: SchemaContent,
  former: SchemaContent | undefined,
  isStrapis: boolean,
): Pick<Mistake, 'path' | 'message'> | null {
  const isPlugins = uid.startsWith('plugin::')
  return (
    (uid.includes('::') && !isPlugins ? faultOfType(content, former, isStrapis) : null) ??
    faultOfTable(content.collectionName, former?.collectionName, isPlugins) ??
    faultOfAttributes(Object.keys(content.attributes), former?.attributes ?? {})
  )
}

function faultOfType({ info }: SchemaContent, former: SchemaContent | undefined, isStrapis: boolean) {
  for (const key of ['singularName', 'pluralName'] as const) {
    const name = info[key]!
    if (name !== former?.info[key] && isReservedType(name)) return { path: ['info', key], message: `is reserved: ${name}` }
  }
  const isSame = (names: SchemaContent['info'] | undefined) => names !== undefined && names.singularName === names.pluralName
  return isStrapis && isSame(info) && !isSame(former?.info) ? { path: ['info', 'pluralName'], message: oneNameForBoth } : null
}

function faultOfTable(table: string | undefined, former: string | undefined, isPlugins: boolean) {
  if (table === undefined || table === former) return null
  const path = ['collectionName']
  if (!categoryName.test(table)) return { path, message: 'must be a letter from A to Z followed by such letters, digits, - and _' }
  return !isPlugins && reservedTable.test(table) ? { path, message: `is reserved: ${table}` } : null
}

function faultOfAttributes(names: readonly string[], former: SchemaContent['attributes']) {
  for (const name of names.filter((one) => !Object.hasOwn(former, one))) {
    const path = ['attributes', name]
    if (!attributeName.test(name)) return { path, message: 'must be a letter from A to Z followed by such letters, digits and _' }
    if (isReservedAttribute(name)) return { path, message: 'is a reserved name' }
  }
  return null
}
