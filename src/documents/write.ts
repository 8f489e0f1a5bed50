// Writing documents: every operation on content, whoever asks for it, is one transaction that starts here.
import type { Transaction } from '../database/database.js'
import { ApiError, forbidden } from '../errors/errors.js'
import { newDocumentId } from '../model/document-id.js'
import type { Attribute, ContentType } from '../model/types.js'
import type { HookAction } from '../public/documents.js'
import type { Row } from '../query/rest/document-version.js'
import { hiddenFrom, isHidden } from './hidden-rows.js'
import { type IdempotencyKey, type IdempotencyKeys, keyOf } from './idempotency.js'
import type { Input } from './input/input.js'
import { readInput } from './input/input.js'
import { checkTargetsExist } from './missing-targets.js'
import type { BegunWrite, WriteContext, WriteOperation, WriteOutcome, WriteResult } from './operation.js'
import { beginWrite, checkLocale, checkPublication, optionsOf, takenFor, writingOf } from './operation.js'
import { discardIn, publishIn, unpublishIn } from './publication.js'
import { publishedOf, publishRow, removeRows } from './publish/publish.js'
import { equalizeLocales, inheritedBy, mayDiffer, newLocale, reachesOthers, shareWithLocales } from './publish/shared-attributes.js'
import { isMeant, resultOf, showEntry } from './results.js'
import { writeBelow } from './store/components.js'
import { clearModified, clearOutOfSync, markModified, modifiedCondition } from './store/modified-drafts.js'
import { prefetchTargets } from './store/prefetch.js'
import type { RowContext } from './store/row-context.js'
import { type Compared, insertRow, momentFor, onlyDocument, updateRow, versionsOf } from './store/rows.js'
import { scalarColumns } from './store/scalar-columns.js'
import { draftName } from './store/synced-drafts.js'
import { withGeneratedUids } from './store/uids.js'

/**
 * Does what is asked, in one transaction, with the hooks of the project around it. Null: there is no such document.
 * @throws ApiError 403, 400, 503
 */
export type DocumentWrites = (asked: BegunWrite) => Promise<WriteResult | null>

const operations: Readonly<
  Record<HookAction, (context: WriteContext, transaction: Transaction, operation: WriteOperation) => Promise<WriteOutcome | null>>
> = {
  create: namedFirst(createIn),
  update: namedFirst(updateIn),
  delete: removeIn,
  publish: publishIn,
  unpublish: unpublishIn,
  discardDraft: discardIn,
}

/** The writes over one model. */
export function openWrites(context: WriteContext, onceKeys: IdempotencyKeys): DocumentWrites {
  const { database, outbox, hooks } = context

  async function perform(begun: WriteOperation, named: IdempotencyKey | null): Promise<WriteResult | null> {
    if (named !== null && hooks !== null) {
      const former = await database.transaction((transaction) => onceKeys.recall(context, transaction, begun, named))
      if (former !== null) return { ...former, answer: await former.answer }
    }
    const operation = hooks === null ? begun : await hooks.before(begun)
    const left = await database.transaction(async (transaction) => {
      const former = named === null ? null : await onceKeys.recall(context, transaction, begun, named)
      if (former !== null) return former
      const done = await execute(context, transaction, operation)
      if (done !== null && named !== null) onceKeys.keep(transaction, begun, named, { ...done, answer: await done.answer })
      return done
    })
    const outcome = left === null ? null : { ...left, answer: await left.answer }
    if (outcome?.synced !== undefined) context.inSync.note(outcome.synced)
    if (outcome === null || outcome.entries.length === 0) return outcome
    outbox?.committed()
    await hooks?.after(operation, outcome)
    return outcome
  }

  return async (asked) => {
    const operation = await beginWrite(context, asked)
    const once = asked.once?.() ?? null
    if (once === null) return perform(operation, null)
    const named = keyOf(once, operation)
    return onceKeys.alone(named, () => perform(operation, named))
  }
}

