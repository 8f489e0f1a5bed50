// The tables that Strapi keeps beside its content-types: migrations, settings, webhooks, history, jobs. Octavo makes them so that Strapi
// finds its accounts complete; of their rows it writes only those in initial-rows.ts.
import { type Column, column, foreignKey, idColumn, type Table } from './table.js'

const plain = (name: string, columns: readonly Column[]): Table => ({ name, columns: [idColumn, ...columns], indexes: [], foreignKeys: [] })
const string = (name: string): Column => column(name, 'varchar(255)')
const datetime = (name: string): Column => column(name, 'datetime')
const time = column('time', 'timestamp')
const required = (what: Column): Column => ({ ...what, notNull: true })

const historyCreator = 'strapi_history_versions_created_by_id_fk'

/** Strapi's tables that belong to no content-type, as Strapi 5.54 declares them. */
export const systemTables: readonly Table[] = [
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

/** Types whose own schema has a `locale`: its column stands before this one, not at the end. */
export const columnsAfterLocale: Readonly<Record<string, string>> = {
  'plugin::content-releases.release-action': 'is_entry_valid',
}
