// Creates a document: its first row in a locale, and the published row if requested. Updates that add a locale share this code.
import { bindTimestamp } from '../../database/portable-sql.js'
import { newDocumentId } from '../../model/schema/names.js'
import type { Attribute, ContentType } from '../../model/schema/types.js'
import type { DocumentVersion } from '../../query/rest/versions.js'
import { findUnnameable } from './guard/hidden-rows.js'
import { scalarColumns } from './input/attributes.js'
import { readInput } from './input/input.js'
import type { Input } from './input/types.js'
import type { WriteOperation, WriteOutcome, WriteScope } from './operation.js'
import { checkLocale, checkPublication, createRowContext, findTakenFor, toInputOptions, toWriteOutcome } from './operation.js'
import { publishRow } from './publish/publish.js'
import { writeBelow } from './store/components.js'
import type { RowContext } from './store/row-context.js'
import { insertRow } from './store/rows.js'
import { prefetchTargets } from './store/targets.js'
import { withGeneratedUids } from './store/unique.js'

/** Looks up the rows that an input refers to, and reserves ids for new rows of `newRowsOf` and of components. */
export function prefetchRows(scope: WriteScope, input: Input, newRowsOf: ContentType | null) {
  const { transaction, read, operation, type } = scope
  const isPublished = operation.publishes && type.draftAndPublish
  return prefetchTargets(transaction, read.model, input, newRowsOf, isPublished, findUnnameable(scope, operation))
}

/**
 * Creates a document.
 * @throws ApiError 400 for invalid data, 403 for targets hidden from the caller
 */
export async function createDocument(scope: WriteScope): Promise<WriteOutcome> {
  const { transaction, operation, type } = scope
  const { locale, now, trials } = operation
  await checkLocale(scope)
  const data = scope.read.contract.generateUids ? await withGeneratedUids(transaction, type, operation.data) : operation.data
  const documentId = operation.createdId ?? newDocumentId()
  const findTaken = findTakenFor(scope, documentId)
  const input = await readInput({ ...scope.input, uid: type.uid, trials }, type, data, toInputOptions(operation, true), findTaken)
  const writing = createRowContext(scope, input, await prefetchRows(scope, input, type))
  const id = await insertVersion(writing, operation, documentId, input)
  const created: DocumentVersion = { id, locale, published_at: type.draftAndPublish ? null : now }
  if (input.relations.size === 0) transaction.history.writesOneDocumentOnly()
  if (!type.draftAndPublish || !operation.publishes) return recordWrite(scope, documentId, 'entry.create', created, null)
  // Sent before publication; its result is awaited with the others.
  const isFit = checkPublication(scope, id, 'new', findTaken)
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
  const outcome = await recordWrite(scope, documentId, 'entry.create', created, published)
  await transaction.defer(isFit)
  return outcome
}

/** Records the events of a create or update, and reads its result, from the published row if there is one. */
export async function recordWrite(
  scope: WriteScope,
  documentId: string,
  event: 'entry.create' | 'entry.update',
  row: DocumentVersion,
  published: number | null,
): Promise<WriteOutcome> {
  const { outbox, transaction, type } = scope
  const { operation } = scope
  const { locale, now } = operation
  const shown = published === null ? row : { id: published, locale, published_at: now }
  await outbox?.entry(transaction, event, type, row, operation)
  if (published !== null) await outbox?.entry(transaction, 'entry.publish', type, shown, operation)
  return toWriteOutcome(scope, documentId, shown)
}

/** Inserts a document's first row in a locale: a draft, or the only row of a type without drafts. */
export async function insertVersion(writing: RowContext, operation: WriteOperation, documentId: string, input: Input): Promise<number> {
  const { type } = operation.write
  const now = bindTimestamp(operation.now)
  const id = await insertRow(writing.transaction, type.table, {
    document_id: documentId,
    ...(await scalarColumns(input, writing.hashPassword)),
    created_at: now,
    updated_at: now,
    published_at: type.draftAndPublish ? null : now,
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