/** Does what is asked in its transaction, within the scope of the caller. Null: there is no such document. @throws ApiError 403, 400 */
export async function execute(context: WriteContext, transaction: Transaction, operation: WriteOperation): Promise<WriteOutcome | null> {
  const { type } = operation.write
  const documentId = operation.documentId ?? (await onlyDocument(transaction, type))
  const run = operation.grants.scopes.has(type.uid) ? withinScope : operations[operation.action]
  // The moment of its turn: a later commit has a later one, however long hooks took.
  return run(context, transaction, { ...operation, documentId, now: Date.now() })
}

type Run = (context: WriteContext, transaction: Transaction, operation: WriteOperation) => Promise<WriteOutcome | null>

const nowhere: Run = () => Promise.resolve(null)

/** Does what is asked within the scope of the caller. A document outside of it is not there. @throws ApiError 403 if one would leave it */
const withinScope: Run = async (context, transaction, operation) => {
  const { action, documentId, grants } = operation
  const { type } = operation.write
  const isOut = (document: string) => isHidden(context, transaction, grants, type, document)
  if (documentId !== null && (await isOut(documentId)))
    return (action === 'update' ? namedFirst(nowhere) : operations[action])(context, transaction, { ...operation, documentId: null })
  const outcome = await operations[action](context, transaction, operation)
  if (outcome !== null && action !== 'delete' && (await isOut(outcome.documentId))) throw forbidden()
  return outcome
}

/** A write that, where it is refused or finds no document, first tells which document that its body names is not there. */
function namedFirst(run: Run): Run {
  return async (context, transaction, operation) => {
    const refuse = async () => {
      const { resolving } = writingOf(context, transaction, operation, null)
      await checkTargetsExist(transaction, context.read.model, operation.grants, operation.write.type, operation.data, resolving)
    }
    try {
      const outcome = await run(context, transaction, operation)
      if (outcome === null) await refuse()
      return outcome
    } catch (error) {
      if (error instanceof ApiError) await refuse()
      throw error
    }
  }
}

/** Looks up the rows that a body names, and reserves ids for those that the write makes. */
function namedRows(
  context: WriteContext,
  transaction: Transaction,
  operation: WriteOperation,
  input: Input,
  newRowsOf: ContentType | null,
) {
  const isPublished = operation.publishes && operation.write.type.draftAndPublish
  const hidden = operation.grants.scopes.size === 0 ? null : hiddenFrom(context, transaction, operation.grants)
  return prefetchTargets(transaction, context.read.model, input, newRowsOf, isPublished, hidden)
}

async function createIn(context: WriteContext, transaction: Transaction, operation: WriteOperation): Promise<WriteOutcome> {
  const { model, contract } = context.read
  const { locale, now, trials } = operation
  const { type } = operation.write
  await checkLocale(context, transaction, operation)
  const data = contract.generateUids ? await withGeneratedUids(transaction, type, operation.data) : operation.data
  const documentId = operation.createdId ?? newDocumentId()
  const findTaken = takenFor(context, transaction, operation, documentId)
  const input = await readInput({ model, contract, trials }, type, data, optionsOf(operation, true), findTaken)
  const writing = writingOf(context, transaction, operation, input, await namedRows(context, transaction, operation, input, type))
  const id = await insertVersion(writing, operation, documentId, input)
  const created: Row = { id, locale, published_at: type.draftAndPublish ? null : now }
  if (input.relations.size === 0) transaction.history.touchesOneDocument()
  if (!type.draftAndPublish || !operation.publishes)
    return written(context, transaction, operation, documentId, 'entry.create', created, null)
  // Asked before anything is published, answered with all the rest.
  const isFit = checkPublication(context, transaction, operation, id, 'new', findTaken)
  isFit.catch(() => {})
  const published = await publishRow(writing, type, id, null, filledBy(input), false, now, true)
  const outcome = await written(context, transaction, operation, documentId, 'entry.create', created, published)
  await transaction.defer(isFit)
  return outcome
}

