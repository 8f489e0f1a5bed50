// Writes that take turns: those that wait are run together, one after the other in one transaction, and share its commit.
import { elapsed } from '../../foundation/runtime/clock.js'
import type { Transaction } from '../database.js'
import { unavailable } from '../errors.js'

/** The work of a write, which has to be over at `deadline` (`elapsed`). */
export interface Turn {
  readonly work: (transaction: Transaction) => Promise<unknown>
  readonly deadline: number
}

/** When the last of them has to be over. */
export const latestOf = (turns: readonly Turn[]): number => Math.max(...turns.map(({ deadline }) => deadline))

/** What a write led to: it is committed, or nothing of it is. */
export type TurnOutcome = { readonly result: unknown } | { readonly error: unknown }

/** How a transaction executes the writes that share it. */
interface SharedTransaction {
  /** Marks where the next write begins; what follows is executed after that. */
  mark(isFirst: boolean): unknown
  /** Executes a write to its end. @throws what it failed with */
  run(turn: Turn): Promise<unknown>
  /** Takes back what came after the last mark. */
  takeBack(): Promise<unknown>
  /** Whether an error leaves nothing of the transaction. */
  isFatal(error: unknown): boolean
}

/** Executes writes one after the other. What fails by itself is taken back alone. @throws what leaves nothing of the transaction */
export async function runParts(
  turns: readonly Turn[],
  { mark, run, takeBack, isFatal }: SharedTransaction,
): Promise<readonly TurnOutcome[]> {
  const outcomes: TurnOutcome[] = []
  for (const turn of turns) {
    await mark(outcomes.length === 0)
    try {
      outcomes.push({ result: await run(turn) })
    } catch (error) {
      if (isFatal(error)) throw error
      // Where the server has taken back more than it should, nothing of the others is left either.
      await Promise.resolve(takeBack()).catch(() => {
        throw error
      })
      outcomes.push({ error })
    }
  }
  return outcomes
}

/** Executes writes in one transaction. Resolves to what each led to; rejects where nothing of any is known to be committed. */
export type RunTogether = (turns: readonly Turn[]) => Promise<readonly TurnOutcome[]>

/** Writes that share a commit at most. */
const mostTogether = 16

interface Waiting extends Turn {
  resolve(outcome: TurnOutcome): void
}

/** Runs a write in its turn. @throws what it failed with, ApiError 503 where too many wait or its time is over before its turn */
export type InTurn = <Result>(work: (transaction: Transaction) => Promise<Result>, deadline: number) => Promise<Result>

/** What writes in turn are opened with. */
export interface TurnOptions {
  /** Writes that may wait. */
  readonly queue: number
  /** Whether some of the writes may succeed without the others after this error; nothing is committed then. */
  mayPass(error: unknown): boolean
}

export function openTurns(run: RunTogether, { queue, mayPass }: TurnOptions): InTurn {
  const waiting = new Set<Waiting>()
  let isRunning = false

  /** Where one of them conflicts with what is not in turn, the others get through without it. */
  async function runAll(turns: readonly Turn[]): Promise<readonly TurnOutcome[]> {
    try {
      return await run(turns)
    } catch (error) {
      if (turns.length === 1 || !mayPass(error)) return turns.map(() => ({ error }))
      const middle = turns.length >> 1
      return [...(await runAll(turns.slice(0, middle))), ...(await runAll(turns.slice(middle)))]
    }
  }

  function take(): readonly Waiting[] {
    const taken = [...waiting].slice(0, mostTogether)
    for (const one of taken) waiting.delete(one)
    return taken
  }

  async function runWaiting(): Promise<void> {
    isRunning = true
    while (waiting.size > 0) {
      const turns = take()
      const outcomes = await runAll(turns)
      for (const [index, { resolve }] of turns.entries()) resolve(outcomes[index]!)
    }
    isRunning = false
  }

  return async <Result>(work: (transaction: Transaction) => Promise<Result>, deadline: number) => {
    if (waiting.size >= queue) throw unavailable('Too many writes are waiting')
    const outcome = await new Promise<TurnOutcome>((resolve) => {
      const one: Waiting = { work, deadline, resolve }
      const timer = setTimeout(
        () => {
          if (waiting.delete(one)) resolve({ error: unavailable('The write took too long') })
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
