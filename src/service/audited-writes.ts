// Audit wrappers of writes and of limiters.
import type { WriteDatabase } from '../database/database.js'
import { ApiError } from '../foundation/errors/errors.js'
import { type Audit, auditedTransaction } from '../foundation/runtime/audit-log.js'
import type { Limiter } from '../identity/access/rate-limit.js'

/** Writes whose audit entries are logged after the commit. */
export const auditedWrites = (writes: WriteDatabase, audit: Audit): WriteDatabase => ({
  ...writes,
  transaction: (work, change) =>
    auditedTransaction(audit, (attempt) => writes.transaction((transaction) => attempt(() => work(transaction)), change)),
})

/** Logs refused attempts, whose actor is unknown. */
export function auditedLimiter(limiter: Limiter, audit: Audit | null): Limiter {
  if (audit === null) return limiter
  async function audited<Result>(route: string, address: string, attempt: () => Promise<Result>): Promise<Result> {
    try {
      return await attempt()
    } catch (error) {
      const isRefused = error instanceof ApiError && error.status < 500
      audit!.note({ actor: { kind: 'nobody' }, action: route, type: 'account', result: isRefused ? 'refused' : 'failed', address })
      throw error
    }
  }
  return {
    ...limiter,
    perAddress: (route, address, counted, work) => audited(route, address, () => limiter.perAddress(route, address, counted, work)),
    perIdentity: (attempt, identify, work) => audited(attempt.route, attempt.address, () => limiter.perIdentity(attempt, identify, work)),
  }
}
