// Loads the locales, permissions of roles, and users of a seed: seed/access.json.
import type { Database } from 'better-sqlite3'
import * as z from 'zod'
import type { Insert } from '../../database/sqlite/initial-rows.js'
import { localeName } from '../../model/schema/locale-names.js'
import { ownedLink } from '../../model/schema/owners.js'
import type { Model } from '../../model/schema/types.js'
import { passwordHash } from './values.js'

/** The shape of seed/access.json. */
export const seedAccessFile = z.strictObject({
  locales: z.array(z.strictObject({ code: z.string(), name: z.string().optional(), default: z.boolean().optional() })).default([]),
  /** Actions by the type of the role. */
  roles: z.record(z.string(), z.array(z.string())).default({}),
  users: z
    .array(
      z.strictObject({
        username: z.string(),
        email: z.string(),
        password: z.string(),
        role: z.string(),
        confirmed: z.boolean().default(true),
      }),
    )
    .default([]),
})
/** The contents of seed/access.json. */
export type SeedAccess = z.infer<typeof seedAccessFile>

/** The dependencies for loading a seed. */
export interface SeedContext {
  readonly model: Model
  readonly insert: Insert
  readonly now: Date
  newDocumentId(): string
  report(line: string): void
}

/** User ids by name, and the default locale. */
export interface SeededAccess {
  readonly users: ReadonlyMap<string, number>
  readonly defaultLocale: string
}

/** The place among the rows of a role, where the schema of users or permissions gives their links one. */
function placeIn(model: Model, type: 'user' | 'permission', place: number): Readonly<Record<string, number>> {
  const column = ownedLink(model.types.get(`plugin::users-permissions.${type}`), 'role')?.inverseOrder ?? null
  return column === null ? {} : { [column]: place }
}

/** Inserts missing locales, roles, permissions and users; existing permissions are kept. */
export function seedAccess(access: SeedAccess, database: Database, context: SeedContext): SeededAccess {
  const { insert, newDocumentId } = context
  const time = context.now.getTime()
  const fresh = () => ({ document_id: newDocumentId(), created_at: time, updated_at: time, published_at: time })
  const find = (statement: string, ...values: string[]) =>
    database
      .prepare(statement)
      .pluck()
      .get(...values) as number | undefined
  const count = (statement: string, id: number) => database.prepare(statement).pluck().get(id) as number

  for (const { code, name } of access.locales) {
    if (find('SELECT id FROM i18n_locale WHERE code = ?', code) === undefined)
      insert('i18n_locale', { ...fresh(), name: name ?? localeName(code), code })
  }
  const defaultCode = access.locales.find((locale) => locale.default === true)?.code
  const setting = database.prepare("UPDATE strapi_core_store_settings SET value = ? WHERE key = 'plugin_i18n_default_locale'")
  if (defaultCode !== undefined) setting.run(JSON.stringify(defaultCode))

  const roleId = (type: string): number =>
    find('SELECT id FROM up_roles WHERE type = ?', type) ??
    insert('up_roles', { ...fresh(), name: type.charAt(0).toUpperCase() + type.slice(1), description: '', type })
  for (const [type, actions] of Object.entries(access.roles)) {
    const role = roleId(type)
    const known = database
      .prepare('SELECT action FROM up_permissions WHERE id IN (SELECT permission_id FROM up_permissions_role_lnk WHERE role_id = ?)')
      .pluck()
      .all(role)
    const missing = [...new Set(actions)].filter((action) => !known.includes(action))
    missing.forEach((action, index) => {
      const permission = insert('up_permissions', { ...fresh(), action })
      insert('up_permissions_role_lnk', {
        ...{ permission_id: permission, role_id: role },
        ...placeIn(context.model, 'permission', known.length + index + 1),
      })
    })
  }

  const users = new Map<string, number>()
  for (const { username, email, password, role, confirmed } of access.users) {
    const user = insert('up_users', {
      ...fresh(),
      username,
      email: email.toLowerCase(),
      provider: 'local',
      password: passwordHash(password),
      confirmed: Number(confirmed),
      blocked: 0,
    })
    const id = roleId(role)
    const order = count('SELECT count(*) FROM up_users_role_lnk WHERE role_id = ?', id) + 1
    insert('up_users_role_lnk', { user_id: user, role_id: id, ...placeIn(context.model, 'user', order) })
    users.set(username, user)
  }

  const value = database.prepare("SELECT value FROM strapi_core_store_settings WHERE key = 'plugin_i18n_default_locale'").pluck().get()
  return { users, defaultLocale: typeof value === 'string' ? (JSON.parse(value) as string) : 'en' }
}
