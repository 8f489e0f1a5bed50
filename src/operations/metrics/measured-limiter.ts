// Limits of attempts that are counted: how attempts at routes of sign-ins end, and how often a limit refuses them.

import { ApiError } from '../../foundation/errors/errors.js'
import type { MeasuredResult, Metrics } from '../../foundation/runtime/metrics.js'
import type { Limiter } from '../../identity/access/rate-limit.js'

/** How an attempt that failed has ended. */
export const resultOf = (error: unknown): Exclude<MeasuredResult, 'success'> =>
  error instanceof ApiError && error.status < 500 ? 'refused' : 'failed'

const isLimit = (error: unknown): boolean => error instanceof ApiError && error.name === 'RateLimitError'

/** The same limits, counted. */
export function measuredLimiter(limiter: Limiter, metrics: Metrics): Limiter {
  /** Refusals by the limit of an account, which pass through the limit of the address. */
  const ofAccounts = new WeakSet<object>()
  async function measured<Result>(route: string, attempt: () => Promise<Result>): Promise<Result> {
    try {
      const result = await attempt()
      metrics.signInAttempt(route, 'success')
      return result
    } catch (error) {
      metrics.signInAttempt(route, resultOf(error))
      if (isLimit(error) && !ofAccounts.has(error as object)) metrics.rateLimited('address')
      throw error
    }
  }

  return {
    perAddress: (route, address, counted, work) => measured(route, () => limiter.perAddress(route, address, counted, work)),
    perIdentity: (attempt, identify, work) => measured(attempt.route, () => limiter.perIdentity(attempt, identify, work)),
    perAccount: async (account, work, address) => {
      try {
        return await limiter.perAccount(account, work, address)
      } catch (error) {
        if (isLimit(error)) {
          ofAccounts.add(error as object)
          metrics.rateLimited('account')
        }
        throw error
      }
    },
  }
}
