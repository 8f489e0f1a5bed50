// What every command does with an error: a sentence for a wrong configuration, a file or a database that cannot be used; the whole
// story for anything else.
import type { Config } from '../config/config.js'
import { ApiError, ConfigError } from '../errors/errors.js'

/** Runs a command; an error is written to standard error and sets the exit status to 1. */
export function orExplain<Arguments extends unknown[]>(
  command: (...given: Arguments) => Promise<void>,
): (...given: Arguments) => Promise<void> {
  return async (...given) => {
    outliveReader()
    try {
      await command(...given)
    } catch (error) {
      explain(isPlain(error) ? error.message : ((error as Error).stack ?? String(error)))
    }
  }
}

/** Does `work` on the project's database. @throws ConfigError that names its file, where the file, its disk or its rights are in the way */
export async function onDatabase<Result>({ database: { filename } }: Config, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    const { code, message } = error as { readonly code?: unknown; readonly message: string }
    throw typeof code === 'string' && troubles.test(code) ? new ConfigError(`The database ${filename} cannot be used: ${message}.`) : error
  }
}

const troubles = /^SQLITE_(?:NOTADB|CORRUPT|READONLY|CANTOPEN|PERM|IOERR|FULL|BUSY|LOCKED)/

/** What whoever runs the command can mend: a stack would not help. Errors of the system name what they were about. */
const isPlain = (error: unknown): error is Error =>
  error instanceof ConfigError || error instanceof ApiError || (error instanceof Error && 'syscall' in error && 'path' in error)

function explain(text: string): void {
  process.stderr.write(`octavo: ${text}\n`)
  process.exitCode = 1
}

/** Whoever reads the output may have read enough (`| head -1`): the command goes on to its end. Any other error of the output is told. */
function outliveReader(): void {
  process.stderr.on('error', () => {})
  let told = false
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE' && !told) explain(`The output cannot be written (${error.message}).`)
    told = true
  })
}
