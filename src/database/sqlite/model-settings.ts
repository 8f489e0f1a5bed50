// Writes what Strapi keeps about types in its settings after a change of the content model.
import type { Database } from 'better-sqlite3'
import type { ContentType, Model } from '../../model/types.js'
import type { PlanStep } from '../../model-plans/steps.js'
import { renamedInConfiguration, renamedInFields, storedTypesKey, withStoredTypes } from '../../model-plans/strapi-settings.js'

type StoreStep = Extract<PlanStep, { readonly kind: 'storeContentTypes' }>
type RenameStep = Extract<PlanStep, { readonly kind: 'renameInSettings' }>

/** Writes types of the project to the setting by which Strapi knows those of its last start; a database without it has none to write. */
export function storeContentTypes(database: Database, { stored, removed }: StoreStep, model: Model): void {
  const types = stored.map((uid) => model.types.get(uid)).filter((type): type is ContentType => type?.exposed === true)
  rewrite(database, 'strapi_core_store_settings', 'value', 'key', storedTypesKey, (text) => withStoredTypes(text, types, removed))
}

/** Renames attributes of a type or component for the content manager and the permissions of administrators. */
export function renameInSettings(database: Database, { schema, names }: RenameStep): void {
  const renamed = new Map(names.map(({ from, to }) => [from, to]))
  for (const kind of ['content_types', 'components']) {
    const key = `plugin_content_manager_configuration_${kind}::${schema}`
    rewrite(database, 'strapi_core_store_settings', 'value', 'key', key, (text) => renamedInConfiguration(text, renamed))
  }
  rewrite(database, 'admin_permissions', 'properties', 'subject', schema, (text) => renamedInFields(text, renamed))
}

function rewrite(database: Database, table: string, column: string, by: string, value: string, change: (text: string) => string): void {
  const rows = database.prepare(`select id, "${column}" as text from "${table}" where "${by}" = ?`).all(value)
  const set = database.prepare(`update "${table}" set "${column}" = ? where id = ?`)
  for (const { id, text } of rows as { id: number; text: string | null }[]) if (text !== null) set.run(change(text), id)
}
