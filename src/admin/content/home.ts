// The home screen of an administrator: own unfinished work, changes by others, latest changes, drafts that links wait for, and documents by
// state and day.
import { sql } from 'kysely'
import { type AttributeGrants, grantedBelow, isGranted, noAttributes } from '../../foundation/grants.js'
import type { ContentType, Schema } from '../../model/schema/types.js'
import { type DocumentState, stateName } from '../../query/request.js'
import type { AdministratorName } from '../names.js'
import { type ContentAccess, findRows, unbounded, type VersionData } from './content-access.js'
import { type BoundedTotal, countDocuments } from './document-list.js'
import { idFields, type LinkShapes, nameIn, readLinkShapes } from './link-view.js'
import { maxScheduled, readScheduled } from './scheduled-view.js'

/** Rows of each list. */
const maxRows = 8
const maxTypes = 50
/** Days of the chart, and the latest changes of a type that are in it. */
const shownDays = 14
const maxChanges = 500
/** The latest pending links whose targets are looked at. */
const maxPending = 200
const dayMs = 86_400_000
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

/** Documents that were last changed on a day, by their present state. */
interface DayStates extends Readonly<Record<DocumentState, number>> {
  /** As YYYY-MM-DD. */
  readonly day: string
  /** False: there were more. */
  readonly exact: boolean
}

/** The data of the home screen. */
interface Home {
  /** Unpublished changes last edited by the administrator, without scheduled publications. */
  readonly mine: readonly HomeDocument[]
  /** Documents of the administrator that somebody else changed last. */
  readonly theirs: readonly HomeDocument[]
  readonly recent: readonly HomeDocument[]
  /** Drafts without a public version that public documents link to. */
  readonly waiting: readonly HomeDocument[]
  readonly states: readonly TypeStates[]
  readonly days: readonly DayStates[]
  /** All types were read. */
  readonly isComplete: boolean
}

