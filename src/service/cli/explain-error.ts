// How every command reports an error: one sentence for an invalid configuration and for a file or database that cannot be used, a line for
// each of several mistakes of an input, a stack trace for anything else.

import { driverOf } from '../../database/open.js'
import type { Config } from '../../foundation/config/config.js'
import { ApiError, ConfigError } from '../../foundation/errors/errors.js'
import { describeNativeModule } from '../../foundation/errors/native-module.js'
import { terminalLines } from '../../foundation/runtime/terminal-text.js'
import { errorText } from './error-text.js'

/** Wraps a command: an error is written to standard error and sets the exit status. */
export function orExplain<Arguments extends unknown[]>(
  command: (...given: Arguments) => Promise<void>,
  status = 1,
): (...given: Arguments) => Promise<void> {
  return async (...given) => {
    ignoreClosedPipe(status)
    try {
      await command(...given)
    } catch (error) {
      explain(isPlain(error) ? errorText(error) : (describeNativeModule(error) ?? (error as Error).stack ?? String(error)), status)
    }
  }
}

/** Runs `work` on the project's database. @throws ConfigError that names the file if the file, its disk or its permissions cause an error */
export async function onDatabase<Result>(config: Config, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    const driver = await driverOf(config)
    throw driver.faultOf(error) === 'storage'
      ? new ConfigError(`The database ${driver.nameOf(config)} cannot be used: ${(error as Error).message}.`)
      : error
  }
}

/** Errors that the user of the command can fix without a stack trace. System errors name their path. */
const isPlain = (error: unknown): error is Error =>
  error instanceof ConfigError || error instanceof ApiError || (error instanceof Error && 'syscall' in error && 'path' in error)

function explain(text: string, status: number): void {
  process.stderr.write(`octavo: ${terminalLines(text)}\n`)
  process.exitCode = status
}

/** Keeps the command running when the reader of its output closes the pipe (`| head -1`). Reports any other output error once. */
function ignoreClosedPipe(status: number): void {
  process.stderr.on('error', () => {})
  let reported = false
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE' && !reported) explain(`The output cannot be written (${error.message}).`, status)
    reported = true
  })
}
