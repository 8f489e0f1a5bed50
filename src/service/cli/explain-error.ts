// Error messages of commands: a sentence for known problems, a line per validation error, otherwise a stack trace.
import { getDriver } from '../../database/open.js'
import type { Config } from '../../foundation/config/config.js'
import { ApiError, ConfigError } from '../../foundation/errors/errors.js'
import { describeNativeModule, describePortProblem } from '../../foundation/errors/explain-failure.js'
import { terminalLines } from '../../foundation/runtime/terminal.js'

/** Wraps a command: errors are printed to standard error and set the exit status. */
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

/** Runs `work` on the project's database. @throws ConfigError that names the file for errors of the file, its disk or its permissions */
export async function onDatabase<Result>(config: Config, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    const driver = await getDriver(config)
    throw driver.classifyError(error) === 'storage'
      ? new ConfigError(`The database ${driver.getName(config)} cannot be used: ${(error as Error).message}.`)
      : error
  }
}

/** Errors that users can fix without a stack trace. System errors name their path. */
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

const maxErrors = 20
const maxLineCharacters = 500

/** The message of an error; several validation errors follow on separate lines with their paths. */
function errorText(error: Error): string {
  const errors = getValidationErrors(error)
  if (errors.length < 2) return error.message
  const left = errors.length - maxErrors
  const lines = errors.slice(0, maxErrors).map(formatError)
  return [error.message, ...lines, ...(left > 0 ? [`… and ${left} more`] : [])].join('\n  ')
}

/** An entry of details.errors. Errors of project code may have any path, or none. */
interface ReportedError {
  readonly message: string
  readonly path?: unknown
}

function formatError({ path, message }: ReportedError): string {
  const line = Array.isArray(path) && path.length > 0 ? `${path.join('.')}: ${message}` : message
  return line.length > maxLineCharacters ? `${line.slice(0, maxLineCharacters)}…` : line
}

const isValidationError = (entry: unknown): entry is ReportedError =>
  typeof entry === 'object' && entry !== null && 'message' in entry && typeof entry.message === 'string'

function getValidationErrors(error: Error): readonly ReportedError[] {
  const errors = error instanceof ApiError ? (error.mistakes ?? error.details?.errors) : undefined
  return Array.isArray(errors) ? errors.filter(isValidationError) : []
}

/** Explains any failure of a start in one sentence; at log level debug, its stack is printed before. */
export function startFailure(error: unknown): ConfigError {
  if (process.env.LOG_LEVEL === 'debug') process.stderr.write(`${(error as Error).stack ?? String(error)}\n`)
  return new ConfigError(describeNativeModule(error) ?? describePortProblem(error as NodeJS.ErrnoException, { port: 'PORT', host: 'HOST' }))
}