async function updateIn(context: WriteContext, transaction: Transaction, asked: WriteOperation): Promise<WriteOutcome | null> {
  const { model, contract } = context.read
  const { documentId, locale } = asked
  const { type } = asked.write
  if (documentId === null) return createIn(context, transaction, asked)
  const draft = draftName(type.uid, documentId, locale)
  const compared = asked.publishes && type.draftAndPublish ? comparing(context, transaction, type, locale, draft) : null
  const versions = await versionsOf(transaction, type, documentId, compared)
  if (versions.length === 0) return null
  const operation = { ...asked, now: momentFor(asked.now, versions) }
  const { now } = operation
  const current = versions.find((version) => version.locale === locale && (!type.draftAndPublish || version.published_at === null))
  const isCreation = current === undefined
  const inherited = isCreation ? inheritedBy(type, operation.data) : new Set<string>()
  const options = { ...optionsOf(operation, isCreation), inherited }
  const findTaken = takenFor(context, transaction, operation, documentId)
  const input = await readInput({ model, contract, trials: asked.trials }, type, operation.data, options, findTaken)
  const known = await namedRows(context, transaction, operation, input, isCreation ? type : null)
  const writing = writingOf(context, transaction, operation, input, known)
  // Before a new version is there, which its own relations may name.
  if (isCreation) await checkTargetsExist(transaction, model, operation.grants, type, operation.data, writing.resolving)
  const touched = touchedBy(input)
  const reaches = await reachesOthers(context, transaction, type, versions, current, touched)
  const former = type.draftAndPublish ? publishedOf(versions, locale) : null
  let id: number
  if (current === undefined) {
    await checkLocale(context, transaction, operation)
    // A collation may hold another spelling of the id for the same.
    id = await insertVersion(writing, operation, versions[0]?.document_id ?? documentId, input)
    await newLocale(context, writing, type, versions, id, inherited)
  } else {
    id = current.id
    // Strapi compares times: a draft that is saved is later than its publication.
    const saved = former === null || operation.publishes ? now : Math.max(now, (former.updated_at ?? 0) + 1)
    updateRow(transaction, type.table, id, { ...(await scalarColumns(input, context.hashPassword)), updated_at: saved })
    await writeBelow(writing, { shape: type, id }, input, false)
    if (former !== null && !operation.publishes && current.drifted === 0) markModified(transaction, type, [id])
  }
  const event = isCreation ? 'entry.create' : 'entry.update'
  const changed: Row = { id, locale, published_at: type.draftAndPublish ? null : now }
  let published: number | null = null
  const isWhole = isCreation || current.modified !== 0
  // Relations are lists of other documents too, those that wait for a first publication included.
  const reachesLocales = mayDiffer(type, versions, touched) && versions.some((version) => version.locale !== locale)
  const isAlone = !isCreation && input.relations.size === 0 && !reachesLocales
  if (isAlone && (!operation.publishes || !type.draftAndPublish || (former !== null && !isWhole))) transaction.history.touchesOneDocument()
  if (type.draftAndPublish && operation.publishes) {
    await checkPublication(context, transaction, operation, id, isWhole ? 'whole' : 'part', findTaken)
    if (current !== undefined) clearModified(transaction, type, [current])
    published = await publishRow(writing, type, id, former, touched, isWhole, now)
  } else if (inherited.size > 0 && !type.draftAndPublish) {
    await checkPublication(context, transaction, operation, id, 'whole', findTaken)
  }
  // As in Strapi, the answer shows the other locales as they were.
  const synced = published === null || current?.seen == null ? {} : { synced: { draft, moment: transaction.history.moment(current.seen) } }
  const outcome = { ...(await written(context, transaction, operation, documentId, event, changed, published)), ...synced }
  if (contract.localesShareAlways) {
    await equalizeLocales(writing, type, versions, changed)
    if (published !== null) await equalizeLocales(writing, type, versions, { ...changed, id: published, published_at: now })
    return outcome
  }
  if (!isCreation && !mayDiffer(type, versions, touched)) return outcome
  if (!(await reaches(id))) return outcome
  const state = !type.draftAndPublish ? 'any' : published === null ? 'draft' : 'published'
  await shareWithLocales(writing, type, versions, published ?? id, state)
  return outcome
}

