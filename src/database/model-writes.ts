// Writes whose statements were made for one model: a change that moves content makes them fail.
import { type RawBuilder, sql } from 'kysely'
import type { Transaction, WriteDatabase } from './database.js'
import { unavailable } from './unavailable.js'

/** Selects a row if a change of the model that moves content follows this one, or is under way. */
const isMovedAfter = (change: number): RawBuilder<unknown> =>
  sql`select id from octavo_model_history where id > ${change} and moves = 1 limit 1`

const refusal = (): Error => unavailable('The model was changed by another process meanwhile. Nothing was written; try again')

/**
 * Returns a writer for a model whose last change is `change`: its transactions reject with 503, and write nothing, where another process has
 * moved content since (live-model.17). They look before anything else, and go on without waiting for that.
 */
export const writesForModel = (writer: WriteDatabase, change: number): WriteDatabase => ({
  ...writer,
  transaction: async (work) => {
    let isOutdated = false
    /** One try: a transaction may be run again. */
    const run = async (transaction: Transaction) => {
      isOutdated = false
      const look = transaction.rows(isMovedAfter(change)).then(([row]) => {
        isOutdated = row !== undefined
        if (isOutdated) throw refusal()
      })
      look.catch(() => {})
      const result = await work(transaction).catch(async (error: unknown) => {
        await look.catch(() => {})
        throw error
      })
      await transaction.defer(look)
      return result
    }
    return writer.transaction(run).catch((error: unknown) => {
      // Statements may have failed for the same reason.
      throw isOutdated ? refusal() : error
    })
  },
})
