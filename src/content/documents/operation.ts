// The common part of all writes: permissions, the version, validation, and the response, read inside the transaction.
import type { ReadBytes, Transaction, WriteDatabase } from '../../database/database.js'
import { toText } from '../../database/response/write.js'
import { forbidden, validationError } from '../../foundation/errors/errors.js'
import { fullAccess, type Grants } from '../../foundation/grants.js'
import type { HookAction, OperationCaller } from '../../foundation/public/documents.js'
import type { Audit } from '../../foundation/runtime/audit.js'
import type { Metrics } from '../../foundation/runtime/metrics.js'
import type { SlowLog } from '../../foundation/runtime/throttled-logs.js'
import { createPatternChecks, type PatternChecks } from '../../model/schema/patterns.js'
import type { ContentType } from '../../model/schema/types.js'
import { type Parameters, type Parameters as Query, readParameters } from '../../query/request.js'
import { type ReadContext, readRequest } from '../../query/rest/read.js'
import { type DocumentVersion, mayReadDrafts, versionParameters } from '../../query/rest/versions.js'
import type { Outbox } from '../events/outbox.js'
import { findUnnameable } from './guard/hidden-rows.js'
import { checkSize } from './input/input.js'
import type { FindTaken, Input, InputContext } from './input/types.js'
import { type ValidatedPart, validateDraft } from './publish/publish.js'
import type { Plans, Policies } from './read/plans.js'
import type { RowContext } from './store/row-context.js'
import type { InSync, Synced } from './store/rows.js'
import { isKnownLocale } from './store/rows.js'
import type { TargetResolution } from './store/targets.js'
import { createFindTaken } from './store/unique.js'

/** A write of a document. The query says status, locale, and what the answer shows. */
export interface WriteRequest {
  readonly type: ContentType
  /** As it came, or parsed. */
  readonly query: string | Query
  readonly format: 'flat' | 'nested'
  /** The response: the document, the versions that the write was about, or nothing. */
  readonly answers: 'document' | 'entries' | 'nothing'
  /** Null: a script or a hook. `createdBy` and `updatedBy` name an administrator; those of others leave them as they are. */
  readonly caller: OperationCaller | null
  /** The id of the request that it comes from; null: none. */
  readonly requestId: string | null
  /** Hook nesting depth. */
  readonly depth: number
}

export interface WriteContext {
  readonly read: ReadContext
  readonly database: WriteDatabase
  /** Plans of answers, known to the writer. */
  readonly plans: Plans
  /** Keys revisions of drafts. */
  readonly revisionKey: string
  readonly hashPassword: (password: string) => Promise<string>
  /** Hashes passwords outside of transactions, in turns of callers. */
  readonly passwords: { of(caller: string): { hash(password: string): Promise<string> } }
  /** Null: the project has none. */
  readonly hooks: Hooks | null
  /** Null: the project has none. */
  readonly policies: Policies | null
  /** Null: without listeners. */
  readonly outbox: Outbox | null
  /** Null: nothing is measured. */
  readonly metrics: Pick<Metrics, 'documentWritten'> | null
  /** Null: there is no audit log. */
  readonly audit: Audit | null
  /** Logs slow writes; null: none are logged. */
  readonly slow: SlowLog | null
  readonly inSync: InSync
  /** Context of reading bodies; reports values stored as null instead of `blocks`, if the contract does so. */
  readonly input: Pick<InputContext, 'model' | 'contract' | 'strictRelations' | 'reportDropped' | 'momentFault'>
}

/** A permitted write. */
export interface WriteOperation {
  readonly action: HookAction
  readonly write: WriteRequest
  readonly parameters: Query
  readonly grants: Grants
  /** The document that was named. */
  readonly documentId: string | null
  /** The documentId of a document that is created; null: a new one. */
  readonly createdId: string | null
  /** The published version is written too; for types without drafts there is no other. */
  readonly publishes: boolean
  /** The locale that is written; null on types that are not localized. */
  readonly locale: string | null
  /** Not this locale, but every one that the document has. */
  readonly everywhere: boolean
  readonly data: unknown
  /** The passwords that the data has, without those of hooks. */
  readonly passwords: readonly string[]
  /** Rules of the caller around the write; null: the grants alone decide. */
  readonly policy: WritePolicy | null
  /** Attributes of the data that the caller did not send and before-hooks have added. */
  readonly addedByHooks: ReadonlySet<string>
  /** Hooks want to see the versions that the write is about. */
  readonly isSeen: boolean
  /** The patterns of the model that need a deadline: one for all that this write checks. */
  readonly trials: PatternChecks
  readonly now: number
}

