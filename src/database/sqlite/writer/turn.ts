// A turn of the writer: one transaction on its thread, from the begin to the commit or the rollback, and what it knows of the writes
// before it.
import { elapsed } from '../../../runtime/clock.js'
import type { Transaction } from '../../database.js'
import type { History } from '../../history.js'
import { unavailable } from '../../unavailable.js'
import { sqliteDialect, writeSql } from '../dialect.js'
import type { Channel, Order } from './channel.js'
import type { Inserted } from './protocol.js'

/** A transaction that has begun. */
export interface WriterTurn {
  readonly transaction: Transaction
  /**
   * Sends the commit, after which nothing more can be asked for. Resolves to the number of its statements when it is on disk. `more`:
   * another transaction follows, so the commit may be shared with it.
   * @throws ApiError 503 if its time is over, or was over when it asked for a statement
   */
  commit(more: boolean): Promise<number>
  /** Rolls back, and resolves when that is done. */
  rollback(): Promise<void>
}

/** What may still be asked for in a turn. */
type TurnState =
  | { readonly kind: 'open' }
  /** A statement came too late and was not sent: the turn fails, also if nobody waited for the statement. */
  | { readonly kind: 'refused'; readonly error: Error }
  /** The commit or the rollback was sent. */
  | { readonly kind: 'over' }

/**
 * How many transactions may have written to any document, so far as is known: those of this service are counted here, those of others
 * change what `Dialect.stateSeen` selects.
 */
export interface Generation {
  current: number
}

/** The error of a write whose time is over. */
export const tooSlow = (): Error => unavailable('The write took too long')

/** What a transaction that begins now knows of earlier ones; `committing` is called when its commit is sent. */
function beginHistory(generation: Generation): { readonly history: History; committing(): void } {
  const before = generation.current
  let after = before + 1
  return {
    history: {
      mayBeUnchanged: ({ mark }) => mark === before,
      isUnchanged: (moment, seen) => moment.mark === before && moment.seen === seen,
      moment: (seen) => ({ seen, mark: after }),
      touchesOneDocument: () => {
        after = before
      },
    },
    committing: () => {
      generation.current = after
    },
  }
}

/**
 * Begins a transaction, which must be over at `deadline` (`elapsed`). None may be under way. `change`: as in `WriteDatabase.transaction`, null
 * for none.
 */
export function beginTurn(channel: Channel, deadline: number, generation: Generation, change: number | null): WriterTurn {
  const { history, committing } = beginHistory(generation)
  let state: TurnState = { kind: 'open' }

  /** Why nothing can be sent any more; null: it can. */
  function refusal(): Error | null {
    if (state.kind === 'open' && elapsed() > deadline) state = { kind: 'refused', error: tooSlow() }
    if (state.kind === 'open') return null
    return state.kind === 'refused' ? state.error : tooSlow()
  }

  function ask<Answer>(order: Order, later = false): Promise<Answer> {
    const refused = refusal()
    const answer = refused === null ? channel.ask<Answer>(order, later) : Promise.reject(refused)
    // Whoever does not wait for a statement learns of its failure at the commit.
    answer.catch(() => {})
    return answer
  }

  ask({ kind: 'begin', change }, true)
  return {
    transaction: {
      dialect: sqliteDialect,
      history,
      rows: (query) => ask({ kind: 'rows', ...writeSql(query) }),
      run: (query) => ask({ kind: 'run', ...writeSql(query) }),
      insert: async (query) => (await ask<Inserted>({ kind: 'run', ...writeSql(query) })).id,
      follow: (query) => {
        if (refusal() === null) channel.tell({ kind: 'follow', ...writeSql(query) }, true)
      },
      defer: async (last) => void (await last),
      read: (plan, parameters, isBounded = false) => ask({ kind: 'read', plan, parameters, isBounded }),
    },
    commit: (more) => {
      const refused = refusal()
      if (refused !== null) throw refused
      state = { kind: 'over' }
      committing()
      const committed = channel.ask<number>({ kind: 'commit', more })
      // The next turn begins before anyone waits for this.
      committed.catch(() => {})
      return committed
    },
    rollback: async () => {
      state = { kind: 'over' }
      await channel.ask({ kind: 'rollback' }).catch(() => {})
    },
  }
}
