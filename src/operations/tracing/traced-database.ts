// A database whose operations are spans of the requests that wait for them. Statements have placeholders: no value is part of a span.
import type { Database, MainConnection, WriteDatabase } from '../../database/database.js'
import type { DatabasePurpose } from '../../foundation/runtime/metrics.js'
import type { TraceAttributes, Tracing } from '../../foundation/runtime/tracing.js'

/** How operations are described. */
interface Described {
  /** The kind of database, as OpenTelemetry names it. */
  readonly system: 'sqlite' | 'postgresql' | 'mysql'
  readonly purpose: DatabasePurpose | null
}

/** Characters of a statement in a span. */
const longestText = 4_000

/** The same database, traced. `purpose`: of small statements and of transactions; null: of documents, and others. */
export function tracedDatabase(database: Database, tracing: Tracing, { system, purpose }: Described): Database {
  const { reads, writes, main } = database
  const about = (operation: string, what: DatabasePurpose, text?: string) => (): TraceAttributes => ({
    'db.system.name': system,
    'db.operation.name': operation,
    'octavo.purpose': what,
    ...(text !== undefined && { 'db.query.text': text.slice(0, longestText) }),
  })
  const execute: Database['reads']['execute'] = (known, ...asked) =>
    tracing.part('db query', about('SELECT', 'read', known.plan.root.statement.sql), () => reads.execute(known, ...asked))
  const transaction: WriteDatabase['transaction'] = (work, change) =>
    tracing.part('db transaction', about('transaction', purpose ?? 'write'), () => writes.transaction(work, change))
  const rows: MainConnection['rows'] = (query) => tracing.part('db query', about('SELECT', purpose ?? 'other'), () => main.rows(query))
  return { ...database, reads: { ...reads, execute }, writes: { ...writes, transaction }, main: { ...main, rows } }
}
