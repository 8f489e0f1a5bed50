// The findings of `octavo doctor` as lines for people.
import type { CheckResult } from '../../operations/doctor/checks.js'
import { remedies, verdictOf } from '../../operations/doctor/examine.js'

/** One line, and more for examples and what to do about them. */
export function linesOfFinding(result: CheckResult): readonly string[] {
  const { name, count, examples } = result
  const verdict = verdictOf(result)
  const more = count > examples.length ? [`               … and ${count - examples.length} more`] : []
  const remedy = count > 0 && Object.hasOwn(remedies, name) ? [`               → ${remedies[name]}`] : []
  return [
    `${(verdict === 'wrong' ? 'WRONG' : verdict).padEnd(5)} ${String(count).padStart(7)}  ${name}`,
    ...examples.map((example) => `               ${example}`),
    ...more,
    ...remedy,
  ]
}
