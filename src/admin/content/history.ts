// The history of documents: stored versions, read and restored with the current rights of the administrator.
import { sql } from 'kysely'
import type { Body } from '../../content/documents/input/types.js'
import { ApiError, forbidden, invalidAt, notFound } from '../../foundation/errors/errors.js'
import type { IssueCode } from '../../foundation/errors/issues.js'
import { type AttributeGrants, grantedBelow, isGranted, noAttributes, projectAccess, unionOf } from '../../foundation/grants.js'
import { fileType } from '../../model/schema/link.js'
import type { Attribute, Schema } from '../../model/schema/types.js'
import { isObject } from '../../query/request.js'
import { parseStoredJson } from '../permissions/permissions.js'
import { changedAttributes } from './changed-attributes.js'
import { type ContentAccess, type DocumentName, findRows, type HistorySettings, unbounded } from './content-access.js'
import { copyData } from './document-copy.js'
import { findPartlyHidden, findUnreadableFields, localeStates, unrestricted } from './document-view.js'
import { updateDocument } from './document-writes.js'
import { ofDocument } from './history-recorder.js'
import { fileIdsIn, findLinks, findTargets, type TargetExists } from './link-targets.js'
import type { Expected } from './write-policy.js'

/** A stored version. */
export interface HistoryVersion {
  readonly id: number
  /** Milliseconds since 1970. */
  readonly createdAt: number
  readonly status: string
  /** The author, if known. */
  readonly by: { readonly id: number; readonly firstname: string | null; readonly lastname: string | null } | null
}

/** A page of versions: only older ones than `before`. */
interface VersionPage {
  readonly before: number | null
  readonly limit: number
}

interface Row {
  readonly id: number
  readonly created_at: number | null
  readonly status: string | null
  readonly admin: number | null
  readonly firstname: string | null
  readonly lastname: string | null
}

/** @throws ApiError 501 without a table, 404 where the document is not there for the administrator in this locale */
async function checkHistory(access: ContentAccess, { type, documentId, locale }: DocumentName): Promise<HistorySettings> {
  const seen = await localeStates(access, type, documentId)
  if (!seen.some((state) => state.locale === locale)) throw notFound()
  if (access.history === null)
    throw new ApiError('NotImplementedError', 'The database has no history: start the current version of Strapi 5 on it once')
  return access.history
}

/** Returns versions of a document in a locale, the latest first. @throws ApiError 404, 501 */
export async function listHistory(
  access: ContentAccess,
  name: DocumentName,
  { before, limit }: VersionPage,
): Promise<readonly HistoryVersion[]> {
  const { database } = await checkHistory(access, name)
  const older = before === null ? sql`` : sql` and v.id < ${before}`
  const rows = await database.rows<Row>(sql`select v.id, v.created_at, v.status, u.id as admin, u.firstname, u.lastname
    from (select * from strapi_history_versions where ${ofDocument(name.type.uid, name.documentId, name.locale)}) v
    left join admin_users u on u.id = v.created_by_id where 1 = 1${older} order by v.id desc limit ${limit}`)
  return rows.map(toVersion)
}

const toVersion = ({ id, created_at, status, admin, firstname, lastname }: Row): HistoryVersion => ({
  id,
  createdAt: created_at ?? 0,
  status: status ?? 'draft',
  by: admin === null ? null : { id: admin, firstname, lastname },
})

type WholeVersion = HistoryVersion & { readonly data: Body }

/** Reads a version with the attributes that are currently readable. @throws ApiError 404, 501 */
export async function readHistory(access: ContentAccess, name: DocumentName, id: number): Promise<WholeVersion> {
  const version = await readStored(access, name, id)
  return { ...version, data: await visibleData(access, name, version.data) }
}

/** Reads a version as it is stored. @throws ApiError 404, 501 */
async function readStored(access: ContentAccess, name: DocumentName, id: number): Promise<WholeVersion> {
  const [version] = await listHistory(access, name, { before: id + 1, limit: 1 })
  if (version?.id !== id) throw notFound()
  const [row] = await access.history!.database.rows<{ readonly data: unknown }>(
    sql`select data from strapi_history_versions where id = ${id}`,
  )
  return { ...version, data: toStored(row?.data) }
}

