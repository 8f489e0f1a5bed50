// Builds the Model from schema sources: resolves every name to its column or table, and every relation to both its sides.
import { createHash } from 'node:crypto'
import { ConfigError } from '../../foundation/errors/errors.js'
import type { ScalarType } from '../../foundation/public/attribute-types.js'
import { attributeTypes, isScalarType } from '../types/attribute-types.js'
import * as names from './names.js'
import { linkName, ownTable, type RelationStorages, storeRelations } from './relation-storage.js'
import {
  type Attribute,
  type AttributeSource,
  type Component,
  type ContentType,
  fieldType,
  type Model,
  type MorphTo,
  type Relation,
  type RelationKind,
  type RelationStorage,
  type Scalar,
  type SchemaSource,
  type SchemaSources,
} from './types.js'

const fileUid = 'plugin::upload.file'

/**
 * Builds the model from all schemas of a project, built-in ones included.
 * @throws ConfigError with a sentence if a schema refers to a missing type or component, or if two types have the same path.
 */
export function linkModel(schemas: readonly SchemaSource[], warnings: readonly string[] = []): Model {
  const sources = new Map(schemas.map((schema) => [schema.uid, schema]))
  const types = new Map<string, ContentType>()
  const components = new Map<string, Component>()
  const paths = new Map<string, ContentType>()
  const skippedRelations = schemas.flatMap((schema) =>
    Object.entries(schema.attributes)
      .filter(([, source]) => pointsToAbsentPlugin(source, sources))
      .map(([name, { target }]) => `${schema.uid}.${name} (${String(target)})`),
  )
  const stored = storeRelations(schemas, sources)
  const linking = { sources, stored }
  for (const schema of schemas) {
    if (schema.kind === 'component') components.set(schema.uid, linkComponent(schema, linking))
    else types.set(schema.uid, linkType(schema, linking))
  }
  for (const type of types.values()) {
    if (!type.exposed) continue
    const path = (type.singleType ? type.singularName : type.pluralName).toLowerCase()
    const other = paths.get(path)
    if (other !== undefined) throw new ConfigError(`${type.uid} and ${other.uid} would both be served at /api/${path}`)
    paths.set(path, type)
  }
  const version = createHash('sha256').update(JSON.stringify(schemas)).digest('base64url').slice(0, 12)
  return {
    version,
    types,
    components,
    paths,
    spareLinks: stored.spare,
    skippedRelations,
    relationRemarks: stored.remarks,
    warnings: [...warnings, ...stored.remarks],
  }
}

interface RelationLinking {
  readonly sources: SchemaSources
  readonly stored: RelationStorages
}

function linkComponent(schema: SchemaSource, linking: RelationLinking): Component {
  const [category, name] = schema.uid.split('.') as [string, string]
  const attributes = new Map<string, Attribute>([['id', systemScalar('id', 'integer', 'id')]])
  const unstored = linkAttributes(schema, linking, attributes)
  return { kind: 'component', category, name, ...shape(schema, attributes, unstored) }
}

function linkType(schema: SchemaSource, linking: RelationLinking): ContentType {
  const { singularName, pluralName } = schema.info
  if (singularName === undefined || pluralName === undefined)
    throw new ConfigError(`${schema.uid} needs info.singularName and info.pluralName`)
  const localized = schema.pluginOptions?.i18n?.localized === true
  const attributes = new Map<string, Attribute>([
    ['id', systemScalar('id', 'integer', 'id')],
    ['documentId', systemScalar('documentId', 'string', 'document_id')],
  ])
  const unstored = linkAttributes(schema, linking, attributes)
  for (const [name, column] of [
    ['createdAt', 'created_at'],
    ['updatedAt', 'updated_at'],
    ['publishedAt', 'published_at'],
  ] as const) {
    attributes.set(name, { ...systemScalar(name, 'datetime', column), private: isPrivate(schema, name) })
  }
  const creatorsAreShown = schema.options?.populateCreatorFields === true
  for (const [name, column] of [
    ['createdBy', 'created_by_id'],
    ['updatedBy', 'updated_by_id'],
  ] as const) {
    attributes.set(name, systemRelation(name, 'oneToOne', 'admin::user', { kind: 'column', column, references: 'id' }, !creatorsAreShown))
  }
  attributes.set('locale', { ...systemScalar('locale', 'string', 'locale'), private: !localized || isPrivate(schema, 'locale') })
  attributes.set(
    'localizations',
    systemRelation('localizations', 'oneToMany', schema.uid, { kind: 'localizations' }, !localized || isPrivate(schema, 'localizations')),
  )
  return {
    kind: 'contentType',
    singleType: schema.kind === 'singleType',
    singularName,
    pluralName,
    draftAndPublish: schema.options?.draftAndPublish === true,
    localized,
    exposed: schema.uid.startsWith('api::'),
    ...shape(schema, attributes, unstored),
  }
}

