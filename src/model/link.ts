// Builds the Model from schema sources: resolves every name to its column or table, and every relation to both its sides.
import { createHash } from 'node:crypto'
import { attributeTypes, isScalarType } from './attributes.js'
import * as names from './names.js'
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
  type ScalarType,
  type SchemaSource,
  type SchemaSources,
} from './types.js'

const fileUid = 'plugin::upload.file'

/**
 * Builds the model from all schemas of a project, built-in ones included.
 * @throws Error with a sentence if a schema refers to a missing type or component, or if two types have the same path.
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
  for (const schema of schemas) {
    if (schema.kind === 'component') components.set(schema.uid, linkComponent(schema, sources))
    else types.set(schema.uid, linkType(schema, sources))
  }
  for (const type of types.values()) {
    if (!type.exposed) continue
    const path = (type.singleType ? type.singularName : type.pluralName).toLowerCase()
    const other = paths.get(path)
    if (other !== undefined) throw new Error(`${type.uid} and ${other.uid} would both be served at /api/${path}`)
    paths.set(path, type)
  }
  const version = createHash('sha256').update(JSON.stringify(schemas)).digest('base64url').slice(0, 12)
  return { version, types, components, paths, skippedRelations, warnings }
}

const ownTable = (schema: SchemaSource): string => names.tableName(names.collectionName(schema))

/** The name of this side in link tables: the singular name of a type, or the file name of a component. */
const linkName = (schema: SchemaSource): string =>
  schema.kind === 'component' ? schema.uid.slice(schema.uid.indexOf('.') + 1) : (schema.info.singularName ?? schema.uid)

function linkComponent(schema: SchemaSource, sources: SchemaSources): Component {
  const [category, name] = schema.uid.split('.') as [string, string]
  const attributes = new Map<string, Attribute>([['id', systemScalar('id', 'integer', 'id')]])
  linkAttributes(schema, sources, attributes)
  return { kind: 'component', category, name, ...shape(schema, attributes) }
}

function linkType(schema: SchemaSource, sources: SchemaSources): ContentType {
  const { singularName, pluralName } = schema.info
  if (singularName === undefined || pluralName === undefined) throw new Error(`${schema.uid} needs info.singularName and info.pluralName`)
  const localized = schema.pluginOptions?.i18n?.localized === true
  const attributes = new Map<string, Attribute>([
    ['id', systemScalar('id', 'integer', 'id')],
    ['documentId', systemScalar('documentId', 'string', 'document_id')],
  ])
  linkAttributes(schema, sources, attributes)
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
    ...shape(schema, attributes),
  }
}

function shape(schema: SchemaSource, attributes: ReadonlyMap<string, Attribute>) {
  const table = ownTable(schema)
  const holdsComponents = [...attributes.values()].some((attribute) => attribute.kind === 'component' || attribute.kind === 'dynamiczone')
  return {
    uid: schema.uid,
    table,
    componentTable: holdsComponents ? names.componentTable(names.collectionName(schema)) : null,
    linkName: linkName(schema),
    displayName: schema.info.displayName ?? schema.info.singularName ?? schema.uid,
    attributes,
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

function linkAttributes(schema: SchemaSource, sources: SchemaSources, into: Map<string, Attribute>): void {
  for (const [name, source] of Object.entries(schema.attributes)) {
    if (into.has(name) || pointsToAbsentPlugin(source, sources)) continue
    into.set(name, linkAttribute(schema, name, source, sources))
  }
}

/** True for a relation to a type of a plugin that only Strapi loads. */
const pointsToAbsentPlugin = ({ type, target }: AttributeSource, sources: SchemaSources): boolean =>
  type === 'relation' && typeof target === 'string' && target.startsWith('plugin::') && !sources.has(target)

function linkAttribute(schema: SchemaSource, name: string, source: AttributeSource, sources: SchemaSources): Attribute {
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
      return linkRelation(schema, base, sources, where)
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
      if (typeof type !== 'string' || !isScalarType(type)) throw new Error(`${where} has the unknown type "${String(type)}"`)
      const column = (source.column as { name?: string } | undefined)?.name ?? names.columnName(name)
      const searchable = source.searchable !== false && attributeTypes[type].search !== null
      return { ...base, kind: 'scalar', type, column, unique: source.unique === true || type === 'uid', searchable, system: false }
    }
  }
}

function known(sources: SchemaSources, uid: unknown, where: string): string {
  if (typeof uid !== 'string' || !sources.has(uid)) throw new Error(`${where} refers to "${String(uid)}", which does not exist`)
  return uid
}

