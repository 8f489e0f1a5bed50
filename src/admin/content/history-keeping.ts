// Keeps versions of documents in Strapi's table strapi_history_versions: what writes of administrators replace, and what they publish.
import { sql } from 'kysely'
import type { KeepVersions, WriteMoment } from '../../content/documents/operation.js'
import { insertRow, type StoredVersion } from '../../content/documents/store/rows.js'
import type { Transaction } from '../../database/database.js'
import { same } from '../../database/fragments.js'
import type { ContentType, Model } from '../../model/schema/types.js'
import { superAdminGrants } from '../permissions/grants.js'
import type { ContentAccess, HistorySettings } from './content-access.js'
import { viewerOf } from './document-view.js'
import { wholePopulate } from './shown-attributes.js'

/** Links of a relation that are kept; of a relation that has more none are. */
export const mostKeptLinks = 1_000

/** What tells versions apart, or is written by the service, is no content. */
const noContent: ReadonlySet<string> = new Set([
  ...['id', 'documentId', 'locale', 'localizations', 'createdAt', 'updatedAt', 'publishedAt', 'createdBy', 'updatedBy'],
])

/** Old rows that one write deletes at most. */
const mostDeleted = 100

type KeepingAccess = Pick<ContentAccess, 'documents' | 'administratorId' | 'history'>

/** Keeps what a write replaces; `always`: however short ago another version was kept. Null: there is no history. */
export function historyKeeper({ documents, administratorId, history }: KeepingAccess, always: boolean): KeepVersions | null {
  if (history === null) return null
  const { model } = documents.context
  return async (at, write) => {
    const { action, type, versions } = write
    const isAfter = action === 'publish'
    if (action === 'create' || action === 'unpublish' || isAfter !== (at === 'after')) return
    const keeping = { history, model, write }
    if (isAfter) {
      const now = history.now()
      for (const version of versions.filter(({ published_at }) => published_at !== null))
        await keep(keeping, version, { status: 'published', madeAt: now, by: administratorId })
      return
    }
    const drafts = versions.filter(({ published_at }) => !type.draftAndPublish || published_at === null)
    for (const draft of drafts) {
      if (action === 'update' && !always && (await isKeptLately(keeping, draft))) continue
      const isPublished = versions.some(({ published_at, locale }) => published_at !== null && locale === draft.locale)
      const status = !type.draftAndPublish ? 'published' : isPublished ? 'modified' : 'draft'
      await keep(keeping, draft, { status, madeAt: draft.updated_at ?? history.now(), by: await writerOf(write.transaction, type, draft) })
    }
  }
}

interface Keeping {
  readonly history: HistorySettings
  readonly model: Model
  readonly write: WriteMoment
}

/** The condition that selects the history of a document in a locale. */
export const ofDocument = (uid: string, documentId: string, locale: string | null) =>
  sql`related_document_id = ${documentId} and content_type = ${uid} and ${same(sql`locale`, locale)}`

async function isKeptLately({ history, write: { transaction, type, documentId } }: Keeping, { locale }: StoredVersion): Promise<boolean> {
  const [last] = await transaction.rows<{ readonly created_at: number | null }>(
    sql`select created_at from strapi_history_versions where ${ofDocument(type.uid, documentId, locale)} order by id desc limit 1`,
  )
  return last !== undefined && (last.created_at ?? 0) > history.now() - history.limits.historyInterval
}

/** The administrator who wrote a version last, as far as is known. */
async function writerOf(transaction: Transaction, { table }: ContentType, { id }: StoredVersion): Promise<number | null> {
  const [row] = await transaction.rows<{ readonly by: number | null }>(
    sql`select updated_by_id as ${sql.id('by')} from ${sql.table(table)} where id = ${id}`,
  )
  return row?.by ?? null
}

/** What is told of a version that is kept. */
interface KeptAs {
  readonly status: 'draft' | 'modified' | 'published'
  readonly madeAt: number
  readonly by: number | null
}

async function keep({ history, model, write }: Keeping, version: StoredVersion, { status, madeAt, by }: KeptAs): Promise<void> {
  const { transaction, type, documentId } = write
  const grants = superAdminGrants(model)
  const populate = wholePopulate({ ...viewerOf({ documents: { context: { model } } as never, grants }), onlyIds: true }, type)
  const whole = (await write.read(grants, version, { populate }, mostKeptLinks + 1)) as Readonly<Record<string, unknown>> | null
  if (whole === null) return
  const content = Object.entries(whole).filter(
    ([name, value]) => !noContent.has(name) && !(isLinks(type, name) && Array.isArray(value) && value.length > mostKeptLinks),
  )
  const data = JSON.stringify(Object.fromEntries(content))
  if (Buffer.byteLength(data) > history.limits.historyBytes) return
  await insertRow(transaction, 'strapi_history_versions', {
    ...{ content_type: type.uid, related_document_id: documentId, locale: version.locale, status, data },
    ...{ schema: JSON.stringify(type.source.attributes), created_at: madeAt, created_by_id: by },
  })
  await deleteOld(history, transaction, ofDocument(type.uid, documentId, version.locale))
}

const isLinks = ({ attributes }: ContentType, name: string): boolean => {
  const kind = attributes.get(name)?.kind
  return kind === 'relation' || kind === 'morphFrom' || kind === 'morphTo'
}

/** Deletes what is older than it is kept, and of this document what is beyond the number that is. */
async function deleteOld(
  { now, limits }: HistorySettings,
  transaction: Transaction,
  condition: ReturnType<typeof ofDocument>,
): Promise<void> {
  const expired = sql`select id from strapi_history_versions where created_at < ${now() - limits.historyTime} order by created_at limit ${mostDeleted}`
  const excess = sql`select id from strapi_history_versions where ${condition} order by id desc limit ${mostDeleted} offset ${limits.historyVersions}`
  for (const old of [expired, excess])
    await transaction.run(sql`delete from strapi_history_versions where id in (select id from (${old}) as old)`)
}
