// Removes what an import replaces: entities with components and relations, settings, and Octavo's data about them.
import { readBatches } from '../../database/transfer/row-batches.js'
import type { RowCondition, RowTable, RowValue } from '../../database/transfer/rows.js'
import { fileType } from '../../model/schema/link.js'
import type { Component, ContentType, MorphTo, Schema } from '../../model/schema/types.js'
import { registeredTypes } from './archived-schemas.js'
import { configurationTables } from './export.js'
import { withColumns } from './exported-rows.js'
import type { ImportContext, ImportReport } from './import-check.js'

/** Maximum number of values per condition. */
const together = 500

/** Counts the rows that an import removes, by kind. */
export async function countRemoved({ database, model, tables, scope }: ImportContext): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>()
  const count = async (name: string, table: string): Promise<void> => {
    const there = tables.get(table)
    const rows = there === undefined ? 0 : await database.count(there)
    if (rows > 0) counts.set(name, rows)
  }
  if (scope.content) for (const { uid, table } of registeredTypes(model).filter((type) => scope.hasType(type.uid))) await count(uid, table)
  if (scope.configuration)
    for (const { type, table } of configurationTables) await count(type === 'webhook' ? 'webhooks' : 'settings', table)
  return counts
}

/** Octavo's tables with references to rows, and their columns with the type. */
const notes: readonly { readonly table: string; readonly type: string }[] = [
  { table: 'octavo_modified_drafts', type: 'type' },
  { table: 'octavo_out_of_sync_locales', type: 'type' },
  { table: 'octavo_pending_links', type: 'target_type' },
  { table: 'octavo_scheduled_actions', type: 'type' },
  { table: 'strapi_history_versions', type: 'content_type' },
]

const webhookTables = ['octavo_webhooks', 'octavo_webhook_attempts'] as const

const accountTables = ['octavo_identities', 'octavo_one_time_tokens'] as const

const userType = 'plugin::users-permissions.user'

/** Removes everything in the scope of an import. */
export async function removeReplaced(context: ImportContext, report: (progress: ImportReport) => void): Promise<void> {
  const { scope } = context
  const remove = removerOf(context, report)
  if (scope.content) {
    await removeRelations(context, remove)
    await removeComponents(context, remove)
    const types = replacedTypes(context)
    for (const { table } of types) await remove(table, {})
    for (const { table, type } of notes) await remove(table, scope.isWhole ? {} : { [type]: types.map(({ uid }) => uid) })
    if (scope.hasType(userType)) for (const table of accountTables) await remove(table, {})
  }
  if (!scope.configuration) return
  for (const { table } of configurationTables) await remove(table, {})
  // Imported webhooks have new ids and must not inherit the signing secret of a former one.
  for (const table of webhookTables) await remove(table, {})
}

type Remove = (table: string, where: RowCondition) => Promise<void>

function removerOf({ database, tables }: ImportContext, report: (progress: ImportReport) => void): Remove {
  let done = 0
  return async (name, where) => {
    const table = tables.get(name)
    if (table === undefined) return
    done += await database.remove(table, where)
    report({ phase: 'remove', what: name, done, total: null })
  }
}

/** Types whose entities are replaced. */
const replacedTypes = ({ model, scope }: ImportContext): readonly ContentType[] =>
  registeredTypes(model).filter(({ uid }) => scope.hasType(uid))

const isReplaced = ({ scope }: ImportContext, shape: Schema): boolean =>
  shape.kind === 'contentType' ? scope.hasType(shape.uid) : scope.isWhole

/** A link table that a shape owns. */
interface OwnedTable {
  readonly table: string
  /** The column with ids of the shape's rows. */
  readonly here: string
  /** Target type; null: stored in each row. */
  readonly target: string | null
  readonly morph: MorphTo | null
}

function ownedTables({ attributes }: Schema): readonly OwnedTable[] {
  return [...attributes.values()].flatMap((attribute): readonly OwnedTable[] => {
    if (attribute.kind === 'relation' && attribute.storage.kind === 'link' && attribute.storage.owner)
      return [{ table: attribute.storage.table, target: attribute.target, here: attribute.storage.here, morph: null }]
    if (attribute.kind === 'morphTo' && attribute.storage.kind === 'table')
      return [{ table: attribute.storage.table, target: null, here: attribute.storage.here, morph: attribute }]
    return []
  })
}

