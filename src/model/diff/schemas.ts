// Types and components that are created, removed or renamed as a whole, and what Strapi's own tables say about them.
import { ownedLinks, ownedMorphs } from '../schema/graph.js'
import type { Attribute, ContentType, Model, Schema } from '../schema/types.js'
import {
  type ArchiveNames,
  type AttributePair,
  archivedRows,
  archivedTable,
  type ModelComparison,
  mergeFindings,
  nothing,
  orderRenames,
  type PlanFindings,
  planned,
  type SchemaPair,
} from './comparison.js'
import { componentUids } from './entries.js'
import { tablesNamingTypes } from './polymorphic.js'
import { countText, id, type SqlText, sqlText } from './sql-text.js'
import { createTable, keepTable } from './table-changes.js'
import type { ArchivedContent, ModelChange, RelationDescription } from './types.js'

/** Compares which types and components there are. */
export function compareSchemas(comparison: ModelComparison): PlanFindings {
  const { created, removed } = comparison.pairs
  return mergeFindings([
    { ...nothing, changes: created.map(({ uid }) => ({ kind: 'schemaCreated', schema: uid })) },
    { ...nothing, steps: created.flatMap((schema) => tablesOf(schema).flatMap((table) => createTable(comparison.tableAfter(table)))) },
    ...removed.map((schema) => removeSchema(comparison, schema)),
    renamedSchemas(comparison),
    storedTypes(comparison),
  ])
}

/** The tables of a schema but those between rows, which `links` and `polymorphic` compare. */
const tablesOf = ({ table, componentTable }: Schema): readonly string[] => (componentTable === null ? [table] : [table, componentTable])

/** The tables between rows that a schema owns. */
const pairsOf = (model: Model, uid: string): readonly string[] => [
  ...ownedLinks(model).flatMap(({ shape, storage }) => (shape.uid === uid ? [storage.table] : [])),
  ...ownedMorphs(model).flatMap(({ shape, storage }) => (shape.uid === uid && storage.kind === 'table' ? [storage.table] : [])),
]

function removeSchema(comparison: ModelComparison, schema: Schema): PlanFindings {
  const { pairs, kept, tableBefore } = comparison
  const { uid, table, kind } = schema
  return {
    ...nothing,
    changes: [{ kind: 'schemaRemoved', schema: uid }],
    steps: [...tablesOf(schema).flatMap((name) => keepTable(tableBefore(name), kept, 'losesData')), ...removePermissions(uid, kept)],
    losses: [
      {
        name: uid,
        about:
          kind === 'contentType'
            ? `The documents of ${uid} are archived with their links and components; the API no longer returns them.`
            : `The contents of the component ${uid} are archived; the API no longer returns them.`,
        count: kind === 'contentType' ? sqlText`select count(distinct document_id) as count from ${id(table)}` : countText(table, null),
        kept: [
          ...[...tablesOf(schema), ...pairsOf(pairs.from, uid)].map((name) => archivedTable(kept, name)),
          ...tablesNamingTypes(comparison).map((name) => archivedRows(kept, name)),
          ...(kind === 'contentType' ? keptPermissions(kept) : []),
        ],
      },
    ],
  }
}

/** Columns of Strapi's and Octavo's tables that contain uids of types. */
const namedIn = [
  { table: 'admin_permissions', column: 'subject' },
  { table: 'strapi_history_versions', column: 'content_type' },
  { table: 'strapi_release_actions', column: 'content_type' },
  { table: 'strapi_ai_localization_jobs', column: 'content_type' },
  { table: 'octavo_pending_links', column: 'target_type' },
  { table: 'octavo_modified_drafts', column: 'type' },
  { table: 'octavo_out_of_sync_locales', column: 'type' },
  { table: 'octavo_scheduled_actions', column: 'type' },
] as const

