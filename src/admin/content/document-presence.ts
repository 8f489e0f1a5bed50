// Presence at documents: reports of tabs, and the tabs that an administrator may see, with the fields that are readable there.
import type { RowReader } from '../../database/database.js'
import { invalidAt, notFound } from '../../foundation/errors/errors.js'
import { type AttributeGrants, grantedBelow, isGranted, noAttributes } from '../../foundation/grants.js'
import { type AdministratorName, readNames } from '../names.js'
import { type PresenceDatabase, type PresentTab, storePresence } from '../presence.js'
import { type ContentAccess, parseLocale, readableType } from './content-access.js'
import { localeStates } from './document-view.js'
import { decideVersions, type VersionReader } from './visible-versions.js'

/** A report of a tab. `field`: the path of an attribute. */
interface PresenceReport {
  readonly type: string
  readonly document: string
  readonly locale?: string | null | undefined
  readonly field?: string | null | undefined
  readonly tab: string
}

/** The tabs at a document. */
export interface DocumentPresence {
  readonly type: string
  readonly documentId: string
  readonly people: readonly PresentPerson[]
}

interface PresentPerson {
  readonly administrator: AdministratorName
  readonly tab: string
  readonly locale: string | null
  readonly field: string | null
  readonly since: number
}

/** Stores where a tab is. @throws ApiError 404, 403, 400 */
export async function reportPresence(
  database: PresenceDatabase,
  access: ContentAccess,
  { type: uid, document, locale: given, field = null, tab }: PresenceReport,
): Promise<void> {
  const type = readableType(access, uid)
  const locale = await parseLocale(access, type, given ?? undefined)
  const readable = access.grants.content.readable.get(uid) ?? noAttributes
  const isOne = field === null || (type.attributes.has(rootOf(field)) && isGranted(readable, rootOf(field)))
  if (!isOne) throw invalidAt(['field'], `${uid} has no attribute ${rootOf(field)}`, 'unknown', { name: rootOf(field) })
  // A locale that the document does not have may be about to be created.
  if ((await localeStates(access, type, document)).length === 0) throw notFound()
  await storePresence(database, { administratorId: access.administratorId, tab, uid, documentId: document, locale, field })
}

const rootOf = (field: string): string => field.split('.', 1)[0]!

/** Returns the documents with the tabs that the reader may know of, the tab that came first first. */
export async function visiblePresence(
  database: RowReader,
  reader: VersionReader,
  tabs: readonly PresentTab[],
): Promise<readonly DocumentPresence[]> {
  const mayKnow = await decideVersions(reader, tabs)
  const visible = tabs.filter((tab) => mayKnow(tab)).reverse()
  const nameOf = await readNames(
    database,
    visible.map(({ administratorId }) => administratorId),
  )
  const documents = new Map<string, PresentTab[]>()
  for (const tab of visible) {
    const key = JSON.stringify([tab.uid, tab.documentId])
    documents.set(key, [...(documents.get(key) ?? []), tab])
  }
  return [...documents.values()].map((some) => ({
    type: some[0]!.uid,
    documentId: some[0]!.documentId,
    people: some.map(({ administratorId, tab, uid, locale, field, since }) => ({
      administrator: nameOf(administratorId),
      tab,
      locale,
      field: field === null ? null : readablePart(reader, uid, field),
      since,
    })),
  }))
}

/** The part of a path that the reader may see; null: none. */
function readablePart({ documents, grants }: VersionReader, uid: string, field: string): string | null {
  const type = documents.context.model.types.get(uid)
  const root = rootOf(field)
  const readable = grants.content.readable.get(uid) ?? noAttributes
  if (type?.attributes.has(root) !== true || !isGranted(readable, root)) return null
  const below: AttributeGrants = grantedBelow(readable, root)
  return below === 'all' ? field : root
}
