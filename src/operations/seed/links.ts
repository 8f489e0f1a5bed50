// Inserts components, files and relations of a seeded row.

import { hashSync } from '@node-rs/bcrypt'
import type { Database } from 'better-sqlite3'
import * as z from 'zod'
import type { Stored } from '../../database/portable-sql.js'
import type { Insert } from '../../database/sqlite/initial-rows.js'
import { ownedLink } from '../../model/schema/graph.js'
import { fileType } from '../../model/schema/link.js'
import { localeName } from '../../model/schema/names.js'
import {
  type Attribute,
  assertNever,
  type ContentType,
  type Model,
  type MorphTo,
  type Relation,
  type Scalar,
  type Schema,
} from '../../model/schema/types.js'
import { quoted } from '../../model/tables/table.js'
import { attributeTypes } from '../../model/types/attribute-types.js'

/** Values of a document or component. */
export type SeedValues = Readonly<Record<string, unknown>>

/** Types with Draft & Publish have a draft and a published row, others only one row. */
export type State = 'draft' | 'published' | 'only'

export interface SeedRow {
  readonly id: number
  readonly state: State
  readonly locale: string | null
}

export interface Linking extends SeedContext {
  readonly database: Database
  readonly defaultLocale: string
  readonly files: ReadonlyMap<string, number>
  readonly users: ReadonlyMap<string, number>
  /** Rows of documents by `<uid>:<key>`. */
  readonly rows: ReadonlyMap<string, readonly SeedRow[]>
  /** Last order number among the owners of a target, by `<table> <target row> <state>`. */
  readonly orders: Map<string, number>
}

/** The row whose attributes are being written. */
interface Holder {
  readonly shape: Schema
  readonly id: number
  /** The version of the document, which determines the linked rows. */
  readonly row: SeedRow
  /** Location for errors. */
  readonly where: string
}

/**
 * Writes all values that are not columns of the row itself.
 * @throws Error with a sentence if a referenced document, file or component does not exist
 */
export function writeBelow(holder: Holder, values: SeedValues, linking: Linking): void {
  for (const attribute of holder.shape.attributes.values()) {
    const value = values[attribute.name]
    if (value === undefined || value === null || attribute.kind === 'scalar') continue
    const list: readonly unknown[] = Array.isArray(value) ? value : [value]
    writeAttribute({ ...holder, where: `${holder.where}, ${attribute.name}` }, attribute, list, linking)
  }
}

function writeAttribute(
  holder: Holder,
  attribute: Exclude<Attribute, { kind: 'scalar' }>,
  list: readonly unknown[],
  linking: Linking,
): void {
  switch (attribute.kind) {
    case 'relation':
      writeRelation(holder, attribute, list, linking)
      break
    case 'morphTo':
      writeMorph(holder, attribute, list, linking)
      break
    case 'morphFrom':
      throw new Error(`${holder.where} is the inverse side of ${attribute.target}.${attribute.by}; set it there`)
    case 'media':
      writeFiles(holder, attribute.name, list, linking)
      break
    case 'component':
      writeEntries(holder, attribute.name, list, () => attribute.component, attribute.repeatable, linking)
      break
    case 'dynamiczone':
      writeEntries(holder, attribute.name, list, (entry) => String(entry.__component), true, linking)
      break
    default:
      assertNever(attribute)
  }
}

function writeEntries(
  { shape, id, row, where }: Holder,
  field: string,
  list: readonly unknown[],
  componentOf: (entry: SeedValues) => string,
  ordered: boolean,
  linking: Linking,
): void {
  for (const [index, each] of (list as readonly SeedValues[]).entries()) {
    const { __component, ...entry } = each
    const uid = componentOf(each)
    const component = linking.model.components.get(uid)
    if (component === undefined) throw new Error(`${where}: there is no component ${uid}`)
    const here = `${where}[${index}]`
    const entryId = linking.insert(component.table, scalars(component, entry, here))
    const place = { component_type: uid, field, order: ordered ? index + 1 : null }
    linking.insert(shape.componentTable!, { entity_id: id, cmp_id: entryId, ...place })
    writeBelow({ shape: component, id: entryId, row, where: here }, entry, linking)
  }
}

