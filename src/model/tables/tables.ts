// Tables, columns, indexes and foreign keys of a content model in Strapi 5's layout, as plain data.

import { allSchemas, type ColumnRelation } from '../schema/graph.js'
import * as names from '../schema/names.js'
import {
  type Attribute,
  type AttributeSource,
  assertNever,
  type Model,
  type MorphTo,
  type Relation,
  type Scalar,
  type Schema,
} from '../schema/types.js'
import { attributeTypes } from '../types/attribute-types.js'
import { type Column, type ColumnType, column, type ForeignKey, foreignKey, type Index, idColumn, type Table } from './table.js'

const described = new WeakMap<Model, readonly Table[]>()

/** All tables of the model and of Strapi's bookkeeping. */
export function describeTables(model: Model): readonly Table[] {
  // A change of the model asks a dozen times.
  const tables = described.get(model) ?? tablesOf(model)
  described.set(model, tables)
  return tables
}

function tablesOf(model: Model): readonly Table[] {
  const shapes = allSchemas(model)
  const spare = model.spareLinks.flatMap((link) => linkTable((model.types.get(link.uid) ?? model.components.get(link.uid))!, link, model))
  const made = new Set(spare.map(({ name }) => name))
  const pairs = shapes.flatMap((shape) => [...shape.attributes.values()].flatMap((attribute) => pairsTable(shape, attribute, model)))
  return [
    ...systemTables,
    ...shapes.map((shape) => shapeTable(shape, model)),
    ...shapes.flatMap((shape) => (shape.componentTable === null ? [] : [entriesTable(shape, shape.componentTable)])),
    ...pairs.filter(({ name }) => !made.has(name)),
    ...spare,
  ]
}

function shapeTable(shape: Schema, model: Model): Table {
  const attributes = [...shape.attributes.values()]
  const columns = attributes.flatMap((attribute) => attributeColumns(attribute))
  const pointers = attributes.filter(isPointer).map((attribute) => pointer(shape, attribute, model))
  const unique = attributes.filter(
    (attribute) => attribute.kind === 'scalar' && columnOptions(attribute.source).unique === true,
  ) as Scalar[]
  return {
    name: shape.table,
    columns: withLocaleBefore(columns, columnsAfterLocale[shape.uid]),
    indexes: [
      ...((shape.source.indexes as SchemaIndex[] | undefined) ?? []).map(({ name, columns, type }) => ({
        name,
        columns,
        unique: type === 'unique',
      })),
      ...(shape.kind === 'contentType' ? [documentsIndex(shape)] : []),
      ...unique.map(({ column }) => ({ name: names.columnIndexName(shape.table, column, 'uq'), columns: [column], unique: true })),
      ...pointers.map(({ name, columns }) => ({ name, columns, unique: false })),
    ],
    foreignKeys: pointers,
  }
}

interface SchemaIndex {
  readonly name: string
  readonly columns: readonly string[]
  readonly type?: string | null
}

const documentsIndex = (shape: Schema): Index => ({
  name: names.indexName(names.collectionName(shape.source), 'documents_idx'),
  columns: ['document_id', 'locale', 'published_at'],
  unique: false,
})

function withLocaleBefore(columns: readonly Column[], before: string | undefined): readonly Column[] {
  if (before === undefined) return columns
  const others = columns.filter(({ name }) => name !== 'locale')
  const place = others.findIndex(({ name }) => name === before)
  return [...others.slice(0, place), column('locale', 'varchar(255)'), ...others.slice(place)]
}

const isPointer = (attribute: Attribute): attribute is ColumnRelation =>
  attribute.kind === 'relation' && attribute.storage.kind === 'column'

function pointer(shape: Schema, { storage, target }: ColumnRelation, model: Model): ForeignKey {
  const name = names.columnIndexName(shape.table, storage.column, 'fk')
  return foreignKey(name, storage.column, model.types.get(target)!.table, 'SET NULL', storage.references)
}

function attributeColumns(attribute: Attribute): readonly Column[] {
  switch (attribute.kind) {
    case 'scalar':
      return [attribute.name === 'id' ? idColumn : scalarColumn(attribute)]
    case 'relation':
      return attribute.storage.kind === 'column' ? [column(attribute.storage.column, 'reference')] : []
    case 'morphTo':
      if (attribute.storage.kind === 'table') return []
      return [column(attribute.storage.id, 'reference'), column(attribute.storage.type, 'varchar(255)')]
    case 'morphFrom':
    case 'media':
    case 'component':
    case 'dynamiczone':
      return []
    default:
      return assertNever(attribute)
  }
}

