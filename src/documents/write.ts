// Writing documents: create, update and remove, each one transaction whose answer is read inside it.
import { createId } from '@paralleldrive/cuid2'
import type { ReadBytes, Transaction } from '../database/database.js'
import { notFound } from '../errors.js'
import type { Grants } from '../grants.js'
import type { Attribute } from '../model/types.js'
import { parseParameters } from '../query/parameters.js'
import type { Action } from './actions.js'
import { discardIn, publishIn, unpublishIn } from './actions.js'
import { writeBelow } from './components.js'
import type { Input } from './input.js'
import { readInput } from './input.js'
import { forgetTarget } from './links.js'
import { newLocale, shareWithLocales } from './locales.js'
import type { Operation, Write, WriteContext } from './operation.js'
import { answerWrite, beginWrite, checkLocale, checkPublication, checkUnique, isMeant, optionsOf, writingOf } from './operation.js'
import { isInSync, publishedOf, publishRow, removeRows } from './publish.js'
import { insertRow, onlyDocument, updateRow, versionsOf } from './rows.js'
import { scalarColumns } from './scalars.js'
import { withUids } from './uids.js'
import type { Writing } from './writing.js'

export interface DocumentWrites {
  /** Creates a document. @throws ApiError 403, 400 */
  create(grants: Grants, write: Write, body: () => Promise<unknown>): Promise<ReadBytes>
  /** Changes a document, or the one document of a single type, which is made when it is missing. @throws ApiError 403, 400, 404 */
  update(grants: Grants, write: Write, documentId: string | null, body: () => Promise<unknown>): Promise<ReadBytes>
  /** Removes a document, or its versions in one locale. What is not there is no error. @throws ApiError 403, 400 */
  remove(grants: Grants, write: Write, documentId: string | null): Promise<void>
  /** Publishes, unpublishes or discards the draft of a document in a locale. @throws ApiError 403, 400, 404 */
  act(grants: Grants, write: Write, documentId: string | null, action: Action): Promise<ReadBytes>
}

export type { Write, WriteContext }

/** The writes over one model. */
export function openWrites(context: WriteContext): DocumentWrites {
  const { database } = context
  return {
    create: async (grants, write, body) => {
      const operation = await beginWrite(context, grants, 'create', write, body)
      return database.transaction((transaction) => createIn(context, transaction, operation))
    },
    update: async (grants, write, documentId, body) => {
      const operation = await beginWrite(context, grants, 'update', write, body)
      return database.transaction(async (transaction) => {
        const known = documentId ?? (await onlyDocument(transaction, write.type))
        return known === null ? createIn(context, transaction, operation) : updateIn(context, transaction, operation, known)
      })
    },
    remove: async (grants, write, documentId) => {
      const everywhere = parseParameters(write.query).locale === '*'
      const asked = everywhere ? { ...write, query: withoutLocale(write.query) } : write
      const operation = await beginWrite(context, grants, 'delete', asked, null)
      await database.transaction(async (transaction) => {
        const known = documentId ?? (await onlyDocument(transaction, write.type))
        if (known !== null) await removeIn(context, transaction, operation, known, everywhere)
      })
    },
    act: async (grants, write, documentId, action) => {
      const operation = await beginWrite(context, grants, action, write, null)
      const run = { publish: publishIn, unpublish: unpublishIn, discard: discardIn }[action]
      return database.transaction(async (transaction) => {
        const known = documentId ?? (await onlyDocument(transaction, write.type))
        if (known === null) throw notFound()
        return run(context, transaction, operation, known)
      })
    },
  }
}

async function createIn(context: WriteContext, transaction: Transaction, operation: Operation): Promise<ReadBytes> {
  const { model, contract } = context.read
  const { type } = operation.write
  await checkLocale(context, transaction, operation)
  const data = contract.generateUids ? await withUids(transaction, type, operation.data) : operation.data
  const input = readInput({ model, contract }, type, data, optionsOf(operation, true))
  const writing = writingOf(context, transaction, operation, input)
  const documentId = createId()
  const id = await insertVersion(writing, operation, documentId, input)
  if (type.draftAndPublish && operation.publishes) {
    await checkPublication(context, transaction, operation, id, true)
    await checkUnique(transaction, operation, documentId, input, null)
    await publishRow(writing, type, id, null, touchedBy(input), true, operation.now)
  } else await checkUnique(transaction, operation, documentId, input, null)
  return answerWrite(context, transaction, operation, documentId)
}

async function updateIn(context: WriteContext, transaction: Transaction, operation: Operation, documentId: string): Promise<ReadBytes> {
  const { model, contract } = context.read
  const { type } = operation.write
  const versions = await versionsOf(transaction, type, documentId)
  if (versions.length === 0) throw notFound()
  const current = versions.find(
    ({ locale, published_at }) => locale === operation.locale && (!type.draftAndPublish || published_at === null),
  )
  const isCreation = current === undefined
  const input = readInput({ model, contract }, type, operation.data, optionsOf(operation, isCreation))
  const writing = writingOf(context, transaction, operation, input)
  const touched = touchedBy(input)
  let id: number
  if (current === undefined) {
    await checkLocale(context, transaction, operation)
    id = await insertVersion(writing, operation, documentId, input)
    await newLocale(writing, type, versions, id, touched)
  } else {
    id = current.id
    await updateRow(transaction, type.table, id, { ...(await scalarColumns(input, context.hashPassword)), updated_at: operation.now })
    await writeBelow(writing, { shape: type, id }, input, false)
  }
  if (type.draftAndPublish && operation.publishes) {
    const published = publishedOf(versions, operation.locale)
    const whole = isCreation || !isInSync(current, published)
    await checkPublication(context, transaction, operation, id, whole)
    await checkUnique(transaction, operation, documentId, input, whole ? id : null)
    const made = await publishRow(writing, type, id, published, touched, whole, operation.now)
    await shareWithLocales(writing, type, versions, made, touched, 'published')
  } else {
    await checkUnique(transaction, operation, documentId, input, isCreation ? id : null)
    await shareWithLocales(writing, type, versions, id, touched, type.draftAndPublish ? 'draft' : 'any')
  }
  return answerWrite(context, transaction, operation, documentId)
}

async function removeIn(
  context: WriteContext,
  transaction: Transaction,
  operation: Operation,
  documentId: string,
  everywhere: boolean,
): Promise<void> {
  const { type } = operation.write
  if (!(await isMeant(context, transaction, operation, documentId))) return
  const versions = await versionsOf(transaction, type, documentId)
  const gone = versions.filter(({ locale }) => everywhere || !type.localized || locale === operation.locale)
  const ids = gone.map(({ id }) => id)
  await removeRows(writingOf(context, transaction, operation, null), type, ids)
  const locales = new Set(gone.map(({ locale }) => locale))
  if (type.draftAndPublish) for (const locale of locales) await forgetTarget(transaction, type, documentId, locale)
}

/** Inserts the first row of a document in a locale: a draft, or the only row of a type without drafts. */
async function insertVersion(writing: Writing, operation: Operation, documentId: string, input: Input): Promise<number> {
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

/** The query string without its `locale=*`, which only says what is removed. */
const withoutLocale = (query: string): string =>
  query
    .split('&')
    .filter((part) => !part.startsWith('locale='))
    .join('&')