function shape(schema: SchemaSource, attributes: ReadonlyMap<string, Attribute>, unstored: ReadonlySet<string>) {
  const table = ownTable(schema)
  const holdsComponents = [...attributes.values()].some((attribute) => attribute.kind === 'component' || attribute.kind === 'dynamiczone')
  return {
    uid: schema.uid,
    table,
    componentTable: holdsComponents ? names.componentTable(names.collectionName(schema)) : null,
    linkName: linkName(schema),
    displayName: schema.info.displayName ?? schema.info.singularName ?? schema.uid,
    attributes,
    unstored,
    source: schema,
  }
}

const isPrivate = (schema: SchemaSource, name: string): boolean => schema.options?.privateAttributes?.includes(name) === true

function systemScalar(name: string, type: ScalarType, column: string): Scalar {
  const searchable = name === 'id' || name === 'documentId' || name === 'locale'
  return {
    kind: 'scalar',
    name,
    type,
    column,
    private: false,
    localized: true,
    required: false,
    unique: false,
    searchable,
    system: true,
    source: { type },
  }
}

function systemRelation(name: string, relation: RelationKind, target: string, storage: RelationStorage, hidden: boolean): Relation {
  const many = relation === 'oneToMany'
  const source = { type: 'relation', relation, target }
  return {
    kind: 'relation',
    name,
    relation,
    target,
    many,
    storage,
    inverse: null,
    private: hidden,
    localized: true,
    required: false,
    source,
  }
}

/** Links the attributes of a schema `into` a map; returns the names of the relations that have no table. */
function linkAttributes(schema: SchemaSource, linking: RelationLinking, into: Map<string, Attribute>): ReadonlySet<string> {
  const unstored = new Set<string>()
  for (const [name, source] of Object.entries(schema.attributes)) {
    if (into.has(name) || pointsToAbsentPlugin(source, linking.sources)) continue
    const attribute = linkAttribute(schema, name, source, linking)
    if (attribute === null) unstored.add(name)
    else into.set(name, attribute)
  }
  return unstored
}

/** True for a relation to a type of a plugin that only Strapi loads. */
const pointsToAbsentPlugin = ({ type, target }: AttributeSource, sources: SchemaSources): boolean =>
  type === 'relation' && typeof target === 'string' && target.startsWith('plugin::') && !sources.has(target)

