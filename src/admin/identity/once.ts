// Requests of administrators that are done once per Idempotency-Key. What was done is kept in the transaction of its entry in the log of
// activity, and the response once there is one; both sealed, for a response may have a secret that nothing else shows again.
import { createHash, createHmac } from 'node:crypto'
import { callerKey } from '../../content/documents/idempotency.js'
import type { Once } from '../../content/documents/operation.js'
import { serviceTransaction, type Transaction } from '../../database/database.js'
import { ApiError } from '../../foundation/errors/errors.js'
import { openSealing } from '../../foundation/runtime/sealing.js'
import type { KeepActs } from '../activity.js'
import type { Administration } from '../context.js'
import type { Administrator } from './identify.js'

/** What was done under a key before. */
export interface DoneBefore {
  /** The ids of what it was done to, in their order. */
  readonly ids: readonly string[]
  /** What only the response tells of it. */
  readonly told: unknown
}

/** A request, and how it is answered. */
export interface OnceWork<Answer> {
  /** Does it. What it does keeps itself with `keep`. */
  act(keep: KeepActs): Promise<Answer>
  /** Whether an answer says that it is done, or that it was refused. */
  isDone(answer: Answer): boolean
  /** Answers where it was done before, but its answer was not kept, or the rights of the administrator have changed since. */
  again(done: DoneBefore): Promise<Answer>
}

/** What is kept under a key. */
interface Kept<Answer> extends DoneBefore {
  /** Null: there is none, or it was too large. */
  readonly answer: Answer | null
}

/** What is known of the rights of an administrator, so that a change of them shows. */
const markOf = ({ isSuperAdmin, roles, permissions }: Administrator): string =>
  createHash('sha256')
    .update(JSON.stringify([isSuperAdmin, roles.map(({ id }) => id), permissions]))
    .digest('base64url')

/** Does a request, or gives the answer of the first time. @throws ApiError 409 while it is under way, 422 for the key of another request; what `act` throws */
export async function doOnce<Answer>(
  administration: Administration,
  administrator: Administrator,
  { key, request }: Once,
  { act, isDone, again }: OnceWork<Answer>,
): Promise<Answer> {
  const { idempotency, database, writer, keys, log } = administration
  const fingerprint = createHmac('sha256', keys.fingerprints).update(request).digest('base64url')
  const named = { key, caller: callerKey({ kind: 'administrator', id: administrator.id }), fingerprint }
  const sealing = openSealing(Buffer.from(keys.responses, 'base64url'))
  const grants = markOf(administrator)
  const sealed = (kept: Kept<Answer>): Buffer => sealing.seal(Buffer.from(JSON.stringify(kept)))
  const made = new WeakMap<Transaction, DoneBefore>()
  let done: DoneBefore = { ids: [], told: null }

  const keep: KeepActs = async (transaction, acts) => {
    const former = made.get(transaction)
    if (former === undefined && (await idempotency.find(transaction, named)) !== null) throw doneBefore()
    const { ids, told } = former ?? { ids: [], told: null }
    done = { ids: [...ids, ...acts.map(({ id }) => id)], told: told ?? acts.find((one) => one.told !== undefined)?.told ?? null }
    made.set(transaction, done)
    idempotency.store(transaction, named, { grants, documentId: '', answer: sealed({ ...done, answer: null }) })
  }

  /** The answer of the first time; null: it was not done before. */
  async function recall(): Promise<Answer | null> {
    const row = await idempotency.find(database, named)
    if (row === null) return null
    const opened = row.answer === null ? null : sealing.open(row.answer)
    if (opened === null) throw doneBefore()
    const { answer, ...former } = JSON.parse(opened.toString('utf8')) as Kept<Answer>
    return answer !== null && row.grants === grants ? answer : again(former)
  }

  /** What was done stays kept without its answer, should this fail. */
  async function keepAnswer(answer: Answer): Promise<void> {
    const bytes = sealed({ ...done, answer })
    if (done.ids.length > 0 && !idempotency.mayKeep(bytes.length)) return
    const write = async (transaction: Transaction) => idempotency.store(transaction, named, { grants, documentId: '', answer: bytes })
    await serviceTransaction(writer, write).catch((error: unknown) => log.error({ err: error }, 'could not keep a response'))
  }

  return idempotency.alone(named, async () => {
    const former = await recall()
    if (former !== null) return former
    try {
      const answer = await act(keep)
      if (!isDone(answer)) return (await recall()) ?? answer
      await keepAnswer(answer)
      return answer
    } catch (error) {
      // Another process may have done it meanwhile, or the answer could not be read.
      const meanwhile = error instanceof ApiError ? await recall() : null
      if (meanwhile === null) throw error
      return meanwhile
    }
  })
}

const doneBefore = (): ApiError => new ApiError('ConflictError', 'This was carried out before; what it led to is not there any more')
