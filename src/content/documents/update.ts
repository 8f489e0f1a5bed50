// Updates a document in one locale. The change is computed first, as a plain value; then it is applied to the version, its published row,
// and attributes shared with other locales.
import type { DocumentState } from '../../database/database.js'
import { bindTimestamp } from '../../database/portable-sql.js'
import { hasConditions, hiddenAttributes } from '../../model/schema/conditions.js'
import { getComponents } from '../../model/schema/graph.js'
import { type Attribute, assertNever } from '../../model/schema/types.js'
import { createDocument, getGiven, insertVersion, prefetchRows, recordWrite } from './create.js'
import { checkTargetsExist } from './guard/missing-targets.js'
import { scalarColumns } from './input/attributes.js'
import { attributeErrors, readInput } from './input/input.js'
import { hasRequiredLinks, isRequiredLink, missingLinks } from './input/relations.js'
import type { Input } from './input/types.js'
import { mergeVersions } from './merged-versions.js'
import type { WriteOutcome, WriteScope } from './operation.js'
import { checkLocale, checkPublication, createRowContext, findTakenFor, toInputOptions } from './operation.js'
import type { SharedBefore } from './publish/non-localized.js'
import {
  equalizeLocales,
  fillNewLocale,
  findInheritance,
  getInherited,
  mayDiffer,
  reachesOthers,
  readSharedBefore,
  shareHolders,
  shareWithLocales,
} from './publish/non-localized.js'
import { type DocumentVersions, getSharedHolders, readSharedWrite, type SharedWrite } from './publish/non-localized-components.js'
import { findPublished, publishRow } from './publish/publish.js'
import { readWhole, type WholeRow } from './read/find.js'
import { writeBelow } from './store/components.js'
import type { RowContext } from './store/row-context.js'
import {
  clearModified,
  findVersions,
  markModified,
  modifiedCondition,
  type StoredVersion,
  toDraftKey,
  updateRow,
  writeTime,
} from './store/rows.js'

/** The row to update: the existing one in the locale, or a new one that inherits attributes from other locales. */
type Target =
  | { readonly kind: 'existing'; readonly row: StoredVersion }
  | { readonly kind: 'newLocale'; readonly inherited: ReadonlySet<string> }

interface Change {
  readonly scope: WriteScope
  readonly documentId: string
  /** All versions of the document before the write. */
  readonly versions: readonly StoredVersion[]
  readonly target: Target
  /** The published version in the locale before the write. */
  readonly published: StoredVersion | null
  readonly input: Input
  /** Former values, for conditions; null if not needed. */
  readonly stored: WholeRow | null
  /** Given attributes. */
  readonly touched: ReadonlySet<Attribute>
  /** What is published: nothing, the given attributes, or all, because the draft may have other unpublished changes. */
  readonly publishes: 'nothing' | 'touched' | 'all'
}

/**
 * Updates a document. Null if it does not exist; a missing single type is created.
 * @throws ApiError 400 for invalid data or an invalid draft, 403 for targets hidden from the caller
 */
export async function updateDocument(asked: WriteScope): Promise<WriteOutcome | null> {
  const { transaction, type } = asked
  const { documentId } = asked.operation
  if (documentId === null) return createDocument(asked)
  const { versions, isMerged } = await findVersionsToUpdate(asked, documentId)
  if (versions.length === 0) return null
  const scope = { ...asked, operation: { ...asked.operation, now: writeTime(asked.operation.now, versions) } }
  const target = toTarget(scope, versions)
  const stored = await readStored(scope, target, versions)
  const input = await readUpdate(scope, documentId, target, stored)
  const change = toChange(scope, documentId, versions, target, input, stored)
  const isNew = target.kind === 'newLocale'
  const writing = createRowContext(scope, input, await prefetchRows(scope, input, isNew ? type : null))
  // Before the new version exists, because its relations may name it.
  if (isNew) await checkTargetsExist(writing, scope.operation)
  const before = await readSharedBefore(scope, type, versions, isNew ? null : target.row, change.touched)
  const publishesAll = change.publishes === 'all'
  const rows = { current: isNew ? null : target.row, published: publishesAll ? change.published : null, publishesAll }
  const document = { writing, type, versions, now: scope.operation.now }
  const shared = await readSharedWrite(document, rows, change.touched)
  const id = await writeVersion(document, change)
  if (!isMerged && touchesOneDocument(change)) transaction.history.writesOneDocumentOnly()
  const published = await publish(writing, change, id)
  // As in Strapi, the response shows the other locales before the write.
  const outcome = await toOutcome(change, id, published)
  await writeOtherLocales(document, change, { id, published, before, shared })
  return outcome
}

/**
 * Finds the versions of the document and merges duplicates. If the write publishes, also finds out whether the draft is modified, at less
 * cost if this process left it in sync.
 */