/** Removes relations of replaced rows, and relations of other rows to them. */
async function removeRelations(context: ImportContext, remove: Remove): Promise<void> {
  const { model, scope } = context
  const uids = replacedTypes(context).map(({ uid }) => uid)
  for (const shape of [...model.types.values(), ...model.components.values()]) {
    for (const { table, target, morph } of ownedTables(shape)) {
      if (isReplaced(context, shape) || (target !== null && scope.hasType(target))) await remove(table, {})
      else if (morph !== null && morph.storage.kind === 'table') await remove(table, { [morph.storage.type]: uids })
      if (isReplaced(context, shape)) await remove('octavo_pending_links', { link_table: [table] })
    }
    if (!isReplaced(context, shape)) await clearMorphColumns(context, shape, uids)
  }
}

/** Clears columns of other rows that reference replaced ones. */
async function clearMorphColumns({ database, tables }: ImportContext, shape: Schema, uids: readonly string[]): Promise<void> {
  const table = tables.get(shape.table)
  for (const attribute of shape.attributes.values()) {
    if (table === undefined || attribute.kind !== 'morphTo' || attribute.storage.kind !== 'columns') continue
    const { id, type } = attribute.storage
    const named = withColumns(table, ['id', id, type])
    const rows = await database.readWhere(named, type, uids)
    await database.update(
      named,
      rows.map(([row]) => [row!, null, null]),
    )
  }
}

/** Removes all components if all content is replaced, else those of replaced entities. */
async function removeComponents(context: ImportContext, remove: Remove): Promise<void> {
  const { model, scope } = context
  if (!scope.isWhole) {
    for (const type of replacedTypes(context)) await removeEntriesOf(context, remove, type)
    return
  }
  for (const { componentTable } of [...model.types.values(), ...model.components.values()])
    if (componentTable !== null) await remove(componentTable, {})
  for (const { table } of model.components.values()) await remove(table, {})
}

const entryColumns = ['id', 'component_type', 'cmp_id'] as const

async function removeEntriesOf(context: ImportContext, remove: Remove, { componentTable }: ContentType): Promise<void> {
  const table = componentTable === null ? undefined : context.tables.get(componentTable)
  if (table === undefined) return
  for await (const batch of readBatches(context.database, withColumns(table, entryColumns)))
    await removeRows(
      context,
      remove,
      batch.map(([, component, id]) => [String(component), id!] as const),
    )
  await remove(table.name, {})
}

/** Removes component rows with everything nested in them. */
async function removeRows(context: ImportContext, remove: Remove, rows: readonly (readonly [uid: string, id: RowValue])[]): Promise<void> {
  const byComponent = new Map<Component, RowValue[]>()
  for (const [uid, id] of rows) {
    const component = context.model.components.get(uid)
    if (component === undefined || id === null) continue
    const ids = byComponent.get(component) ?? []
    byComponent.set(component, ids)
    ids.push(id)
  }
  for (const [component, ids] of byComponent)
    for (let start = 0; start < ids.length; start += together)
      await removeSome(context, remove, component, ids.slice(start, start + together))
}

async function removeSome(context: ImportContext, remove: Remove, component: Component, ids: readonly RowValue[]): Promise<void> {
  const { database, tables } = context
  const entries = component.componentTable === null ? undefined : tables.get(component.componentTable)
  if (entries !== undefined) {
    const held = await database.readWhere(withColumns(entries, [...entryColumns, 'entity_id']), 'entity_id', ids)
    await removeRows(
      context,
      remove,
      held.map(([, uid, id]) => [String(uid), id!] as const),
    )
    await remove(entries.name, { entity_id: ids })
  }
  for (const { table, here } of ownedTables(component)) {
    await remove(table, { [here]: ids })
    await remove('octavo_pending_links', { link_table: [table], owner_id: ids })
  }
  const { storage } = context.model.types.get(fileType)!.attributes.get('related') as MorphTo
  if (storage.kind === 'table') await remove(storage.table, { [storage.type]: [component.uid], [storage.id]: ids })
  await remove(component.table, { id: ids })
}

/** The tables that an import of this scope changes. */
export function changedTables(context: ImportContext): readonly RowTable[] {
  const { model, tables, scope } = context
  const names = new Set<string>()
  if (scope.content) {
    for (const shape of [...model.types.values(), ...model.components.values()]) {
      const owned = ownedTables(shape)
      const hasMorphColumns = [...shape.attributes.values()].some((one) => one.kind === 'morphTo' && one.storage.kind === 'columns')
      if (shape.kind === 'component' || scope.hasType(shape.uid) || hasMorphColumns) names.add(shape.table)
      if (shape.componentTable !== null) names.add(shape.componentTable)
      for (const { table, target, morph } of owned)
        if (isReplaced(context, shape) || shape.kind === 'component' || morph !== null || (target !== null && scope.hasType(target)))
          names.add(table)
    }
    for (const { table } of notes) names.add(table)
    for (const table of accountTables) names.add(table)
  }
  if (scope.configuration) for (const { table } of configurationTables) names.add(table)
  return [...names].flatMap((name) => tables.get(name) ?? [])
}
