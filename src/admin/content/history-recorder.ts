// Stores versions of documents in Strapi's table strapi_history_versions: those that writes of administrators replace or publish.
import { sql } from 'kysely'
import type { WriteScope } from '../../content/documents/operation.js'
import type { DocumentReads } from '../../content/documents/read/find.js'
import { findVersions, insertRow, type StoredVersion } from '../../content/documents/store/rows.js'
import type { Transaction } from '../../database/database.js'
import { bindTimestamp, isSame } from '../../database/portable-sql.js'
import { toText } from '../../database/response/write.js'
import type { ContentType } from '../../model/schema/types.js'
import { readRequest } from '../../query/rest/read.js'
import { wholeVersionParameters } from '../../query/rest/versions.js'
import { superAdminGrants } from '../permissions/grants.js'
import { systemAttributes } from './changed-attributes.js'
import { type ContentAccess, type HistorySettings, unbounded } from './content-access.js'
import { wholePopulate } from './document-view.js'

/** A relation with more links is left out of a stored version. */
const maxLinks = 1_000
/** A larger version is not stored. */
const maxVersionBytes = 2_000_000

const maxDeletedPerWrite = 100

type RecordingAccess = Pick<ContentAccess, 'documents' | 'administratorId' | 'history'>

/** Stores versions of the documents of a write. */
interface HistoryRecorder {
  /** Stores the drafts that a write is about to replace. */
  recordReplaced(scope: WriteScope): Promise<void>
  /** Stores the drafts that a write has published. */
  recordPublished(scope: WriteScope, documentId: string): Promise<void>
}

/** The recorder of an administrator's writes; `always`: even if another version was stored recently. Null: the database has no history. */
export function historyRecorder({ documents, administratorId, history }: RecordingAccess, always: boolean): HistoryRecorder | null {
  if (history === null) return null
  return {
    recordReplaced: async (scope) => {
      const { transaction, type } = scope
      const { action, documentId } = scope.operation
      if (documentId === null || action === 'create' || action === 'unpublish' || action === 'publish') return
      const versions = await versionsConcerned(scope, documentId)
      const recording = { history, documents, scope, documentId }
      for (const draft of versions.filter(({ published_at }) => !type.draftAndPublish || published_at === null)) {
        if (action === 'update' && !always && (await isRecordedRecently(recording, draft))) continue
        const isPublished = versions.some(({ published_at, locale }) => published_at !== null && locale === draft.locale)
        const status = !type.draftAndPublish ? 'published' : isPublished ? 'modified' : 'draft'
        const createdAt = draft.updated_at ?? history.now()
        await record(recording, draft, { status, createdAt, by: await lastWriter(transaction, type, draft) })
      }
    },
    recordPublished: async (scope, documentId) => {
      if (scope.operation.action !== 'publish') return
      const createdAt = history.now()
      const recording = { history, documents, scope, documentId }
      const versions = await versionsConcerned(scope, documentId)
      // The draft has the same content, and also the links that wait for the publication of their targets.
      for (const draft of versions.filter(({ published_at }) => published_at === null))
        if (versions.some(({ published_at, locale }) => published_at !== null && locale === draft.locale))
          await record(recording, draft, { status: 'published', createdAt, by: administratorId })
    },
  }
}

async function versionsConcerned({ transaction, operation, type }: WriteScope, documentId: string): Promise<readonly StoredVersion[]> {
  const { everywhere, locale } = operation
  const all = await findVersions(transaction, type, documentId)
  return all.filter((version) => everywhere || !type.localized || version.locale === locale)
}

interface Recording {
  readonly history: HistorySettings
  readonly documents: DocumentReads
  readonly scope: WriteScope
  readonly documentId: string
}

/** The condition that selects the history of a document in a locale. */
export const ofDocument = (uid: string, documentId: string, locale: string | null) =>
  sql`related_document_id = ${documentId} and content_type = ${uid} and ${isSame(sql`locale`, locale)}`

async function isRecordedRecently({ history, scope, documentId }: Recording, { locale }: StoredVersion): Promise<boolean> {
  const { transaction, type } = scope
  const [last] = await transaction.rows<{ readonly created_at: number | null }>(
    sql`select created_at from strapi_history_versions where ${ofDocument(type.uid, documentId, locale)} order by id desc limit 1`,
  )
  return last !== undefined && (last.created_at ?? 0) > history.now() - history.limits.historyInterval
}

/** The administrator who last wrote a version, if known. */
async function lastWriter(transaction: Transaction, { table }: ContentType, { id }: StoredVersion): Promise<number | null> {
  const [row] = await transaction.rows<{ readonly by: number | null }>(
    sql`select updated_by_id as ${sql.id('by')} from ${sql.table(table)} where id = ${id}`,
  )
  return row?.by ?? null
}

interface RecordedAs {
  readonly status: 'draft' | 'modified' | 'published'
  readonly createdAt: number
  readonly by: number | null
}

async function record(
  { history, documents, scope, documentId }: Recording,
  version: StoredVersion,
  { status, createdAt, by }: RecordedAs,
): Promise<void> {
  const { transaction, read, plans, type } = scope
  const grants = superAdminGrants(documents.context.model)
  const populate = wholePopulate({ documents, grants }, type)
  const request = readRequest(
    read,
    grants,
    {
      type,
      mode: 'first',
      identity: { attribute: 'id', value: version.id },
      afterWrite: true,
      limits: unbounded,
      linkPage: { start: 0, limit: maxLinks + 1 },
    },
    { populate, ...wholeVersionParameters(type, version) },
  )
  const found = await transaction.read(plans.forRequest(request, 'bare').plan, request.values)
  const whole = JSON.parse(toText(found)) as Readonly<Record<string, unknown>> | null
  if (whole === null) return
  const content = Object.entries(whole).filter(
    ([name, value]) => !systemAttributes.has(name) && !(isLinks(type, name) && Array.isArray(value) && value.length > maxLinks),
  )
  const data = JSON.stringify(Object.fromEntries(content))
  if (Buffer.byteLength(data) > maxVersionBytes) return
  await insertRow(transaction, 'strapi_history_versions', {
    content_type: type.uid,
    related_document_id: documentId,
    locale: version.locale,
    status,
    data,
    schema: JSON.stringify(type.source.attributes),
    created_at: bindTimestamp(createdAt),
    created_by_id: by,
  })
  await deleteOld(history, transaction, ofDocument(type.uid, documentId, version.locale))
}

const isLinks = ({ attributes }: ContentType, name: string): boolean => {
  const kind = attributes.get(name)?.kind
  return kind === 'relation' || kind === 'morphFrom' || kind === 'morphTo'
}

/** Deletes expired versions, and the oldest of this document beyond the limit. */
async function deleteOld(
  { now, limits }: HistorySettings,
  transaction: Transaction,
  condition: ReturnType<typeof ofDocument>,
): Promise<void> {
  const expired = sql`select id from strapi_history_versions where created_at < ${bindTimestamp(now() - limits.historyTime)} order by created_at limit ${maxDeletedPerWrite}`
  const excess = sql`select id from strapi_history_versions where ${condition} order by id desc limit ${maxDeletedPerWrite} offset ${limits.historyVersions}`
  for (const old of [expired, excess])
    await transaction.run(sql`delete from strapi_history_versions where id in (select id from (${old}) as old)`)
}