interface RelationBase {
  readonly name: string
  readonly source: AttributeSource
  readonly private: boolean
  readonly localized: boolean
  readonly required: boolean
}

function linkRelation(schema: SchemaSource, base: RelationBase, sources: SchemaSources, where: string): Attribute {
  const { source, name } = base
  const relation = source.relation as RelationKind
  if (relation === 'morphToOne' || relation === 'morphToMany') return morphTo(schema, base, relation)
  const target = sources.get(known(sources, source.target, where))!
  if (relation === 'morphOne' || relation === 'morphMany') {
    const by = String(source.morphBy)
    const other = target.attributes[by]
    if (other === undefined || !String(other.relation).startsWith('morphTo'))
      throw new Error(`${where} is morphed by ${target.uid}.${by}, which is not a polymorphic relation`)
    const theirs = morphTo(target, { ...base, name: by, source: other }, other.relation as 'morphToOne' | 'morphToMany')
    return { ...base, kind: 'morphFrom', many: relation === 'morphMany', target: target.uid, by, storage: theirs.storage }
  }
  const many = relation === 'oneToMany' || relation === 'manyToMany'
  const inverse = (source.mappedBy ?? source.inversedBy ?? null) as string | null
  return {
    ...base,
    kind: 'relation',
    relation,
    target: target.uid,
    many,
    inverse,
    storage: relationStorage(schema, name, source, target, where),
  }
}

function relationStorage(
  schema: SchemaSource,
  name: string,
  source: AttributeSource,
  target: SchemaSource,
  where: string,
): RelationStorage {
  if (typeof source.mappedBy === 'string') {
    const other = target.attributes[source.mappedBy]
    if (other === undefined) throw new Error(`${where} is mapped by ${target.uid}.${source.mappedBy}, which does not exist`)
    const theirs = ownedStorage(target, source.mappedBy, other, schema)
    if (theirs.kind !== 'link') return theirs.kind === 'column' ? { kind: 'inverseColumn', column: theirs.column } : theirs
    return { ...theirs, here: theirs.there, there: theirs.here, order: theirs.inverseOrder, inverseOrder: theirs.order, owner: false }
  }
  return ownedStorage(schema, name, source, target)
}

/** Custom names for a link table. Strapi 5.54 neither creates nor reads such tables; the names are used as written. */
interface JoinTable {
  readonly name?: string
  readonly joinColumn?: { readonly name?: string }
  readonly inverseJoinColumn?: { readonly name?: string }
  readonly orderColumnName?: string
  readonly inverseOrderColumnName?: string
}

/** Returns the storage of a relation, with Strapi's names (decision 001), as seen from its owning side. */
function ownedStorage(schema: SchemaSource, name: string, source: AttributeSource, target: SchemaSource): RelationStorage {
  const relation = source.relation as RelationKind
  if (source.useJoinTable === false && (relation === 'oneToOne' || relation === 'manyToOne')) {
    const joinColumn = source.joinColumn as { name?: string; referencedColumn?: string } | undefined
    return { kind: 'column', column: joinColumn?.name ?? names.idColumn(name), references: joinColumn?.referencedColumn ?? 'id' }
  }
  const [ours, theirs] = [linkName(schema), linkName(target)]
  const here = names.idColumn(ours)
  const there = names.idColumn(theirs) === here ? names.inverseIdColumn(theirs) : names.idColumn(theirs)
  const bidirectional = typeof source.inversedBy === 'string' || typeof source.mappedBy === 'string'
  const toMany = relation === 'oneToMany' || relation === 'manyToMany'
  const fromMany = bidirectional && (relation === 'manyToOne' || relation === 'manyToMany')
  const order = toMany ? names.orderColumn(theirs) : null
  const inverseName = names.orderColumn(ours)
  const inverseOrder = fromMany ? (inverseName === order ? names.inverseOrderColumn(ours) : inverseName) : null
  const custom = source.joinTable as JoinTable | undefined
  return {
    kind: 'link',
    table: custom?.name ?? names.linkTable(ownTable(schema), name),
    here: custom?.joinColumn?.name ?? here,
    there: custom?.inverseJoinColumn?.name ?? there,
    order: custom === undefined ? order : (custom.orderColumnName ?? null),
    inverseOrder: custom === undefined ? inverseOrder : (custom.inverseOrderColumnName ?? null),
    owner: true,
  }
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
 * True if a polymorphic relation may refer to rows of this type: the project's types, files and users. Tokens, roles and users of the
 * admin panel are never accessible through such a relation.
 */
export const isPolymorphicTarget = ({ uid, exposed }: ContentType): boolean =>
  exposed || uid === fileUid || uid === 'plugin::users-permissions.user'