/** The visible part of a version: existing readable attributes, links to readable documents, existing files. */
async function visibleData(access: ContentAccess, name: DocumentName, stored: Body): Promise<Body> {
  const [visible] = await visibleParts(access, name, [stored])
  return visible!
}

/** The visible parts of several versions. */
async function visibleParts(access: ContentAccess, { type }: DocumentName, stored: readonly Body[]): Promise<readonly Body[]> {
  const { model } = access.documents.context
  const links = stored.flatMap((each) => findLinks(model, type, each, () => true))
  const isThere = await findTargets(access, links, 'draft')
  const files = await readFiles(access, type, stored)
  const readable = access.grants.content.readable.get(type.uid) ?? noAttributes
  return stored.map((each) => visibleEntry({ access, isThere, files }, type, each, readable))
}

const versionsPerRead = 10
/** Larger versions are not compared in lists. */
const maxComparedBytes = 20_000_000

/**
 * Finds the attributes that changed from one version to the next, by row id; null: nothing to compare, or too much. `versions`: the latest
 * first, followed by the one before the page.
 */
export async function compareVersions(
  access: ContentAccess,
  name: DocumentName,
  versions: readonly HistoryVersion[],
): Promise<(id: number) => readonly string[] | null> {
  const { model } = access.documents.context
  const changed = new Map<number, readonly string[]>()
  let later: { readonly id: number; readonly data: Body } | null = null
  let bytes = 0
  for (let start = 0; start < versions.length && bytes <= maxComparedBytes; start += versionsPerRead) {
    const ids = versions.slice(start, start + versionsPerRead).map(({ id }) => id)
    const rows = await access.history!.database.rows<{ readonly id: number; readonly data: unknown }>(
      sql`select id, data from strapi_history_versions where id in (${sql.join(ids)}) order by id desc`,
    )
    bytes += rows.reduce((sum, { data }) => sum + (typeof data === 'string' ? data.length : JSON.stringify(data).length), 0)
    const stored = rows.map(({ data }) => toStored(data))
    for (const [index, data] of (await visibleParts(access, name, stored)).entries()) {
      if (later !== null) changed.set(later.id, changedAttributes(model, name.type, data, later.data))
      later = { id: rows[index]!.id, data }
    }
  }
  return (id) => changed.get(id) ?? null
}

const toStored = (data: unknown): Body => {
  const stored = parseStoredJson(data)
  return isObject(stored) ? stored : {}
}

const maxFiles = 1_000

/** The files of versions by row id. */
async function readFiles({ documents }: ContentAccess, shape: Schema, stored: readonly Body[]): Promise<ReadonlyMap<unknown, Body>> {
  const { model } = documents.context
  const ids = [...new Set(stored.flatMap((each) => fileIdsIn(model, shape, each)))].slice(0, maxFiles)
  const type = model.types.get(fileType)!
  if (ids.length === 0) return new Map()
  const parameters = {
    filters: { id: { $in: ids } },
    fields: ['documentId', 'name', 'alternativeText', 'mime', 'url', 'width', 'height'],
    limit: ids.length,
  }
  const found = await findRows({ documents, grants: projectAccess }, type, parameters, { limits: unbounded })
  return new Map(found.map((file) => [file.id, file]))
}

interface ViewContext {
  readonly access: ContentAccess
  readonly isThere: TargetExists
  readonly files: ReadonlyMap<unknown, Body>
}

function visibleEntry(showing: ViewContext, shape: Schema, entry: Body, granted: AttributeGrants): Body {
  const shown = [...shape.attributes.values()].flatMap((attribute): (readonly [string, unknown])[] => {
    const { name } = attribute
    if (!Object.hasOwn(entry, name) || !isGranted(granted, name)) return []
    const value = visibleValue(showing, attribute, entry[name], grantedBelow(granted, name))
    return value === undefined ? [] : [[name, value]]
  })
  return Object.fromEntries(shown)
}

