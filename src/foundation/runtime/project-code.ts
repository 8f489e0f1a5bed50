// Runs code of a project: for a limited time, and under its name, by which the log knows what it leaves behind, such as a promise that
// nobody awaits. Node follows asynchronous calls only once this was used: a project without code does not pay for it.
import { AsyncLocalStorage } from 'node:async_hooks'
import { inspect } from 'node:util'
import { withTimeout } from './timeout.js'

/** A piece of a project's code while it runs. */
export interface RunningCode {
  /** Its name in messages, e.g. `the policy find of api::article.article`. */
  readonly name: string
  /** The id of the request that it runs for; null: there is none. */
  readonly requestId: string | null
}

const running = new AsyncLocalStorage<RunningCode>()

/** The code of the project that runs here, or that started what runs here; null for everything else. */
export const runningCode = (): RunningCode | null => running.getStore() ?? null

/** Runs code of the project under its name, for as long as it takes. */
export const named = <Result>(code: RunningCode, run: () => Result): Result => running.run(code, run)

/**
 * Runs code of the project for at most so many milliseconds, as `withTimeout` does.
 * @returns what it returns. @throws what it throws; ApiError 503 when the time is over
 */
export const runCode = <Result>(
  code: RunningCode,
  milliseconds: number,
  run: (signal: AbortSignal) => Result | Promise<Result>,
): Promise<Result> => named(code, () => withTimeout(milliseconds, code.name, run))

/** Shows a value without calling its own code. */
const plainly = { depth: 1, customInspect: false, maxStringLength: 200 }

/** What code of the project threw, as an error for the log that names the code. */
export const failureOf = (name: string, thrown: unknown): Error =>
  thrown instanceof Error
    ? new Error(`${name} failed`, { cause: thrown })
    : new Error(`${name} threw a value that is not an error: ${inspect(thrown, plainly)}`)

/** Runs work of the service that code of the project asked for: a failure of the service is none of that code. */
export const outsideOfCode = <Result>(work: () => Result): Result => (running.getStore() === undefined ? work() : running.exit(work))