/** A version as JSON: as the caller requested it, and whole, for hooks. Null if not needed. */
export interface Entry {
  readonly locale: string | null
  readonly asked: string | null
  readonly whole: string | null
}

/** The result of a write. */
export interface WriteResult {
  readonly documentId: string
  /** The versions that it was about. */
  readonly entries: readonly Entry[]
  /** The document as the caller asked to see it. */
  readonly answer: ReadBytes | null
  /** The draft that is in sync with its publication once this is committed, where that is known. */
  readonly synced?: Synced
}

/** The result of a write inside its transaction, with a pending response. */
export interface WriteOutcome extends Omit<WriteResult, 'answer'> {
  readonly answer: Promise<ReadBytes> | null
}

/** Code of the project around every write. */
export interface Hooks {
  /** Runs before-hooks, which may change the data. @throws ApiError as the response, another error for a bug of the hook */
  before(operation: WriteOperation): Promise<WriteOperation>
  /** Runs after-hooks, after the commit. Never throws. */
  after(operation: WriteOperation, outcome: WriteResult): Promise<void>
}

/** The key of a repeatable write. */
export interface Once {
  /** 1 to 255 characters. */
  readonly key: string
  /** Everything in the request, except its body, that affects the write and its response. */
  readonly request: string
}

/** Rules of a caller around a write, applied in its transaction. */
export interface WritePolicy {
  /** The administrator for `createdBy` and `updatedBy`. */
  readonly writerId: number
  /** Row ids of files that the data must not link to, as found by `before`. */
  readonly hiddenFiles?: ReadonlySet<number>
  /** Admits and restricts the write. Null: the document does not exist for the caller. @throws ApiError */
  before(
    context: WriteContext,
    transaction: Transaction,
    operation: WriteOperation,
  ): Promise<Required<Pick<WritePolicy, 'hiddenFiles'>> | null>
  /** Checks and records the outcome before the commit. @throws ApiError */
  after(context: WriteContext, transaction: Transaction, operation: WriteOperation, outcome: WriteOutcome): Promise<void>
}

/** A requested write. */
export interface WriteStart {
  readonly action: HookAction
  readonly grants: Grants
  readonly write: WriteRequest
  readonly documentId: string | null
  /** Null: the action takes none. */
  readonly body: (() => Promise<unknown>) | null
  /** Returns the idempotency key of the write; absent or null: none. @throws ApiError 400 */
  readonly once?: () => Once | null
  /** See `WriteOperation.policy`; required for grants of an administrator; absent: null. */
  readonly policy?: WritePolicy | null
  /** The documentId of a document that is created, given in advance; null or absent: a new one. Never from outside. */
  readonly createdId?: string | null
}

/**
 * Permission, then the query, then the body (writing.19).
 * @throws ApiError 403, 400
 */
export async function beginWrite(
  { read, policies }: WriteContext,
  { action, grants, write, documentId, body, createdId = null, policy = null }: WriteStart,
): Promise<WriteOperation> {
  const { type, query, answers } = write
  const needed = `${type.uid}.${action === 'discardDraft' ? 'discard' : action}`
  if (!grants.may(needed)) throw forbidden(needed)
  const given = typeof query === 'string' ? readParameters(query, read.pages.arrayLimit) : query
  const everywhere = given.locale === '*' && body === null && answers !== 'document'
  const { locale: _all, ...others } = given
  const parameters = everywhere ? others : given
  const { status } = readRequest(read, grants, { type, mode: 'first', afterWrite: true }, parameters)
  const data = body === null ? null : toData(await body())
  const locale = type.localized ? toLocale(parameters.locale, read.defaultLocale) : null
  const passwords = data === null ? [] : checkSize(read.model, type, data)
  if (policies !== null && write.caller !== null && write.caller.kind !== 'administrator')
    await policies.check({ type, action, caller: write.caller, requestId: write.requestId, grants, documentId, parameters: given, data })
  const operation = {
    ...{ action, write, parameters, grants, documentId, createdId, locale, everywhere, policy, passwords },
    publishes: !type.draftAndPublish || status === 'published',
    data,
    addedByHooks: nothingAdded,
    isSeen: false,
    trials: createPatternChecks(),
    now: Date.now(),
  }
  return operation
}

const nothingAdded: ReadonlySet<string> = new Set()