function renamedSchemas({ pairs }: ModelComparison): PlanFindings {
  const renamed = pairs.schemas.filter(({ from, to }) => from.uid !== to.uid)
  const uids = orderRenames(renamed.map(({ from, to }) => ({ from: from.uid, to: to.uid })))
  return {
    ...nothing,
    changes: [
      ...renamed.map(({ from, to }) => ({ kind: 'schemaRenamed' as const, schema: to.uid, from: from.uid })),
      ...pairs.schemas
        .filter(({ from, to }) => from.table !== to.table)
        .map(({ from, to }) => ({ kind: 'tableRenamed' as const, schema: to.uid, from: from.table, to: to.table })),
    ],
    steps: uids.flatMap(({ from, to }) => [
      ...namedIn.map(({ table, column }) =>
        planned('bookkeeping', 'safe', {
          kind: 'setValues',
          table,
          column,
          value: sqlText`${to}`,
          where: sqlText`${id(column)} = ${from}`,
        }),
      ),
      ...actionTables.map(({ table }) =>
        planned('bookkeeping', 'safe', {
          kind: 'setValues',
          table,
          column: 'action',
          value: sqlText`replace(action, ${`${from}.`}, ${`${to}.`})`,
          where: isActionOf(from),
        }),
      ),
      ...['content_types', 'components'].flatMap((kind) => {
        const key = (uid: string) => `plugin_content_manager_configuration_${kind}::${uid}`
        const where = sqlText`${id('key')} = ${key(from)}`
        const own = (uid: string) => `"uid":"${uid}"`
        const value = sqlText`replace(${id('value')}, ${own(from)}, ${own(to)})`
        return [
          planned('bookkeeping', 'safe', { kind: 'setValues', table: 'strapi_core_store_settings', column: 'value', value, where }),
          planned('bookkeeping', 'safe', {
            kind: 'setValues',
            table: 'strapi_core_store_settings',
            column: 'key',
            value: sqlText`${key(to)}`,
            where,
          }),
        ]
      }),
    ]),
  }
}

/** The types that Strapi compares at its start, as they are now. */
function storedTypes({ pairs }: ModelComparison): PlanFindings {
  const isChanged = ({ from, to }: (typeof pairs.schemas)[number]) => JSON.stringify(from.source) !== JSON.stringify(to.source)
  const isType = ({ kind }: Schema) => kind === 'contentType'
  const stored = [...pairs.created, ...pairs.schemas.filter(isChanged).map(({ to }) => to)].filter(isType).map(({ uid }) => uid)
  const gone = new Set(stored)
  const removed = [...pairs.removed, ...pairs.schemas.filter(({ from, to }) => from.uid !== to.uid).map(({ from }) => from)]
    .filter((schema) => isType(schema) && !gone.has(schema.uid))
    .map(({ uid }) => uid)
  if (stored.length + removed.length === 0) return nothing
  return { ...nothing, steps: [planned('bookkeeping', 'safe', { kind: 'storeContentTypes', stored, removed })] }
}

/** Compares the attributes and options of a type or component that both models have. */
export function compareAttributes({ pairs }: ModelComparison, pair: SchemaPair): PlanFindings {
  const [older, newer] = [pair.from.uid, pair.to.uid]
  const both = pairs.attributes(pair)
  const renamed = both.filter(({ from, to }) => from.name !== to.name)
  return {
    ...nothing,
    changes: [
      ...optionChanges(pair),
      ...pairs.removedAttributes(pair).map(({ name, source: { type } }) => ({
        kind: 'attributeRemoved' as const,
        schema: older,
        attribute: name,
        type,
      })),
      ...pairs.createdAttributes(pair).map(({ name, source: { type } }) => ({
        kind: 'attributeCreated' as const,
        schema: newer,
        attribute: name,
        type,
      })),
      ...both.flatMap((each) => attributeChanges(pairs.uidIn, newer, each, pairs.nameIn)),
    ],
    steps:
      renamed.length === 0
        ? []
        : [
            planned('bookkeeping', 'safe', {
              kind: 'renameInSettings',
              schema: newer,
              names: renamed.map(({ from, to }) => ({ from: from.name, to: to.name })),
            }),
          ],
  }
}

const apiPath = ({ singleType, singularName, pluralName }: ContentType): string => (singleType ? singularName : pluralName)

function optionChanges({ from, to }: SchemaPair): readonly ModelChange[] {
  if (from.kind !== 'contentType' || to.kind !== 'contentType') return []
  const schema = to.uid
  const path = { from: `/api/${apiPath(from)}`, to: `/api/${apiPath(to)}` }
  return [
    ...(from.draftAndPublish === to.draftAndPublish ? [] : [{ kind: 'draftAndPublish' as const, schema, on: to.draftAndPublish }]),
    ...(from.localized === to.localized ? [] : [{ kind: 'localization' as const, schema, on: to.localized }]),
    ...(from.singleType === to.singleType ? [] : [{ kind: 'singleType' as const, schema, on: to.singleType }]),
    ...(path.from === path.to || !to.exposed ? [] : [{ kind: 'pathChanged' as const, schema, ...path }]),
  ]
}

