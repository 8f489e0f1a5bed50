// Common parts of all writes: permissions, version, validation, and the response, which is read in the transaction.
import type { ReadBytes, Transaction, WriteDatabase } from '../../database/database.js'
import { toText } from '../../database/response/write.js'
import { forbidden, inputError, validationError } from '../../foundation/errors/errors.js'
import { fullAccess, type Grants } from '../../foundation/grants.js'
import type { HookAction, OperationCaller } from '../../foundation/public/documents.js'
import type { Audit } from '../../foundation/runtime/audit-log.js'
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
import type { Plans, Policies, TransactionReads } from './read/plans.js'
import type { RowContext, TargetResolution } from './store/row-context.js'
import type { InSync, Synced } from './store/rows.js'
import { isKnownLocale } from './store/rows.js'
import { createFindTaken } from './store/unique.js'

/** A write of a document. The query contains status, locale, and the selection for the response. */
export interface WriteRequest {
  readonly type: ContentType
  readonly query: string | Query
  readonly format: 'flat' | 'nested'
  /** Content of the response: the document, the written versions, or nothing. */
  readonly answers: 'document' | 'entries' | 'nothing'
  /** Null: a script or a hook. Only administrators change `createdBy` and `updatedBy`. */
  readonly caller: OperationCaller | null
  /** Id of the originating request; null: none. */
  readonly requestId: string | null
  /** Hook nesting depth. */
  readonly depth: number
}

export interface WriteContext {
  readonly read: ReadContext
  readonly database: WriteDatabase
  /** Plans of responses, registered with the writer. */
  readonly plans: Plans
  readonly revisionKey: string
  readonly hashPassword: (password: string) => Promise<string>
  /** Hashes passwords outside of transactions, with fair queueing of callers. */
  readonly passwords: { of(caller: string): { hash(password: string): Promise<string> } }
  readonly hooks: Hooks | null
  readonly policies: Policies | null
  readonly outbox: Outbox | null
  readonly metrics: Pick<Metrics, 'documentWritten'> | null
  readonly audit: Audit | null
  readonly slow: SlowLog | null
  readonly inSync: InSync
  /** Context for reading bodies; reports values stored as null instead of `blocks`, if the contract permits these. */
  readonly input: Pick<InputContext, 'model' | 'contract' | 'strictRelations' | 'reportDropped' | 'momentFault'>
}

/** A permitted write. */
export interface WriteOperation {
  readonly action: HookAction
  readonly write: WriteRequest
  readonly parameters: Query
  readonly grants: Grants
  readonly documentId: string | null
  /** The documentId for a create; null: generated. */
  readonly createdId: string | null
  /** Writes the published version too; always for types without drafts. */
  readonly publishes: boolean
  /** Locale to write; null for types that are not localized. */
  readonly locale: string | null
  /** Applies to every locale of the document instead. */
  readonly everywhere: boolean
  readonly data: unknown
  /** Passwords in the data, except those set by hooks. */
  readonly passwords: readonly string[]
  /** Rules for the caller; null: the grants alone decide. */
  readonly policy: WritePolicy | null
  /** Attributes that before-hooks added to the data. */
  readonly addedByHooks: ReadonlySet<string>
  /** Hooks need the written versions. */
  readonly isSeen: boolean
  /** Patterns that need a deadline, shared by all checks of this write. */
  readonly trials: PatternChecks
  readonly now: number
}

/** A write in its transaction. Steps may replace `operation`, so pass on the scope that you were given. */
export interface WriteScope extends WriteContext, TransactionReads {
  readonly operation: WriteOperation
  readonly type: ContentType
}

export const createWriteScope = (context: WriteContext, transaction: Transaction, operation: WriteOperation): WriteScope => ({
  ...context,
  transaction,
  operation,
  type: operation.write.type,
})

/** A version as JSON: in the form that the caller requested, and whole for hooks. Null if not needed. */
export interface Entry {
  readonly locale: string | null
  readonly asked: string | null
  readonly whole: string | null
}

export interface WriteResult {
  readonly documentId: string
  /** The written versions. */
  readonly entries: readonly Entry[]
  /** The document in the form that the caller requested. */
  readonly answer: ReadBytes | null
  /** The draft that is in sync with its published version after the commit, if known. */
  readonly synced?: Synced
}

/** The result of a write before the commit. */
export interface WriteOutcome extends Omit<WriteResult, 'answer'> {
  readonly answer: Promise<ReadBytes> | null
}

