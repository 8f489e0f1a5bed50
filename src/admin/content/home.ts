// The home screen of an administrator: own unfinished work, changes by others, latest changes, and documents by state.
import { sql } from 'kysely'
import { isGranted, noAttributes } from '../../foundation/grants.js'
import type { ContentType } from '../../model/schema/types.js'
import { type DocumentState, stateName } from '../../query/request.js'
import type { AdministratorName } from '../names.js'
import { type ContentAccess, findRows, unbounded, type VersionData } from './content-access.js'
import { type BoundedTotal, countDocuments } from './document-list.js'
import { idFields, type LinkShapes, nameIn, readLinkShapes } from './link-view.js'
import { maxScheduled, readScheduled } from './scheduled-view.js'

/** Rows of each list. */
const maxRows = 8
const maxTypes = 50
/** Time after which no further type is read. */
const maxReadMs = 1_500

/** A document on the home screen, in one locale. */
interface HomeDocument {
  readonly type: string
  readonly displayName: string
  readonly documentId: string
  readonly locale: string | null
  /** Only of types with Draft & Publish. */
  readonly state?: DocumentState
  readonly name: string | null
  readonly updatedAt: string | null
  readonly updatedBy: AdministratorName | null
}

interface TypeStates extends Readonly<Record<DocumentState, BoundedTotal>> {
  readonly type: string
  readonly displayName: string
}

/** The data of the home screen. */
interface Home {
  /** Unpublished changes last edited by the administrator, without scheduled publications. */
  readonly mine: readonly HomeDocument[]
  /** Documents of the administrator that somebody else changed last. */
  readonly theirs: readonly HomeDocument[]
  readonly recent: readonly HomeDocument[]
  readonly states: readonly TypeStates[]
  /** All types were read. */
  readonly isComplete: boolean
}

/** Reads the home screen of an administrator. */
export async function readHome(access: ContentAccess): Promise<Home> {
  const { model } = access.documents.context
  const readable = [...model.types.values()].filter(({ uid, exposed }) => exposed && access.grants.may(`${uid}.find`))
  const until = performance.now() + maxReadMs
  const shown = readable.slice(0, maxTypes)
  const shapes = await readLinkShapes(access, model, shown)
  const planned = await readPlanned(access)
  const lists = { mine: [] as HomeDocument[], theirs: [] as HomeDocument[], recent: [] as HomeDocument[] }
  const states: TypeStates[] = []
  let read = 0
  for (const type of shown) {
    if (performance.now() > until) break
    for (const [name, filters] of Object.entries(filtersOf(access, type))) {
      const done = name === 'mine' ? planned.get(type.uid) : undefined
      const rows = await readRows(access, shapes, type, filters, maxRows + (done?.size ?? 0))
      lists[name as keyof typeof lists].push(...rows.filter((row) => done?.has(versionKey(row.documentId, row.locale)) !== true))
    }
    if (type.draftAndPublish) states.push(await readStates(access, type))
    read += 1
  }
  return {
    mine: latest(lists.mine),
    theirs: latest(lists.theirs),
    recent: latest(lists.recent),
    states,
    isComplete: read === readable.length,
  }
}

/** The filters of the lists that a type belongs to. Administrators who may not see who wrote a document have no lists of theirs. */
function filtersOf(access: ContentAccess, type: ContentType): Readonly<Record<string, object>> {
  const me = { id: { $eq: access.administratorId } }
  const knowsAuthors = mayRead(access, type, 'createdBy') && mayRead(access, type, 'updatedBy')
  return {
    ...(knowsAuthors && type.draftAndPublish ? { mine: { updatedBy: me, [stateName]: ['draft', 'changed'] } } : {}),
    ...(knowsAuthors ? { theirs: { createdBy: me, updatedBy: { id: { $ne: access.administratorId } } } } : {}),
    ...(mayRead(access, type, 'updatedAt') ? { recent: {} } : {}),
  }
}

const mayRead = ({ grants }: ContentAccess, { uid }: ContentType, name: string): boolean =>
  isGranted(grants.content.readable.get(uid) ?? noAttributes, name)

const versionKey = (documentId: string, locale: string | null): string => `${documentId} ${locale ?? ''}`

/** By type, the documents and locales whose publication is scheduled. */
async function readPlanned({ database }: ContentAccess): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const rows = await readScheduled(database, sql`action = ${'publish'} and failed_at = ${0}`, maxScheduled)
  const planned = new Map(rows.map(({ type }) => [type, new Set<string>()]))
  for (const { type, document_id, locale } of rows) planned.get(type)!.add(versionKey(document_id, locale))
  return planned
}

async function readRows(
  access: ContentAccess,
  shapes: LinkShapes,
  type: ContentType,
  filters: object,
  limit: number,
): Promise<readonly HomeDocument[]> {
  const { naming } = shapes(type.uid)
  const knowsAuthor = mayRead(access, type, 'updatedBy')
  const parameters = {
    status: 'draft',
    filters,
    sort: 'updatedAt:desc',
    fields: [...idFields(type), stateName, 'updatedAt', ...(naming === null ? [] : [naming])],
    ...(knowsAuthor ? { populate: { updatedBy: { fields: ['firstname', 'lastname'] } } } : {}),
    ...(type.localized ? { locale: '*' } : {}),
    limit,
  }
  const rows = await findRows(access, type, parameters, { limits: unbounded })
  return rows.map((row) => toDocument(type, naming, row))
}

function toDocument(type: ContentType, naming: string | null, row: VersionData): HomeDocument {
  const textOf = (value: unknown): string | null => (value === null || value === undefined ? null : String(value))
  return {
    type: type.uid,
    displayName: type.displayName,
    documentId: String(row.documentId),
    locale: type.localized ? textOf(row.locale) : null,
    ...(type.draftAndPublish ? { state: row[stateName] as DocumentState } : {}),
    name: nameIn({ naming }, row),
    updatedAt: textOf(row.updatedAt),
    updatedBy: toName(row.updatedBy),
  }
}

function toName(value: unknown): AdministratorName | null {
  if (typeof value !== 'object' || value === null) return null
  const { id, firstname, lastname } = value as AdministratorName
  return { id, firstname: firstname ?? null, lastname: lastname ?? null }
}

const latest = (documents: readonly HomeDocument[]): readonly HomeDocument[] =>
  documents.toSorted((one, other) => ((one.updatedAt ?? '') < (other.updatedAt ?? '') ? 1 : -1)).slice(0, maxRows)

async function readStates(access: ContentAccess, { uid, displayName, localized }: ContentType): Promise<TypeStates> {
  const { states } = await countDocuments(access, uid, { by: 'state', limit: 1, fields: [], ...(localized ? { locale: '*' } : {}) })
  return { type: uid, displayName, ...states! }
}
