// Batches: several writes in one transaction, all or none. Every write is prepared before the transaction and followed up after it.
import { type Transaction, unknownHistory } from '../../database/database.js'
import { ApiError, notFound } from '../../foundation/errors/errors.js'
import { yieldIfBusy } from '../../foundation/runtime/event-loop.js'
import type { IdempotencyKey, IdempotencyKeys, StoredResult } from './idempotency.js'
import {
  beginWrite,
  createWriteScope,
  logSlowWrite,
  matchesFilters,
  type WriteContext,
  type WriteOperation,
  type WriteOutcome,
  type WriteResult,
  type WriteStart,
} from './operation.js'
import { onlyDocument, releaseIds } from './store/rows.js'
import { execute, type PreparedHashes, prepareHashes, reportWritten, withHashes } from './write.js'

/** A write of a batch. */
export interface BatchWrite extends WriteStart {
  /** Effect on the batch if the document does not exist. */
  readonly ifMissing: 'fails' | 'passes'
  /** Effect on the batch if the document does not match the filters of the write. */
  readonly ifUnmatched: 'fails' | 'passes'
  /** Name in errors; defaults to position and action. */
  readonly label?: string | undefined
}

type BatchResults = readonly (WriteResult | null)[]

/**
 * Executes writes in order in one transaction. With a key that was committed before, resolves to the earlier results instead. A result is
 * null if the document does not exist or no longer matches the filters of its write.
 * @throws ApiError of the failed write, identified by its label or `details.operation`; nothing is written. 409, 422 for the key
 */
export type DocumentBatch = (asked: readonly BatchWrite[], named?: IdempotencyKey | null) => Promise<BatchResults>

export function createBatch(context: WriteContext, keys: IdempotencyKeys): DocumentBatch {
  const { database, hooks, outbox, slow } = context

  async function executeAll(
    transaction: Transaction,
    asked: readonly BatchWrite[],
    operations: readonly WriteOperation[],
    hashes: readonly PreparedHashes[],
  ): Promise<BatchResults> {
    const shared = toSharedTransaction(transaction)
    return runInOrder(asked, async ({ ifMissing, ifUnmatched }, index) => {
      releaseIds(shared)
      const outcome = await executeOne(withHashes(context, hashes[index]!), shared, operations[index]!, ifUnmatched)
      if (outcome === null && ifMissing === 'fails') throw notFound()
      return outcome === null ? null : { documentId: outcome.documentId, entries: outcome.entries, answer: null }
    })
  }

  /** The results committed under the key; null without a key, or if there are none. */
  async function recall(
    transaction: Transaction,
    asked: readonly BatchWrite[],
    named: IdempotencyKey | null,
  ): Promise<BatchResults | null> {
    const kept = named === null ? null : await keys.find(transaction, named)
    return kept === null ? null : parseStoredResult(kept, asked)
  }

  async function perform(asked: readonly BatchWrite[], named: IdempotencyKey | null): Promise<BatchResults> {
    if (asked.length === 0) return []
    if (named !== null && hooks !== null) {
      const former = await database.transaction((transaction) => recall(transaction, asked, named))
      if (former !== null) return former
    }
    const begun = await runInOrder(asked, (one) => beginWrite(context, one))
    const operations = hooks === null ? begun : await runInOrder(asked, (_one, index) => hooks.before(begun[index]!))
    const hashes: PreparedHashes[] = []
    for (const operation of operations) hashes.push(await prepareHashes(context, operation))
    const run = async (transaction: Transaction) => {
      const former = await recall(transaction, asked, named)
      if (former !== null) return { isNew: false, outcomes: former }
      const done = await executeAll(transaction, asked, operations, hashes)
      if (named !== null) keys.store(transaction, named, toStoredResult(done, asked))
      return { isNew: true, outcomes: done }
    }
    const { isNew, outcomes } = await logSlowWrite(slow, operations, () => database.transaction(run))
    if (!isNew) return outcomes
    outbox?.committed()
    for (const [index, outcome] of outcomes.entries()) {
      if (outcome === null || outcome.entries.length === 0) continue
      reportWritten(context, operations[index]!, outcome.documentId)
      await hooks?.after(operations[index]!, outcome)
    }
    return outcomes
  }

  return (asked, named = null) => (named === null ? perform(asked, null) : keys.alone(named, () => perform(asked, named)))
}

/** Stores the results as shown to the caller. */
const toStoredResult = (outcomes: BatchResults, asked: readonly BatchWrite[]): Omit<StoredResult, 'fingerprint'> => ({
  grants: getGrantsKey(asked),
  documentId: '',
  answer: Buffer.from(
    JSON.stringify(
      outcomes.map((outcome) =>
        outcome === null
          ? null
          : {
              documentId: outcome.documentId,
              entries: outcome.entries.map(({ locale, asked: shown }) => ({ locale, asked: shown, whole: null })),
              answer: null,
            },
      ),
    ),
  ),
})

/** @throws ApiError 409 if the stored results are not available to this caller */
function parseStoredResult({ grants, answer }: StoredResult, asked: readonly BatchWrite[]): BatchResults {
  if (answer === null || grants !== getGrantsKey(asked))
    throw new ApiError('ConflictError', 'A transaction with this idempotencyKey was committed before; its results no longer exist')
  return JSON.parse(Buffer.from(answer).toString('utf8')) as BatchResults
}

const getGrantsKey = ([first]: readonly BatchWrite[]): string => first?.grants.key ?? ''

/** Executes a write if its document matches the filters. @throws ApiError 409 if it does not and that fails the batch */
async function executeOne(
  context: WriteContext,
  transaction: Transaction,
  operation: WriteOperation,
  ifUnmatched: BatchWrite['ifUnmatched'],
): Promise<WriteOutcome | null> {
  const { action, parameters } = operation
  // A delete checks its filters itself.
  const isConditional = action === 'update' || (action !== 'create' && ifUnmatched === 'fails')
  if (isConditional && parameters.filters !== undefined) {
    const scope = createWriteScope(context, transaction, operation)
    const documentId = operation.documentId ?? (await onlyDocument(transaction, scope.type))
    if (documentId === null || !(await matchesFilters(scope, documentId))) {
      if (ifUnmatched === 'fails') throw new ApiError('ConflictError', 'The document does not match the filters of its write')
      return null
    }
  }
  return execute(context, transaction, operation)
}

/** The transaction for one of several writes: it changes more than one document, and deferred checks run before the next write. */
const toSharedTransaction = (transaction: Transaction): Transaction => ({
  ...transaction,
  history: unknownHistory,
  defer: async (last) => void (await last),
})

/** Runs steps in order, yielding to other requests. @throws the error of a step, with its position */
async function runInOrder<Result>(
  asked: readonly BatchWrite[],
  step: (one: BatchWrite, index: number) => Promise<Result>,
): Promise<readonly Result[]> {
  const results: Result[] = []
  for (const [index, one] of asked.entries()) {
    await yieldIfBusy()
    try {
      results.push(await step(one, index))
    } catch (error) {
      throw locateError(index, one, error)
    }
  }
  return results
}

/** Adds the write to its error. Other errors stay unchanged, such as conflicts that cause a retry. */
function locateError(index: number, { action, label, write: { type } }: BatchWrite, error: unknown): unknown {
  if (!(error instanceof ApiError) || error.status >= 500) return error
  const { message, details } = error
  if (label !== undefined) return error.reworded(`${label}: ${message}`).inLocale(label)
  return error.reworded(`Operation ${index} (${action} ${type.uid}): ${message}`, { ...details, operation: index })
}
