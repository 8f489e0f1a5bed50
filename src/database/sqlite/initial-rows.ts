// The first rows of a new database: those that Strapi writes at its first start, so that Strapi, started on it later, has nothing to
// change. Data that Strapi adds by itself (schema snapshots, admin roles, API tokens, panel layouts) is left out.
import type { Database, Statement } from 'better-sqlite3'
import { ownedLink } from '../../model/schema/graph.js'
import { localeName } from '../../model/schema/names.js'
import type { ContentType, Model } from '../../model/schema/types.js'
import { initialSettings } from '../../model/tables/initial-settings.js'
import { quoted } from '../../model/tables/table.js'
import type { Stored } from '../portable-sql.js'

export interface InitialRows {
  readonly now: Date
  newDocumentId(): string
  readonly locale: string
}

export function insertInitialRows(database: Database, model: Model, first: InitialRows): void {
  const insert = bulkInsert(database)
  const time = first.now.getTime()
  const insertOf = (uid: string, values: Readonly<Record<string, Stored>>): number => {
    const type = model.types.get(uid)!
    return insert(type.table, columnsOf(type, { documentId: first.newDocumentId(), ...values, ...allAt(time) }))
  }
  const order = ownedLink(model.types.get('plugin::users-permissions.permission'), 'role')?.inverseOrder ?? null
  database.transaction(() => {
    for (const name of migrations) insert('strapi_migrations_internal', { name, time })
    for (const [key, value] of Object.entries({ ...initialSettings, plugin_i18n_default_locale: first.locale }))
      insert('strapi_core_store_settings', { key, value: JSON.stringify(value), type: typeof value })
    insertOf('plugin::i18n.locale', { name: localeName(first.locale), code: first.locale })
    for (const { actions, ...role } of roles) {
      const roleId = insertOf('plugin::users-permissions.role', role)
      actions.forEach((name, index) => {
        const permissionId = insertOf('plugin::users-permissions.permission', { action: `plugin::users-permissions.${name}` })
        insert('up_permissions_role_lnk', {
          permission_id: permissionId,
          role_id: roleId,
          ...(order === null ? {} : { [order]: index + 1 }),
        })
      })
    }
  })()
}

const allAt = (time: number) => ({ createdAt: time, updatedAt: time, publishedAt: time })

/** Converts values by attribute to values by column. */
function columnsOf(type: ContentType, values: Readonly<Record<string, Stored>>): Record<string, Stored> {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => {
      const attribute = type.attributes.get(name)
      if (attribute?.kind !== 'scalar') throw new Error(`${type.uid} has no column for ${name}`)
      return [attribute.column, value]
    }),
  )
}

/** Strapi's own migrations, recorded as done: a new database needs none. */
const migrations = [
  '5.0.0-rename-identifiers-longer-than-max-length',
  '5.0.0-02-created-document-id',
  '5.0.0-03-created-locale',
  '5.0.0-04-created-published-at',
  '5.0.0-05-drop-slug-fields-index',
  '5.0.0-06-add-document-id-indexes',
  'core::5.0.0-discard-drafts',
  'admin::migrate-prefered-language-dk-to-da',
]

/** The default roles with their initial permissions, as in Strapi. */
const roles = [
  {
    name: 'Authenticated',
    description: 'Default role given to authenticated user.',
    type: 'authenticated',
    actions: ['auth.logout', 'auth.getSessions', 'auth.revokeSession', 'user.me', 'auth.changePassword'],
  },
  {
    name: 'Public',
    description: 'Default role given to unauthenticated user.',
    type: 'public',
    actions: [
      'auth.callback',
      'auth.connect',
      'auth.forgotPassword',
      'auth.resetPassword',
      'auth.register',
      'auth.emailConfirmation',
      'auth.sendEmailConfirmation',
      'auth.refresh',
    ],
  },
]

/** Inserts a row and returns its id. Omitted columns get their default. */
export type Insert = (table: string, row: Readonly<Record<string, Stored>>) => number

/** Creates an insert function for `database` that prepares each statement once. */
export function bulkInsert(database: Database): Insert {
  const statements = new Map<string, Statement>()
  return (table, row) => {
    const columns = Object.keys(row)
    const text = `INSERT INTO ${quoted(table)} (${columns.map(quoted).join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`
    const statement = statements.get(text) ?? database.prepare(text)
    statements.set(text, statement)
    return Number(statement.run(...Object.values(row)).lastInsertRowid)
  }
}
