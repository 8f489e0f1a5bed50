// Publish, unpublish and discard: what moves between the draft and the published version of a document in one locale.
import type { ReadBytes, Transaction } from '../database/database.js'
import { notFound, validationError } from '../errors.js'
import { hideLinks } from './links.js'
import { shareWithLocales } from './locales.js'
import type { Operation, WriteContext } from './operation.js'
import { answerWrite, checkPublication, checkUnique, writingOf } from './operation.js'
import { publishedOf, publishRow, removeRows, restoreDraft } from './publish.js'
import type { Version } from './rows.js'
import { versionsOf } from './rows.js'

export type Action = 'publish' | 'unpublish' | 'discard'

interface Versions {
  readonly draft: Version | null
  readonly published: Version | null
  /** All of the document's, in every locale. */
  readonly versions: readonly Version[]
}

async function versionsIn(transaction: Transaction, { write: { type }, locale }: Operation, documentId: string): Promise<Versions> {
  if (!type.draftAndPublish) throw validationError(`${type.uid} has no drafts`)
  const versions = await versionsOf(transaction, type, documentId)
  const draft = versions.find((version) => version.published_at === null && version.locale === locale) ?? null
  const published = publishedOf(versions, locale)
  if (draft === null && published === null) throw notFound()
  return { draft, published, versions }
}

/** Publishes the draft; answers the published version. @throws ApiError 400 when it is not fit for it, 404 */
export async function publishIn(
  context: WriteContext,
  transaction: Transaction,
  operation: Operation,
  documentId: string,
): Promise<ReadBytes> {
  const { type } = operation.write
  const { draft, published, versions } = await versionsIn(transaction, operation, documentId)
  if (draft === null) throw notFound()
  const publication = { ...operation, publishes: true }
  await checkPublication(context, transaction, publication, draft.id, true)
  await checkUnique(transaction, publication, documentId, null, draft.id)
  const writing = writingOf(context, transaction, operation, null)
  const made = await publishRow(writing, type, draft.id, published, new Set(), true, operation.now)
  await shareWithLocales(writing, type, versions, made, new Set(type.attributes.values()), 'published')
  return answerWrite(context, transaction, operation, documentId, 'published')
}

/** Removes the published version and keeps the draft, which is answered; what linked to it will again. @throws ApiError 400, 404 */
export async function unpublishIn(
  context: WriteContext,
  transaction: Transaction,
  operation: Operation,
  documentId: string,
): Promise<ReadBytes> {
  const { type } = operation.write
  const { published } = await versionsIn(transaction, operation, documentId)
  if (published !== null) {
    await hideLinks(transaction, context.read.model, type, published)
    await removeRows(writingOf(context, transaction, operation, null), type, [published.id])
  }
  return answerWrite(context, transaction, operation, documentId, 'draft')
}

/** Gives the draft what the published version has; answers the draft. @throws ApiError 400, 404 without a published version */
export async function discardIn(
  context: WriteContext,
  transaction: Transaction,
  operation: Operation,
  documentId: string,
): Promise<ReadBytes> {
  const { type } = operation.write
  const { draft, published } = await versionsIn(transaction, operation, documentId)
  if (draft === null || published === null) throw notFound()
  const writing = { ...writingOf(context, transaction, operation, null), copies: 'draft' as const }
  await restoreDraft(writing, type, draft.id, published.id)
  return answerWrite(context, transaction, operation, documentId, 'draft')
}
