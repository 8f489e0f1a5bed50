// Updates a document in one locale. The change is computed first, as a plain value; then it is applied to the version, its published row,
// and attributes shared with other locales.
import type { DocumentState, Transaction } from '../../database/database.js'
import { hasConditions, hiddenAttributes } from '../../model/schema/conditions.js'
import { getComponents } from '../../model/schema/graph.js'
import { type Attribute, assertNever, type ContentType } from '../../model/schema/types.js'
import { createDocument, getGiven, insertVersion, prefetchRows, recordWrite } from './create.js'
import { checkTargetsExist } from './guard/missing-targets.js'
import { scalarColumns } from './input/attributes.js'
import { attributeErrors, readInput } from './input/input.js'
import { hasRequiredLinks, isRequiredLink, missingLinks } from './input/relations.js'
import type { Input } from './input/types.js'
import { mergeVersions } from './merged-versions.js'
import type { WriteContext, WriteOperation, WriteOutcome } from './operation.js'
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
import { getSharedHolders, readSharedWrite, type SharedWrite } from './publish/non-localized-components.js'
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
  /** As requested, with the time of the write. */
  readonly operation: WriteOperation
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
export async function updateDocument(context: WriteContext, transaction: Transaction, asked: WriteOperation): Promise<WriteOutcome | null> {
  const { documentId } = asked
  const { type } = asked.write
  if (documentId === null) return createDocument(context, transaction, asked)
  const { versions, isMerged } = await findVersionsToUpdate(context, transaction, asked, documentId)
  if (versions.length === 0) return null
  const operation = { ...asked, now: writeTime(asked.now, versions) }
  const target = toTarget(operation, versions)
  const stored = await readStored(context, transaction, type, target, versions)
  const input = await readUpdate(context, transaction, operation, documentId, target, stored)
  const change = toChange(operation, documentId, versions, target, input, stored)
  const isNew = target.kind === 'newLocale'
  const known = await prefetchRows(context, transaction, operation, input, isNew ? type : null)
  const writing = createRowContext(context, transaction, operation, input, known)
  // Before the new version exists, because its relations may name it.
  if (isNew) await checkTargetsExist(transaction, context.read.model, operation, type, operation.data, writing.resolving)
  const before = await readSharedBefore(context, transaction, type, versions, isNew ? null : target.row, change.touched)
  const publishesAll = change.publishes === 'all'
  const rows = { current: isNew ? null : target.row, published: publishesAll ? change.published : null, publishesAll }
  const shared = await readSharedWrite(writing, type, versions, rows, change.touched)
  const id = await writeVersion(context, writing, change)
  if (!isMerged && touchesOneDocument(change)) transaction.history.writesOneDocumentOnly()
  const published = await publish(context, writing, change, id)
  // As in Strapi, the response shows the other locales before the write.
  const outcome = await toOutcome(context, transaction, change, id, published)
  await writeOtherLocales(context, writing, change, { id, published, before, shared })
  return outcome
}

/**
 * Finds the versions of the document and merges duplicates. If the write publishes, also finds out whether the draft is modified, at less
 * cost if this process left it in sync.
 */
async function findVersionsToUpdate(
  context: WriteContext,
  transaction: Transaction,
  operation: WriteOperation,
  documentId: string,
): Promise<{ readonly versions: readonly StoredVersion[]; readonly isMerged: boolean }> {
  const { read, inSync } = context
  const { publishes, locale, write } = operation
  const { type } = write
  const find = (synced: DocumentState | null) => {
    const differs = () => modifiedCondition(transaction.dialect, read.model, type)
    return findVersions(transaction, type, documentId, publishes && type.draftAndPublish ? { locale, differs: differs(), synced } : null)
  }
  const versions = await find(inSync.momentOf(toDraftKey(type.uid, documentId, locale)) ?? null)
  const isMerged = await mergeVersions(context, transaction, operation, versions)
  return { versions: isMerged ? await find(null) : versions, isMerged }
}

function toTarget({ write: { type }, locale, data }: WriteOperation, versions: readonly StoredVersion[]): Target {
  const row = versions.find((version) => version.locale === locale && (!type.draftAndPublish || version.published_at === null))
  return row === undefined ? { kind: 'newLocale', inherited: getInherited(type, data) } : { kind: 'existing', row }
}