async function findVersionsToUpdate(
  scope: WriteScope,
  documentId: string,
): Promise<{ readonly versions: readonly StoredVersion[]; readonly isMerged: boolean }> {
  const { read, inSync, transaction, type } = scope
  const { publishes, locale } = scope.operation
  const find = (synced: DocumentState | null) => {
    const differs = () => modifiedCondition(transaction.dialect, read.model, type)
    return findVersions(transaction, type, documentId, publishes && type.draftAndPublish ? { locale, differs: differs(), synced } : null)
  }
  const versions = await find(inSync.momentOf(toDraftKey(type.uid, documentId, locale)) ?? null)
  const isMerged = await mergeVersions(scope, versions)
  return { versions: isMerged ? await find(null) : versions, isMerged }
}

function toTarget({ type, operation }: WriteScope, versions: readonly StoredVersion[]): Target {
  const { locale, data } = operation
  const row = versions.find((version) => version.locale === locale && (!type.draftAndPublish || version.published_at === null))
  return row === undefined ? { kind: 'newLocale', inherited: getInherited(type, data) } : { kind: 'existing', row }
}

/** Stored values for conditions on attributes missing from the body; null if not needed. */
async function readStored(scope: WriteScope, target: Target, versions: readonly StoredVersion[]): Promise<WholeRow | null> {
  const { read, type } = scope
  if (!hasConditions(read.model, type)) return null
  const row = target.kind === 'existing' ? target.row : findInheritance(scope, versions)
  if (row === undefined) return null
  const whole = await readWhole(scope, type, row.id, 'values')
  if (whole === null || target.kind === 'existing') return whole
  return Object.fromEntries(Object.entries(whole).filter(([name]) => target.inherited.has(name)))
}

/** @throws ApiError 400 for invalid data */
async function readUpdate(scope: WriteScope, documentId: string, target: Target, stored: WholeRow | null): Promise<Input> {
  const { operation, type } = scope
  const inherited = target.kind === 'newLocale' ? target.inherited : new Set<string>()
  const options = { ...toInputOptions(operation, target.kind === 'newLocale'), inherited, stored }
  const context = { ...scope.input, uid: type.uid, trials: operation.trials }
  return readInput(context, type, operation.data, options, findTakenFor(scope, documentId))
}

function toChange(
  scope: WriteScope,
  documentId: string,
  versions: readonly StoredVersion[],
  target: Target,
  input: Input,
  stored: WholeRow | null,
): Change {
  const { publishes, locale } = scope.operation
  const { draftAndPublish } = scope.type
  const isInSync = target.kind === 'existing' && target.row.modified === 0
  return {
    scope,
    documentId,
    versions,
    target,
    input,
    stored,
    published: draftAndPublish ? findPublished(versions, locale) : null,
    touched: getGiven(input),
    publishes: !draftAndPublish || !publishes ? 'nothing' : isInSync ? 'touched' : 'all',
  }
}

/** Writes the draft, or the only row of a type without drafts. Returns its id. @throws ApiError 400, 403 */
async function writeVersion(document: DocumentVersions, change: Change): Promise<number> {
  const { scope, documentId, versions, target, input } = change
  switch (target.kind) {
    case 'newLocale': {
      await checkLocale(scope)
      // A collation may match another spelling of the id.
      const id = await insertVersion(document.writing, scope.operation, versions[0]?.document_id ?? documentId, input)
      await fillNewLocale(scope, document, id, target.inherited)
      return id
    }
    case 'existing':
      await overwriteVersion(document.writing, change, target.row)
      return target.row.id
    default:
      return assertNever(target)
  }
}

async function overwriteVersion(writing: RowContext, change: Change, row: StoredVersion): Promise<void> {
  const { scope, versions, published, input, publishes } = change
  const { transaction, type } = scope
  const { now, policy } = scope.operation
  const differs = published !== null && publishes === 'nothing'
  // Strapi compares times: a modified draft is later than its published version.
  const saved = differs ? Math.max(now, (published.updated_at ?? 0) + 1) : now
  updateRow(transaction, type.table, row.id, {
    ...(await scalarColumns(input, writing.hashPassword)),
    updated_at: bindTimestamp(saved),
    // As in Strapi, a write publishes documents of types without drafts.
    ...(type.draftAndPublish || isFormerDraft(row, versions) ? {} : { published_at: bindTimestamp(now) }),
    ...(policy === null ? {} : { updated_by_id: policy.writerId }),
  })
  await writeBelow(writing, { shape: type, id: row.id }, input, false)
  if (differs && row.drifted === 0) markModified(transaction, type, [row.id])
}

/** True if a row is still the draft of another one: publishing it would make them duplicates. */
const isFormerDraft = (row: StoredVersion, versions: readonly StoredVersion[]): boolean =>
  row.published_at === null && versions.some(({ published_at, locale }) => published_at !== null && locale === row.locale)

