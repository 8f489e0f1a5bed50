// The history of documents: versions that were kept, shown and given back as far as the administrator may see and write them today.
import { sql } from 'kysely'
import type { Body } from '../../content/documents/input/types.js'
import { ApiError, forbidden, notFound } from '../../foundation/errors/errors.js'
import { type AttributeGrants, grantedBelow, isGranted, noAttributes, projectAccess, unionOf } from '../../foundation/grants.js'
import { fileType } from '../../model/schema/link.js'
import type { Attribute, Schema } from '../../model/schema/types.js'
import { parsedJson } from '../permissions/rows.js'
import { type ContentAccess, type DocumentName, type HistorySettings, unbounded } from './content-access.js'
import { copyOf } from './document-copy.js'
import { updateDocument } from './document-writes.js'
import { fileIdsIn, type IsThere, linksOf, targetsOf } from './found-links.js'
import { hiddenInDraft, partlyHidden, unrestricted } from './hidden-parts.js'
import { ofDocument } from './history-recorder.js'
import { localeStates } from './locale-states.js'
import type { Expected } from './write-policy.js'

/** A version that was kept. */
export interface KeptVersion {
  readonly id: number
  /** Milliseconds since 1970. */
  readonly madeAt: number
  readonly status: string
  /** Who wrote it; null: nobody who is known. */
  readonly by: { readonly id: number; readonly firstname: string | null; readonly lastname: string | null } | null
}

