// `transaction(describe)`: a project function describes writes as data, which are executed after it has returned.
import type { DescribeWrites, HookAction, Transact, WrittenAs } from '../../../foundation/public/documents.js'
import { outsideOfCode } from '../../../foundation/runtime/project-code.js'
import { newDocumentId } from '../../../model/schema/names.js'
import { callerKey, type IdempotencyKey, toFingerprint } from '../idempotency.js'
import type { WriteResult } from '../operation.js'
import { type Actor, type GivenParameters, parseEntries, resolveActor, toPlainData, toWrite, type WithParts, withGrants } from './actor.js'
import { checkParameters, maxWrites, tooManyWrites } from './service.js'

interface DescribedWrite {
  readonly uid: string
  readonly action: HookAction
  readonly given: GivenParameters
  /** Generated documentId of a create; null for other actions. */
  readonly createdId: string | null
}

/** Described writes, the handles that stand for their results, and the return value. */
interface DescribedWrites {
  readonly writes: readonly DescribedWrite[]
  readonly handles: ReadonlyMap<unknown, number>
  readonly returned: unknown
}

/** Transactions of an actor, on the current installation. */
export function createTransact(withParts: WithParts, whose: Actor): Transact {
  return async (describe, { grants, idempotencyKey } = {}) => {
    const as = withGrants(whose, grants)
    const { writes, handles, returned } = collectWrites(describe)
    const named = idempotencyKey === undefined ? null : toTransactionKey(idempotencyKey, as, writes)
    const outcomes = await outsideOfCode(() =>
      withParts(async ({ documents, batch }) => {
        const actor = await resolveActor(as)
        const asked = writes.map(({ uid, action, given, createdId }) => ({
          ...toWrite(documents, actor, uid, action, given, createdId),
          ifMissing: action === 'delete' ? ('passes' as const) : ('fails' as const),
          ifUnmatched: 'fails' as const,
        }))
        return batch(asked, named)
      }),
    )
    const results = outcomes.map((outcome, index) => toResult(writes[index]!, outcome))
    return withResults(returned, handles, results) as WrittenAs<ReturnType<typeof describe>>
  }
}

/** Runs a describing function. @throws TypeError if it is asynchronous, and for writes described after it has returned */
function collectWrites(describe: (write: DescribeWrites) => unknown): DescribedWrites {
  const writes: DescribedWrite[] = []
  const handles = new Map<unknown, number>()
  let isOpen = true

  function add(uid: string, action: HookAction, given: GivenParameters): object {
    if (!isOpen) throw new TypeError('A write was described after the function that describes the transaction had returned')
    checkParameters(uid, action, given, action === 'create' ? [] : ['filters'])
    if (writes.length >= maxWrites) throw tooManyWrites()
    const createdId = action === 'create' ? newDocumentId() : null
    const handle = { index: writes.length, ...(createdId === null ? {} : { documentId: createdId }) }
    // A copy: one object may describe several writes, with other values each time.
    writes.push({ uid, action, given: toPlainData(given ?? {}) as GivenParameters, createdId })
    handles.set(handle, handle.index)
    return handle
  }

  const describeWrites = (uid: string) =>
    Object.fromEntries(actions.map((action) => [action, (given: GivenParameters) => add(uid, action, given)]))
  const returned = describe(describeWrites as unknown as DescribeWrites)
  isOpen = false
  if (isPromise(returned)) {
    returned.then(undefined, () => {})
    throw new TypeError('transaction takes a function that is not asynchronous: nothing is executed before it has returned')
  }
  return { writes, handles, returned }
}

const maxKeyCharacters = 255

/** The idempotency key of a transaction. @throws TypeError for an invalid key */
function toTransactionKey(key: unknown, { caller }: Actor, writes: readonly DescribedWrite[]): IdempotencyKey {
  if (typeof key !== 'string' || key === '' || key.length > maxKeyCharacters)
    throw new TypeError(`idempotencyKey must be a text of 1 to ${maxKeyCharacters} characters`)
  // Generated ids differ on each call, so they are replaced by their positions.
  const indexes = new Map(writes.flatMap(({ createdId }, index) => (createdId === null ? [] : [[createdId, `#${index}`] as const])))
  const text = JSON.stringify(writes).replaceAll(/\b[a-z0-9]{24}\b/g, (id) => indexes.get(id) ?? id)
  return { key, caller: callerKey(caller), fingerprint: toFingerprint(`transaction ${text}`) }
}

const actions = ['create', 'update', 'delete', 'publish', 'unpublish', 'discardDraft'] as const satisfies readonly HookAction[]

const isPromise = (value: unknown): value is Promise<unknown> =>
  typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function'

/** The result of a write, as returned by the method of `documents(uid)`. */
function toResult({ action, given }: DescribedWrite, outcome: WriteResult | null): unknown {
  const entries = parseEntries(outcome)
  if (action === 'create' || action === 'update') return entries[0] ?? null
  return { documentId: outcome?.documentId ?? given.documentId ?? '', entries }
}

/** Replaces handles in the return value by results, including those in arrays and plain objects. */
function withResults(value: unknown, handles: ReadonlyMap<unknown, number>, results: readonly unknown[]): unknown {
  const index = handles.get(value)
  if (index !== undefined) return results[index]
  if (Array.isArray(value)) return value.map((inner) => withResults(inner, handles, results))
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, withResults(inner, handles, results)]))
}
