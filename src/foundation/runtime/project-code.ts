// Runs code of a project with a timeout and a name, so that the log can name the code of an unhandled rejection. Node tracks asynchronous
// calls only after the first use: a project without code does not pay for it.

import { AsyncLocalStorage } from 'node:async_hooks'
import { inspect } from 'node:util'
import { ApiError } from '../errors/errors.js'
import type { CodeLog } from '../public/content-service.js'
import { elapsed } from './clock.js'

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
 * Runs named code of the project with a timeout.
 * @throws its errors; ApiError 503 after the timeout
 */
export const runCode = <Result>(
  code: RunningCode,
  milliseconds: number,
  run: (signal: AbortSignal) => Result | Promise<Result>,
): Promise<Result> => named(code, () => withTimeout(milliseconds, code.name, run))

/** Shows a value without calling its own code. */
const plainly = { depth: 1, customInspect: false, maxStringLength: 200 }

/** An error for the log that names the code that threw. */
export const failureOf = (name: string, thrown: unknown): Error =>
  thrown instanceof Error
    ? new Error(`${name} failed`, { cause: thrown })
    : new Error(`${name} threw a value that is not an error: ${inspect(thrown, plainly)}`)

/** Runs work of the service that code of the project asked for: a failure of the service is none of that code. */
export const outsideOfCode = <Result>(work: () => Result): Result => (running.getStore() === undefined ? work() : running.exit(work))

const tooSlow = (name: string, milliseconds: number) =>
  new ApiError('ServiceUnavailableError', `${name} took longer than ${milliseconds} milliseconds`)

/**
 * Runs code of the project, and stops waiting for it after a timeout. Code that blocks the thread cannot be ended.
 * @throws ApiError 503 after the timeout
 */
export async function withTimeout<Result>(
  milliseconds: number,
  name: string,
  run: (signal: AbortSignal) => Result | Promise<Result>,
): Promise<Result> {
  const ended = new AbortController()
  let timer: NodeJS.Timeout | undefined
  const deadline = elapsed() + milliseconds
  const late = new Promise<never>((_, reject) => {
    const look = () => {
      // A process that was paused has timers that are due before their time.
      const left = deadline - elapsed()
      if (left > 1) {
        timer = setTimeout(look, left)
        return
      }
      const error = tooSlow(name, milliseconds)
      ended.abort(error)
      reject(error)
    }
    timer = setTimeout(look, milliseconds)
  })
  try {
    return await Promise.race([(async () => run(ended.signal))(), late])
  } finally {
    clearTimeout(timer)
  }
}

interface LineWriter {
  debug(details: object, message: string): void
  info(details: object, message: string): void
  warn(details: object, message: string): void
  error(details: object, message: string): void
}

/** Opens the log of a piece of code, for a request unless its id is null. Its own details cannot take the place of its name. */
export function codeLog(log: LineWriter, code: string, requestId: string | null = null): CodeLog {
  const write =
    (level: keyof LineWriter) =>
    (message: string, details: Readonly<Record<string, unknown>> = {}): void =>
      log[level]({ ...details, code, ...(requestId === null ? {} : { requestId }) }, String(message))
  return { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') }
}
