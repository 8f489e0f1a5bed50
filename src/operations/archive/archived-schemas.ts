// The schemas of an archive, and their differences from those of a project.

import { isDeepStrictEqual } from 'node:util'
import camelCase from 'lodash/camelCase.js'
import upperFirst from 'lodash/upperFirst.js'
import { ConfigError } from '../../foundation/errors/errors.js'
import { builtinSchemas } from '../../model/schema/builtin.js'
import { collectionName } from '../../model/schema/names.js'
import type { AttributeSource, Component, ContentType, Model, SchemaSource } from '../../model/schema/types.js'
import { type ArchiveLineFile, linesOf } from './format.js'

/** The relevant parts of a schema. */
export interface ArchivedSchema {
  readonly uid: string
  readonly kind: unknown
  readonly draftAndPublish: boolean
  readonly localized: boolean
  readonly attributes: Readonly<Record<string, Readonly<Record<string, unknown>>>>
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Parses a schema; null if it is invalid. */
function schemaIn(value: unknown): ArchivedSchema | null {
  if (!isObject(value) || typeof value.uid !== 'string' || !isObject(value.attributes)) return null
  const { uid, kind, options, pluginOptions } = value
  const i18n = isObject(pluginOptions) ? pluginOptions.i18n : undefined
  return {
    uid,
    kind,
    draftAndPublish: isObject(options) && options.draftAndPublish === true,
    localized: isObject(i18n) && i18n.localized === true,
    attributes: Object.fromEntries(
      Object.entries(value.attributes).map(([name, attribute]) => [name, isObject(attribute) ? attribute : {}]),
    ),
  }
}

/** Reads the schemas of an archive by uid. @throws ConfigError for an invalid line */
export async function archivedSchemas(files: readonly ArchiveLineFile[], longest: number): Promise<ReadonlyMap<string, ArchivedSchema>> {
  const found = new Map<string, ArchivedSchema>()
  for await (const { text, where } of linesOf(files, longest)) {
    let value: unknown
    try {
      value = JSON.parse(text)
    } catch {
      value = null
    }
    const schema = schemaIn(value)
    if (schema === null) throw new ConfigError(`${where} is not a schema. Nothing was changed`)
    found.set(schema.uid, schema)
  }
  if (found.size === 0) throw new ConfigError('The archive has no schemas: it is incomplete, or not from Strapi. Nothing was changed')
  return found
}

/** Keys of an attribute that do not affect stored values. */
const harmless: ReadonlySet<string> = new Set(['private', 'required', 'configurable', 'default'])

const compared = (attribute: object): object => Object.fromEntries(Object.entries(attribute).filter(([key]) => !harmless.has(key)))

/** Differences between schemas as sentences: attributes that are missing on one side or differ. `isWanted` selects the types. */
export function schemaDifferences(
  archived: ReadonlyMap<string, ArchivedSchema>,
  model: Model,
  isWanted: (uid: string) => boolean,
): readonly string[] {
  const own = new Map(loadedSchemas(model).map((schema) => [schema.uid, schemaIn(schema)!]))
  return [...archived.values()].flatMap((theirs) => {
    if (!isWanted(theirs.uid)) return []
    const ours = own.get(theirs.uid)
    if (ours === undefined) return [`${theirs.uid}: the project has no such ${theirs.uid.includes('::') ? 'content-type' : 'component'}`]
    const names = new Set([...Object.keys(theirs.attributes), ...Object.keys(ours.attributes)])
    return [...names].flatMap((name) => {
      const [there, here] = [theirs.attributes[name], ours.attributes[name]]
      if (here === undefined) return [`${theirs.uid}.${name}: only the archive has it`]
      if (there === undefined) return [`${theirs.uid}.${name}: only the project has it`]
      const keys = new Set([...Object.keys(compared(there)), ...Object.keys(compared(here))])
      const changed = [...keys].filter((key) => !isDeepStrictEqual(there[key], here[key]))
      return changed.length === 0
        ? []
        : [`${theirs.uid}.${name}: ${changed.map((key) => differenceOf(key, there[key], here[key])).join(', ')}`]
    })
  })
}

/** Maximum length of an option's value in messages. */
const shownText = 80

function differenceOf(key: string, there: unknown, here: unknown): string {
  const shown = (value: unknown): string => (value === undefined ? 'not set' : JSON.stringify(value).slice(0, shownText))
  return `${key} is ${shown(there)} in the archive, ${shown(here)} in the project`
}

/**
 * Refuses a type that has other versions (drafts, locales) in the archive than in the project.
 * @throws ConfigError with a sentence
 */
export function checkVersions(schema: ArchivedSchema | undefined, model: Model): void {
  const type = schema === undefined ? undefined : model.types.get(schema.uid)
  if (schema === undefined || type === undefined) return
  const differing = [
    ...(schema.draftAndPublish === type.draftAndPublish ? [] : [['Draft & Publish', schema.draftAndPublish] as const]),
    ...(schema.localized === type.localized ? [] : [['Internationalization', schema.localized] as const]),
  ]
  for (const [feature, isOn] of differing)
    throw new ConfigError(
      `${schema.uid} ${isOn ? 'has' : 'does not have'} ${feature} in the archive, but ${isOn ? 'not ' : ''}in the project. Make its schema as it is in the archive, import, and change it back afterwards. Nothing was changed`,
    )
}

/** A schema as a line of `schemas/`. */
interface LoadedSchema {
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

/** Types in Strapi's order of registration: plugins, project, admin panel. */
export function registeredTypes({ types }: Model): readonly ContentType[] {
  const all = [...types.values()]
  const of = (prefix: string): readonly ContentType[] => all.filter(({ uid }) => uid.startsWith(prefix))
  return [...of('plugin::'), ...of('api::'), ...of('admin::')]
}

/** All schemas of a model in order of registration. */
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

/** True for a built-in schema that the project does not replace. */
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

/** Attributes as in the schema file; custom fields have the type of their values. */
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

interface Details {
  readonly info?: Readonly<Record<string, string>>
  readonly options?: Readonly<Record<string, unknown>>
  readonly pluginOptions?: Readonly<Record<string, unknown>>
  readonly attributes?: Readonly<Record<string, object>>
}

const options = { draftAndPublish: false }
const hidden = { 'content-manager': { visible: false }, 'content-type-builder': { visible: false } }

/** Types hidden from the content manager and the content-type builder. */
const type = (info: Details['info'] = {}, more: Partial<Details> = {}): Details => ({ info, options, pluginOptions: hidden, ...more })

const named = (name: string, more?: Partial<Details>): Details => type({ name, description: '' }, more)

const notUnique = { unique: false }

/** By uid of Strapi's own content-types. */
const builtInDetails: Readonly<Record<string, Details>> = {
  'plugin::upload.file': type({ description: '' }),
  'plugin::upload.folder': type(),
  'plugin::i18n.locale': type({ collectionName: 'locales', description: '' }),
  'plugin::content-releases.release': type(),
  'plugin::content-releases.release-action': type(),
  'plugin::review-workflows.workflow': named('Workflow'),
  'plugin::review-workflows.workflow-stage': named('Workflow Stage', { options: { version: '1.1.0', draftAndPublish: false } }),
  'plugin::users-permissions.permission': named('permission'),
  'plugin::users-permissions.role': named('role'),
  'plugin::users-permissions.user': {
    info: { name: 'user', description: '' },
    options: { timestamps: true, draftAndPublish: false },
  },
  'admin::permission': named('Permission'),
  'admin::user': named('User', { attributes: { firstname: notUnique, lastname: notUnique, username: notUnique } }),
  'admin::role': named('Role'),
  'admin::api-token': named('Api Token'),
  'admin::api-token-permission': named('API Token Permission'),
  'admin::transfer-token': named('Transfer Token'),
  'admin::transfer-token-permission': named('Transfer Token Permission'),
  'admin::session': type(
    { name: 'Session', description: 'Session Manager storage' },
    { pluginOptions: { ...hidden, i18n: { localized: false } } },
  ),
}
