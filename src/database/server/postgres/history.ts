// Derives from transaction snapshots which writes happened since an earlier transaction of this service. The server numbers the writing
// transactions of all databases, and a snapshot tells which are visible. Those of this service are known by id; any other may have written
// anything.
import { sql } from 'kysely'
import type { History } from '../../database.js'
import { epochTable } from './create-tables.js'

/** The visible transactions, with the start time, since a restarted server may reuse ids. */
export const snapshot = `concat_ws(' ', pg_current_snapshot(), pg_postmaster_start_time())`

/** The same with the epoch. Ids are comparable only while the rest is equal: they may be reused after a restart, crash or failover. */
export const stateSeen = sql`(select concat_ws(' ', ${sql.raw(snapshot)}, (select epoch from ${sql.table(epochTable)} where id = 1)))`

export interface OwnTransactions {
  begin(): OwnTransaction
}

/** A transaction, possibly shared by several writes. */
export interface OwnTransaction {
  /** Records the id that the server has assigned. */
  identified(id: number): void
  /** Begins the next write. `hasWritten`: whether it has sent a statement that may write. */
  next(hasWritten: () => boolean): History
  /** Called before the commit is sent. */
  committing(): void
}

interface Part {
  readonly hasWritten: () => boolean
  isDeclared: boolean
}

interface Own {
  /** The writes so far; emptied when the commit is sent. */
  readonly parts: Part[]
  /** The last write that may have changed any document, set when the commit is sent; -1: none, or not sent. */
  lastBreak: number
}

/** Identifies a document state: the transaction, its write, and the oldest id that its snapshot may not include. */
interface Mark {
  readonly own: Own
  readonly part: number
  readonly first: number
  readonly server: string
}

interface Snapshot {
  /** Transactions before `first` have ended; those from `next` on, and those in `open`, are invisible. */
  readonly first: number
  readonly next: number
  readonly open: ReadonlySet<number>
  readonly server: string
}

/** Maximum ids examined individually, own transactions and breaks. Beyond that, all knowledge is discarded. */
const maxTransactions = 10_000

function parseSnapshot(seen: string): Snapshot {
  const space = seen.indexOf(' ')
  const [first, next, open] = seen.slice(0, space).split(':')
  const ids = open === '' || open === undefined ? [] : open.split(',').map(Number)
  return { first: Number(first), next: Number(next), open: new Set(ids), server: seen.slice(space) }
}

const isBreak = ({ hasWritten, isDeclared }: Part): boolean => hasWritten() && !isDeclared

/** A transaction that ended before its commit was sent has been rolled back. */
const leavesNothing = (own: Own | undefined): boolean => own !== undefined && own.lastBreak === -1

/** Knowledge of ended transactions. */
interface Ledger {
  /** This service's transactions by id, from `decided` on. */
  readonly known: Map<number, Own>
  /** Ended transactions that may have written to any document, ascending. */
  readonly breaks: { readonly id: number; readonly own: Own | undefined }[]
  server: string
  /** All transactions before this id have ended and been examined. */
  decided: number
  /** Nothing is known of states whose `first` is lower. */
  forgotten: number
}

function forgetAll(ledger: Ledger, { first, server }: Snapshot): void {
  ledger.known.clear()
  ledger.breaks.length = 0
  Object.assign(ledger, { server, decided: first, forgotten: first })
}

/** Records which ended transactions may have written to any document. */
function observe(ledger: Ledger, snapshot: Snapshot): void {
  const { known, breaks } = ledger
  const isTooMuch = snapshot.first - ledger.decided > maxTransactions || breaks.length > maxTransactions || known.size > maxTransactions
  if (snapshot.server !== ledger.server || isTooMuch) forgetAll(ledger, snapshot)
  for (; ledger.decided < snapshot.first; ledger.decided++) {
    const own = known.get(ledger.decided)
    known.delete(ledger.decided)
    if (!leavesNothing(own)) breaks.push({ id: ledger.decided, own })
  }
}

const wasBefore = (own: Own | undefined, mark: Mark): boolean => own === mark.own && own.lastBreak <= mark.part

function isUnchanged(ledger: Ledger, mark: Mark, snapshot: Snapshot, current: Own): boolean {
  observe(ledger, snapshot)
  const { known, breaks, server, decided, forgotten } = ledger
  if (mark.server !== server || mark.first < forgotten) return false
  for (let at = breaks.length - 1; at >= 0 && breaks[at]!.id >= mark.first; at--) if (!wasBefore(breaks[at]!.own, mark)) return false
  const first = Math.max(decided, mark.first)
  if (snapshot.next - first > maxTransactions) return false
  for (let id = first; id < snapshot.next; id++) {
    const own = known.get(id)
    if (!snapshot.open.has(id) && own !== current && !leavesNothing(own) && !wasBefore(own, mark)) return false
  }
  return true
}

function createHistory(ledger: Ledger, own: Own, hasWritten: () => boolean): History {
  const mine: Part = { hasWritten, isDeclared: false }
  const part = own.parts.push(mine) - 1
  return {
    mayBeUnchanged: ({ mark }) => {
      const { first, server } = mark as Mark
      return server === ledger.server && first >= ledger.forgotten && !own.parts.slice(0, part).some(isBreak)
    },
    isUnchanged: ({ mark }, seen) => isUnchanged(ledger, mark as Mark, parseSnapshot(String(seen)), own),
    stateAfter: (seen) => {
      const snapshot = parseSnapshot(String(seen))
      observe(ledger, snapshot)
      return { seen, mark: { own, part, first: snapshot.first, server: snapshot.server } satisfies Mark }
    },
    writesOneDocumentOnly: () => {
      mine.isDeclared = true
    },
  }
}

/** Starts without any knowledge. */
export function createOwnTransactions(): OwnTransactions {
  const ledger: Ledger = { known: new Map(), breaks: [], server: '', decided: 0, forgotten: 0 }
  return {
    begin: () => {
      const own: Own = { parts: [], lastBreak: -1 }
      return {
        identified: (id) => {
          // Without a query in between, ids pile up: start over at the next snapshot.
          if (ledger.known.size > maxTransactions) ledger.server = ''
          if (ledger.server === '') ledger.known.clear()
          if (id >= ledger.decided) ledger.known.set(id, own)
        },
        next: (hasWritten) => createHistory(ledger, own, hasWritten),
        committing: () => {
          own.lastBreak = own.parts.findLastIndex(isBreak)
          own.parts.length = 0
        },
      }
    },
  }
}
