// Logs slow reads, with their content-type and the statements of their plan, which contain no values, and slow writes, with types and actions.
import { createHash } from 'node:crypto'
import type { Database, PlanHandle, PlanSubject, ReadResult, TableScan } from '../../database/database.js'
import { type ReadPlan, statementsOf } from '../../database/plan.js'
import type { SlowLog } from '../../foundation/runtime/throttled-logs.js'
import type { WriteOperation } from './operation.js'

/** The most statements of a plan that are logged, and characters of one. */
const [maxStatements, maxStatementCharacters] = [10, 4_000]

/** Logs slow reads. Waiting for a thread or a connection counts. */
export function logSlowReads({ reads, tableScans }: Pick<Database, 'reads' | 'tableScans'>, slow: SlowLog): Database['reads'] {
  return {
    ...reads,
    execute: (...asked) => {
      const [known] = asked
      const started = performance.now()
      const answer = reads.execute(...asked)
      const look = (found: ReadResult | Error) => {
        const milliseconds = performance.now() - started
        if (milliseconds >= slow.from) noteSlowRead({ slow, tableScans }, known, milliseconds, found)
      }
      // A line that cannot be written must not end the process.
      answer.then(look, look).catch(() => {})
      return answer
    },
  }
}

type SlowReads = Pick<Database, 'tableScans'> & { readonly slow: SlowLog }

function noteSlowRead({ slow, tableScans }: SlowReads, known: PlanHandle, milliseconds: number, found: ReadResult | Error): void {
  const { plan } = known
  const hash = toPlanHash(known)
  slow.note(`read ${hash}`, 'a read was slow', milliseconds, () => ({
    type: plan.root.uid,
    ...(found instanceof Error ? { failed: true } : { bytes: found?.bytes.length ?? 0 }),
    ...describePlan(known, tableScans),
    plan: hash,
    statements: getStatementTexts(plan)
      .slice(0, maxStatements)
      .map((text) => text.slice(0, maxStatementCharacters)),
  }))
}

/** The hashes of plans that were slow: statements are hashed once, also where they are slow all the time. */
const hashes = new WeakMap<PlanHandle, string>()

function toPlanHash(known: PlanHandle): string {
  const found = hashes.get(known) ?? createHash('sha256').update(getStatementTexts(known.plan).join('\n')).digest('base64url').slice(0, 12)
  hashes.set(known, found)
  return found
}

const getStatementTexts = (plan: ReadPlan): readonly string[] => statementsOf(plan).map(({ sql }) => sql)

/** The filters and sort keys of a plan, with advice. */
function describePlan({ plan, subject }: PlanHandle, tableScans: SlowReads['tableScans']): Readonly<Record<string, unknown>> {
  if (subject === undefined) return {}
  const about = subject()
  return { filters: about.filters, sort: about.sort, ...getAdvice(plan, about, tableScans) }
}

/** Full scans of tables with fewer rows are not reported. */
const minScannedRows = 10_000

/** The large tables that are scanned, and the attributes that an index could help with. */
function getAdvice(
  { root }: ReadPlan,
  { table, indexable }: PlanSubject,
  tableScans: SlowReads['tableScans'],
): { readonly scans?: readonly TableScan[]; readonly advice?: string } {
  if (tableScans === null) return {}
  const scans = findScans(() => tableScans(root.statement)).filter(({ rows }) => rows >= minScannedRows)
  if (scans.length === 0) return {}
  if (indexable.length === 0 || !scans.some((scan) => scan.table === table)) return { scans }
  return { scans, advice: `an index on ${indexable.join(' or ')} may help: octavo indexes` }
}

/** Advice is no reason to fail: the database may be locked or gone. */
function findScans(find: () => readonly TableScan[]): readonly TableScan[] {
  try {
    return find()
  } catch {
    return []
  }
}

/** The written types and actions of a transaction. */
type SlowOperation = Pick<WriteOperation, 'action'> & { readonly write: { readonly type: { readonly uid: string } } }

/** Runs a transaction that writes documents, and logs it if it was slow, whether or not it succeeded. Waiting for its turn and the commit count. */
export function logSlowWrite<Result>(slow: SlowLog | null, operations: readonly SlowOperation[], write: () => Promise<Result>) {
  const [started, written] = [performance.now(), write()]
  // A line that cannot be written must not end the process.
  if (slow !== null)
    written
      .then(createSlowWriteCheck(slow, started, operations, false), createSlowWriteCheck(slow, started, operations, true))
      .catch(() => {})
  return written
}

const createSlowWriteCheck = (slow: SlowLog, started: number, operations: readonly SlowOperation[], failed: boolean) => () => {
  const milliseconds = performance.now() - started
  if (milliseconds >= slow.from) noteSlowWrite(slow, operations, milliseconds, failed)
}

function noteSlowWrite(slow: SlowLog, operations: readonly SlowOperation[], milliseconds: number, failed: boolean): void {
  const types = [...new Set(operations.map(({ write: { type } }) => type.uid))].sort()
  const actions = [...new Set(operations.map(({ action }) => action))].sort()
  const fields = {
    ...(types.length === 1 ? { type: types[0] } : { types }),
    ...(actions.length === 1 ? { action: actions[0] } : { actions }),
    ...(operations.length > 1 && { operations: operations.length }),
    ...(failed && { failed }),
  }
  slow.note(`write ${types.join()} ${actions.join()}`, 'a write was slow', milliseconds, () => fields)
}