/** Stored values for conditions on attributes missing from the body; null if not needed. */
async function readStored(
  context: WriteContext,
  transaction: Transaction,
  type: ContentType,
  target: Target,
  versions: readonly StoredVersion[],
): Promise<WholeRow | null> {
  const { read, plans } = context
  if (!hasConditions(read.model, type)) return null
  const row = target.kind === 'existing' ? target.row : findInheritance(context, versions)
  if (row === undefined) return null
  const whole = await readWhole(read.model, plans, transaction, type, row.id, 'values')
  if (whole === null || target.kind === 'existing') return whole
  return Object.fromEntries(Object.entries(whole).filter(([name]) => target.inherited.has(name)))
}

/** @throws ApiError 400 for invalid data */
async function readUpdate(
  context: WriteContext,
  transaction: Transaction,
  operation: WriteOperation,
  documentId: string,
  target: Target,
  stored: WholeRow | null,
): Promise<Input> {
  const { write, data, trials } = operation
  const inherited = target.kind === 'newLocale' ? target.inherited : new Set<string>()
  const options = { ...toInputOptions(operation, target.kind === 'newLocale'), inherited, stored }
  const input = { ...context.input, uid: write.type.uid, trials }
  return readInput(input, write.type, data, options, findTakenFor(context, transaction, operation, documentId))
}

function toChange(
  operation: WriteOperation,
  documentId: string,
  versions: readonly StoredVersion[],
  target: Target,
  input: Input,
  stored: WholeRow | null,
): Change {
  const { publishes, locale } = operation
  const { draftAndPublish } = operation.write.type
  const isInSync = target.kind === 'existing' && target.row.modified === 0
  return {
    ...{ operation, documentId, versions, target, input, stored },
    published: draftAndPublish ? findPublished(versions, locale) : null,
    touched: getGiven(input),
    publishes: !draftAndPublish || !publishes ? 'nothing' : isInSync ? 'touched' : 'all',
  }
}

/** Writes the draft, or the only row of a type without drafts. Returns its id. @throws ApiError 400, 403 */
async function writeVersion(context: WriteContext, writing: RowContext, change: Change): Promise<number> {
  const { operation, documentId, versions, target, input } = change
  const { type } = operation.write
  switch (target.kind) {
    case 'newLocale': {
      await checkLocale(context, writing.transaction, operation)
      // A collation may match another spelling of the id.
      const id = await insertVersion(writing, operation, versions[0]?.document_id ?? documentId, input)
      await fillNewLocale(context, writing, type, versions, id, target.inherited)
      return id
    }
    case 'existing':
      await overwriteVersion(writing, change, target.row)
      return target.row.id
    default:
      return assertNever(target)
  }
}

async function overwriteVersion(
  writing: RowContext,
  { operation, versions, published, input, publishes }: Change,
  row: StoredVersion,
): Promise<void> {
  const { transaction, hashPassword } = writing
  const { type } = operation.write
  const differs = published !== null && publishes === 'nothing'
  // Strapi compares times: a modified draft is later than its published version.
  const saved = differs ? Math.max(operation.now, (published.updated_at ?? 0) + 1) : operation.now
  updateRow(transaction, type.table, row.id, {
    ...(await scalarColumns(input, hashPassword)),
    updated_at: saved,
    // As in Strapi, a write publishes documents of types without drafts.
    ...(type.draftAndPublish || isFormerDraft(row, versions) ? {} : { published_at: operation.now }),
    ...(operation.policy === null ? {} : { updated_by_id: operation.policy.writerId }),
  })
  await writeBelow(writing, { shape: type, id: row.id }, input, false)
  if (differs && row.drifted === 0) markModified(transaction, type, [row.id])
}

/** True if a row is still the draft of another one: publishing it would make them duplicates. */
const isFormerDraft = (row: StoredVersion, versions: readonly StoredVersion[]): boolean =>
  row.published_at === null && versions.some(({ published_at, locale }) => published_at !== null && locale === row.locale)

/** True if no other document changes. Relations change other documents, as do pending links on first publication. */
function touchesOneDocument({ operation, versions, target, published, input, touched, publishes }: Change): boolean {
  const { type } = operation.write
  const reachesLocales = mayDiffer(type, versions, touched) && versions.some((version) => version.locale !== operation.locale)
  const isAlone = target.kind === 'existing' && input.relations.size === 0 && !reachesLocales
  return isAlone && (publishes === 'nothing' || (publishes === 'touched' && published !== null))
}