function writeFiles({ shape, id, where }: Holder, field: string, list: readonly unknown[], linking: Linking): void {
  const { storage } = linking.model.types.get(fileType)!.attributes.get('related') as MorphTo
  if (storage.kind !== 'table') throw new Error('files are linked through a table')
  for (const [index, each] of list.entries()) {
    const { singularName, key } = reference(each, where)
    const file = singularName === 'file' ? linking.files.get(key) : undefined
    if (file === undefined) throw new Error(`${where}: there is no file @${singularName}:${key}`)
    const place = { field, [storage.order]: index + 1 }
    linking.insert(storage.table, { [storage.here]: file, [storage.id]: id, [storage.type]: shape.uid, ...place })
  }
}

function writeRelation(holder: Holder, { storage, target, many }: Relation, list: readonly unknown[], linking: Linking): void {
  const { id, row, where } = holder
  if (storage.kind === 'link' && !storage.owner) throw new Error(`${where} is the inverse side of a relation of ${target}; set it there`)
  if (!many && list.length > 1) throw new Error(`${where} can have only one document`)
  const type = linking.model.types.get(target)!
  const targets = list.flatMap((each) => targetsOf(type, reference(each, where), row, where, linking))
  switch (storage.kind) {
    case 'link':
      for (const [index, there] of targets.entries()) {
        const { table, order, inverseOrder } = storage
        linking.insert(table, {
          [storage.here]: id,
          [storage.there]: there.id,
          ...(order === null ? {} : { [order]: index + 1 }),
          ...(inverseOrder === null ? {} : { [inverseOrder]: nextOrder(`${table} ${there.id} ${row.state}`, linking) }),
        })
      }
      break
    case 'column':
      setColumns(holder, targets[0] === undefined ? {} : { [storage.column]: targets[0].id }, linking)
      break
    case 'inverseColumn':
    case 'localizations':
      throw new Error(`${where} cannot be written from this side`)
    default:
      assertNever(storage)
  }
}

function writeMorph(holder: Holder, { name, storage }: MorphTo, list: readonly unknown[], linking: Linking): void {
  const { shape, id, row, where } = holder
  const targets = list.flatMap((each) => {
    const named = reference(each, where)
    const type = [...linking.model.types.values()].find((type) => type.exposed && type.singularName === named.singularName)
    if (type === undefined) throw new Error(`${where}: there is no type ${named.singularName}`)
    // One row per document: if both versions are possible, Strapi uses the published one.
    return targetsOf(type, named, row, where, linking)
      .slice(-1)
      .map((there) => ({ id: there.id, type }))
  })
  if (storage.kind === 'columns') {
    const [first] = targets
    setColumns(holder, first === undefined ? {} : { [storage.id]: first.id, [storage.type]: first.type.uid }, linking)
    return
  }
  for (const [index, there] of targets.entries()) {
    const back = [...there.type.attributes.values()].find(
      (attribute) => attribute.kind === 'morphFrom' && attribute.target === shape.uid && attribute.by === name,
    )
    const place = { field: back?.name ?? null, [storage.order]: index + 1 }
    linking.insert(storage.table, { [storage.here]: id, [storage.id]: there.id, [storage.type]: there.type.uid, ...place })
  }
}

function setColumns({ shape, id }: Holder, columns: Readonly<Record<string, string | number>>, { database }: Linking): void {
  for (const [column, value] of Object.entries(columns))
    database.prepare(`UPDATE ${quoted(shape.table)} SET ${quoted(column)} = ? WHERE id = ?`).run(value, id)
}

function nextOrder(counter: string, { orders }: Linking): number {
  const order = (orders.get(counter) ?? 0) + 1
  orders.set(counter, order)
  return order
}

/** `@author:maria-holt`. */
interface SeedReference {
  readonly singularName: string
  readonly key: string
}