/** The `column` option of an attribute: how its author wants it declared. */
interface ColumnOptions {
  readonly type?: string
  readonly args?: readonly unknown[]
  readonly notNullable?: boolean
  readonly unique?: boolean
  readonly defaultTo?: unknown
}

const columnOptions = (source: AttributeSource): ColumnOptions => (source.column as ColumnOptions | undefined) ?? {}

/** Types of the `column` option. */
const optionTypes: Readonly<Record<string, ColumnType>> = {
  string: 'varchar(255)',
  text: 'text',
  integer: 'integer',
  bigInteger: 'bigint',
  float: 'real',
  double: 'float',
  decimal: 'decimal(8,2)',
  boolean: 'boolean',
  date: 'date',
  time: 'time',
  datetime: 'datetime',
  timestamp: 'datetime',
  json: 'jsonText',
  jsonb: 'json',
}

/** Arguments are a length, or digits and decimals. */
function optionType({ type = '', args = [] }: ColumnOptions): ColumnType | undefined {
  const [size, decimals] = args
  if (type === 'string' && typeof size === 'number') return `varchar(${size})`
  if (type === 'decimal' && typeof size === 'number') return `decimal(${size},${typeof decimals === 'number' ? decimals : 2})`
  return optionTypes[type]
}

function scalarColumn(attribute: Scalar): Column {
  const options = columnOptions(attribute.source)
  return {
    ...column(attribute.column, optionType(options) ?? attributeTypes[attribute.type].column),
    notNull: options.notNullable === true,
    default: options.defaultTo === undefined || options.defaultTo === null ? null : literal(options.defaultTo),
  }
}

function literal(value: unknown): string {
  const text = typeof value === 'boolean' ? String(Number(value)) : typeof value === 'object' ? JSON.stringify(value) : String(value)
  return `'${text.replaceAll("'", "''")}'`
}

/** The `_cmps` table of a type or component: which entries its components and zones have. */
function entriesTable(shape: Schema, name: string): Table {
  const full = names.collectionName(shape.source)
  const owner = names.indexName(full, 'entity_fk')
  return {
    name,
    columns: [
      idColumn,
      column('entity_id', 'reference'),
      column('cmp_id', 'reference'),
      column('component_type', 'varchar(255)'),
      column('field', 'varchar(255)'),
      column('order', 'place'),
    ],
    indexes: [
      { name: names.indexName(full, 'field_idx'), columns: ['field'], unique: false },
      { name: names.indexName(full, 'component_type_idx'), columns: ['component_type'], unique: false },
      { name: owner, columns: ['entity_id'], unique: false },
      { name: names.indexName(full, 'uq'), columns: ['entity_id', 'cmp_id', 'field', 'component_type'], unique: true },
    ],
    foreignKeys: [foreignKey(owner, 'entity_id', shape.table, 'CASCADE')],
  }
}

function pairsTable(shape: Schema, attribute: Attribute, model: Model): readonly Table[] {
  if (attribute.kind === 'relation') return linkTable(shape, attribute, model)
  return attribute.kind === 'morphTo' ? morphTable(shape, attribute) : []
}

function linkTable(shape: Schema, { storage, target }: Pick<Relation, 'storage' | 'target'>, model: Model): readonly Table[] {
  if (storage.kind !== 'link' || !storage.owner) return []
  const { table: name, here, there, order, inverseOrder } = storage
  const [ours, theirs] = [names.indexName(name, 'fk'), names.indexName(name, 'ifk')]
  const orders = [
    { column: order, name: names.indexName(name, 'ofk') },
    { column: inverseOrder, name: names.indexName(name, 'oifk') },
  ].filter((each): each is { column: string; name: string } => each.column !== null)
  return [
    {
      name,
      columns: [idColumn, column(here, 'reference'), column(there, 'reference'), ...orders.map((each) => column(each.column, 'place'))],
      indexes: [
        { name: ours, columns: [here], unique: false },
        { name: theirs, columns: [there], unique: false },
        { name: names.indexName(name, 'uq'), columns: [here, there], unique: true },
        ...orders.map((each) => ({ name: each.name, columns: [each.column], unique: false })),
      ],
      foreignKeys: [foreignKey(ours, here, shape.table, 'CASCADE'), foreignKey(theirs, there, model.types.get(target)!.table, 'CASCADE')],
    },
  ]
}