/** Reads the home screen of an administrator whose clock is `offset` minutes behind UTC. */
export async function readHome(access: ContentAccess, now: number, offset: number): Promise<Home> {
  const { model } = access.documents.context
  const readable = [...model.types.values()].filter(({ uid, exposed }) => exposed && access.grants.may(`${uid}.find`))
  const until = performance.now() + maxReadMs
  const shown = readable.slice(0, maxTypes)
  const shapes = await readLinkShapes(access, model, shown)
  const planned = await readPlanned(access)
  const lists = { mine: [] as HomeDocument[], theirs: [] as HomeDocument[], recent: [] as HomeDocument[] }
  const pending = await readPending(access, shown)
  const waiting: HomeDocument[] = []
  const states: TypeStates[] = []
  const days = countDays(now, offset)
  let read = 0
  for (const type of shown) {
    if (performance.now() > until) break
    for (const [name, filters] of Object.entries(filtersOf(access, type))) {
      const done = name === 'mine' ? planned.get(type.uid) : undefined
      const rows = await readRows(access, shapes, type, filters, maxRows + (done?.size ?? 0))
      lists[name as keyof typeof lists].push(...rows.filter((row) => done?.has(versionKey(row.documentId, row.locale)) !== true))
    }
    if (type.draftAndPublish) {
      states.push(await readStates(access, type))
      const isDated = mayRead(access, type, 'updatedAt')
      if (isDated) days.add(await readChanges(access, type, days.since))
      const targets = isDated ? pending.get(type.uid) : undefined
      if (targets !== undefined) waiting.push(...(await readWaiting(access, shapes, type, targets)))
    }
    read += 1
  }
  return {
    mine: latest(lists.mine),
    theirs: latest(lists.theirs),
    recent: latest(lists.recent),
    waiting: latest(waiting),
    states,
    days: days.counted(),
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

/** Latest changes of a type, at most one more than are counted. */
function readChanges(access: ContentAccess, type: ContentType, since: number): Promise<readonly VersionData[]> {
  return findRows(
    access,
    type,
    {
      status: 'draft',
      filters: { updatedAt: { $gte: new Date(since).toISOString() } },
      sort: 'updatedAt:desc',
      fields: ['updatedAt', stateName],
      ...(type.localized ? { locale: '*' } : {}),
      limit: maxChanges + 1,
    },
    { limits: unbounded },
  )
}

/** Counts changes by day; a type with too many of them makes its earliest days inexact. */
function countDays(now: number, offset: number) {
  const dayOf = (time: number) => Math.floor((time - offset * 60_000) / dayMs)
  const first = dayOf(now) - shownDays + 1
  const days = Array.from({ length: shownDays }, () => ({ draft: 0, changed: 0, published: 0 }))
  let inexact = -1
  return {
    since: first * dayMs + offset * 60_000,
    add(changes: readonly VersionData[]): void {
      const placed = changes.map((row) => ({
        index: dayOf(Date.parse(String(row.updatedAt))) - first,
        state: row[stateName] as DocumentState,
      }))
      for (const { index, state } of placed.slice(0, maxChanges)) if (days[index] !== undefined) days[index][state] += 1
      if (placed.length > maxChanges) inexact = Math.max(inexact, placed.at(-1)!.index)
    },
    counted: (): readonly DayStates[] =>
      days.map((states, index) => ({
        day: new Date((first + index) * dayMs).toISOString().slice(0, 10),
        ...states,
        exact: index > inexact,
      })),
  }
}

/** By type, the documents and locales that links of public documents wait for, through relations that the administrator may read. */
async function readPending(access: ContentAccess, types: readonly ContentType[]): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const targets = types.flatMap(({ uid, draftAndPublish }) => (draftAndPublish ? [uid] : []))
  const tables = readableLinkTables(access, types)
  if (targets.length === 0 || tables.size === 0) return new Map()
  const rows = await access.database.rows<{ target_type: string; target_document: string; target_locale: string | null }>(
    sql`select target_type, target_document, target_locale from octavo_pending_links
      where target_type in (${sql.join(targets)}) and link_table in (${sql.join([...tables])}) order by id desc limit ${maxPending}`,
  )
  const pending = new Map<string, Set<string>>()
  for (const { target_type, target_document, target_locale } of rows) {
    const keys = pending.get(target_type) ?? new Set()
    pending.set(target_type, keys.add(versionKey(target_document, target_locale)))
  }
  return pending
}

/** The tables of readable relations that may have pending links, in components too. Types of which only some documents may be read are left out. */
function readableLinkTables({ documents, grants }: ContentAccess, types: readonly ContentType[]): ReadonlySet<string> {
  const { components } = documents.context.model
  const tables = new Set<string>()
  const seen = new Set<Schema>()
  const visit = (shape: Schema, granted: AttributeGrants): void => {
    // Grants of single attributes end; those of all of them go around with components that contain themselves.
    if (granted === 'all' && seen.has(shape)) return
    if (granted === 'all') seen.add(shape)
    for (const attribute of shape.attributes.values()) {
      const { name, kind } = attribute
      if (!isGranted(granted, name)) continue
      const inner = kind === 'component' ? [attribute.component] : kind === 'dynamiczone' ? attribute.components : []
      for (const uid of inner) visit(components.get(uid)!, grantedBelow(granted, name))
      // The other side of a relation names the same table; the right to it is not that to the documents that link.
      const isOwn = kind === 'morphTo' || (kind === 'relation' && attribute.storage.kind === 'link' && attribute.storage.owner)
      if (isOwn && 'table' in attribute.storage) tables.add(attribute.storage.table)
    }
  }
  for (const type of types) if (!grants.scopes.has(type.uid)) visit(type, grants.content.readable.get(type.uid) ?? noAttributes)
  return tables
}

/** The drafts among these documents and locales. */
async function readWaiting(
  access: ContentAccess,
  shapes: LinkShapes,
  type: ContentType,
  targets: ReadonlySet<string>,
): Promise<readonly HomeDocument[]> {
  const documentId = { $in: [...new Set([...targets].map((key) => key.split(' ')[0]!))] }
  const rows = await readRows(access, shapes, type, { documentId, [stateName]: 'draft' }, maxPending)
  return rows.filter((row) => targets.has(versionKey(row.documentId, row.locale)))
}
