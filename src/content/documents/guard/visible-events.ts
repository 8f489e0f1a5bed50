// Events as visible to a caller, with the current document: the content at the time of the event may have been hidden from the caller.
import { ApiError } from '../../../foundation/errors/errors.js'
import type { Grants } from '../../../foundation/grants.js'
import type { ContentType } from '../../../model/schema/types.js'
import { mayReadDrafts } from '../../../query/rest/versions.js'
import type { EntryEventSummary } from '../../events/event-log.js'
import type { DocumentReads } from '../read/find.js'
import type { ReadCaller } from '../read/plans.js'

/** A caller that follows events, and the versions that it may see. */
export interface EventReader {
  readonly asker: ReadCaller
  /** Restricted to the scopes of the project. */
  readonly grants: Grants
  readonly status: 'published' | 'draft'
}

/** Events after which the version no longer exists. */
const removals: ReadonlySet<string> = new Set(['entry.delete', 'entry.unpublish'])

export const mayFollow = ({ context }: DocumentReads, { grants, status }: EventReader, type: ContentType): boolean =>
  type.exposed && grants.may(`${type.uid}.find`) && (status === 'published' || mayReadDrafts(context.draftGrant === true, grants, type))

/**
 * Returns an event as JSON with the current document; null if the caller may not follow the type, or cannot read the document.
 * @throws ApiError 503, Error
 */
export async function visibleEvent(documents: DocumentReads, reader: EventReader, summary: EntryEventSummary): Promise<string | null> {
  const type = documents.context.model.types.get(summary.uid)
  if (type === undefined || !mayFollow(documents, reader, type)) return null
  if (type.draftAndPublish && summary.isPublished !== (reader.status === 'published')) return null
  const entry = removals.has(summary.event)
    ? removedEntry(documents, reader, type, summary)
    : await readEntry(documents, reader, type, summary)
  if (entry === null) return null
  const { event, createdAt, model, uid } = summary
  return `${JSON.stringify({ event, createdAt, model, uid }).slice(0, -1)},"entry":${entry}}`
}

/** A removed version cannot be checked against scopes or by project code around reads. */
function removedEntry(
  documents: DocumentReads,
  { grants }: EventReader,
  type: ContentType,
  { id, documentId, locale }: EntryEventSummary,
): string | null {
  if (grants.scopes.has(type.uid) || documents.hasCodeAround(type.uid)) return null
  return JSON.stringify({ id, documentId, ...(type.localized ? { locale } : {}) })
}

async function readEntry(
  documents: DocumentReads,
  { asker, grants, status }: EventReader,
  type: ContentType,
  { documentId, locale }: EntryEventSummary,
): Promise<string | null> {
  const query = new URLSearchParams({ status, ...(type.localized && locale !== null ? { locale } : {}) }).toString()
  const identity = { attribute: 'documentId' as const, value: documentId, wins: true }
  try {
    const answer = await documents.find(grants, {
      type,
      query,
      identity,
      asker,
      envelope: 'data',
      action: `${type.uid}.find`,
      mode: 'first',
    })
    if (answer === null) return null
    const { data } = JSON.parse(Buffer.from(answer.bytes).toString('utf8')) as { data: unknown }
    answer.release()
    return JSON.stringify(data)
  } catch (error) {
    // The project's code or query refuses the document to this caller.
    if (error instanceof ApiError && error.status < 500) return null
    throw error
  }
}