/** Project code around every write. */
export interface Hooks {
  /** Runs before-hooks, which may change the data. @throws ApiError as the response; other errors for bugs of hooks */
  before(operation: WriteOperation): Promise<WriteOperation>
  /** Runs after-hooks. Never throws. */
  after(operation: WriteOperation, outcome: WriteResult): Promise<void>
}

/** Key of a repeatable write. */
export interface Once {
  /** 1 to 255 characters. */
  readonly key: string
  /** Everything in the request, except its body, that affects the write and its response. */
  readonly request: string
}

/** Rules for a caller, applied in the transaction of the write. */
export interface WritePolicy {
  /** Administrator for `createdBy` and `updatedBy`. */
  readonly writerId: number
  /** Row ids of files that the data must not link to, as found by `before`. */
  readonly hiddenFiles?: ReadonlySet<number>
  /** Admits and restricts the write. Null: the document does not exist for the caller. @throws ApiError */
  before(scope: WriteScope): Promise<Required<Pick<WritePolicy, 'hiddenFiles'>> | null>
  /** Checks and records the outcome before the commit. @throws ApiError */
  after(scope: WriteScope, outcome: WriteOutcome): Promise<void>
}

/** A requested write. */
export interface WriteStart {
  readonly action: HookAction
  readonly grants: Grants
  readonly write: WriteRequest
  readonly documentId: string | null
  /** Null: the action has no body. */
  readonly body: (() => Promise<unknown>) | null
  /** Returns the idempotency key, if any. @throws ApiError 400 */
  readonly once?: () => Once | null
  /** See `WriteOperation.policy`; required for grants of an administrator. */
  readonly policy?: WritePolicy | null
  /** The documentId for a create; generated by default. Never set by clients. */
  readonly createdId?: string | null
}

/**
 * Checks the permission, then the query, then the body (writing.19).
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
  return {
    action,
    write,
    parameters,
    grants,
    documentId,
    createdId,
    publishes: !type.draftAndPublish || status === 'published',
    locale,
    everywhere,
    data,
    passwords,
    policy,
    addedByHooks: nothingAdded,
    isSeen: false,
    trials: createPatternChecks(),
    now: Date.now(),
  }
}

const nothingAdded: ReadonlySet<string> = new Set()

function toLocale(value: unknown, defaultLocale: string): string {
  if (value === undefined || value === null || value === '') return defaultLocale
  if (typeof value === 'string' && value !== '*') return value
  throw validationError(`Invalid locale param ${String(value)} provided. Document locales must be strings.`)
}

/** Returns the `data` of a body. @throws ApiError 400 if it is missing */
function toData(body: unknown): unknown {
  const data = typeof body === 'object' && body !== null ? (body as { data?: unknown }).data : undefined
  if (typeof data !== 'object' || data === null) throw validationError('Missing "data" payload in the request body').about({ kind: 'data' })
  return data
}

/** Row 11 of the contract. @throws ApiError 400 for an unknown locale */
export async function checkLocale({ read, transaction, operation: { locale } }: WriteScope): Promise<void> {
  if (read.contract.unknownLocalesOnWrites || locale === null || locale === read.defaultLocale) return
  if (!(await isKnownLocale(transaction, locale))) throw inputError(`The locale "${locale}" does not exist`, ['locale'], 'notFound')
}

export function createRowContext(scope: WriteScope, input: Input | null, known: TargetResolution['known'] | null = null): RowContext {
  const { read, transaction, operation, type, hashPassword } = scope
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
      hidden: findUnnameable(scope, operation),
      shown: input?.checked,
      ...(known !== null && known !== undefined && { known }),
    },
  }
}

export const toInputOptions = ({ write: { type }, grants, addedByHooks, locale, now, publishes }: WriteOperation, isCreation: boolean) => ({
  writer: { grants, addedByHooks },
  publishes,
  isDraft: type.draftAndPublish,
  isCreation,
  added: { publishedAt: type.draftAndPublish ? null : new Date(now).toISOString(), ...(type.localized ? { locale } : {}) },
})

/** The part of a write scope that publication checks need. */
export interface PublicationScope extends TransactionReads, Pick<WriteScope, 'input' | 'type'> {
  readonly operation: Pick<WriteOperation, 'grants' | 'data' | 'locale' | 'publishes' | 'trials'>
}

/** Finds values of a publishing write that another document has. */
export function findTakenFor({ read, transaction, type, operation }: PublicationScope, document: string): FindTaken {
  const { publishes, locale } = operation
  if (!publishes) return () => Promise.resolve(new Set())
  return createFindTaken(transaction, read.model, { type, document, locale, state: type.draftAndPublish ? 'published' : 'any' })
}

