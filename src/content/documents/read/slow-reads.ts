// Reads that take long are logged with their content-type and the statements of their plan, which contain no values.
import { createHash } from 'node:crypto'
import type { Database, PlanHandle, PlanSubject, ReadAnswer, TableScan } from '../../../database/database.js'
import { type ReadPlan, statementsOf } from '../../../database/plan.js'
import type { SlowLog } from '../../../foundation/runtime/slow-log.js'

/** The most statements of a plan that are logged, and characters of one. */
const [mostStatements, longestStatement] = [10, 4_000]

/** The same reads, of which slow ones are logged. Waiting for a thread or a connection counts. */
export function loggingSlowReads({ reads, tableScans }: Pick<Database, 'reads' | 'tableScans'>, slow: SlowLog): Database['reads'] {
  return {
    ...reads,
    execute: (...asked) => {
      const [known] = asked
      const started = performance.now()
      const answer = reads.execute(...asked)
      const look = (found: ReadAnswer | Error) => {
        const milliseconds = performance.now() - started
        if (milliseconds >= slow.from) note({ slow, tableScans }, known, milliseconds, found)
      }
      // A line that cannot be written must not end the process.
      answer.then(look, look).catch(() => {})
      return answer
    },
  }
}

type SlowReads = Pick<Database, 'tableScans'> & { readonly slow: SlowLog }

function note({ slow, tableScans }: SlowReads, known: PlanHandle, milliseconds: number, found: ReadAnswer | Error): void {
  const { plan } = known
  const hash = hashOf(known)
  slow.note(`read ${hash}`, 'a read was slow', milliseconds, () => ({
    type: plan.root.uid,
    ...(found instanceof Error ? { failed: true } : { bytes: found?.bytes.length ?? 0 }),
    ...describedOf(known, tableScans),
    plan: hash,
    statements: textsOf(plan)
      .slice(0, mostStatements)
      .map((text) => text.slice(0, longestStatement)),
  }))
}

/** The hashes of plans that were slow: statements are hashed once, also where they are slow all the time. */
const hashes = new WeakMap<PlanHandle, string>()

function hashOf(known: PlanHandle): string {
  const found = hashes.get(known) ?? createHash('sha256').update(textsOf(known.plan).join('\n')).digest('base64url').slice(0, 12)
  hashes.set(known, found)
  return found
}

const textsOf = (plan: ReadPlan): readonly string[] => statementsOf(plan).map(({ sql }) => sql)

/** What the rows were looked for by, with advice. */
function describedOf({ plan, subject }: PlanHandle, tableScans: SlowReads['tableScans']): Readonly<Record<string, unknown>> {
  if (subject === undefined) return {}
  const about = subject()
  return { filters: about.filters, sort: about.sort, ...adviceOn(plan, about, tableScans) }
}

/** Rows of a table from which on it is worth a word that all are looked through. */
const largeTable = 10_000

/** Which large tables are looked through as a whole, and by which attributes an index could find their rows. */
function adviceOn(
  { root }: ReadPlan,
  { table, indexable }: PlanSubject,
  tableScans: SlowReads['tableScans'],
): { readonly scans?: readonly TableScan[]; readonly advice?: string } {
  if (tableScans === null) return {}
  const scans = scansOrNone(() => tableScans(root.statement)).filter(({ rows }) => rows >= largeTable)
  if (scans.length === 0) return {}
  if (indexable.length === 0 || !scans.some((scan) => scan.table === table)) return { scans }
  return { scans, advice: `an index on ${indexable.join(' or ')} may help: octavo indexes` }
}

/** Advice is no reason to fail: the database may be locked or gone. */
function scansOrNone(find: () => readonly TableScan[]): readonly TableScan[] {
  try {
    return find()
  } catch {
    return []
  }
}
