// The findings of `octavo doctor` as JSON, for scripts and for the administration API.
import type { CheckResult } from './checks.js'
import { remedies } from './remedies.js'

/** What a check came to. `note`: rows that Strapi leaves in normal operation. */
export type CheckVerdict = 'ok' | 'note' | 'wrong'

/** A check and its result. */
export interface ReportedCheck {
  readonly name: string
  readonly verdict: CheckVerdict
  readonly severity: 'note' | 'error'
  readonly count: number
  readonly examples: readonly string[]
  /** What to do about it; absent where there is nothing to do. */
  readonly remedy?: string | null
}

/** All findings. */
export interface DoctorReport {
  /** No check is wrong. */
  readonly sound: boolean
  readonly checks: readonly ReportedCheck[]
}

/** What a check came to. */
export const verdictOf = ({ count, warning }: CheckResult): CheckVerdict => (count === 0 ? 'ok' : warning ? 'note' : 'wrong')

/** The findings as JSON. */
export function reportOf(found: readonly CheckResult[]): DoctorReport {
  const checks = found.map((result) => {
    const { name, warning, count, examples } = result
    const remedy = count > 0 ? { remedy: remedies[name] ?? null } : {}
    return { name, verdict: verdictOf(result), severity: warning ? ('note' as const) : ('error' as const), count, examples, ...remedy }
  })
  return { sound: checks.every(({ verdict }) => verdict !== 'wrong'), checks }
}
