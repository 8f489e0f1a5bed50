// Whether the log of commits can be used: its table may be missing, and the database user may lack grants. Meanwhile transactions are committed without
// it, which others take for a change of everything, and nothing is kept in memory.
import type { Logger } from 'pino'
import { ApiError } from '../../../foundation/errors/errors.js'
import { elapsed } from '../../../foundation/runtime/clock.js'
import { commitTable, createCommitTables, epochTable } from './create-tables.js'
import { codeOf, isMissingRelation, isMissingRight } from './errors.js'

/** Whether the log of commits can be used, as far as this service knows. */
export interface CommitLogAccess {
  /** Whether to use it. While it cannot be used, a call now and then begins to try whether it can again. */
  isUsed(): boolean
  /** Whether a statement failed because the log cannot be used. Then it is not used any more, until it can be again. */
  refused(error: unknown): boolean
}

export interface CommitLogAccessOptions {
  /** Writes and reads the log. @throws where that fails, whatever the reason */
  readonly tryLog: () => Promise<void>
  /** Called when the log cannot be used any more, with the error of the server, and when it can again. */
  lost(error: Error): void
  found(): void
}

/** Milliseconds between two tries whether the log can be used again. */
const tryEvery = 5_000

/** What the server refuses for good: a right, a relation or a column is missing, or a relation is another one (SQLSTATE class 42). */
const isRefusal = (error: unknown): boolean => codeOf(error).startsWith('42')

/** The error of a statement about the log that the server has refused; null: it is another error. */
function refusalOf(error: unknown): Error | null {
  const cause = error instanceof ApiError ? error.cause : error
  const { statement = '' } = (cause ?? {}) as { readonly statement?: string }
  return isRefusal(cause) && statement.includes(commitTable) ? (cause as Error) : null
}

/** Begins with a log that is used. */
export function openCommitLogAccess({ tryLog, lost, found }: CommitLogAccessOptions): CommitLogAccess {
  let isUsed = true
  let tryAt = 0

  async function tryAgain(): Promise<void> {
    tryAt = Number.POSITIVE_INFINITY
    try {
      await tryLog()
      isUsed = true
      found()
    } catch {
      tryAt = elapsed() + tryEvery
    }
  }

  return {
    isUsed: () => {
      if (!isUsed && elapsed() >= tryAt) void tryAgain()
      return isUsed
    },
    refused: (error) => {
      const refusal = refusalOf(error)
      if (refusal === null) return false
      if (isUsed) {
        isUsed = false
        tryAt = elapsed() + tryEvery
        lost(refusal)
      }
      return true
    },
  }
}

const consequence = 'nothing is kept in memory, and every read is executed by the database'

/** What is to be done so that the log can be used. */
function adviceFor(error: Error, schema: string): string {
  if (isMissingRight(error))
    return `the database user may not use the log of commits: ${consequence}. Run as the owner of its tables: GRANT SELECT, INSERT, UPDATE, DELETE ON "${schema}".${commitTable}, "${schema}".${epochTable} TO …`
  if (isMissingRelation(error))
    return `a table of the log of commits is missing: ${consequence}. The next start of the service creates it; or run in the schema "${schema}": ${createCommitTables.join('; ')}`
  return `the log of commits cannot be used: ${consequence}. Look at the table ${commitTable} in the schema "${schema}"; the next start of the service creates it where it is missing`
}

/** Writes to the log of the service when the log of commits cannot be used, with what to do, and when it can again. */
export const loggingAccess = (schema: string, logger: Pick<Logger, 'warn' | 'info'>): Pick<CommitLogAccessOptions, 'lost' | 'found'> => ({
  lost: (error) => logger.warn({ reason: error.message }, adviceFor(error, schema)),
  found: () => logger.info('the log of commits can be used again: responses are kept in memory again'),
})
