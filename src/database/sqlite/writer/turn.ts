// A turn of the writer: one transaction on its thread, from the begin to the commit or the rollback, and what it knows of the writes
// before it.
import type { RawBuilder } from 'kysely'
import { elapsed } from '../../../foundation/runtime/clock.js'
import { collectChanged, noteChanged, type TableChanges } from '../../cache/table-changes.js'
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

/** What a transaction is begun with. */
export interface WriterTurnOptions {
  /** When it must be over (`elapsed`). */
  readonly deadline: number
  readonly generation: Generation
  /** As in `WriteDatabase.transaction`; null for none. */
  readonly change: number | null
  /** Notes the tables that it changes, before its commit is acknowledged. */
  readonly changes: TableChanges
}

/** Begins a transaction. None may be under way. */
export function beginTurn(channel: Channel, { deadline, generation, change, changes }: WriterTurnOptions): WriterTurn {
  const { history, committing } = beginHistory(generation)
  const changed = collectChanged()
  const note = () => noteChanged(changes, changed.all())
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

  function written(query: RawBuilder<unknown>): { readonly sql: string; readonly parameters: readonly unknown[] } {
    const statement = writeSql(query)
    changed.add(statement.sql)
    return statement
  }

  ask({ kind: 'begin', change }, true)
  return {
    transaction: {
      dialect: sqliteDialect,
      history,
      rows: (query) => ask({ kind: 'rows', ...written(query) }),
      run: (query) => ask({ kind: 'run', ...written(query) }),
      insert: async (query) => (await ask<Inserted>({ kind: 'run', ...written(query) })).id,
      follow: (query) => {
        const statement = written(query)
        if (refusal() === null) channel.tell({ kind: 'follow', ...statement }, true)
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
      // Before anyone else hears of it; also where it failed, or where that is not known. The next turn begins before anyone waits for this.
      committed.then(note, note)
      return committed
    },
    rollback: async () => {
      state = { kind: 'over' }
      await channel.ask({ kind: 'rollback' }).catch(() => {})
    },
  }
}
