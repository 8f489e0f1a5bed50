// Publish, unpublish and discard: copy between draft and published version of a document, in one locale or in all.
import type { Transaction } from '../../database/database.js'
import { validationError } from '../../foundation/errors/errors.js'
import type { DocumentVersion } from '../../query/rest/versions.js'
import { mergeVersions } from './merged-versions.js'
import type { Entry, WriteContext, WriteOperation, WriteOutcome } from './operation.js'
import { checkPublication, createRowContext, findTakenFor, readEntry, readResponse } from './operation.js'
import { equalizeLocales, shareHolders, shareWithLocales } from './publish/non-localized.js'
import { getSharedHolders, isEqual } from './publish/non-localized-components.js'
import { equalizeUpdateTimes, findPublished, publishRow, removeRows, restoreDraft } from './publish/publish.js'
import { readComponents } from './store/component-trees.js'
import { keepPendingLinks } from './store/pending-links.js'
import type { RowContext } from './store/row-context.js'
import { clearModified, findVersions, type StoredVersion, writeTime } from './store/rows.js'

/** A document in one locale. */
interface LocaleVersions {
  readonly documentId: string
  readonly draft: StoredVersion | null
  readonly published: StoredVersion | null
  /** All versions in all locales. */
  readonly versions: readonly StoredVersion[]
}

/** Acts in one locale and returns the affected version; null if there is nothing to do. */
type ActInLocale = (
  context: WriteContext,
  transaction: Transaction,
  operation: WriteOperation,
  state: LocaleVersions,
) => Promise<Entry | null>

/** Acts in the locale of the operation, or in all locales of the document. @throws ApiError 400 for types without drafts */
async function inLocales(
  context: WriteContext,
  transaction: Transaction,
  operation: WriteOperation,
  shown: 'draft' | 'published',
  act: ActInLocale,
): Promise<WriteOutcome | null> {
  const { documentId, everywhere } = operation
  const { type, answers } = operation.write
  if (!type.draftAndPublish) throw validationError(`${type.uid} has no drafts`)
  if (documentId === null) return null
  let versions = await findVersions(transaction, type, documentId)
  if (await mergeVersions(context, transaction, operation, versions)) versions = await findVersions(transaction, type, documentId)
  const locales = everywhere ? [...new Set(versions.map((version) => version.locale))] : [operation.locale]
  const entries: Entry[] = []
  let side: StoredVersion | null = null
  for (const [index, locale] of locales.entries()) {
    if (index > 0) versions = await findVersions(transaction, type, documentId)
    const draft = versions.find((version) => version.published_at === null && version.locale === locale) ?? null
    const published = findPublished(versions, locale)
    const entry = await act(context, transaction, { ...operation, locale }, { documentId, draft, published, versions })
    if (entry !== null) entries.push(entry)
    side = draft ?? published
  }
  // If nothing is published, the document already is in the requested state.
  if (entries.length === 0 && (operation.action !== 'unpublish' || side === null)) return null
  const answer = answers === 'document' ? readResponse(context, transaction, operation, documentId, shown) : null
  if (answer !== null) await transaction.defer(answer)
  return { documentId, entries, answer }
}

/** Publishes the draft. @throws ApiError 400 if it is invalid */
export function publishDocument(context: WriteContext, transaction: Transaction, operation: WriteOperation): Promise<WriteOutcome | null> {
  return inLocales(context, transaction, operation, 'published', publishOne)
}

async function publishOne(
  context: WriteContext,
  transaction: Transaction,
  operation: WriteOperation,
  { documentId, draft, published, versions }: LocaleVersions,
): Promise<Entry | null> {
  const { type } = operation.write
  const { locale } = operation
  const now = writeTime(operation.now, versions)
  if (draft === null) return null
  const publication = { ...operation, publishes: true }
  await checkPublication(context, transaction, publication, draft.id, 'whole', findTakenFor(context, transaction, publication, documentId))
  const writing = createRowContext(context, transaction, operation, null)
  // Clears the mark first, because publishing may set it again.
  clearModified(transaction, type, [draft])
  const made = await publishRow(writing, { type, draft: draft.id, published, touched: new Set(), isWhole: true, now })
  if (published !== null && (published.updated_at ?? 0) > (draft.updated_at ?? 0)) {
    equalizeUpdateTimes(transaction, type, draft.id, made)
  }
  const row: DocumentVersion = { id: made, locale, published_at: now }
  if (context.read.contract.localesShareAlways) await equalizeLocales(writing, type, versions, row, now)
  else await shareWithLocales(writing, type, versions, { id: made, state: 'published', isWhole: true, now })
  const source = { id: draft.id, locale, write: { given: [], before: null, published: null, isFirst: false } }
  const areDraftsShared = context.read.contract.localesShareAlways
  await shareHolders(writing, type, versions, source, { into: 'published', publishesAll: true, areDraftsShared, now })
  await context.outbox?.entry(transaction, 'entry.publish', type, row, now)
  return readEntry(context, transaction, operation, row)
}

/** Removes the published version; links to it become pending. */
export function unpublishDocument(
  context: WriteContext,
  transaction: Transaction,
  operation: WriteOperation,
): Promise<WriteOutcome | null> {
  return inLocales(context, transaction, operation, 'draft', unpublishOne)
}

async function unpublishOne(
  context: WriteContext,
  transaction: Transaction,
  operation: WriteOperation,
  { published, versions }: LocaleVersions,
): Promise<Entry | null> {
  const { type } = operation.write
  if (published === null) return null
  const entry = await readEntry(context, transaction, operation, published)
  await context.outbox?.entry(transaction, 'entry.unpublish', type, published, operation.now)
  // A type without its former locales may have several; reads would show the next one.
  const gone = versions.filter(({ published_at, locale }) => published_at !== null && locale === published.locale)
  for (const version of gone) keepPendingLinks(transaction, context.read.model, type, version)
  await removeRows(
    createRowContext(context, transaction, operation, null),
    type,
    gone.map(({ id }) => id),
  )
  return entry
}

/** Overwrites the draft with the published version. */
export function discardDraft(context: WriteContext, transaction: Transaction, operation: WriteOperation): Promise<WriteOutcome | null> {
  return inLocales(context, transaction, operation, 'draft', discardOne)
}

async function discardOne(
  context: WriteContext,
  transaction: Transaction,
  operation: WriteOperation,
  { draft, published, versions }: LocaleVersions,
): Promise<Entry | null> {
  const { type } = operation.write
  if (draft === null || published === null) return null
  const writing: RowContext = { ...createRowContext(context, transaction, operation, null), targetSide: 'draft' }
  const now = writeTime(operation.now, versions)
  const isAlone = !type.localized || versions.every((version) => version.locale === draft.locale)
  const given = isAlone ? [] : getSharedHolders(writing.model, type)
  const read = () => readComponents(transaction, writing.model, { shape: type, id: draft.id }, given)
  const before = await read()
  await restoreDraft(writing, type, draft.id, published.id)
  clearModified(transaction, type, [draft])
  await equalizeLocales(writing, type, versions, draft, now)
  if (!isEqual(before, await read())) {
    const source = { id: draft.id, locale: draft.locale, write: { given, before, published: null, isFirst: false } }
    await shareHolders(writing, type, versions, source, {
      into: 'drafts',
      publishesAll: false,
      areDraftsShared: context.read.contract.localesShareAlways,
      now,
    })
  }
  await context.outbox?.entry(transaction, 'entry.draft-discard', type, draft, operation.now)
  return readEntry(context, transaction, operation, draft)
}
