// Writes what Strapi keeps about types in its settings after a change of the content model.
import { sql } from 'kysely'
import type { StepNamed } from '../model/diff/steps.js'
import { renamedInConfiguration, renamedInFields, storedTypesKey, withStoredTypes } from '../model/diff/strapi-settings.js'
import type { ContentType, Model } from '../model/schema/types.js'
import type { StepScript } from './step-script.js'

/** Writes types of the project to the setting by which Strapi knows those of its last start; a database without it has none to write. */
export function storeContentTypes({ stored, removed }: StepNamed<'storeContentTypes'>, model: Model): StepScript {
  const types = stored.map((uid) => model.types.get(uid)).filter((type): type is ContentType => type?.exposed === true)
  return rewrite(settings, storedTypesKey, (text) => withStoredTypes(text, types, removed))
}

/** Renames attributes of a type or component for the content manager and the permissions of administrators. */
export function* renameInSettings({ schema, names }: StepNamed<'renameInSettings'>): StepScript {
  const renamed = new Map(names.map(({ from, to }) => [from, to]))
  for (const kind of ['content_types', 'components']) {
    const key = `plugin_content_manager_configuration_${kind}::${schema}`
    yield* rewrite(settings, key, (text) => renamedInConfiguration(text, renamed))
  }
  yield* rewrite(permissions, schema, (text) => renamedInFields(text, renamed))
}

/** Where a text is, and the column by which its rows are found. */
interface TextPlace {
  readonly table: string
  readonly column: string
  readonly by: string
}

const settings: TextPlace = { table: 'strapi_core_store_settings', column: 'value', by: 'key' }
const permissions: TextPlace = { table: 'admin_permissions', column: 'properties', by: 'subject' }

function* rewrite({ table, column, by }: TextPlace, value: string, change: (text: string) => string): StepScript {
  const [from, text] = [sql.table(table), sql.id(column)]
  const rows = yield sql`select id, ${text} as found from ${from} where ${sql.id(by)} = ${value}`
  for (const { id, found } of rows)
    if (found !== null && found !== undefined) yield sql`update ${from} set ${text} = ${change(String(found))} where id = ${id}`
}