function describeRelation(attribute: Attribute): RelationDescription | null {
  const relation = String(attribute.source.relation)
  if (attribute.kind === 'morphTo') return { relation, target: null, inverse: null }
  if (attribute.kind === 'morphFrom') return { relation, target: attribute.target, inverse: attribute.by }
  return attribute.kind === 'relation' ? { relation, target: attribute.target, inverse: attribute.inverse } : null
}

/** Options that other kinds of changes report. */
const reportedOptions = new Set([
  'type',
  'relation',
  'target',
  'inversedBy',
  'mappedBy',
  'morphBy',
  'component',
  'components',
  'pluginOptions',
])

function attributeChanges(
  uidIn: (uid: string) => string | undefined,
  schema: string,
  { from, to }: AttributePair,
  nameIn: (uid: string, attribute: string) => string | undefined,
): readonly ModelChange[] {
  const attribute = to.name
  const changes: ModelChange[] = []
  if (from.name !== to.name) changes.push({ kind: 'attributeRenamed', schema, attribute, from: from.name })
  if (typeWord(from) !== typeWord(to))
    return [...changes, { kind: 'attributeRetyped', schema, attribute, from: typeWord(from), to: typeWord(to) }]
  const [before, after] = [describeRelation(from), describeRelation(to)]
  if (before !== null && after !== null) {
    const target = before.target === null ? null : (uidIn(before.target) ?? before.target)
    const inverse = before.inverse === null || before.target === null ? null : (nameIn(before.target, before.inverse) ?? before.inverse)
    if (JSON.stringify({ ...before, target, inverse }) !== JSON.stringify(after))
      changes.push({ kind: 'relationChanged', schema, attribute, from: before, to: after })
  }
  const held = componentUids(from).map((uid) => uidIn(uid) ?? uid)
  const holds = componentUids(to)
  const [added, removed] = [holds.filter((uid) => !held.includes(uid)), held.filter((uid) => !holds.includes(uid))]
  if (added.length + removed.length > 0) changes.push({ kind: 'componentsChanged', schema, attribute, added, removed })
  if (from.kind !== 'relation' && from.localized !== to.localized)
    changes.push({ kind: 'localizationOfAttribute', schema, attribute, on: to.localized })
  const options = changedOptions(from, to)
  return options.length === 0 ? changes : [...changes, { kind: 'attributeOptionsChanged', schema, attribute, options }]
}

/** The type of an attribute, that of a custom field as it is stored. */
const typeWord = (attribute: Attribute): string => (attribute.kind === 'scalar' ? attribute.type : attribute.source.type)

function changedOptions(from: Attribute, to: Attribute): readonly string[] {
  const names = [...new Set([...Object.keys(from.source), ...Object.keys(to.source)])].filter((name) => !reportedOptions.has(name))
  return names.filter((name) => JSON.stringify(from.source[name]) !== JSON.stringify(to.source[name]))
}

/** A table of permissions, the table that links them to their holders, and its column for the permission. */
interface PermissionTable {
  readonly table: string
  readonly links: string
  readonly permission: string
}

const actionTables: readonly PermissionTable[] = [
  { table: 'up_permissions', links: 'up_permissions_role_lnk', permission: 'permission_id' },
  {
    table: 'strapi_api_token_permissions',
    links: 'strapi_api_token_permissions_token_lnk',
    permission: 'api_token_permission_id',
  },
]
const administrators: PermissionTable = {
  table: 'admin_permissions',
  links: 'admin_permissions_role_lnk',
  permission: 'permission_id',
}
const permissionTables = [...actionTables, administrators]

/** Actions of a type. */
const isActionOf = (uid: string): SqlText => sqlText`substr(action, 1, ${uid.length + 1}) = ${`${uid}.`}`

/** Removes the permissions of removed types, as Strapi does at a start; the rows are archived. */
function removePermissions(uid: string, { rowsOf }: ArchiveNames): PlanFindings['steps'] {
  const rows = permissionTables.flatMap(({ table, links, permission }) => {
    const where = table === administrators.table ? sqlText`subject = ${uid}` : isActionOf(uid)
    return [
      { table: links, where: sqlText`${id(permission)} in (select id from ${id(table)} where ${where})` },
      { table, where },
    ]
  })
  return [
    ...rows.map(({ table, where }) => planned('keepRows', 'safe', { kind: 'keepRows', table, as: rowsOf(table), where })),
    ...rows.map(({ table, where }) => planned('deleteRows', 'safe', { kind: 'deleteRows', table, where })),
  ]
}

const keptPermissions = (kept: ArchiveNames): readonly ArchivedContent[] =>
  permissionTables.flatMap(({ table, links }) => [archivedRows(kept, table), archivedRows(kept, links)])
