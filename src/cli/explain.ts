// What every command does with an error: a sentence for a wrong configuration, the whole story for anything else.
import { ApiError, ConfigError } from '../errors.js'

/** Runs a command; an error is written to standard error and sets the exit status to 1. */
export function orExplain<Arguments extends unknown[]>(
  command: (...given: Arguments) => Promise<void>,
): (...given: Arguments) => Promise<void> {
  return async (...given) => {
    try {
      await command(...given)
    } catch (error) {
      const text = error instanceof ConfigError || error instanceof ApiError ? error.message : ((error as Error).stack ?? String(error))
      process.stderr.write(`octavo: ${text}\n`)
      process.exitCode = 1
    }
  }
}
