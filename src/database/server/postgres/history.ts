// Derives from a transaction's snapshot which writes happened since an earlier transaction of this service. The server numbers the writing
// transactions of all its databases, and a snapshot lists the visible ones. Transactions of this service are known by their ids; any other
// may have written anything.
import { sql } from 'kysely'
import type { History } from '../../database.js'
import { epochTable } from './create-tables.js'

/** The visible transactions of a statement. A restarted server may reuse the ids of some of them. */
export const snapshot = `concat_ws(' ', pg_current_snapshot(), pg_postmaster_start_time())`

/**
 * The same, as text: first, next and open ids. Ids are compared as long as the rest stays the same: a server that was started again, has
 * crashed or has taken over from another may give them again.
 */
export const stateSeen = sql`(select concat_ws(' ', ${sql.raw(snapshot)}, (select epoch from ${sql.table(epochTable)} where id = 1)))`

/** The transactions of this service. */
export interface OwnTransactions {
  begin(): OwnTransaction
}

/** A transaction, which several writes may share. */
export interface OwnTransaction {
  /** The server has given it this id. */
  identified(id: number): void
  /** The next write in it. `hasWritten`: whether it has sent what may write. */
  next(hasWritten: () => boolean): History
  /** Called before its commit is sent. */
  committing(): void
}

interface Part {
  readonly hasWritten: () => boolean
  isDeclared: boolean
}

interface Own {
  /** The writes that have begun; empty when the commit is sent. */
  readonly parts: Part[]
  /** The last of its writes that may have written to any document when its commit was sent; -1: none, or it was not sent. */
  lastBreak: number
}

/** Identifies a document state: the transaction, its write, and the first id that its snapshot may not include. */
interface Mark {
  readonly own: Own
  readonly part: number
  readonly first: number
  readonly server: string
}

interface Snapshot {
  /** All transactions before `first` have ended; none from `next` on is seen, and none of `open`. */
  readonly first: number
  readonly next: number
  readonly open: ReadonlySet<number>
  readonly server: string
}

/** Ids that are looked at one by one, own transactions and breaks that are remembered. Beyond them nothing is known. */
const maxTransactions = 10_000

function parseSnapshot(seen: string): Snapshot {
  const space = seen.indexOf(' ')
  const [first, next, open] = seen.slice(0, space).split(':')
  const ids = open === '' || open === undefined ? [] : open.split(',').map(Number)
  return { first: Number(first), next: Number(next), open: new Set(ids), server: seen.slice(space) }
}

const isBreak = ({ hasWritten, isDeclared }: Part): boolean => hasWritten() && !isDeclared

/** One that has ended before its commit was sent was rolled back. */
const leavesNothing = (own: Own | undefined): boolean => own !== undefined && own.lastBreak === -1

/** Knowledge about ended transactions. */
interface Ledger {
  /** The transactions of this service, by their ids, from `decided` on. */
  readonly known: Map<number, Own>
  /** Those that have ended and may have written to any document, ascending. */
  readonly breaks: { readonly id: number; readonly own: Own | undefined }[]
  server: string
  /** All before it have ended, and those of them that are breaks are in `breaks`. */
  decided: number
  /** Of moments whose `first` is before it nothing is known. */
  forgotten: number
}

function forgetAll(ledger: Ledger, { first, server }: Snapshot): void {
  ledger.known.clear()
  ledger.breaks.length = 0
  Object.assign(ledger, { server, decided: first, forgotten: first })
}

/** Notes which of the transactions that have ended may have written to any document. */
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
    moment: (seen) => {
      const snapshot = parseSnapshot(String(seen))
      observe(ledger, snapshot)
      return { seen, mark: { own, part, first: snapshot.first, server: snapshot.server } satisfies Mark }
    },
    writesOneDocumentOnly: () => {
      mine.isDeclared = true
    },
  }
}

/** Creates the transactions of a service, without any knowledge yet. */
export function createOwnTransactions(): OwnTransactions {
  const ledger: Ledger = { known: new Map(), breaks: [], server: '', decided: 0, forgotten: 0 }
  return {
    begin: () => {
      const own: Own = { parts: [], lastBreak: -1 }
      return {
        identified: (id) => {
          // Too many ids without a query: the next snapshot starts from scratch.
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
