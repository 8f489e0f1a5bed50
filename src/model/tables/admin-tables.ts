// The tables that only Strapi's admin panel uses. A new database has them, so that a Strapi finds them; those of an existing
// database are left as the Strapi that made them left them, however old it is.
import type { Model } from '../schema/types.js'
import { systemTables } from './system-tables.js'

/** Types of the panel whose rows are read or written here too: API tokens, and the sessions that users have. */
const shared: ReadonlySet<string> = new Set(['admin::api-token', 'admin::api-token-permission', 'admin::session'])
const panelPrefixes = ['admin::', 'plugin::content-releases.', 'plugin::review-workflows.']

/** Where sessions are kept, those of users beside those of the panel. */
const sessionTable = 'strapi_sessions'

/** Where API tokens are kept: rows are written here, but columns of newer Strapi versions are not added. */
const tokenTables: readonly string[] = ['strapi_api_tokens', 'strapi_api_token_permissions']

/** Whether only the panel uses a type. */
export const isAdminTable = (uid: string): boolean => !shared.has(uid) && panelPrefixes.some((prefix) => uid.startsWith(prefix))

/** The names of the panel's tables, those of relations from and to its types included. */
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

/** The names of tables whose columns stay as the Strapi that made them left them. `sessions`: sessions are issued here. */
export const keptTables = (model: Model, sessions: boolean): ReadonlySet<string> =>
  new Set([...adminTables(model), ...tokenTables, ...(sessions ? [] : [sessionTable])])