function linkAttribute(schema: SchemaSource, name: string, source: AttributeSource, linking: RelationLinking): Attribute | null {
  const { sources } = linking
  const where = `the attribute ${name} of ${schema.uid}`
  const typeIsLocalized = schema.pluginOptions?.i18n?.localized === true
  const i18n = (source.pluginOptions as { i18n?: { localized?: boolean } } | undefined)?.i18n
  const base = {
    name,
    source,
    private: source.private === true || isPrivate(schema, name),
    localized: typeIsLocalized && (source.type === 'relation' || i18n?.localized === true),
    required: source.required === true,
  }
  switch (source.type) {
    case 'relation':
      return linkRelation(schema, base, linking, where)
    case 'media':
      return { ...base, kind: 'media', many: source.multiple === true }
    case 'component':
      return { ...base, kind: 'component', component: known(sources, source.component, where), repeatable: source.repeatable === true }
    case 'dynamiczone': {
      const components = (source.components as string[] | undefined) ?? []
      return { ...base, kind: 'dynamiczone', components: components.map((uid) => known(sources, uid, where)) }
    }
    default: {
      const type = source.type === 'customField' ? (source[fieldType] ?? 'text') : source.type
      if (typeof type !== 'string' || !isScalarType(type)) throw new ConfigError(`${where} has the unknown type "${String(type)}"`)
      const column = (source.column as { name?: string } | undefined)?.name ?? names.columnName(name)
      const searchable = source.searchable !== false && attributeTypes[type].search !== null
      return { ...base, kind: 'scalar', type, column, unique: source.unique === true || type === 'uid', searchable, system: false }
    }
  }
}

function known(sources: SchemaSources, uid: unknown, where: string): string {
  if (typeof uid !== 'string' || !sources.has(uid)) throw new ConfigError(`${where} refers to "${String(uid)}", which does not exist`)
  return uid
}

interface RelationBase {
  readonly name: string
  readonly source: AttributeSource
  readonly private: boolean
  readonly localized: boolean
  readonly required: boolean
}

function linkRelation(schema: SchemaSource, base: RelationBase, { sources, stored }: RelationLinking, where: string): Attribute | null {
  const { source, name } = base
  const relation = source.relation as RelationKind
  if (relation === 'morphToOne' || relation === 'morphToMany') return morphTo(schema, base, relation)
  const target = sources.get(known(sources, source.target, where))!
  if (relation === 'morphOne' || relation === 'morphMany') {
    const by = String(source.morphBy)
    const other = target.attributes[by]
    if (other === undefined || !String(other.relation).startsWith('morphTo'))
      throw new ConfigError(`${where} is morphed by ${target.uid}.${by}, which is not a polymorphic relation`)
    const theirs = morphTo(target, { ...base, name: by, source: other }, other.relation as 'morphToOne' | 'morphToMany')
    return { ...base, kind: 'morphFrom', many: relation === 'morphMany', target: target.uid, by, storage: theirs.storage }
  }
  const found = stored.get(schema.uid, name)
  if (found === null) return null
  const many = relation === 'oneToMany' || relation === 'manyToMany'
  return { ...base, kind: 'relation', relation, target: target.uid, many, ...found }
}

function morphTo(schema: SchemaSource, base: RelationBase, relation: 'morphToOne' | 'morphToMany'): MorphTo {
  const { name } = base
  if (relation === 'morphToOne') {
    const own = base.source.morphColumn as { idColumn?: { name?: string }; typeColumn?: { name?: string } } | undefined
    const [id, type] = [own?.idColumn?.name ?? 'target_id', own?.typeColumn?.name ?? 'target_type']
    return { ...base, kind: 'morphTo', many: false, storage: { kind: 'columns', id, type } }
  }
  return {
    ...base,
    kind: 'morphTo',
    many: true,
    storage: {
      kind: 'table',
      table: names.morphTable(ownTable(schema), name),
      here: names.idColumn(linkName(schema)),
      id: names.morphIdColumn(name),
      type: names.morphTypeColumn(name),
      order: 'order',
    },
  }
}

/** The uid of the type of files, which media attributes refer to. */
export const fileType = fileUid

/**
 * Types whose rows grant access: token keys, permissions, sessions. Relations to them are never shown or compared, for any caller.
 * Administrators are shown as authors, and permissions compare their roles.
 */
export const isClosedType = (uid: string): boolean => uid.startsWith('admin::') && uid !== 'admin::user' && uid !== 'admin::role'

/**
 * True if a polymorphic relation may refer to rows of this type: the project's types, files and users. Tokens, roles and users of the
 * admin panel are never accessible through such a relation.
 */
export const isPolymorphicTarget = ({ uid, exposed }: ContentType): boolean =>
  exposed || uid === fileUid || uid === 'plugin::users-permissions.user'
