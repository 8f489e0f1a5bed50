// Runs a plan on one connection, in one snapshot: root rows and total, then one statement per populated attribute for all rows above.
import type Database from 'better-sqlite3'
import type { Signer } from '../answer/signed-addresses.js'
import { type ListEnvelope, type PreparedRead, prepareAnswer, type ResultRow, type Values } from '../answer/write.js'
import type { Level, ReadPlan } from '../plan.js'
import { preparePages } from './access-paths.js'
import { prepareCount, prepareQuery } from './statement.js'
import { openTotals } from './totals.js'

/** What plans are prepared for: a connection, and who signs the addresses of files where not everyone may read them. */
export interface Source {
  readonly database: Database.Database
  readonly signer: Signer | null
  /** Called while rows become text; throws where the answer is not wanted any more. */
  readonly look?: () => void
}

/** Prepares a plan's statements and its writers. `inside`: the caller's transaction is the snapshot. */
export function prepareRead(source: Source, plan: ReadPlan, transaction: 'own' | 'inside' = 'own'): PreparedRead {
  const { database, look } = source
  const read = prepareAnswer(
    {
      query: (statement) => prepareQuery(database, statement),
      count: (statement) => prepareCount(database, statement),
      page: (root, envelope) => preparePage(database, root, envelope),
      signer: plan.unsigned === true ? null : source.signer,
      ...(look !== undefined && { look }),
    },
    plan,
  )
  if (transaction === 'inside') return read
  const begin = database.prepare('begin')
  const commit = database.prepare('commit')
  return (values, sink) => {
    // One answer is one snapshot: all statements of a plan see the same rows, and the same schema.
    begin.run()
    try {
      return read(values, sink)
    } finally {
      commit.run()
    }
  }
}

/** The page of a list with its total, which is remembered while nobody writes. */
function preparePage(
  database: Database.Database,
  root: Level,
  envelope: ListEnvelope,
): (values: Values) => { readonly rows: readonly ResultRow[]; readonly total: number | null } {
  const count = envelope.count === null ? null : prepareCount(database, envelope.count)
  const totals = openTotals(database)
  const { page, counted } = preparePages(database, root.statement, envelope)

  /** The page, and its total where it has to be found. */
  function find(values: Values, count: (values: Values) => number) {
    const [start, limit] = [values[envelope.start] as number, values[envelope.limit] as number]
    const began = performance.now()
    const { rows, seen } = counted === null ? page(values, null) : counted(values)
    const isLast = rows.length < limit && (rows.length > 0 || start === 0)
    const ofRows = counted === null || rows.length === 0 ? null : (rows[0]!.at(-1) as number)
    const total = isLast ? start + rows.length : (ofRows ?? count(values))
    totals.remember(values, { total, seen }, performance.now() - began)
    return { rows, total }
  }

  return (values) => {
    if (count === null) return { rows: page(values, null).rows, total: null }
    const known = totals.recall(values)
    return known === null ? find(values, count) : { rows: page(values, known).rows, total: known.total }
  }
}