/** Publishes as the change requires. Returns the id of the published row, or null. @throws ApiError 400 for an invalid draft */
async function publish(context: WriteContext, writing: RowContext, change: Change, id: number): Promise<number | null> {
  const { operation, documentId, target, published, touched, publishes } = change
  const { type } = operation.write
  const { transaction } = writing
  const check = (part: 'whole' | 'part') =>
    checkPublication(context, transaction, operation, id, part, findTakenFor(context, transaction, operation, documentId))
  if (publishes === 'nothing') {
    if (!type.draftAndPublish && target.kind === 'existing') await checkLinksLeft(context, transaction, change, id)
    // On a type without drafts, values inherited from another locale are validated like published ones.
    if (!type.draftAndPublish && target.kind === 'newLocale' && target.inherited.size > 0) await check('whole')
    return null
  }
  await check(publishes === 'all' ? 'whole' : 'part')
  if (target.kind === 'existing') clearModified(transaction, type, [target.row])
  return publishRow(writing, { type, draft: id, published, touched, isWhole: publishes === 'all', now: operation.now })
}

/** On a type without drafts, checks whether a change removes the last required link, or reveals a missing one. @throws ApiError 400 */
async function checkLinksLeft(
  context: WriteContext,
  transaction: Transaction,
  { operation, touched, stored }: Change,
  id: number,
): Promise<void> {
  const { model } = context.read
  const { type } = operation.write
  if (context.input.strictRelations !== true || !hasRequiredLinks(model, type)) return
  const hidden = stored === null ? new Set<string>() : hiddenAttributes(type, stored)
  const holdsLinks = (attribute: Attribute) => isRequiredLink(attribute) || getComponents(model, attribute).length > 0
  const changed = [...type.attributes.values()]
    .filter((attribute) => touched.has(attribute) || hidden.has(attribute.name))
    .filter(holdsLinks)
  if (changed.length === 0) return
  const document = await readWhole(model, context.plans, transaction, type, id, 'required')
  const names = new Set<string | number | undefined>(changed.map(({ name }) => name))
  const missing = missingLinks(context.input, type, document ?? {}).filter(({ path: [name] }) => names.has(name))
  if (missing.length > 0) throw attributeErrors(missing)
}

/** Records the events and reads the response. */
async function toOutcome(
  context: WriteContext,
  transaction: Transaction,
  { operation, documentId, target }: Change,
  id: number,
  published: number | null,
): Promise<WriteOutcome> {
  const { locale, now, write } = operation
  const event = target.kind === 'newLocale' ? 'entry.create' : 'entry.update'
  const row = { id, locale, published_at: write.type.draftAndPublish ? null : now }
  const outcome = await recordWrite(context, transaction, operation, documentId, event, row, published)
  const seen = published !== null && target.kind === 'existing' ? target.row.seen : null
  if (seen === null || seen === undefined) return outcome
  const draft = toDraftKey(write.type.uid, documentId, locale)
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
  context: WriteContext,
  writing: RowContext,
  { operation, versions, target, touched, publishes }: Change,
  { id, published, before, shared }: WrittenRows,
): Promise<void> {
  const { locale, now, write } = operation
  const { type } = write
  const source = { id, locale, write: shared }
  const publishesAll = publishes === 'all'
  if (context.read.contract.localesShareAlways) {
    await equalizeLocales(writing, type, versions, { id, locale, published_at: type.draftAndPublish ? null : now }, now)
    if (published !== null) await equalizeLocales(writing, type, versions, { id: published, locale, published_at: now }, now)
    const into = type.draftAndPublish && published === null ? 'drafts' : 'all'
    await shareHolders(writing, type, versions, source, { into, publishesAll, areDraftsShared: true, now })
    return
  }
  const differs = target.kind === 'newLocale' || mayDiffer(type, versions, touched)
  const reaches = differs && (await reachesOthers(context, writing.transaction, type, before, id))
  // An earlier write may have shared them with the drafts, but not with the published rows.
  if (!reaches && !(publishesAll && target.kind === 'existing')) return
  const state = !type.draftAndPublish ? 'any' : published === null ? 'draft' : 'published'
  const isWhole = shared.given.length === getSharedHolders(writing.model, type).length
  if (reaches) await shareWithLocales(writing, type, versions, { id: published ?? id, state, isWhole, now })
  const into = state === 'any' ? 'all' : state === 'draft' ? 'drafts' : 'published'
  await shareHolders(writing, type, versions, source, { into, publishesAll, areDraftsShared: false, now })
}
