// Types in Strapi's settings, in Strapi's format: the types of its last start, the settings of the content manager, the fields of
// administrators' permissions.
import camelCase from 'lodash/camelCase.js'
import upperFirst from 'lodash/upperFirst.js'
import type { ContentType } from '../schema/types.js'

/** The setting with the types of Strapi's last start. */
export const storedTypesKey = 'strapi_content_types_schema'

const creator = { type: 'relation', relation: 'oneToOne', target: 'admin::user', configurable: false, writable: false, visible: false }

/** A type of the project in the format of `strapi_content_types_schema`. */
export function storedContentType({ uid, table, localized, singularName, source }: ContentType): Readonly<Record<string, unknown>> {
  const { kind, collectionName, info, options, pluginOptions, attributes } = source
  const shared = { configurable: false, visible: false }
  const system = {
    createdAt: { type: 'datetime' },
    updatedAt: { type: 'datetime' },
    publishedAt: { type: 'datetime', configurable: false, writable: true, visible: true },
    createdBy: { ...creator, useJoinTable: false, private: true },
    updatedBy: { ...creator, useJoinTable: false, private: true },
    locale: { writable: true, private: !localized, ...shared, type: 'string' },
    localizations: {
      type: 'relation',
      relation: 'oneToMany',
      target: uid,
      writable: false,
      private: !localized,
      ...shared,
      unstable_virtual: true,
      joinColumn: { name: 'document_id', referencedColumn: 'document_id', referencedTable: table },
    },
  }
  const schema = { collectionName, info, options, pluginOptions }
  return {
    kind,
    ...schema,
    attributes: { ...attributes, ...system },
    apiName: uid.slice(uid.indexOf('::') + 2, uid.lastIndexOf('.')),
    globalId: upperFirst(camelCase(singularName)),
    uid,
    modelType: 'contentType',
    __schema__: { ...schema, attributes, kind },
    modelName: singularName,
    actions: {},
    lifecycles: {},
  }
}

type Json = { readonly [key: string]: unknown }

/** Updates and removes types in the text of `strapi_content_types_schema`. */
export function withStoredTypes(text: string, stored: readonly ContentType[], removed: readonly string[]): string {
  const types = { ...(JSON.parse(text) as Json) }
  for (const uid of removed) delete types[uid]
  for (const type of stored) types[type.uid] = storedContentType(type)
  return JSON.stringify(types)
}

interface Configuration extends Json {
  readonly settings?: Json
  readonly metadatas?: Json
  readonly layouts?: { readonly list?: readonly string[]; readonly edit?: readonly (readonly { readonly name: string }[])[] }
}

/** Renames attributes in the content manager's settings of a type or component. */
export function renamedInConfiguration(text: string, names: ReadonlyMap<string, string>): string {
  const configuration = JSON.parse(text) as Configuration
  const { settings = {}, metadatas = {}, layouts = {} } = configuration
  const named = (name: unknown) => names.get(String(name)) ?? name
  return JSON.stringify({
    ...configuration,
    settings: Object.fromEntries(
      Object.entries(settings).map(([key, value]) => [key, key === 'mainField' || key === 'defaultSortBy' ? named(value) : value]),
    ),
    metadatas: Object.fromEntries(Object.entries(metadatas).map(([name, value]) => [named(name), renamedLabels(value, name, named(name))])),
    layouts: {
      ...layouts,
      list: layouts.list?.map(named),
      edit: layouts.edit?.map((line) => line.map((field) => ({ ...field, name: named(field.name) }))),
    },
  })
}

/** A default label is the name of the attribute. */
function renamedLabels(metadata: unknown, from: string, to: unknown): unknown {
  if (typeof metadata !== 'object' || metadata === null) return metadata
  return Object.fromEntries(
    Object.entries(metadata).map(([view, value]) => [
      view,
      (value as Json | null)?.label === from ? { ...(value as Json), label: to } : value,
    ]),
  )
}

/** Renames attributes in the `properties` of an administrator's permission: `fields`, also of what components in them have. */
export function renamedInFields(text: string, names: ReadonlyMap<string, string>): string {
  const properties = JSON.parse(text) as Json & { readonly fields?: readonly string[] }
  const named = (field: string) => {
    const [first = '', ...rest] = field.split('.')
    return [names.get(first) ?? first, ...rest].join('.')
  }
  return JSON.stringify(properties.fields === undefined ? properties : { ...properties, fields: properties.fields.map(named) })
}
