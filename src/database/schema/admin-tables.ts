// The tables that only Strapi's admin panel uses. A new database has them, so that a Strapi finds them; those of an existing
// database are left as the Strapi that made them left them, however old it is.
import type { Model } from '../../model/types.js'
import { systemTables } from './system-tables.js'

/** Types of the panel whose rows are read or written here too: API tokens, and the sessions that users have. */
const shared: ReadonlySet<string> = new Set(['admin::api-token', 'admin::api-token-permission', 'admin::session'])
const panelPrefixes = ['admin::', 'plugin::content-releases.', 'plugin::review-workflows.']

/** Where sessions are kept, those of users beside those of the panel. */
export const sessionTable = 'strapi_sessions'

/** Whether only the panel uses a type. */
export const isAdminTable = (uid: string): boolean => !shared.has(uid) && panelPrefixes.some((prefix) => uid.startsWith(prefix))

/** The names of the panel's tables, those of its types' relations included. */
export function adminTables(model: Model): ReadonlySet<string> {
  const types = [...model.types.values()].filter(({ uid }) => isAdminTable(uid))
  const links = types.flatMap(({ attributes }) =>
    [...attributes.values()].flatMap((attribute) =>
      attribute.kind === 'relation' && attribute.storage.kind === 'link' && attribute.storage.owner ? [attribute.storage.table] : [],
    ),
  )
  return new Set([...systemTables.map(({ name }) => name), ...types.map(({ table }) => table), ...links])
}