function toLocale(value: unknown, defaultLocale: string): string {
  if (value === undefined || value === null || value === '') return defaultLocale
  if (typeof value === 'string' && value !== '*') return value
  throw validationError(`Invalid locale param ${String(value)} provided. Document locales must be strings.`)
}

/** The `data` of a body. @throws ApiError 400 where there is none */
function toData(body: unknown): unknown {
  const data = typeof body === 'object' && body !== null ? (body as { data?: unknown }).data : undefined
  if (typeof data !== 'object' || data === null) throw validationError('Missing "data" payload in the request body').about({ kind: 'data' })
  return data
}

/** Row 11 of the contract. @throws ApiError 400 for a locale that the installation does not know */
export async function checkLocale({ read }: WriteContext, transaction: Transaction, { locale }: WriteOperation): Promise<void> {
  if (read.contract.unknownLocalesOnWrites || locale === null || locale === read.defaultLocale) return
  if (!(await isKnownLocale(transaction, locale))) throw validationError(`The locale "${locale}" does not exist`)
}

/** The context for writing rows. */
export function createRowContext(
  context: WriteContext,
  transaction: Transaction,
  operation: WriteOperation,
  input: Input | null,
  known: TargetResolution['known'] | null = null,
): RowContext {
  const { read, hashPassword } = context
  const { type } = operation.write
  return {
    transaction,
    model: read.model,
    hashPassword,
    targetSide: 'published',
    isDraftWrite: type.draftAndPublish && !operation.publishes,
    createdRows: new Map(),
    inverses: new Map(),
    resolving: {
      locale: operation.locale,
      defaultLocale: read.defaultLocale,
      side: type.draftAndPublish ? 'draft' : 'both',
      hidden: findUnnameable(context, transaction, operation),
      shown: input?.checked,
      ...(known !== null && known !== undefined && { known }),
    },
  }
}

/** Options for checking a body. */
export const toInputOptions = ({ write: { type }, grants, addedByHooks, locale, now, publishes }: WriteOperation, isCreation: boolean) => ({
  writer: { grants, addedByHooks },
  publishes,
  isDraft: type.draftAndPublish,
  isCreation,
  added: { publishedAt: type.draftAndPublish ? null : new Date(now).toISOString(), ...(type.localized ? { locale } : {}) },
})

type CheckedPublication = Pick<WriteOperation, 'grants' | 'data' | 'locale' | 'publishes' | 'trials'> & {
  readonly write: Pick<WriteRequest, 'type'>
}

/** Finds what of this write's values another document has already, where it publishes. */
export function findTakenFor(
  { read }: WriteContext,
  transaction: Transaction,
  { write: { type }, publishes, locale }: CheckedPublication,
  document: string,
): FindTaken {
  if (!publishes) return () => Promise.resolve(new Set())
  return createFindTaken(transaction, read.model, { type, document, locale, state: type.draftAndPublish ? 'published' : 'any' })
}

/** Holds the draft row `id` to every rule before it is published. @throws ApiError 400 */
export async function checkPublication(
  { read, plans, input }: WriteContext,
  transaction: Transaction,
  operation: CheckedPublication,
  id: number,
  given: ValidatedPart,
  findTaken: FindTaken,
): Promise<void> {
  const { grants, write, trials } = operation
  const inputContext = { ...input, reportDropped: null, trials }
  const reader = { grants, seesDrafts: mayReadDrafts(read.draftGrant === true, grants, write.type) }
  await validateDraft(inputContext, plans, transaction, { type: write.type, id, data: operation.data, given, findTaken, reader })
}

const emptyResponse = Buffer.from('{"data":null,"meta":{}}')

/** The document as the caller asked to see it; `status` where the action and not the query decides it. */
export async function readResponse(
  { read, plans }: WriteContext,
  transaction: Transaction,
  { write: { type, query, format }, parameters, grants, locale }: WriteOperation,
  documentId: string,
  status?: 'draft' | 'published',
): Promise<ReadBytes> {
  const identity = { attribute: 'documentId' as const, value: documentId }
  const ask = () => {
    const { filters: _filters, sort: _sort, pagination: _pagination, start: _start, _q, ...given } = parameters
    const shown = { ...given, ...(locale === null ? {} : { locale }), ...(status === undefined ? {} : { status }) }
    return readRequest(read, grants, { type, mode: 'first', identity, format, afterWrite: true }, shown)
  }
  const text = `${grants.key} ${type.uid} ${format} ${locale} ${status} ${query}`
  const { plan, values, identityAt } = typeof query === 'string' ? plans.forQueryString(text, ask, 'data') : plans.forRequest(ask(), 'data')
  const answer = await transaction.read(plan, values.with(identityAt, documentId), true)
  // The parameters may select nothing, such as documents that were never published.
  return answer ?? { bytes: emptyResponse, release: () => {} }
}