/** Checks the draft row `id` before it is published. @throws ApiError 400 */
export async function checkPublication(scope: PublicationScope, id: number, given: ValidatedPart, findTaken: FindTaken): Promise<void> {
  const { read, input, type, operation } = scope
  const { grants, data, trials } = operation
  const reader = { grants, seesDrafts: mayReadDrafts(read.draftGrant === true, grants, type) }
  await validateDraft({ ...input, reportDropped: null, trials }, scope, { type, id, data, given, findTaken, reader })
}

const emptyResponse = Buffer.from('{"data":null,"meta":{}}')

/** Reads the document in the form that the caller requested; `status` overrides that of the query. */
export async function readResponse(
  { read, plans, transaction, operation }: WriteScope,
  documentId: string,
  status?: 'draft' | 'published',
): Promise<ReadBytes> {
  const { parameters, grants, locale } = operation
  const { type, query, format } = operation.write
  const identity = { attribute: 'documentId' as const, value: documentId }
  const ask = () => {
    const { filters: _filters, sort: _sort, pagination: _pagination, start: _start, _q, ...given } = parameters
    const shown = { ...given, ...(locale === null ? {} : { locale }), ...(status === undefined ? {} : { status }) }
    return readRequest(read, grants, { type, mode: 'first', identity, format, afterWrite: true }, shown)
  }
  const text = `${grants.key} ${type.uid} ${format} ${locale} ${status} ${query}`
  const { plan, values, identityAt } = typeof query === 'string' ? plans.forQueryString(text, ask, 'data') : plans.forRequest(ask(), 'data')
  const answer = await transaction.read(plan, values.with(identityAt, documentId), true)
  // The parameters may exclude the document, for example if it was never published.
  return answer ?? { bytes: emptyResponse, release: () => {} }
}

/** Reads a version for the caller and for hooks. */
export async function readEntry(scope: WriteScope, row: DocumentVersion): Promise<Entry> {
  const { read, plans, transaction, operation, type } = scope
  const show = async (grants: WriteOperation['grants'], shown: Parameters, isBounded: boolean): Promise<string> => {
    const identity = { attribute: 'id' as const, value: row.id }
    const request = readRequest(read, grants, { type, mode: 'first', identity, afterWrite: true }, { ...shown, ...versionParameters(row) })
    return toText(await transaction.read(plans.forRequest(request, 'bare').plan, request.values, isBounded))
  }
  const { fields, populate } = operation.parameters
  return {
    locale: row.locale,
    asked: operation.write.answers === 'entries' ? await show(operation.grants, { fields, populate }, true) : null,
    whole: operation.isSeen ? await show(fullAccess, {}, false) : null,
  }
}

/** The result of a create or update: the written version, and the response. */
export async function toWriteOutcome(scope: WriteScope, documentId: string, row: DocumentVersion): Promise<WriteOutcome> {
  const entries = [await readEntry(scope, row)]
  const answer = scope.operation.write.answers === 'document' ? readResponse(scope, documentId) : null
  if (answer !== null) await scope.transaction.defer(answer)
  return { documentId, entries, answer }
}

/** Filters in the query of a DELETE apply: documents that do not match are retained (docs/differences.md). */
export async function matchesFilters({ read, plans, transaction, operation, type }: WriteScope, documentId: string): Promise<boolean> {
  const { grants } = operation
  const { filters, _q, locale, status } = operation.parameters
  if (filters === undefined && _q === undefined) return true
  const identity = { attribute: 'documentId' as const, value: documentId }
  // Only readers of drafts may learn whether a draft matches.
  const states = mayReadDrafts(read.draftGrant === true, grants, type) ? [status, 'draft'] : [status]
  for (const state of states) {
    const request = readRequest(read, grants, { type, mode: 'first', identity }, { filters, _q, locale, status: state })
    const found = await transaction.read(plans.forRequest(request, 'data').plan, request.values)
    found?.release()
    if (found !== null) return true
  }
  return false
}

/** Type and action of a logged write. */
type SlowOperation = Pick<WriteOperation, 'action'> & { readonly write: { readonly type: { readonly uid: string } } }

/** Runs a write transaction and logs it if it was slow, successful or not, including queueing and commit. */
export function logSlowWrite<Result>(slow: SlowLog | null, operations: readonly SlowOperation[], write: () => Promise<Result>) {
  const started = performance.now()
  const written = write()
  // A failure to log must not end the process.
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
