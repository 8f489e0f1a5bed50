// Group commit: queued writes are executed one after the other in one transaction and share its commit.
import { elapsed } from '../../foundation/runtime/clock.js'
import type { Transaction } from '../database.js'
import { unavailableError } from '../errors.js'

/** A queued write, which must be over at `deadline` (`elapsed`). */
export interface QueuedWrite {
  readonly work: (transaction: Transaction) => Promise<unknown>
  readonly deadline: number
}

export const latestDeadline = (writes: readonly QueuedWrite[]): number => Math.max(...writes.map(({ deadline }) => deadline))

/** Outcome of a write: committed, or failed without effect. */
export type WriteOutcome = { readonly result: unknown } | { readonly error: unknown }

interface SharedTransaction {
  /** Sets a savepoint before each write. */
  savepoint(isFirst: boolean): unknown
  run(write: QueuedWrite): Promise<unknown>
  /** Rolls back to the last savepoint. */
  rollback(): Promise<unknown>
  /** True if an error aborts the whole transaction. */
  isFatal(error: unknown): boolean
}

/** Executes writes one after the other, rolling back failed ones individually. @throws an error that aborts the whole transaction */
export async function runWrites(
  writes: readonly QueuedWrite[],
  { savepoint, run, rollback, isFatal }: SharedTransaction,
): Promise<readonly WriteOutcome[]> {
  const outcomes: WriteOutcome[] = []
  for (const write of writes) {
    await savepoint(outcomes.length === 0)
    try {
      outcomes.push({ result: await run(write) })
    } catch (error) {
      if (isFatal(error)) throw error
      // If the rollback fails, the transaction is gone, and with it the other writes.
      await Promise.resolve(rollback()).catch(() => {
        throw error
      })
      outcomes.push({ error })
    }
  }
  return outcomes
}

/** Executes writes in one transaction. Resolves to their outcomes; rejects if nothing is known to be committed. */
export type RunGroup = (writes: readonly QueuedWrite[]) => Promise<readonly WriteOutcome[]>

const maxGroupSize = 16

interface Waiting extends QueuedWrite {
  resolve(outcome: WriteOutcome): void
}

/** Queues a write. @throws its error; ApiError 503 if the queue is full or its deadline passes while it waits */
type RunInGroup = <Result>(work: (transaction: Transaction) => Promise<Result>, deadline: number) => Promise<Result>

interface GroupCommitOptions {
  readonly queue: number
  /** True if a part of the group may succeed after this error, which aborted the transaction. */
  mayPass(error: unknown): boolean
}

export function createGroupCommit(run: RunGroup, { queue, mayPass }: GroupCommitOptions): RunInGroup {
  const waiting = new Set<Waiting>()
  let isRunning = false

  /** Retries halves of a group that conflicted with a write outside of it. */
  async function runAll(writes: readonly QueuedWrite[]): Promise<readonly WriteOutcome[]> {
    try {
      return await run(writes)
    } catch (error) {
      if (writes.length === 1 || !mayPass(error)) return writes.map(() => ({ error }))
      const middle = writes.length >> 1
      return [...(await runAll(writes.slice(0, middle))), ...(await runAll(writes.slice(middle)))]
    }
  }

  function take(): readonly Waiting[] {
    const taken = [...waiting].slice(0, maxGroupSize)
    for (const one of taken) waiting.delete(one)
    return taken
  }

  async function runWaiting(): Promise<void> {
    isRunning = true
    while (waiting.size > 0) {
      const writes = take()
      const outcomes = await runAll(writes)
      for (const [index, { resolve }] of writes.entries()) resolve(outcomes[index]!)
    }
    isRunning = false
  }

  return async <Result>(work: (transaction: Transaction) => Promise<Result>, deadline: number) => {
    if (waiting.size >= queue) throw unavailableError('Too many writes are waiting')
    const outcome = await new Promise<WriteOutcome>((resolve) => {
      const one: Waiting = { work, deadline, resolve }
      const timer = setTimeout(
        () => {
          if (waiting.delete(one)) resolve({ error: unavailableError('The write took too long') })
        },
        Math.max(0, deadline - elapsed()),
      )
      one.resolve = (result) => {
        clearTimeout(timer)
        resolve(result)
      }
      waiting.add(one)
      if (!isRunning) void runWaiting()
    })
    if ('error' in outcome) throw outcome.error
    return outcome.result as Result
  }
}
