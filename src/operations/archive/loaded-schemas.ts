// The schemas of a project in the form in which Strapi has loaded them: with the attributes that every content-type gets.
import camelCase from 'lodash/camelCase.js'
import upperFirst from 'lodash/upperFirst.js'
import { builtinSchemas } from '../../model/schema/builtin.js'
import { collectionName } from '../../model/schema/names.js'
import type { AttributeSource, Component, ContentType, Model, SchemaSource } from '../../model/schema/types.js'
import { builtInDetails } from './built-in-details.js'

/** A schema as a line of `schemas/`. */
export interface LoadedSchema {
  readonly collectionName: string
  readonly info: Readonly<Record<string, unknown>>
  readonly options?: Readonly<Record<string, unknown>>
  readonly pluginOptions?: Readonly<Record<string, unknown>>
  readonly attributes: Readonly<Record<string, AttributeSource>>
  readonly kind?: string
  readonly modelType: 'contentType' | 'component'
  readonly modelName: string
  readonly uid: string
  readonly plugin?: string
  readonly globalId: string
}

/** Types in the order in which Strapi registers them: those of plugins, those of the project, those of the admin panel. */
export function registeredTypes({ types }: Model): readonly ContentType[] {
  const all = [...types.values()]
  const of = (prefix: string): readonly ContentType[] => all.filter(({ uid }) => uid.startsWith(prefix))
  return [...of('plugin::'), ...of('api::'), ...of('admin::')]
}

/** All schemas of a model in the order of their registration. */
export const loadedSchemas = (model: Model): readonly LoadedSchema[] => [
  ...registeredTypes(model).map(loadedType),
  ...[...model.components.values()].map(loadedComponent),
]

function loadedType(type: ContentType): LoadedSchema {
  const { uid, source, singularName, table } = type
  const [, plugin] = /^(?:plugin::([^.]+)|(?=admin::))/.exec(uid) ?? []
  const owner = uid.startsWith('admin::') ? 'admin' : plugin
  const { info = {}, options, pluginOptions, attributes = {} } = isAsBuiltIn(source) ? (builtInDetails[uid] ?? {}) : source
  return {
    collectionName: collectionName(source),
    info: { ...source.info, ...info },
    ...(options === undefined ? {} : { options }),
    ...(pluginOptions === undefined ? {} : { pluginOptions }),
    attributes: { ...ownAttributes(type, attributes), ...systemAttributes(type, table) },
    kind: source.kind,
    modelType: 'contentType',
    modelName: singularName,
    uid,
    ...(owner === undefined ? {} : { plugin: owner }),
    globalId: `${owner === undefined ? '' : pascal(owner)}${pascal(singularName)}`,
  }
}

/** Whether a schema is one of ours that the project has not replaced. */
const isAsBuiltIn = ({ uid, attributes }: SchemaSource): boolean =>
  builtinSchemas.some((schema) => schema.uid === uid && schema.attributes === attributes)

function loadedComponent(component: Component): LoadedSchema {
  const { uid, source, name } = component
  return {
    collectionName: collectionName(source),
    info: source.info,
    ...(source.options === undefined ? {} : { options: source.options }),
    attributes: ownAttributes(component, component.source.attributes),
    modelType: 'component',
    modelName: name,
    uid,
    globalId: pascal(`component_${uid}`),
  }
}

const pascal = (name: string): string => upperFirst(camelCase(name))

/** The attributes of the file; a custom field has the type of its values. */
function ownAttributes(
  { source, attributes }: ContentType | Component,
  details: Readonly<Record<string, object>>,
): Record<string, AttributeSource> {
  return Object.fromEntries(
    Object.entries(source.attributes).map(([name, attribute]) => {
      const known = attributes.get(name)
      const type = attribute.type === 'customField' && known?.kind === 'scalar' ? known.type : attribute.type
      return [name, { ...attribute, ...details[name], type }]
    }),
  )
}

function systemAttributes({ uid, localized, source }: ContentType, table: string): Record<string, AttributeSource> {
  const creator = {
    ...{ type: 'relation', relation: 'oneToOne', target: 'admin::user', configurable: false, writable: false, visible: false },
    ...{ useJoinTable: false, private: source.options?.populateCreatorFields !== true },
  }
  return {
    createdAt: { type: 'datetime' },
    updatedAt: { type: 'datetime' },
    publishedAt: { type: 'datetime', configurable: false, writable: true, visible: true },
    createdBy: creator,
    updatedBy: creator,
    locale: { writable: true, private: !localized, configurable: false, visible: false, type: 'string' },
    localizations: {
      ...{
        type: 'relation',
        relation: 'oneToMany',
        target: uid,
        writable: false,
        private: !localized,
        configurable: false,
        visible: false,
      },
      unstable_virtual: true,
      joinColumn: { name: 'document_id', referencedColumn: 'document_id', referencedTable: table },
    },
  }
}
