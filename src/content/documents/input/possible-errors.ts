// What may be wrong with a body, once it is known whether it is: texts are held against patterns, and values looked up, all at once.
import { inputErrors } from '../../../foundation/config/limits.js'
import { printPath } from './messages.js'
import { type PatternCheck, type PatternChecks, runPatternChecks } from './pattern-deadline.js'
import type { AttributeError, Claim, FindTaken, PossibleError } from './types.js'

const claimOf = ({ depends }: PossibleError): Claim | null => (depends !== undefined && 'scalar' in depends ? depends : null)
const checkOf = ({ depends }: PossibleError): PatternCheck | null => (depends !== undefined && 'pattern' in depends ? depends : null)

const certain = ({ depends: _, ...error }: PossibleError): AttributeError => error

/** Holds texts against patterns within the time of one body. Where none is left and something is wrong anyway, they are left out. */
export function settlePatterns(trials: PatternChecks, errors: readonly PossibleError[]): readonly PossibleError[] {
  const checks = errors.map(checkOf).filter((check) => check !== null)
  if (checks.length === 0) return errors
  const isWrong = errors.some(({ depends }) => depends === undefined)
  if (trials.left > 0 || !isWrong) runPatternChecks(trials, checks)
  return errors.flatMap((error) => {
    const check = checkOf(error)
    if (check === null) return [error]
    return trials.results.get(check.pattern)?.get(check.value) === false ? [certain(error)] : []
  })
}

/** Looks up all values that must be unique. Resolves to what is wrong, of many unique values no more than of other errors. */
export async function settleUnique(errors: readonly PossibleError[], findTaken: FindTaken): Promise<readonly AttributeError[]> {
  const claims = errors.map(claimOf).filter((claim) => claim !== null)
  if (claims.length === 0) return errors
  const taken = await findTaken(claims)
  const settled = errors.flatMap((error) => {
    const claim = claimOf(error)
    return claim === null ? [error] : taken.has(printPath(claim.path)) ? [certain(error)] : []
  })
  return settled.slice(0, Math.max(inputErrors, errors.length - claims.length))
}
