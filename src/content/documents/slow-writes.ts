// Writes that take long are logged with the types and actions that they are about.
import type { SlowLog } from '../../foundation/runtime/slow-log.js'
import type { WriteOperation } from './operation.js'

/** What a transaction writes. */
type SlowOperation = Pick<WriteOperation, 'action'> & { readonly write: { readonly type: { readonly uid: string } } }

/** Runs a transaction that writes documents, and logs it if it was slow, whether or not it succeeded. Waiting for its turn and the commit count. */
export function loggingSlowWrite<Result>(slow: SlowLog | null, operations: readonly SlowOperation[], write: () => Promise<Result>) {
  const [started, written] = [performance.now(), write()]
  // A line that cannot be written must not end the process.
  if (slow !== null) written.then(look(slow, started, operations, false), look(slow, started, operations, true)).catch(() => {})
  return written
}

const look = (slow: SlowLog, started: number, operations: readonly SlowOperation[], failed: boolean) => () => {
  const milliseconds = performance.now() - started
  if (milliseconds >= slow.from) note(slow, operations, milliseconds, failed)
}

function note(slow: SlowLog, operations: readonly SlowOperation[], milliseconds: number, failed: boolean): void {
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
