// Creates a document: its first row in a locale, and the published row if the write publishes. An update that adds a locale inserts its row
// in the same way.
import type { Transaction } from '../../database/database.js'
import { newDocumentId } from '../../model/schema/names.js'
import type { Attribute, ContentType } from '../../model/schema/types.js'
import type { DocumentVersion } from '../../query/rest/versions.js'
import { findUnnameable } from './guard/hidden-rows.js'
import { scalarColumns } from './input/attributes.js'
import { readInput } from './input/input.js'
import type { Input } from './input/types.js'
import type { WriteContext, WriteOperation, WriteOutcome } from './operation.js'
import { checkLocale, checkPublication, createRowContext, findTakenFor, toInputOptions, toWriteOutcome } from './operation.js'
import { publishRow } from './publish/publish.js'
import { writeBelow } from './store/components.js'
import type { RowContext } from './store/row-context.js'
import { insertRow } from './store/rows.js'
import { prefetchTargets } from './store/targets.js'
import { withGeneratedUids } from './store/unique.js'

/** Looks up the rows that an input refers to, and reserves ids for new rows of `newRowsOf` and of components. */
export function prefetchRows(
  context: WriteContext,
  transaction: Transaction,
  operation: WriteOperation,
  input: Input,
  newRowsOf: ContentType | null,
) {
  const isPublished = operation.publishes && operation.write.type.draftAndPublish
  return prefetchTargets(transaction, context.read.model, input, newRowsOf, isPublished, findUnnameable(context, transaction, operation))
}

/**
 * Creates a document.
 * @throws ApiError 400 for invalid data, 403 for targets hidden from the caller
 */
export async function createDocument(context: WriteContext, transaction: Transaction, operation: WriteOperation): Promise<WriteOutcome> {
  const { contract } = context.read
  const { locale, now, trials } = operation
  const { type } = operation.write
  await checkLocale(context, transaction, operation)
  const data = contract.generateUids ? await withGeneratedUids(transaction, type, operation.data) : operation.data
  const documentId = operation.createdId ?? newDocumentId()
  const findTaken = findTakenFor(context, transaction, operation, documentId)
  const input = await readInput({ ...context.input, uid: type.uid, trials }, type, data, toInputOptions(operation, true), findTaken)
  const writing = createRowContext(context, transaction, operation, input, await prefetchRows(context, transaction, operation, input, type))
  const id = await insertVersion(writing, operation, documentId, input)
  const created: DocumentVersion = { id, locale, published_at: type.draftAndPublish ? null : now }
  if (input.relations.size === 0) transaction.history.writesOneDocumentOnly()
  if (!type.draftAndPublish || !operation.publishes)
    return recordWrite(context, transaction, operation, documentId, 'entry.create', created, null)
  // Sent before publication; its result is awaited with the others.
  const isFit = checkPublication(context, transaction, operation, id, 'new', findTaken)
  isFit.catch(() => {})
  const published = await publishRow(writing, {
    type,
    draft: id,
    published: null,
    touched: getFilled(input),
    isWhole: false,
    now,
    isNew: true,
  })
  const outcome = await recordWrite(context, transaction, operation, documentId, 'entry.create', created, published)
  await transaction.defer(isFit)
  return outcome
}

/** Records the events of a create or update, and reads its result, from the published row if there is one. */
export async function recordWrite(
  context: WriteContext,
  transaction: Transaction,
  operation: WriteOperation,
  documentId: string,
  event: 'entry.create' | 'entry.update',
  row: DocumentVersion,
  published: number | null,
): Promise<WriteOutcome> {
  const { outbox } = context
  const { write, locale, now } = operation
  const shown = published === null ? row : { id: published, locale, published_at: now }
  await outbox?.entry(transaction, event, write.type, row, now)
  if (published !== null) await outbox?.entry(transaction, 'entry.publish', write.type, shown, now)
  return toWriteOutcome(context, transaction, operation, documentId, shown)
}

/** Inserts a document's first row in a locale: a draft, or the only row of a type without drafts. */
export async function insertVersion(writing: RowContext, operation: WriteOperation, documentId: string, input: Input): Promise<number> {
  const { type } = operation.write
  const id = await insertRow(writing.transaction, type.table, {
    document_id: documentId,
    ...(await scalarColumns(input, writing.hashPassword)),
    created_at: operation.now,
    updated_at: operation.now,
    published_at: type.draftAndPublish ? null : operation.now,
    locale: operation.locale,
    ...(operation.policy === null ? {} : { created_by_id: operation.policy.writerId, updated_by_id: operation.policy.writerId }),
  })
  await writeBelow(writing, { shape: type, id }, input, true)
  return id
}

export const getGiven = ({ scalars, components, zones, relations, media }: Input): ReadonlySet<Attribute> =>
  new Set<Attribute>([...scalars.keys(), ...components.keys(), ...zones.keys(), ...relations.keys(), ...media.keys()])

/** Given attributes, except empty lists. */
function getFilled(input: Input): ReadonlySet<Attribute> {
  const isEmpty = (attribute: Attribute): boolean =>
    (attribute.kind === 'component' && input.components.get(attribute)?.length === 0) ||
    (attribute.kind === 'dynamiczone' && input.zones.get(attribute)?.length === 0)
  return new Set([...getGiven(input)].filter((attribute) => !isEmpty(attribute)))
}
