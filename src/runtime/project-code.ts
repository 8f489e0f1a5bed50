// Runs code of a project: for a limited time, and under its name, by which the log knows what it leaves behind, such as a promise that
// nobody awaits. Node follows asynchronous calls only once this was used: a project without code does not pay for it.
import { AsyncLocalStorage } from 'node:async_hooks'
import { withTimeout } from './timeout.js'

/** A piece of a project's code while it runs. */
export interface ProjectCode {
  /** Its name in messages, e.g. `the policy find of api::article.article`. */
  readonly name: string
  /** The id of the request that it runs for; null: there is none. */
  readonly requestId: string | null
}

const running = new AsyncLocalStorage<ProjectCode>()

/** The code of the project that runs here, or that started what runs here; null for everything else. */
export const runningCode = (): ProjectCode | null => running.getStore() ?? null

/** Runs code of the project under its name, for as long as it takes. */
export const named = <Result>(code: ProjectCode, run: () => Result): Result => running.run(code, run)

/**
 * Runs code of the project for at most so many milliseconds, as `withTimeout` does.
 * @returns what it returns. @throws what it throws; ApiError 503 when the time is over
 */
export const runCode = <Result>(
  code: ProjectCode,
  milliseconds: number,
  run: (signal: AbortSignal) => Result | Promise<Result>,
): Promise<Result> => named(code, () => withTimeout(milliseconds, code.name, run))

/** Runs work of the service that code of the project asked for: a failure of the service is none of that code. */
export const outsideOfCode = <Result>(work: () => Result): Result => (running.getStore() === undefined ? work() : running.exit(work))
