// Requests of administrators with an Idempotency-Key. The result is stored in the transaction of its log entry, and the response after it; both are
// encrypted, because a response may contain a secret that is shown only once.

import { createHash, createHmac } from 'node:crypto'
import { callerKey } from '../content/documents/idempotency.js'
import type { Once } from '../content/documents/operation.js'
import type { Transaction } from '../database/database.js'
import { serviceTransaction } from '../database/database.js'
import { ApiError } from '../foundation/errors/errors.js'
import { openSealing } from '../foundation/runtime/encryption.js'
import type { StoreActions } from './activity.js'
import type { Administration } from './context.js'
import type { Administrator } from './identity/identify.js'

/** The former result of a request. */
export interface FormerResult {
  /** The ids of the changed objects, in their order. */
  readonly ids: readonly string[]
  /** Data that only the response contains. */
  readonly responseData: unknown
}

interface IdempotentWork<Response> {
  /** Carries out the request and stores its actions with `store`. */
  act(store: StoreActions): Promise<Response>
  /** True if a response reports success. */
  isDone(response: Response): boolean
  /** Responds to a repeated request if the response was not stored, or the rights have changed. */
  respondAgain(done: FormerResult): Promise<Response>
}

interface StoredResult<Response> extends FormerResult {
  /** Null: none, or too large. */
  readonly response: Response | null
}

/** A result with the member names of stored rows. */
interface SealedResult<Response> {
  readonly ids: readonly string[]
  readonly told: unknown
  readonly answer: Response | null
}

/** A hash of the rights of an administrator. */
const rightsFingerprint = ({ isSuperAdmin, roles, permissions }: Administrator): string =>
  createHash('sha256')
    .update(JSON.stringify([isSuperAdmin, roles.map(({ id }) => id), permissions]))
    .digest('base64url')

/**
 * Carries out a request once, and returns the stored response if it is repeated.
 * @throws ApiError 409 while the first request is in progress, 422 for the key of another request; errors of `act`
 */
export async function doIdempotently<Response>(
  administration: Administration,
  administrator: Administrator,
  { key, request }: Once,
  { act, isDone, respondAgain }: IdempotentWork<Response>,
): Promise<Response> {
  const { idempotency, database, writer, keys, log } = administration
  const fingerprint = createHmac('sha256', keys.fingerprints).update(request).digest('base64url')
  const named = { key, caller: callerKey({ kind: 'administrator', id: administrator.id }), fingerprint }
  const sealing = openSealing(Buffer.from(keys.responses, 'base64url'))
  const grants = rightsFingerprint(administrator)
  const seal = ({ ids, responseData: told, response: answer }: StoredResult<Response>): Buffer =>
    sealing.seal(Buffer.from(JSON.stringify({ ids, told, answer } satisfies SealedResult<Response>)))
  const made = new WeakMap<Transaction, FormerResult>()
  let done: FormerResult = { ids: [], responseData: null }

  const store: StoreActions = async (transaction, acts) => {
    const former = made.get(transaction)
    if (former === undefined && (await idempotency.find(transaction, named)) !== null) throw resultLost()
    const { ids, responseData } = former ?? { ids: [], responseData: null }
    done = {
      ids: [...ids, ...acts.map(({ id }) => id)],
      responseData: responseData ?? acts.find((one) => one.responseData !== undefined)?.responseData ?? null,
    }
    made.set(transaction, done)
    idempotency.store(transaction, named, { grants, documentId: '', answer: seal({ ...done, response: null }) })
  }

  /** The stored response; null: this is the first request. */
  async function recall(): Promise<Response | null> {
    const row = await idempotency.find(database, named)
    if (row === null) return null
    const opened = row.answer === null ? null : sealing.open(row.answer)
    if (opened === null) throw resultLost()
    const { ids, told: responseData, answer: response } = JSON.parse(opened.toString('utf8')) as SealedResult<Response>
    return response !== null && row.grants === grants ? response : respondAgain({ ids, responseData })
  }

  /** If this fails, the actions stay stored without the response. */
  async function storeResponse(response: Response): Promise<void> {
    const bytes = seal({ ...done, response })
    if (done.ids.length > 0 && !idempotency.mayKeep(bytes.length)) return
    const write = async (transaction: Transaction) => idempotency.store(transaction, named, { grants, documentId: '', answer: bytes })
    await serviceTransaction(writer, write).catch((error: unknown) => log.error({ err: error }, 'could not store a response'))
  }

  return idempotency.alone(named, async () => {
    const former = await recall()
    if (former !== null) return former
    try {
      const response = await act(store)
      if (!isDone(response)) return (await recall()) ?? response
      await storeResponse(response)
      return response
    } catch (error) {
      // Another process may have carried it out, or the response could not be read.
      const stored = error instanceof ApiError ? await recall() : null
      if (stored === null) throw error
      return stored
    }
  })
}

const resultLost = (): ApiError => new ApiError('ConflictError', 'This was done before; its result no longer exists')