function reference(value: unknown, where: string): SeedReference {
  const [, singularName, key] = /^@([^:]+):(.+)$/.exec(String(value)) ?? []
  if (singularName === undefined || key === undefined) throw new Error(`${where}: ${JSON.stringify(value)} must have the form @type:key`)
  return { singularName, key }
}

/** The rows that a version links to: same locale and state, or both states for types without Draft & Publish. */
function targetsOf(
  type: ContentType,
  { singularName, key }: SeedReference,
  row: SeedRow,
  where: string,
  linking: Linking,
): readonly SeedRow[] {
  const rows = singularName === type.singularName ? linking.rows.get(`${type.uid}:${key}`) : undefined
  if (rows === undefined) throw new Error(`${where}: there is no document @${singularName}:${key}`)
  const locale = type.localized ? (row.locale ?? linking.defaultLocale) : null
  const local = rows.filter((each) => each.locale === locale)
  if (local.length === 0) linking.report(`${where}: @${singularName}:${key} has no locale ${locale}, so it is not linked`)
  return local.filter((each) => row.state === 'only' || each.state === 'only' || each.state === row.state)
}

/** The format of seed/access.json. */
export const seedAccessFile = z.strictObject({
  locales: z.array(z.strictObject({ code: z.string(), name: z.string().optional(), default: z.boolean().optional() })).default([]),
  /** Actions by type of the role. */
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
export type SeedAccess = z.infer<typeof seedAccessFile>

export interface SeedContext {
  readonly model: Model
  readonly insert: Insert
  readonly now: Date
  newDocumentId(): string
  /** Reports progress and irregularities. */
  report(line: string): void
}

/** Position among the rows of a role, if the schema has an order column. */
function placeIn(model: Model, type: 'user' | 'permission', place: number): Readonly<Record<string, number>> {
  const column = ownedLink(model.types.get(`plugin::users-permissions.${type}`), 'role')?.inverseOrder ?? null
  return column === null ? {} : { [column]: place }
}

/** Inserts missing locales, roles, permissions and users. Returns user ids by name, and the default locale. */
export function seedAccess(access: SeedAccess, database: Database, context: SeedContext) {
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
      password: hashPassword(password),
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

/**
 * Returns the scalar columns of a row; missing values get their default.
 * @throws Error with a sentence for an unknown name or an invalid value
 */
export function scalars(shape: Schema, values: Readonly<Record<string, unknown>>, where: string): Record<string, Stored> {
  for (const name of Object.keys(values))
    if (!shape.attributes.has(name)) throw new Error(`${where}: ${shape.uid} has no attribute ${name}`)
  return Object.fromEntries(
    [...shape.attributes.values()].flatMap((attribute) => {
      if (attribute.kind !== 'scalar' || attribute.system) return []
      const value = values[attribute.name] === undefined ? attribute.source.default : values[attribute.name]
      return value === undefined ? [] : [[attribute.column, stored(attribute, value, `${where}, ${attribute.name}`)]]
    }),
  )
}

/**
 * Converts a value to its stored form. A time of day may lack seconds.
 * @throws Error with a sentence that starts with `where` if the value is invalid
 */
export function stored(attribute: Scalar, value: unknown, where: string): Stored {
  if (value === null || value === undefined) return null
  const { type } = attribute
  if (type === 'password') return hashPassword(String(value))
  const { input, store } = attributeTypes[type]
  try {
    const isTyped = input.type === null || (input.type === 'array' ? Array.isArray(value) : typeof value === input.type)
    if (isTyped) return store(type === 'time' && /^\d\d:\d\d$/.test(String(value)) ? `${value}:00` : value, attribute)
  } catch {
    // The value cannot be converted.
  }
  throw new Error(`${where}: ${JSON.stringify(value)} is not a valid ${type}`)
}

const passwordCost = 10

const hashPassword = (password: string): string => hashSync(password, passwordCost).replace('$2y$', '$2a$')