/** Which versions: only older ones than `before`. */
interface WantedVersions {
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
async function historyOf(access: ContentAccess, { type, documentId, locale }: DocumentName): Promise<HistorySettings> {
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
  { before, limit }: WantedVersions,
): Promise<readonly KeptVersion[]> {
  const { database } = await historyOf(access, name)
  const older = before === null ? sql`` : sql` and v.id < ${before}`
  const rows = await database.rows<Row>(sql`select v.id, v.created_at, v.status, u.id as admin, u.firstname, u.lastname
    from (select * from strapi_history_versions where ${ofDocument(name.type.uid, name.documentId, name.locale)}) v
    left join admin_users u on u.id = v.created_by_id where 1 = 1${older} order by v.id desc limit ${limit}`)
  return rows.map(versionOf)
}

const versionOf = ({ id, created_at, status, admin, firstname, lastname }: Row): KeptVersion => ({
  ...{ id, madeAt: created_at ?? 0, status: status ?? 'draft' },
  by: admin === null ? null : { id: admin, firstname, lastname },
})

/** A version with its attributes. */
type WholeVersion = KeptVersion & { readonly data: Body }

/** Reads a version, as far as the administrator may see it today. @throws ApiError 404, 501 */
export async function readHistory(access: ContentAccess, name: DocumentName, id: number): Promise<WholeVersion> {
  const version = await readStored(access, name, id)
  return { ...version, data: await shownData(access, name, version.data) }
}

/** Reads a version as it is stored. @throws ApiError 404, 501 */
async function readStored(access: ContentAccess, name: DocumentName, id: number): Promise<WholeVersion> {
  const [version] = await listHistory(access, name, { before: id + 1, limit: 1 })
  if (version?.id !== id) throw notFound()
  const [row] = await access.history!.database.rows<{ readonly data: unknown }>(
    sql`select data from strapi_history_versions where id = ${id}`,
  )
  const stored = parsedJson(row?.data)
  return { ...version, data: isEntry(stored) ? stored : {} }
}

const isEntry = (value: unknown): value is Body => typeof value === 'object' && value !== null && !Array.isArray(value)

/** What of a version is shown: attributes that there are and that may be read, links to documents that may be read, files that there are. */
async function shownData(access: ContentAccess, { type }: DocumentName, stored: Body): Promise<Body> {
  const { model } = access.documents.context
  const links = linksOf(model, type, stored, () => true)
  const isThere = await targetsOf(access, links, 'draft')
  const files = await filesIn(access, type, stored)
  const readable = access.grants.content?.readable.get(type.uid) ?? noAttributes
  return shownEntry({ access, isThere, files }, type, stored, readable)
}

/** Files that are looked up. */
const mostFiles = 1_000

/** The files that a version has, by their row ids. */
async function filesIn({ documents }: ContentAccess, shape: Schema, stored: Body): Promise<ReadonlyMap<unknown, Body>> {
  const { model } = documents.context
  const ids = [...new Set(fileIdsIn(model, shape, stored))].slice(0, mostFiles)
  const type = model.types.get(fileType)!
  if (ids.length === 0) return new Map()
  const found = (await documents.findData(projectAccess, {
    ...{ type, mode: 'many', action: `${fileType}.find`, envelope: 'bare', paged: false, limits: unbounded },
    parameters: {
      filters: { id: { $in: ids } },
      fields: ['documentId', 'name', 'alternativeText', 'mime', 'url', 'width', 'height'],
      limit: ids.length,
    },
  })) as readonly Body[]
  return new Map(found.map((file) => [file.id, file]))
}

interface Showing {
  readonly access: ContentAccess
  readonly isThere: IsThere
  readonly files: ReadonlyMap<unknown, Body>
}

function shownEntry(showing: Showing, shape: Schema, entry: Body, granted: AttributeGrants): Body {
  const shown = [...shape.attributes.values()].flatMap((attribute): (readonly [string, unknown])[] => {
    const { name } = attribute
    if (!Object.hasOwn(entry, name) || !isGranted(granted, name)) return []
    const value = shownValue(showing, attribute, entry[name], grantedBelow(granted, name))
    return value === undefined ? [] : [[name, value]]
  })
  return Object.fromEntries(shown)
}

/** Undefined: it is not shown. */
function shownValue(showing: Showing, attribute: Attribute, value: unknown, granted: AttributeGrants): unknown {
  const { access, isThere, files } = showing
  const { model } = access.documents.context
  const each = (show: (one: Body) => Body | null): unknown => {
    if (Array.isArray(value)) return value.filter(isEntry).flatMap((one) => show(one) ?? [])
    return isEntry(value) ? show(value) : null
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
      return each((one) => shownEntry(showing, model.components.get(attribute.component)!, one, granted))
    case 'dynamiczone':
      return each((one) => {
        const component = model.components.get(String(one.__component))
        if (component === undefined || !attribute.components.includes(component.uid)) return null
        return { __component: component.uid, ...shownEntry(showing, component, one, granted) }
      })
    case 'morphTo':
      return each((one) => linked(String(one.__type), one))
    default:
      return access.grants.may(`${attribute.target}.find`) ? each((one) => linked(attribute.target, one)) : undefined
  }
}

/**
 * Gives a draft what a version had: the attributes that are named, or all that the administrator may read and write. Polymorphic links, and
 * links to documents that are gone, are not given back. Of components with parts that the administrator does not see no entry is replaced.
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
  const data = await shownData(access, name, stored)
  const rights = access.grants.content?.toWrite(type.uid, 'update') ?? []
  if (rights.length === 0) throw forbidden(`${type.uid}.update`)
  const writable = rights.map(({ attributes }) => attributes).reduce(unionOf, noAttributes)
  const asked = fields ?? Object.keys(data)
  const whole = await shownData(unrestricted(access), name, stored)
  const hidden = [...partlyHidden(type, asked, data, whole), ...(await hiddenInDraft(access, name, asked))]
  // Of a component of which only a part may be read or written, no entry may be replaced.
  const mayReplace = (field: string) => isGranted(writable, field) && grantedBelow(writable, field) === 'all' && !hidden.includes(field)
  const wanted = fields ?? asked.filter(mayReplace)
  const refuse = (field: string, message: string): void => {
    const errors = [{ path: ['fields', String(wanted.indexOf(field))], message, name: 'ValidationError' }]
    if (wanted.includes(field)) throw new ApiError('ValidationError', `${field} cannot be restored: ${message}`, { errors })
  }
  for (const field of wanted) if (!Object.hasOwn(data, field)) refuse(field, 'the version does not have it')
  for (const field of hidden) refuse(field, 'it has parts that you may not see')
  const chosen = Object.fromEntries(wanted.map((field) => [field, data[field]]))
  const copying = {
    ...{ model, keepsUnique: true, keepsPolymorphic: false },
    linkTo: (_attribute: unknown, { documentId, locale }: Body) => ({ documentId, ...(typeof locale === 'string' ? { locale } : {}) }),
  }
  const restored = { ...emptied(type, chosen), ...copyOf(copying, type, chosen, 'all') }
  if (Object.keys(restored).length === 0) throw forbidden(`${type.uid}.update`)
  await updateDocument(access, name, restored, {
    ...{ fields: Object.keys(restored), expected, alwaysRecords: true },
    copiedFiles: new Set(fileIdsIn(model, type, data)),
  })
}

/** What was empty becomes empty again. */
function emptied(shape: Schema, data: Body): Body {
  const empty = Object.keys(data).filter((name) => data[name] === null && shape.attributes.get(name)?.kind !== 'morphTo')
  return Object.fromEntries(empty.map((name) => [name, shape.attributes.get(name)?.kind === 'relation' ? { set: [] } : null]))
}