/** How a draft is compared with its publication: with less where this process has left them in sync. */
function comparing(
  { read: { model }, inSync }: WriteContext,
  { dialect }: Transaction,
  type: ContentType,
  locale: string | null,
  draft: string,
): Compared {
  return { locale, differs: modifiedCondition(dialect, model, type), synced: inSync.momentOf(draft) ?? null }
}

/** What a create or an update leaves: events, and the outcome, which is about the published row where there is one. */
async function written(
  context: WriteContext,
  transaction: Transaction,
  operation: WriteOperation,
  documentId: string,
  event: 'entry.create' | 'entry.update',
  row: Row,
  published: number | null,
): Promise<WriteOutcome> {
  const { outbox } = context
  const { write, locale, now } = operation
  const shown = published === null ? row : { id: published, locale, published_at: now }
  await outbox?.entry(transaction, event, write.type, row, now)
  if (published !== null) await outbox?.entry(transaction, 'entry.publish', write.type, shown, now)
  return resultOf(context, transaction, operation, documentId, shown)
}

async function removeIn(context: WriteContext, transaction: Transaction, operation: WriteOperation): Promise<WriteOutcome | null> {
  const { documentId, everywhere, locale } = operation
  const { type } = operation.write
  if (documentId === null || !(await isMeant(context, transaction, operation, documentId))) return null
  const versions = await versionsOf(transaction, type, documentId)
  const meant = versions.filter((version) => everywhere || !type.localized || version.locale === locale)
  if (meant.length === 0) return null
  const locales = new Set(meant.map((version) => version.locale))
  const gone = [...locales].flatMap((each) => meant.filter((version) => version.locale === each))
  const entries = []
  for (const row of gone) {
    entries.push(await showEntry(context, transaction, operation, row))
    await context.outbox?.entry(transaction, 'entry.delete', type, row, operation.now)
  }
  const ids = gone.map(({ id }) => id)
  await removeRows(writingOf(context, transaction, operation, null), type, ids, type.draftAndPublish ? gone : [])
  if (gone.length === versions.length) clearOutOfSync(transaction, type, gone)
  return { documentId, entries, answer: null }
}

/** Inserts the first row of a document in a locale: a draft, or the only row of a type without drafts. */
async function insertVersion(writing: RowContext, operation: WriteOperation, documentId: string, input: Input): Promise<number> {
  const { type } = operation.write
  const id = await insertRow(writing.transaction, type.table, {
    document_id: documentId,
    ...(await scalarColumns(input, writing.hashPassword)),
    created_at: operation.now,
    updated_at: operation.now,
    published_at: type.draftAndPublish ? null : operation.now,
    locale: operation.locale,
  })
  await writeBelow(writing, { shape: type, id }, input, true)
  return id
}

const touchedBy = ({ scalars, components, zones, relations, media }: Input): ReadonlySet<Attribute> =>
  new Set<Attribute>([...scalars.keys(), ...components.keys(), ...zones.keys(), ...relations.keys(), ...media.keys()])

/** What a new row has below it: lists that are given or left empty have nothing. */
function filledBy(input: Input): ReadonlySet<Attribute> {
  const isEmpty = (attribute: Attribute): boolean =>
    (attribute.kind === 'component' && input.components.get(attribute)?.length === 0) ||
    (attribute.kind === 'dynamiczone' && input.zones.get(attribute)?.length === 0)
  return new Set([...touchedBy(input)].filter((attribute) => !isEmpty(attribute)))
}
