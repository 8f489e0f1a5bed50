// Writing documents: every operation on content, whoever asks for it, is one transaction that starts here.
import type { Transaction } from '../../database/database.js'
import { ApiError, forbidden } from '../../foundation/errors/errors.js'
import type { HookAction } from '../../foundation/public/documents.js'
import { createIn } from './create.js'
import { isHidden } from './hidden-rows.js'
import { type IdempotencyKey, type IdempotencyKeys, keyOf } from './idempotency.js'
import { checkTargetsExist } from './missing-targets.js'
import type { BegunWrite, WriteContext, WriteOperation, WriteOutcome, WriteResult } from './operation.js'
import { beginWrite, writingOf } from './operation.js'
import { prepareHashes, withHashes } from './prepared-hashes.js'
import { discardIn, publishIn, unpublishIn } from './publication.js'
import { removeIn } from './remove.js'
import { reportWritten } from './report-written.js'
import { loggingSlowWrite } from './slow-writes.js'
import { onlyDocument, spelledLocale } from './store/rows.js'
import { updateIn } from './update.js'

/**
 * Does what is asked, in one transaction, with the hooks of the project around it. Null: there is no such document.
 * @throws ApiError 403, 400, 503
 */
export type DocumentWrites = (asked: BegunWrite) => Promise<WriteResult | null>

/** Does what one action asks for inside a transaction. Null: there is no such document. */
type RunAction = (context: WriteContext, transaction: Transaction, operation: WriteOperation) => Promise<WriteOutcome | null>

const operations: Readonly<Record<HookAction, RunAction>> = {
  create: withMissingTargets(createIn),
  update: withMissingTargets(updateIn),
  delete: removeIn,
  publish: publishIn,
  unpublish: unpublishIn,
  discardDraft: discardIn,
}

/** The writes over one model. */
export function openWrites(context: WriteContext, onceKeys: IdempotencyKeys): DocumentWrites {
  const { database, outbox, hooks, slow } = context

  async function perform(begun: WriteOperation, named: IdempotencyKey | null): Promise<WriteResult | null> {
    if (named !== null && hooks !== null) {
      const former = await database.transaction((transaction) => onceKeys.recall(context, transaction, begun, named))
      if (former !== null) return { ...former, answer: await former.answer }
    }
    const operation = hooks === null ? begun : await hooks.before(begun)
    const hashes = operation.passwords.length === 0 ? null : await prepareHashes(context, operation)
    const run = async (transaction: Transaction) => {
      const former = named === null ? null : await onceKeys.recall(context, transaction, begun, named)
      if (former !== null) return former
      const done = await execute(hashes === null ? context : withHashes(context, hashes), transaction, operation)
      if (done !== null && named !== null) onceKeys.keep(transaction, begun, named, { ...done, answer: await done.answer })
      return done
    }
    const left = await loggingSlowWrite(slow, [operation], () => database.transaction(run))
    const outcome = left === null ? null : { ...left, answer: await left.answer }
    if (outcome?.synced !== undefined) context.inSync.note(outcome.synced)
    if (outcome === null || outcome.entries.length === 0) return outcome
    reportWritten(context, operation, outcome.documentId)
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
  const { write, grants, policy } = operation
  if (grants.content !== undefined && policy === null) throw new Error('A write with grants of an administrator needs a policy')
  const documentId = operation.documentId ?? (await onlyDocument(transaction, write.type))
  const run = policy !== null ? withinPolicy : grants.scopes.has(write.type.uid) ? withinScope : operations[operation.action]
  const locale = await localeIn(transaction, operation, documentId)
  // The moment of its turn: a later commit has a later one, however long hooks took.
  return run(context, transaction, { ...operation, documentId, locale, now: Date.now() })
}

/** The locale of the operation, as the document spells it. */
function localeIn(transaction: Transaction, { locale, write }: WriteOperation, documentId: string | null): Promise<string | null> {
  const isExact = locale === null || documentId === null || !transaction.dialect.collates
  return isExact ? Promise.resolve(locale) : spelledLocale(transaction, write.type, documentId, locale)
}

const nowhere: RunAction = () => Promise.resolve(null)

/** Does what is asked within the scope of the caller. A document outside of it is not there. @throws ApiError 403 if one would leave it */
const withinScope: RunAction = async (context, transaction, operation) => {
  const { action, documentId, grants } = operation
  const { type } = operation.write
  const isOut = (document: string) => isHidden(context, transaction, grants, type, document)
  if (documentId !== null && (await isOut(documentId)))
    return (action === 'update' ? withMissingTargets(nowhere) : operations[action])(context, transaction, {
      ...operation,
      documentId: null,
    })
  const outcome = await operations[action](context, transaction, operation)
  if (outcome !== null && action !== 'delete' && (await isOut(outcome.documentId))) throw forbidden()
  return outcome
}

/** Runs a write within the policy of its caller. @throws ApiError */
const withinPolicy: RunAction = async (context, transaction, operation) => {
  const policy = operation.policy!
  const restriction = await policy.before(context, transaction, operation)
  if (restriction === null) return null
  const outcome = await operations[operation.action](context, transaction, { ...operation, policy: { ...policy, ...restriction } })
  if (outcome !== null) await policy.after(context, transaction, operation, outcome)
  return outcome
}

/** The same action, which reports a target that does not exist before it is refused for another reason, or finds no document. */
function withMissingTargets(run: RunAction): RunAction {
  return async (context, transaction, operation) => {
    const refuse = async () => {
      const { resolving } = writingOf(context, transaction, operation, null)
      await checkTargetsExist(transaction, context.read.model, operation, operation.write.type, operation.data, resolving)
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
