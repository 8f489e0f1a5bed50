// Transactions of the service's own bookkeeping: what is known of documents holds behind them.
import type { Transaction, WriteDatabase } from './database.js'

/** Runs a transaction that writes to no document. */
export const inBookkeeping = <Result>(
  writer: Pick<WriteDatabase, 'transaction'>,
  work: (transaction: Transaction) => Promise<Result>,
): Promise<Result> =>
  writer.transaction((transaction) => {
    transaction.history.touchesOneDocument()
    return work(transaction)
  })