/** One version of a write, for the caller and for hooks. */
export async function readEntry(
  context: WriteContext,
  transaction: Transaction,
  operation: WriteOperation,
  row: DocumentVersion,
): Promise<Entry> {
  const { read, plans } = context
  const { type, answers } = operation.write
  const show = async (grants: WriteOperation['grants'], shown: Parameters, isBounded: boolean): Promise<string> => {
    const identity = { attribute: 'id' as const, value: row.id }
    const request = readRequest(read, grants, { type, mode: 'first', identity, afterWrite: true }, { ...shown, ...versionParameters(row) })
    return toText(await transaction.read(plans.forRequest(request, 'bare').plan, request.values, isBounded))
  }
  const { fields, populate } = operation.parameters
  return {
    locale: row.locale,
    asked: answers === 'entries' ? await show(operation.grants, { fields, populate }, true) : null,
    whole: operation.isSeen ? await show(fullAccess, {}, false) : null,
  }
}

/** The result of a create or an update: the written version, and the response. */
export async function toWriteOutcome(
  context: WriteContext,
  transaction: Transaction,
  operation: WriteOperation,
  documentId: string,
  row: DocumentVersion,
): Promise<WriteOutcome> {
  const entries = [await readEntry(context, transaction, operation, row)]
  const answer = operation.write.answers === 'document' ? readResponse(context, transaction, operation, documentId) : null
  if (answer !== null) await transaction.defer(answer)
  return { documentId, entries, answer }
}

/** Filters in the query string of a DELETE apply: documents that do not match are retained (docs/differences.md). */
export async function matchesFilters(
  { read, plans }: WriteContext,
  transaction: Transaction,
  { write: { type }, parameters: { filters, _q, locale, status }, grants }: WriteOperation,
  documentId: string,
): Promise<boolean> {
  if (filters === undefined && _q === undefined) return true
  const identity = { attribute: 'documentId' as const, value: documentId }
  // Only readers of drafts learn whether a draft matches.
  const states = mayReadDrafts(read.draftGrant === true, grants, type) ? [status, 'draft'] : [status]
  for (const state of states) {
    const request = readRequest(read, grants, { type, mode: 'first', identity }, { filters, _q, locale, status: state })
    const found = await transaction.read(plans.forRequest(request, 'data').plan, request.values)
    found?.release()
    if (found !== null) return true
  }
  return false
}

/** The written types and actions of a transaction. */
type SlowOperation = Pick<WriteOperation, 'action'> & { readonly write: { readonly type: { readonly uid: string } } }

/** Runs a transaction that writes documents, and logs it if it was slow, whether or not it succeeded. Waiting for its turn and the commit count. */
export function logSlowWrite<Result>(slow: SlowLog | null, operations: readonly SlowOperation[], write: () => Promise<Result>) {
  const started = performance.now()
  const written = write()
  // A line that cannot be written must not end the process.
  if (slow !== null)
    written
      .then(createSlowWriteCheck(slow, started, operations, false), createSlowWriteCheck(slow, started, operations, true))
      .catch(() => {})
  return written
}

const createSlowWriteCheck = (slow: SlowLog, started: number, operations: readonly SlowOperation[], failed: boolean) => () => {
  const milliseconds = performance.now() - started
  if (milliseconds >= slow.from) noteSlowWrite(slow, operations, milliseconds, failed)
}

function noteSlowWrite(slow: SlowLog, operations: readonly SlowOperation[], milliseconds: number, failed: boolean): void {
  const types = [...new Set(operations.map(({ write: { type } }) => type.uid))].sort()
  const actions = [...new Set(operations.map(({ action }) => action))].sort()
  const fields = {
    ...(types.length === 1 ? { type: types[0] } : { types }),
    ...(actions.length === 1 ? { action: actions[0] } : { actions }),
    ...(operations.length > 1 && { operations: operations.length }),
    ...(failed && { failed }),
  }
  slow.note(`write ${types.join()} ${actions.join()}`, 'a write was slow', milliseconds, () => fields)
}
