// The types of custom fields. An attribute names the field of a plugin, and only the plugin's code says which type its values have: so this is
// taken from octavo.config, from the column of an existing database, from the attribute, from the project's code, and from known plugins.
import { didYouMean } from '../../foundation/errors/did-you-mean.js'
import type { ScalarType } from '../../foundation/public/attribute-types.js'
import { attributeTypes, isScalarType } from './attributes.js'
import { collectionName, columnName, tableName } from './names.js'
import { type AttributeSource, fieldType, type SchemaSource } from './types.js'

/** What is known of the custom fields of a project; fields by uid, such as `plugin::color-picker.color`. */
export interface KnownFields {
  /** Said by octavo.config: holds whatever else is known. */
  readonly configured: Readonly<Record<string, ScalarType>>
  /** Registered by the code of the project. */
  readonly registered: ReadonlyMap<string, string>
  /** How the database declares a column; null: it has none. */
  declared(table: string, column: string): string | null
}

/** Finds what is known; called only for a project that has custom fields. */
export type FindFields = () => Promise<KnownFields>

/** Nothing is known, for whoever only reads the schemas. */
export const unknownFields: FindFields = () => Promise.resolve({ configured: {}, registered: new Map(), declared: () => null })

/** Types of custom fields of plugins that many projects have. */
const knownPlugins: Readonly<Record<string, ScalarType>> = {
  'plugin::bold-title-editor.title': 'richtext',
  'plugin::ckeditor.CKEditor': 'richtext',
  'plugin::ckeditor5.CKEditor': 'richtext',
  'plugin::color-picker.color': 'string',
  'plugin::country-select.country': 'string',
  'plugin::geometry-fields.geometry': 'json',
  'plugin::multi-country-select.country': 'json',
  'plugin::multi-select.multi-select': 'json',
  'plugin::oembed.oembed': 'json',
  'plugin::react-icons.icon': 'string',
  'plugin::strapi-advanced-uuid.uuid': 'uid',
  'plugin::strapi-location-picker.location-picker': 'json',
  'plugin::string-array.input': 'json',
  'plugin::tinymce.tinymce': 'richtext',
  'plugin::tiptap-editor.RichText': 'richtext',
  'plugin::video-field.video': 'json',
}

/** The custom fields of plugins whose types are known without the code of the project. */
export const knownPluginFields: readonly string[] = Object.keys(knownPlugins)

/** The type that values of a declared column have, whichever database declares it. */
const declaredTypes: readonly (readonly [RegExp, ScalarType])[] = [
  [/^jsonb?$/, 'json'],
  [/^(?:character varying|n?varchar|character|char)\b/, 'string'],
  [/text|clob/, 'text'],
  [/^bigint\b/, 'biginteger'],
  [/^(?:bool|tinyint\(1\))/, 'boolean'],
  [/int(?:eger)?\b/, 'integer'],
  [/^(?:double|float|real)\b/, 'float'],
  [/^(?:decimal|numeric)\b/, 'decimal'],
  [/^date$/, 'date'],
  [/^time\b/, 'time'],
  [/^(?:datetime|timestamp)\b/, 'datetime'],
]

const typeOfColumn = (declared: string): ScalarType | null =>
  declaredTypes.find(([pattern]) => pattern.test(declared.toLowerCase()))?.[1] ?? null

/** The custom fields of schemas. */
export const fieldsIn = (schemas: readonly SchemaSource[]): readonly AttributeSource[] =>
  schemas.flatMap(({ attributes }) => Object.values(attributes)).filter(({ type }) => type === 'customField')

/** The schemas with the types of their custom fields, and warnings about those that are not known. */
export function withFieldTypes(
  schemas: readonly SchemaSource[],
  fields: KnownFields,
): { readonly schemas: readonly SchemaSource[]; readonly warnings: readonly string[] } {
  const warnings: string[] = []
  const typed = schemas.map((schema) => {
    const attributes = Object.entries(schema.attributes).map(([name, source]) => {
      if (source.type !== 'customField') return [name, source] as const
      const type = typeOfField(schema, name, source, fields)
      if (type === null) warnings.push(notKnown(schema, name, source))
      return [name, { ...source, [fieldType]: type ?? 'text' }] as const
    })
    return { ...schema, attributes: Object.fromEntries(attributes) }
  })
  const uids = fieldsIn(schemas).map(({ customField }) => String(customField))
  const unused = Object.keys(fields.configured).filter((uid) => !uids.includes(uid))
  return { schemas: typed, warnings: [...warnings, ...unused.map((uid) => notUsed(uid, uids))] }
}

const notKnown = ({ uid }: SchemaSource, name: string, { customField }: AttributeSource): string =>
  `${uid}.${name} is the custom field ${String(customField)}, whose type is not known; it is taken for text. If its values are something else, say so in octavo.config: "customFields": { "${String(customField)}": "json" }`

const notUsed = (uid: string, uids: readonly string[]): string =>
  `customFields of octavo.config has "${uid}", which no attribute is${didYouMean(uid, uids)}`

function typeOfField(schema: SchemaSource, name: string, source: AttributeSource, fields: KnownFields): ScalarType | null {
  const uid = String(source.customField)
  if (Object.hasOwn(fields.configured, uid)) return fields.configured[uid]!
  const said = [source.customType, (source.options as { readonly type?: unknown } | undefined)?.type, fields.registered.get(uid)]
  const known = Object.hasOwn(knownPlugins, uid) ? knownPlugins[uid]! : null
  const type = usable(said.find((one): one is ScalarType => typeof one === 'string' && isScalarType(one)) ?? known, source)
  const column = (source.column as { readonly name?: string } | undefined)?.name ?? columnName(name)
  const declared = fields.declared(tableName(collectionName(schema)), column)
  const stored = declared === null ? null : typeOfColumn(declared)
  return stored === null || (type !== null && isSameKind(type, stored)) ? type : stored
}

/** An enumeration whose values the attribute does not say is any text. */
const usable = (type: ScalarType | null, source: AttributeSource): ScalarType | null =>
  type === 'enumeration' && !Array.isArray(source.enum) ? 'string' : type

/** Whether the values of a type are stored as a column of another type has them. */
const isSameKind = (type: ScalarType, stored: ScalarType): boolean =>
  attributeTypes[type].column === attributeTypes[stored].column ||
  (attributeTypes[type].family === attributeTypes[stored].family && attributeTypes[type].family !== 'number')