function morphTable(shape: Schema, { storage }: MorphTo): readonly Table[] {
  if (storage.kind !== 'table') return []
  const { table: name, here, id, type, order } = storage
  const owner = names.indexName(name, 'fk')
  return [
    {
      name,
      columns: [
        idColumn,
        column(here, 'reference'),
        column(id, 'reference'),
        column(type, 'varchar(255)'),
        column('field', 'varchar(255)'),
        column(order, 'place'),
      ],
      indexes: [
        { name: owner, columns: [here], unique: false },
        { name: names.indexName(name, 'oidx'), columns: [order], unique: false },
        { name: names.indexName(name, 'idix'), columns: [id], unique: false },
      ],
      foreignKeys: [foreignKey(owner, here, shape.table, 'CASCADE')],
    },
  ]
}

const plain = (name: string, columns: readonly Column[]): Table => ({ name, columns: [idColumn, ...columns], indexes: [], foreignKeys: [] })
const string = (name: string): Column => column(name, 'varchar(255)')
const datetime = (name: string): Column => column(name, 'datetime')
const time = column('time', 'timestamp')
const required = (what: Column): Column => ({ ...what, notNull: true })

const historyCreator = 'strapi_history_versions_created_by_id_fk'

/** Strapi's tables that belong to no content-type, as Strapi 5.54 declares them. */
const systemTables: readonly Table[] = [
  plain('strapi_migrations', [string('name'), time]),
  plain('strapi_migrations_internal', [string('name'), time]),
  plain('strapi_database_schema', [column('schema', 'jsonText'), time, string('hash')]),
  plain('strapi_core_store_settings', [string('key'), column('value', 'text'), string('type'), string('environment'), string('tag')]),
  plain('strapi_webhooks', [
    string('name'),
    column('url', 'text'),
    column('headers', 'json'),
    column('events', 'json'),
    column('enabled', 'boolean'),
  ]),
  {
    name: 'strapi_history_versions',
    columns: [
      idColumn,
      required(string('content_type')),
      string('related_document_id'),
      string('locale'),
      string('status'),
      column('data', 'json'),
      column('schema', 'json'),
      datetime('created_at'),
      column('created_by_id', 'reference'),
    ],
    indexes: [{ name: historyCreator, columns: ['created_by_id'], unique: false }],
    foreignKeys: [foreignKey(historyCreator, 'created_by_id', 'admin_users', 'SET NULL')],
  },
  plain('strapi_ai_metadata_jobs', [required(string('status')), datetime('created_at'), datetime('completed_at')]),
  plain('strapi_ai_localization_jobs', [
    required(string('content_type')),
    required(string('related_document_id')),
    required(string('source_locale')),
    required(column('target_locales', 'json')),
    required(string('status')),
    datetime('created_at'),
    datetime('updated_at'),
  ]),
]

/** Types with a `locale` attribute: its column precedes this one. */
const columnsAfterLocale: Readonly<Record<string, string>> = {
  'plugin::content-releases.release-action': 'is_entry_valid',
}

/** Types of the panel that Octavo uses too. */
const shared: ReadonlySet<string> = new Set(['admin::api-token', 'admin::api-token-permission', 'admin::session'])
const panelPrefixes = ['admin::', 'plugin::content-releases.', 'plugin::review-workflows.']

/** Sessions of users and of the panel. */
const sessionTable = 'strapi_sessions'

/** Rows are written here, but columns of newer Strapi versions are not added. */
const tokenTables: readonly string[] = ['strapi_api_tokens', 'strapi_api_token_permissions']

export const isAdminTable = (uid: string): boolean => !shared.has(uid) && panelPrefixes.some((prefix) => uid.startsWith(prefix))

/** Includes tables of relations from and to the panel's types. */
export function adminTables(model: Model): ReadonlySet<string> {
  const types = [...model.types.values()].filter(({ uid }) => isAdminTable(uid))
  const links = [...model.types.values()].flatMap(({ uid, attributes }) =>
    [...attributes.values()].flatMap((attribute) => {
      if (attribute.kind !== 'relation' || attribute.storage.kind !== 'link' || !attribute.storage.owner) return []
      return isAdminTable(uid) || (shared.has(uid) && isAdminTable(attribute.target)) ? [attribute.storage.table] : []
    }),
  )
  return new Set([...systemTables.map(({ name }) => name), ...types.map(({ table }) => table), ...links])
}

/** Tables whose columns stay as created by Strapi. `sessions`: sessions are issued here. */
export const unmanagedTables = (model: Model, sessions: boolean): ReadonlySet<string> =>
  new Set([...adminTables(model), ...tokenTables, ...(sessions ? [] : [sessionTable])])
