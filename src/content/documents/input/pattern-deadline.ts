// Texts that are held against patterns with a deadline: one for all texts of a body together, and for all checks of one write.
import { completesWithin, maxPatternTimeMs, type Pattern } from '../../../model/schema/patterns.js'
import type { PatternCheck } from '../../../model/types/attribute-type.js'

export interface PatternChecks {
  readonly results: Map<Pattern, Map<string, boolean>>
  /** Milliseconds that are left. */
  left: number
}

/** No trials so far, and all the time that one body has. */
export const createPatternChecks = (): PatternChecks => ({ results: new Map(), left: maxPatternTimeMs })

/** Records the matching texts. The text at the deadline counts as no match; later ones are not tested. */
export function runPatternChecks(trials: PatternChecks, wanted: readonly PatternCheck[]): void {
  const note = ({ pattern, value }: PatternCheck, isMatch: boolean): void => {
    if (!trials.results.has(pattern)) trials.results.set(pattern, new Map())
    trials.results.get(pattern)!.set(value, isMatch)
  }
  const since = performance.now()
  let at = 0
  const isInTime =
    trials.left > 0 &&
    completesWithin(trials.left, () => {
      for (; at < wanted.length; at++) note(wanted[at]!, wanted[at]!.pattern.printed.test(wanted[at]!.value))
    })
  trials.left = isInTime ? trials.left - (performance.now() - since) : 0
  if (!isInTime && at < wanted.length) note(wanted[at]!, false)
}
