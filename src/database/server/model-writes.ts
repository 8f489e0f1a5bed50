// Writes to a server whose statements were made for one model: a change that moves content makes them fail.
import { sql } from 'kysely'
import type { Transaction } from '../database.js'
import { outdatedModel } from '../unavailable.js'

/** Runs a transaction, possibly several times. */
type RunTransaction<Result> = (work: (transaction: Transaction) => Promise<Result>) => Promise<Result>

/**
 * Runs a transaction that looks first whether a change of the model which moves content follows `change`, or is under way; null: it does
 * not look. It goes on without waiting for that. @throws ApiError 503 if so; nothing is written then
 */
export async function onModel<Result>(
  change: number | null,
  work: (transaction: Transaction) => Promise<Result>,
  transact: RunTransaction<Result>,
): Promise<Result> {
  if (change === null) return transact(work)
  let isOutdated = false
  const run = async (transaction: Transaction): Promise<Result> => {
    isOutdated = false
    const found = transaction.rows(sql`select id from octavo_model_history where id > ${change} and moves = 1 limit 1`)
    const look = found.then(([row]) => {
      isOutdated = row !== undefined
      if (isOutdated) throw outdatedModel()
    })
    look.catch(() => {})
    const result = await work(transaction).catch(async (error: unknown) => {
      await look.catch(() => {})
      throw error
    })
    await transaction.defer(look)
    return result
  }
  return transact(run).catch((error: unknown) => {
    // Statements may have failed for the same reason.
    throw isOutdated ? outdatedModel() : error
  })
}
