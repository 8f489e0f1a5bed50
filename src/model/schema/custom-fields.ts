// Types of custom fields. Only the plugin's code knows the type of its values, so it is taken from octavo.config, the column of an existing
// database, the attribute, the project's code, or a list of known plugins.
import { didYouMean } from '../../foundation/errors/did-you-mean.js'
import type { ScalarType } from '../../foundation/public/attribute-types.js'
import { attributeTypes, isScalarType } from '../types/attribute-types.js'
import { collectionName, columnName, tableName } from './names.js'
import { type AttributeSource, fieldType, type SchemaSource } from './types.js'

/** Known custom fields by uid, such as `plugin::color-picker.color`. */
export interface KnownFields {
  /** From octavo.config, with precedence over the others. */
  readonly configured: Readonly<Record<string, ScalarType>>
  /** From the code of the project. */
  readonly registered: ReadonlyMap<string, string>
  /** The declared type of a column, or null. */
  declared(table: string, column: string): string | null
}

/** Called only for a project with custom fields. */
export type FindFields = () => Promise<KnownFields>

/** For callers that only read the schemas. */
export const unknownFields: FindFields = () => Promise.resolve({ configured: {}, registered: new Map(), declared: () => null })

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

export const knownPluginFields: readonly string[] = Object.keys(knownPlugins)

/** Attribute types of column types of all databases. */
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

const columnScalarType = (declared: string): ScalarType | null =>
  declaredTypes.find(([pattern]) => pattern.test(declared.toLowerCase()))?.[1] ?? null

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
      const type = resolveFieldType(schema, name, source, fields)
      if (type === null) warnings.push(unknownFieldWarning(schema, name, source))
      return [name, { ...source, [fieldType]: type ?? 'text' }] as const
    })
    return { ...schema, attributes: Object.fromEntries(attributes) }
  })
  const uids = fieldsIn(schemas).map(({ customField }) => String(customField))
  const unused = Object.keys(fields.configured).filter((uid) => !uids.includes(uid))
  return { schemas: typed, warnings: [...warnings, ...unused.map((uid) => unusedFieldWarning(uid, uids))] }
}

const unknownFieldWarning = ({ uid }: SchemaSource, name: string, { customField }: AttributeSource): string =>
  `${uid}.${name} is the custom field ${String(customField)}, whose type is not known; it is taken for text. If its values are something else, say so in octavo.config: "customFields": { "${String(customField)}": "json" }`

const unusedFieldWarning = (uid: string, uids: readonly string[]): string =>
  `customFields of octavo.config has "${uid}", which no attribute is${didYouMean(uid, uids)}`

function resolveFieldType(schema: SchemaSource, name: string, source: AttributeSource, fields: KnownFields): ScalarType | null {
  const uid = String(source.customField)
  if (Object.hasOwn(fields.configured, uid)) return fields.configured[uid]!
  const said = [source.customType, (source.options as { readonly type?: unknown } | undefined)?.type, fields.registered.get(uid)]
  const known = Object.hasOwn(knownPlugins, uid) ? knownPlugins[uid]! : null
  const type = usable(said.find((one): one is ScalarType => typeof one === 'string' && isScalarType(one)) ?? known, source)
  const column = (source.column as { readonly name?: string } | undefined)?.name ?? columnName(name)
  const declared = fields.declared(tableName(collectionName(schema)), column)
  const stored = declared === null ? null : columnScalarType(declared)
  return stored === null || (type !== null && isSameKind(type, stored)) ? type : stored
}

/** An enumeration without values is treated as text. */
const usable = (type: ScalarType | null, source: AttributeSource): ScalarType | null =>
  type === 'enumeration' && !Array.isArray(source.enum) ? 'string' : type

const isSameKind = (type: ScalarType, stored: ScalarType): boolean =>
  attributeTypes[type].column === attributeTypes[stored].column ||
  (attributeTypes[type].family === attributeTypes[stored].family && attributeTypes[type].family !== 'number')
