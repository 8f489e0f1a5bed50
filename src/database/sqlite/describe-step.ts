// The SQL of a step of a change of the content model in SQLite's words, for readers.
import type { PlanStep } from '../../model/diff/steps.js'
import { computedText, statementText } from '../step-text.js'
import { statementsOf } from './model-steps.js'

/** Returns the statements of a step, and comments for what is computed. */
export function describeSqliteStep(step: PlanStep): readonly string[] {
  const computed = computedText(step) ?? []
  if (step.kind === 'renameInSettings' || step.kind === 'storeContentTypes' || step.kind === 'makeDrafts') return [computed].flat()
  return [...statementsOf(step).map(({ sql, values }) => statementText(sql, values)), ...[computed].flat()]
}
