// What every write has in common: who may, which version is meant, what is validated, and the answer, read inside the transaction.
import type { ReadBytes, Transaction, WriteDatabase } from '../database/database.js'
import { forbidden, validationError } from '../errors.js'
import type { Grants } from '../grants.js'
import type { ContentType } from '../model/types.js'
import { compileRead } from '../query/compile.js'
import { parseParameters } from '../query/parameters.js'
import type { ReadContext } from '../query/read.js'
import { readRequest } from '../query/read.js'
import type { Input } from './input.js'
import { attributeErrors } from './input.js'
import { checkPublishable } from './publishable.js'
import { knownLocale } from './rows.js'
import { givenValues, takenValues, uniqueValues } from './unique.js'
import type { Writing } from './writing.js'

/** A write of a document. The query string says status, locale, and what the answer shows. */
export interface Write {
  readonly type: ContentType
  readonly query: string
  readonly format: 'flat' | 'nested'
}

export interface WriteContext {
  readonly read: ReadContext
  readonly database: WriteDatabase
  readonly dialect: Parameters<typeof compileRead>[1]
  readonly hashPassword: (password: string) => Promise<string>
}

/** What one write is about, once the caller is known to be allowed. */
export interface Operation {
  readonly write: Write
  readonly grants: Grants
  /** The published version is written too; for types without drafts there is no other. */
  readonly publishes: boolean
  /** The locale that is written; null on types that are not localized. */
  readonly locale: string | null
  readonly data: unknown
  readonly now: number
}

/**
 * Permission, then the query string, then the body (behaviour: "Order of checks on a write").
 * @throws ApiError 403, 400
 */
export async function beginWrite(
  { read }: WriteContext,
  grants: Grants,
  action: string,
  write: Write,
  body: (() => Promise<unknown>) | null,
): Promise<Operation> {
  const { type } = write
  if (!grants.may(`${type.uid}.${action}`)) throw forbidden()
  const parameters = parseParameters(write.query)
  const { status } = readRequest(read, grants, { type, mode: 'first' }, parameters)
  const locale = type.localized ? localeOf(parameters.locale, read.defaultLocale) : null
  const data = body === null ? null : dataOf(await body())
  return { write, grants, publishes: !type.draftAndPublish || status === 'published', locale, data, now: Date.now() }
}

function localeOf(value: unknown, defaultLocale: string): string {
  if (value === undefined || value === null || value === '') return defaultLocale
  if (typeof value === 'string' && value !== '*') return value
  throw validationError(`Invalid locale param ${String(value)} provided. Document locales must be strings.`)
}

/** The `data` of a body. @throws ApiError 400 where there is none */
function dataOf(body: unknown): unknown {
  const data = typeof body === 'object' && body !== null ? (body as { data?: unknown }).data : undefined
  if (typeof data !== 'object' || data === null) throw validationError('Missing "data" payload in the request body')
  return data
}

/** Row 11 of the contract. @throws ApiError 400 for a locale that the installation does not know */
export async function checkLocale({ read }: WriteContext, transaction: Transaction, { locale }: Operation): Promise<void> {
  if (read.contract.unknownLocalesOnWrites || locale === null || locale === read.defaultLocale) return
  if (!(await knownLocale(transaction, locale))) throw validationError(`The locale "${locale}" does not exist`)
}

/** What the files of this room that write rows need to know. */
export function writingOf(context: WriteContext, transaction: Transaction, operation: Operation, input: Input | null): Writing {
  const { read, hashPassword } = context
  const { type } = operation.write
  return {
    transaction,
    model: read.model,
    hashPassword,
    copies: 'published',
    resolving: {
      locale: operation.locale,
      defaultLocale: read.defaultLocale,
      side: type.draftAndPublish ? 'draft' : 'both',
      shown: input?.checked,
    },
  }
}

/** What a body is held to, and what its errors show beside the given. */
export const optionsOf = ({ write: { type }, grants, locale, now }: Operation, isCreation: boolean) => ({
  grants,
  isDraft: type.draftAndPublish,
  isCreation,
  added: { publishedAt: type.draftAndPublish ? null : new Date(now).toISOString(), ...(type.localized ? { locale } : {}) },
})

/** `row`: everything that this row has is about to be published, not only what was given. @throws ApiError 400 */
export async function checkUnique(
  transaction: Transaction,
  { write: { type }, publishes, locale }: Operation,
  documentId: string,
  input: Input | null,
  row: number | null,
): Promise<void> {
  if (!publishes) return
  const values = row === null ? givenValues(input!) : await uniqueValues(transaction, type, row)
  const state = type.draftAndPublish ? 'published' : 'any'
  const errors = await takenValues(transaction, type, { document: documentId, locale, state, values })
  if (errors.length > 0) throw attributeErrors(errors)
}

/** Holds the draft row `id` to every rule before it is published. @throws ApiError 400 */
export async function checkPublication(
  { read, dialect }: WriteContext,
  transaction: Transaction,
  operation: Operation,
  id: number,
  whole: boolean,
): Promise<void> {
  const inputContext = { model: read.model, contract: read.contract }
  await checkPublishable(inputContext, dialect, transaction, operation.write.type, operation.data, id, whole)
}

const nothing = Buffer.from('{"data":null,"meta":{}}')

/** The document as the caller asked to see it, read inside the transaction. */
export async function answerWrite(
  { read, dialect }: WriteContext,
  transaction: Transaction,
  { write: { type, query, format }, grants, locale }: Operation,
  documentId: string,
  status?: 'draft' | 'published',
): Promise<ReadBytes> {
  const { filters: _filters, sort: _sort, pagination: _pagination, start: _start, _q, ...parameters } = parseParameters(query)
  const shown = { ...parameters, ...(locale === null ? {} : { locale }), ...(status === undefined ? {} : { status }) }
  const identity = { attribute: 'documentId' as const, value: documentId }
  const request = readRequest(read, grants, { type, mode: 'first', identity, format }, shown)
  const answer = await transaction.read(compileRead(request, dialect, read.contract, 'data'), request.values)
  // The parameters may ask for what is not there, such as documents that were never published.
  return answer ?? { bytes: nothing, release: () => {} }
}

/** Filters in the query string of a DELETE hold: what they do not match stays (behaviour: "Parameters"). */
export async function isMeant(
  { read, dialect }: WriteContext,
  transaction: Transaction,
  { write: { type, query }, grants }: Operation,
  documentId: string,
): Promise<boolean> {
  const { filters, _q, locale, status } = parseParameters(query)
  if (filters === undefined && _q === undefined) return true
  const identity = { attribute: 'documentId' as const, value: documentId }
  for (const state of [status, 'draft']) {
    const request = readRequest(read, grants, { type, mode: 'first', identity }, { filters, _q, locale, status: state })
    const found = await transaction.read(compileRead(request, dialect, read.contract, 'data'), request.values)
    found?.release()
    if (found !== null) return true
  }
  return false
}
