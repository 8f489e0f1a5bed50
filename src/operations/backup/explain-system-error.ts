// Errors of disks, files and databases, which have no sentence of their own.
import { faultOf } from '../../database/sqlite/errors.js'
import { ApiError, ConfigError } from '../../foundation/errors/errors.js'

/** Returns an error as a sentence where it comes from a disk, a file or the copy of a database; other errors as they are. */
export function explainSystemError(error: unknown, sentence: (message: string) => string): unknown {
  if (error instanceof ConfigError || error instanceof ApiError || !(error instanceof Error)) return error
  const isOfSystem = typeof (error as NodeJS.ErrnoException).syscall === 'string'
  return isOfSystem || faultOf(error) === 'storage' ? new ConfigError(sentence(error.message)) : error
}