/** True if no other document changes. Relations change other documents, as do pending links on first publication. */
function touchesOneDocument({ scope, versions, target, published, input, touched, publishes }: Change): boolean {
  const { type, operation } = scope
  const reachesLocales = mayDiffer(type, versions, touched) && versions.some((version) => version.locale !== operation.locale)
  const isAlone = target.kind === 'existing' && input.relations.size === 0 && !reachesLocales
  return isAlone && (publishes === 'nothing' || (publishes === 'touched' && published !== null))
}

/** Publishes as the change requires. Returns the id of the published row, or null. @throws ApiError 400 for an invalid draft */
async function publish(writing: RowContext, change: Change, id: number): Promise<number | null> {
  const { scope, documentId, target, published, touched, publishes } = change
  const { transaction, type, operation } = scope
  const check = (part: 'whole' | 'part') => checkPublication(scope, id, part, findTakenFor(scope, documentId))
  if (publishes === 'nothing') {
    if (!type.draftAndPublish && target.kind === 'existing') await checkLinksLeft(change, id)
    // On a type without drafts, values inherited from another locale are validated like published ones.
    if (!type.draftAndPublish && target.kind === 'newLocale' && target.inherited.size > 0) await check('whole')
    return null
  }
  await check(publishes === 'all' ? 'whole' : 'part')
  if (target.kind === 'existing') clearModified(transaction, type, [target.row])
  return publishRow(writing, { type, draft: id, published, touched, isWhole: publishes === 'all', now: operation.now })
}

/** On a type without drafts, checks whether a change removes the last required link, or reveals a missing one. @throws ApiError 400 */
async function checkLinksLeft({ scope, touched, stored }: Change, id: number): Promise<void> {
  const { input, type } = scope
  const { model } = scope.read
  if (input.strictRelations !== true || !hasRequiredLinks(model, type)) return
  const hidden = stored === null ? new Set<string>() : hiddenAttributes(type, stored)
  const holdsLinks = (attribute: Attribute) => isRequiredLink(attribute) || getComponents(model, attribute).length > 0
  const changed = [...type.attributes.values()]
    .filter((attribute) => touched.has(attribute) || hidden.has(attribute.name))
    .filter(holdsLinks)
  if (changed.length === 0) return
  const document = await readWhole(scope, type, id, 'required')
  const names = new Set<string | number | undefined>(changed.map(({ name }) => name))
  const missing = missingLinks(input, type, document ?? {}).filter(({ path: [name] }) => names.has(name))
  if (missing.length > 0) throw attributeErrors(missing)
}

/** Records the events and reads the response. */
async function toOutcome({ scope, documentId, target }: Change, id: number, published: number | null): Promise<WriteOutcome> {
  const { transaction, type } = scope
  const { locale, now } = scope.operation
  const event = target.kind === 'newLocale' ? 'entry.create' : 'entry.update'
  const row = { id, locale, published_at: type.draftAndPublish ? null : now }
  const outcome = await recordWrite(scope, documentId, event, row, published)
  const seen = published !== null && target.kind === 'existing' ? target.row.seen : null
  if (seen === null || seen === undefined) return outcome
  const draft = toDraftKey(type.uid, documentId, locale)
  return { ...outcome, synced: { draft, moment: transaction.history.stateAfter(seen) } }
}

/** Written rows, and the basis for copying them to other locales. */
interface WrittenRows {
  readonly id: number
  readonly published: number | null
  readonly before: SharedBefore
  readonly shared: SharedWrite
}

/** Copies non-localized attributes of the written rows to the other locales. */
async function writeOtherLocales(
  document: DocumentVersions,
  { scope, versions, target, touched, publishes }: Change,
  { id, published, before, shared }: WrittenRows,
): Promise<void> {
  const { type, read } = scope
  const { locale, now } = scope.operation
  const source = { id, locale, write: shared }
  const publishesAll = publishes === 'all'
  if (read.contract.localesShareAlways) {
    await equalizeLocales(document, { id, locale, published_at: type.draftAndPublish ? null : now })
    if (published !== null) await equalizeLocales(document, { id: published, locale, published_at: now })
    const into = type.draftAndPublish && published === null ? 'drafts' : 'all'
    await shareHolders(document, source, { into, publishesAll, areDraftsShared: true })
    return
  }
  const differs = target.kind === 'newLocale' || mayDiffer(type, versions, touched)
  const reaches = differs && (await reachesOthers(scope, type, before, id))
  // An earlier write may have shared them with the drafts, but not with the published rows.
  if (!reaches && !(publishesAll && target.kind === 'existing')) return
  const state = !type.draftAndPublish ? 'any' : published === null ? 'draft' : 'published'
  const isWhole = shared.given.length === getSharedHolders(read.model, type).length
  if (reaches) await shareWithLocales(document, { id: published ?? id, state, isWhole })
  const into = state === 'any' ? 'all' : state === 'draft' ? 'drafts' : 'published'
  await shareHolders(document, source, { into, publishesAll, areDraftsShared: false })
}
