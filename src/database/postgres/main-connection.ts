// Small statements beside the reads of content, and the look whether anything was committed.
import type { MainConnection } from '../database.js'
import { type Connection, execute, objectsOf, type Statements } from './connection.js'
import { writePostgresSql } from './dialect.js'
import { explained } from './errors.js'

/** Another text once a transaction that wrote has ended, here or elsewhere: which transactions a snapshot sees. */
const snapshot = 'select pg_current_snapshot()::text'

/** `connection`: a pool that nothing else uses, so that it is never exhausted, or one connection. */
export function openMainConnection(connection: Connection, statements: Statements): MainConnection {
  let seen = ''
  const look = shared(async () => {
    const { rows } = await execute(statements, connection, snapshot, [])
    return String(rows[0]![0])
  })
  return {
    changed: async () => {
      try {
        const now = await look()
        if (now === seen) return false
        seen = now
        return true
      } catch (error) {
        throw explained(error)
      }
    },
    rows: async (query) => {
      const { text, values } = writePostgresSql(query)
      try {
        return objectsOf(await execute(statements, connection, text, values)) as never
      } catch (error) {
        throw explained(error)
      }
    },
  }
}

/**
 * Lets callers share what `ask` finds out. Whoever calls gets the result of a call that began after that: one may be under way, and one
 * wait for it.
 */
function shared<Result>(ask: () => Promise<Result>): () => Promise<Result> {
  let running: Promise<unknown> = Promise.resolve()
  let next: Promise<Result> | null = null
  return () => {
    next ??= running.then(() => {
      const begun = ask()
      next = null
      running = begun.catch(() => {})
      return begun
    })
    return next
  }
}
