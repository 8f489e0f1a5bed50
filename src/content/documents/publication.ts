// Publish, unpublish and discard: copy between draft and published version of a document, in one locale or in all.
import { ApiError, inputError } from '../../foundation/errors/errors.js'
import type { DocumentVersion } from '../../query/rest/versions.js'
import { mergeVersions } from './merged-versions.js'
import type { Entry, WriteOutcome, WriteScope } from './operation.js'
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
type ActInLocale = (scope: WriteScope, state: LocaleVersions) => Promise<Entry | null>

/** Acts in the locale of the operation, or in all locales of the document. @throws ApiError 400 for types without drafts */
async function inLocales(scope: WriteScope, shown: 'draft' | 'published', act: ActInLocale): Promise<WriteOutcome | null> {
  const { transaction, operation, type } = scope
  const { documentId, everywhere } = operation
  if (!type.draftAndPublish) throw inputError(`${type.uid} has no drafts`, [], 'unsupported')
  if (documentId === null) return null
  let versions = await findVersions(transaction, type, documentId)
  if (await mergeVersions(scope, versions)) versions = await findVersions(transaction, type, documentId)
  const locales = everywhere ? [...new Set(versions.map((version) => version.locale))] : [operation.locale]
  const entries: Entry[] = []
  let side: StoredVersion | null = null
  for (const [index, locale] of locales.entries()) {
    if (index > 0) versions = await findVersions(transaction, type, documentId)
    const draft = versions.find((version) => version.published_at === null && version.locale === locale) ?? null
    const published = findPublished(versions, locale)
    const entry = await act({ ...scope, operation: { ...operation, locale } }, { documentId, draft, published, versions }).catch(
      (error) => {
        throw error instanceof ApiError && everywhere ? error.inLocale(locale) : error
      },
    )
    if (entry !== null) entries.push(entry)
    side = draft ?? published
  }
  // If nothing is published, the document already is in the requested state.
  if (entries.length === 0 && (operation.action !== 'unpublish' || side === null)) return null
  const answer = operation.write.answers === 'document' ? readResponse(scope, documentId, shown) : null
  if (answer !== null) await transaction.defer(answer)
  return { documentId, entries, answer }
}

/** Publishes the draft. @throws ApiError 400 if it is invalid */
export const publishDocument = (scope: WriteScope) => inLocales(scope, 'published', publishOne)

async function publishOne(scope: WriteScope, { documentId, draft, published, versions }: LocaleVersions): Promise<Entry | null> {
  const { transaction, operation, type } = scope
  const { locale } = operation
  const now = writeTime(operation.now, versions)
  if (draft === null) return null
  const publication = { ...scope, operation: { ...operation, publishes: true } }
  await checkPublication(publication, draft.id, 'whole', findTakenFor(publication, documentId))
  const writing = createRowContext(scope, null)
  // Clears the mark first, because publishing may set it again.
  clearModified(transaction, type, [draft])
  const made = await publishRow(writing, { type, draft: draft.id, published, touched: new Set(), isWhole: true, now })
  if (published !== null && (published.updated_at ?? 0) > (draft.updated_at ?? 0)) {
    equalizeUpdateTimes(transaction, type, draft.id, made)
  }
  const row: DocumentVersion = { id: made, locale, published_at: now }
  const document = { writing, type, versions, now }
  const areDraftsShared = scope.read.contract.localesShareAlways
  if (areDraftsShared) await equalizeLocales(document, row)
  else await shareWithLocales(document, { id: made, state: 'published', isWhole: true })
  const source = { id: draft.id, locale, write: { given: [], before: null, published: null, isFirst: false } }
  await shareHolders(document, source, { into: 'published', publishesAll: true, areDraftsShared })
  await scope.outbox?.entry(transaction, 'entry.publish', type, row, { ...operation, now })
  return readEntry(scope, row)
}

/** Removes the published version; links to it become pending. */
export const unpublishDocument = (scope: WriteScope) => inLocales(scope, 'draft', unpublishOne)

async function unpublishOne(scope: WriteScope, { published, versions }: LocaleVersions): Promise<Entry | null> {
  const { transaction, operation, type } = scope
  if (published === null) return null
  const entry = await readEntry(scope, published)
  await scope.outbox?.entry(transaction, 'entry.unpublish', type, published, operation)
  // A type without its former locales may have several; reads would show the next one.
  const gone = versions.filter(({ published_at, locale }) => published_at !== null && locale === published.locale)
  for (const version of gone) keepPendingLinks(transaction, scope.read.model, type, version)
  await removeRows(
    createRowContext(scope, null),
    type,
    gone.map(({ id }) => id),
  )
  return entry
}

/** Overwrites the draft with the published version. */
export const discardDraft = (scope: WriteScope) => inLocales(scope, 'draft', discardOne)

async function discardOne(scope: WriteScope, { draft, published, versions }: LocaleVersions): Promise<Entry | null> {
  const { transaction, operation, type } = scope
  if (draft === null || published === null) return null
  const writing: RowContext = { ...createRowContext(scope, null), targetSide: 'draft' }
  const now = writeTime(operation.now, versions)
  const isAlone = !type.localized || versions.every((version) => version.locale === draft.locale)
  const given = isAlone ? [] : getSharedHolders(writing.model, type)
  const read = () => readComponents(transaction, writing.model, { shape: type, id: draft.id }, given)
  const before = await read()
  await restoreDraft(writing, type, draft.id, published.id)
  clearModified(transaction, type, [draft])
  const document = { writing, type, versions, now }
  await equalizeLocales(document, draft)
  if (!isEqual(before, await read())) {
    const source = { id: draft.id, locale: draft.locale, write: { given, before, published: null, isFirst: false } }
    await shareHolders(document, source, {
      into: 'drafts',
      publishesAll: false,
      areDraftsShared: scope.read.contract.localesShareAlways,
    })
  }
  await scope.outbox?.entry(transaction, 'entry.draft-discard', type, draft, operation)
  return readEntry(scope, draft)
}
