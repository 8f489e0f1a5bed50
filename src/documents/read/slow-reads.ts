// Reads that take long are logged with their content-type and the statements of their plan, which contain no values.
import { createHash } from 'node:crypto'
import type { PlanHandle, ReadAnswer, ReadDatabase } from '../../database/database.js'
import type { Fill, Level, ReadPlan, Statement } from '../../database/plan.js'
import type { SlowLog } from '../../runtime/slow-log.js'

/** The most statements of a plan that are logged, and characters of one. */
const [mostStatements, longestStatement] = [10, 4_000]

/** The same reads, of which slow ones are logged. Waiting for a thread or a connection counts. */
export function loggingSlowReads(reads: ReadDatabase, slow: SlowLog): ReadDatabase {
  return {
    ...reads,
    execute: (known, values, isGone) => {
      const started = performance.now()
      const answer = reads.execute(known, values, isGone)
      const look = (found: ReadAnswer | Error) => {
        const milliseconds = performance.now() - started
        if (milliseconds >= slow.from) note(slow, known, milliseconds, found)
      }
      answer.then(look, look)
      return answer
    },
  }
}

function note(slow: SlowLog, { plan }: PlanHandle, milliseconds: number, found: ReadAnswer | Error): void {
  const statements = statementsOf(plan).map(({ sql }) => sql)
  const hash = createHash('sha256').update(statements.join('\n')).digest('base64url').slice(0, 12)
  slow.note(`read ${hash}`, 'a read was slow', milliseconds, () => ({
    type: plan.root.uid,
    ...(found instanceof Error ? { failed: true } : { bytes: found?.bytes.length ?? 0 }),
    plan: hash,
    statements: statements.slice(0, mostStatements).map((text) => text.slice(0, longestStatement)),
  }))
}

/** The statements of a plan: the root, its total, and those of populated attributes. */
function statementsOf({ root, envelope }: ReadPlan): readonly Statement[] {
  const count = envelope.kind === 'list' || envelope.kind === 'count' ? envelope.count : null
  return [...ofLevel(root), ...(count === null ? [] : [count])]
}

const ofLevel = ({ statement, fills }: Level): readonly Statement[] => [statement, ...fills.flatMap(ofFill)]

function ofFill(fill: Fill): readonly Statement[] {
  if (fill.kind === 'rows') return ofLevel(fill.level)
  return fill.kind === 'count' ? [fill.statement] : [fill.links, ...Object.values(fill.levels).flatMap(ofLevel)]
}
