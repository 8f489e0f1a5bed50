// Entry point of all writes of documents: every operation, for every caller, is one transaction that starts here.
import type { Transaction } from '../../database/database.js'
import { ApiError, forbidden } from '../../foundation/errors/errors.js'
import type { HookAction } from '../../foundation/public/documents.js'
import { createDocument } from './create.js'
import { isHidden } from './guard/hidden-rows.js'
import { checkTargetsExist } from './guard/missing-targets.js'
import { callerKey, type IdempotencyKey, type IdempotencyKeys, toIdempotencyKey } from './idempotency.js'
import type { WriteContext, WriteOperation, WriteOutcome, WriteResult, WriteScope, WriteStart } from './operation.js'
import { beginWrite, createRowContext, createWriteScope, logSlowWrite } from './operation.js'
import { discardDraft, publishDocument, unpublishDocument } from './publication.js'
import { removeDocument } from './remove.js'
import { onlyDocument, resolveSpelling } from './store/rows.js'
import { updateDocument } from './update.js'

/**
 * Runs a write in a transaction, with the project's hooks around it. Null if the document does not exist.
 * @throws ApiError 403, 400, 503
 */
export type DocumentWrites = (asked: WriteStart) => Promise<WriteResult | null>

/** Performs an action in a transaction. Null if the document does not exist. */
type RunAction = (scope: WriteScope) => Promise<WriteOutcome | null>

const operations: Readonly<Record<HookAction, RunAction>> = {
  create: withMissingTargets(createDocument),
  update: withMissingTargets(updateDocument),
  delete: removeDocument,
  publish: publishDocument,
  unpublish: unpublishDocument,
  discardDraft: discardDraft,
}

export function createWrites(context: WriteContext, onceKeys: IdempotencyKeys): DocumentWrites {
  const { database, outbox, hooks, slow } = context

  async function perform(begun: WriteOperation, named: IdempotencyKey | null): Promise<WriteResult | null> {
    if (named !== null && hooks !== null) {
      const former = await database.transaction((transaction) => onceKeys.recall(createWriteScope(context, transaction, begun), named))
      if (former !== null) return { ...former, answer: await former.answer }
    }
    const operation = hooks === null ? begun : await hooks.before(begun)
    const hashes = operation.passwords.length === 0 ? null : await prepareHashes(context, operation)
    const run = async (transaction: Transaction) => {
      const former = named === null ? null : await onceKeys.recall(createWriteScope(context, transaction, begun), named)
      if (former !== null) return former
      const done = await execute(hashes === null ? context : withHashes(context, hashes), transaction, operation)
      if (done !== null && named !== null) onceKeys.keep(transaction, begun, named, { ...done, answer: await done.answer })
      return done
    }
    const left = await logSlowWrite(slow, [operation], () => database.transaction(run))
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
    const named = toIdempotencyKey(once, operation)
    return onceKeys.alone(named, () => perform(operation, named))
  }
}

/** Runs a write in its transaction, within the scope of the caller. Null if the document does not exist. @throws ApiError 403, 400 */
export async function execute(context: WriteContext, transaction: Transaction, operation: WriteOperation): Promise<WriteOutcome | null> {
  const { write, grants, policy } = operation
  if (grants.content !== undefined && policy === null) throw new Error('A write with grants of an administrator needs a policy')
  const documentId = operation.documentId ?? (await onlyDocument(transaction, write.type))
  const run = policy !== null ? withinPolicy : grants.scopes.has(write.type.uid) ? withinScope : operations[operation.action]
  const locale = await resolveLocale(transaction, operation, documentId)
  // The time is taken now: later commits have later times, however long hooks took.
  return run(createWriteScope(context, transaction, { ...operation, documentId, locale, now: Date.now() }))
}

/** The locale of the operation, in the document's spelling. */
function resolveLocale(transaction: Transaction, { locale, write }: WriteOperation, documentId: string | null): Promise<string | null> {
  const isExact = locale === null || documentId === null || !transaction.dialect.collates
  return isExact ? Promise.resolve(locale) : resolveSpelling(transaction, write.type, documentId, locale)
}

const noDocument: RunAction = () => Promise.resolve(null)

/** Runs a write in the caller's scope, outside of which documents do not exist. @throws ApiError 403 if a document would leave the scope */
const withinScope: RunAction = async (scope) => {
  const { operation, type } = scope
  const { action, documentId, grants } = operation
  const isOut = (document: string) => isHidden(scope, grants, type, document)
  if (documentId !== null && (await isOut(documentId))) {
    const run = action === 'update' ? withMissingTargets(noDocument) : operations[action]
    return run({ ...scope, operation: { ...operation, documentId: null } })
  }
  const outcome = await operations[action](scope)
  if (outcome !== null && action !== 'delete' && (await isOut(outcome.documentId))) throw forbidden()
  return outcome
}

/** Runs a write within the policy of its caller. @throws ApiError */
const withinPolicy: RunAction = async (scope) => {
  const { operation } = scope
  const policy = operation.policy!
  const restriction = await policy.before(scope)
  if (restriction === null) return null
  const outcome = await operations[operation.action]({ ...scope, operation: { ...operation, policy: { ...policy, ...restriction } } })
  if (outcome !== null) await policy.after(scope, outcome)
  return outcome
}

/** Wraps an action: missing targets are reported before any other reason to refuse, and even if the document does not exist. */
function withMissingTargets(run: RunAction): RunAction {
  return async (scope) => {
    const refuse = () => checkTargetsExist(createRowContext(scope, null), scope.operation)
    try {
      const outcome = await run(scope)
      if (outcome === null) await refuse()
      return outcome
    } catch (error) {
      if (error instanceof ApiError) await refuse()
      throw error
    }
  }
}

/** Hashes by password. A password given twice has two. */
export type PreparedHashes = readonly (readonly [password: string, hash: string])[]

/** Hashes the passwords of a body. @throws ApiError 503 if the queue is full */
export async function prepareHashes({ passwords }: WriteContext, { write, passwords: given }: WriteOperation): Promise<PreparedHashes> {
  const { hash } = passwords.of(callerKey(write.caller))
  const prepared: (readonly [string, string])[] = []
  for (const password of given) prepared.push([password, await hash(password)])
  return prepared
}

/** Uses each prepared hash once; other passwords, such as those of hooks and defaults, are hashed on demand. */
export function withHashes(context: WriteContext, prepared: PreparedHashes): WriteContext {
  if (prepared.length === 0) return context
  const left = [...prepared]
  return {
    ...context,
    hashPassword: async (password) => {
      const at = left.findIndex(([given]) => given === password)
      return at === -1 ? context.hashPassword(password) : left.splice(at, 1)[0]![1]
    },
  }
}

/** Counts a write and adds it to the audit log, unless its caller is an administrator: their activity is logged separately. */
export function reportWritten({ metrics, audit }: Pick<WriteContext, 'metrics' | 'audit'>, operation: WriteOperation, id: string): void {
  const { action, write, locale } = operation
  metrics?.documentWritten(write.type.uid, action)
  if (audit === null || write.caller?.kind === 'administrator') return
  audit.note({
    actor: write.caller ?? { kind: 'project' },
    action,
    type: write.type.uid,
    id,
    locales: locale === null ? undefined : [locale],
  })
}
