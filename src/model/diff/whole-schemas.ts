// Types and components that are created, removed or renamed as a whole, and what Strapi's own tables say about them.
import { ownedLinks, ownedMorphs } from '../schema/owners.js'
import type { Model, Schema } from '../schema/types.js'
import type { ModelComparison } from './context.js'
import { nothing, type PlanFindings, planned, together } from './findings.js'
import { keptRows, keptTable } from './kept.js'
import { inOrder } from './pairs.js'
import { actionTables, isActionOf, keptPermissions, permissionsOf } from './permissions.js'
import { tablesNamingTypes } from './polymorphic.js'
import { countText, id, sqlText } from './sql-text.js'
import { createTable, keepTable } from './table-changes.js'

/** Compares which types and components there are. */
export function compareSchemas(comparison: ModelComparison): PlanFindings {
  const { created, removed } = comparison.pairs
  return together([
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
    steps: [...tablesOf(schema).flatMap((name) => keepTable(tableBefore(name), kept, 'losesData')), ...permissionsOf(uid, kept)],
    losses: [
      {
        name: uid,
        about:
          kind === 'contentType'
            ? `The documents of ${uid} are kept aside with their links and components; the API does not answer them any more.`
            : `The contents of the component ${uid} are kept aside; the API does not answer them any more.`,
        count: kind === 'contentType' ? sqlText`select count(distinct document_id) as count from ${id(table)}` : countText(table, null),
        kept: [
          ...[...tablesOf(schema), ...pairsOf(pairs.from, uid)].map((name) => keptTable(kept, name)),
          ...tablesNamingTypes(comparison).map((name) => keptRows(kept, name)),
          ...(kind === 'contentType' ? keptPermissions(kept) : []),
        ],
      },
    ],
  }
}

/** Where rows of Strapi's or of our own name a type by its uid. */
const namedIn = [
  { table: 'admin_permissions', column: 'subject' },
  { table: 'strapi_history_versions', column: 'content_type' },
  { table: 'strapi_release_actions', column: 'content_type' },
  { table: 'strapi_ai_localization_jobs', column: 'content_type' },
  { table: 'octavo_pending_links', column: 'target_type' },
  { table: 'octavo_modified_drafts', column: 'type' },
  { table: 'octavo_out_of_sync_locales', column: 'type' },
] as const

function renamedSchemas({ pairs }: ModelComparison): PlanFindings {
  const renamed = pairs.schemas.filter(({ from, to }) => from.uid !== to.uid)
  const uids = inOrder(renamed.map(({ from, to }) => ({ from: from.uid, to: to.uid })))
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