/** Undefined: the value is left out. */
function visibleValue(showing: ViewContext, attribute: Attribute, value: unknown, granted: AttributeGrants): unknown {
  const { access, isThere, files } = showing
  const { model } = access.documents.context
  const each = (show: (one: Body) => Body | null): unknown => {
    if (Array.isArray(value)) return value.filter(isObject).flatMap((one) => show(one) ?? [])
    return isObject(value) ? show(value) : null
  }
  const linked = (uid: string, one: Body): Body | null => {
    const type = model.types.get(uid)
    const locale = type?.localized && typeof one.locale === 'string' ? one.locale : null
    return type !== undefined && isThere(type, String(one.documentId), locale) ? one : null
  }
  switch (attribute.kind) {
    case 'scalar':
      return attribute.type === 'password' ? undefined : value
    case 'media':
      return each(({ id }) => files.get(id) ?? null)
    case 'component':
      return each((one) => visibleEntry(showing, model.components.get(attribute.component)!, one, granted))
    case 'dynamiczone':
      return each((one) => {
        const component = model.components.get(String(one.__component))
        if (component === undefined || !attribute.components.includes(component.uid)) return null
        return { __component: component.uid, ...visibleEntry(showing, component, one, granted) }
      })
    case 'morphTo':
      return each((one) => linked(String(one.__type), one))
    default:
      return access.grants.may(`${attribute.target}.find`) ? each((one) => linked(attribute.target, one)) : undefined
  }
}

/**
 * Restores the named attributes of a version, or all that the administrator may read and write, in the draft. Polymorphic links and links
 * to deleted documents are left out. Components with unreadable parts are not replaced.
 * @throws ApiError 400, 403, 404, 412, 501
 */
export async function restoreHistory(
  access: ContentAccess,
  name: DocumentName,
  id: number,
  { fields, expected }: { readonly fields: readonly string[] | null; readonly expected: Expected },
): Promise<void> {
  const { type } = name
  const { model } = access.documents.context
  const { data: stored } = await readStored(access, name, id)
  const data = await visibleData(access, name, stored)
  const rights = access.grants.content.toWrite(type.uid, 'update')
  if (rights.length === 0) throw forbidden(`${type.uid}.update`)
  const writable = rights.map(({ attributes }) => attributes).reduce(unionOf, noAttributes)
  const asked = fields ?? Object.keys(data)
  const whole = await visibleData(unrestricted(access), name, stored)
  const hidden = [...findPartlyHidden(type, asked, data, whole), ...(await findUnreadableFields(access, name, asked))]
  // A component must be writable as a whole, because its entries are replaced.
  const mayReplace = (field: string) => isGranted(writable, field) && grantedBelow(writable, field) === 'all' && !hidden.includes(field)
  const wanted = fields ?? asked.filter(mayReplace)
  const refuse = (field: string, message: string, code: IssueCode): void => {
    const at = ['fields', wanted.indexOf(field)]
    if (wanted.includes(field)) throw invalidAt(at, message, code).reworded(`${field} cannot be restored: ${message}`)
  }
  for (const field of wanted) if (!Object.hasOwn(data, field)) refuse(field, 'the version does not have it', 'notFound')
  for (const field of hidden) refuse(field, 'it has parts that you may not see', 'forbidden')
  const chosen = Object.fromEntries(wanted.map((field) => [field, data[field]]))
  const copying = {
    model,
    keepsUnique: true,
    keepsPolymorphic: false,
    linkTo: (_attribute: unknown, { documentId, locale }: Body) => ({ documentId, ...(typeof locale === 'string' ? { locale } : {}) }),
  }
  const restored = { ...clearedValues(type, chosen), ...copyData(copying, type, chosen, 'all') }
  if (Object.keys(restored).length === 0) throw forbidden(`${type.uid}.update`)
  await updateDocument(access, name, restored, {
    fields: Object.keys(restored),
    expected,
    alwaysRecords: true,
    copiedFiles: new Set(fileIdsIn(model, type, data)),
  })
}

/** Clears attributes that were empty. */
function clearedValues(shape: Schema, data: Body): Body {
  const empty = Object.keys(data).filter((name) => data[name] === null && shape.attributes.get(name)?.kind !== 'morphTo')
  return Object.fromEntries(empty.map((name) => [name, shape.attributes.get(name)?.kind === 'relation' ? { set: [] } : null]))
}
