// The one writer of a SQLite database: transactions wait in line for a thread of their own, so that neither statements nor
// the disk hold up requests. `BEGIN IMMEDIATE`, one at a time; a commit is on disk when it is acknowledged.
import { Worker } from 'node:worker_threads'
import { ApiError } from '../errors.js'
import type { KnownPlan, Transaction, WriteDatabase } from './database.js'
import type { Expression } from './dialect.js'
import type { Signing } from './signed-addresses.js'
import type { SqliteOptions } from './sqlite.js'
import { writeSql } from './sqlite-dialect.js'
import type { FromWriter, ToWriter, WriterData } from './writer-messages.js'

export interface WriterOptions {
  readonly sqlite: SqliteOptions
  /** Transactions that may wait. */
  readonly writeQueue: number
  /** Milliseconds that one transaction may take, waiting included. */
  readonly writeTimeout: number
  /** How addresses of files are signed in answers; null: not at all. */
  readonly signing: Signing | null
  /** Is told after each commit how many statements the driver ran for the transaction, its begin and its commit included. */
  readonly committed?: (statements: number) => void
}

interface Asked {
  readonly resolve: (value: never) => void
  readonly reject: (error: Error) => void
}

/** A thread, and which plans it has been told. */
interface Thread {
  readonly worker: Worker
  readonly told: Set<number>
  /** The texts of statements that it knows, and their numbers. */
  readonly texts: Map<string, number>
  outgoing: ToWriter[]
  /** Whether they are sent as soon as the callback that is running, and what follows from it without waiting, has ended. */
  leaving: boolean
}

/** What a transaction answers once it is on disk. Its turn is over before: the next one begins while the disk still writes. */
interface Turn<Result> {
  readonly result: Result
  readonly committed: Promise<number>
}

/** Texts of statements that a thread knows by number; further ones are sent whole each time. */
const knownTexts = 1_000

/** A statement as it is sent: its text only where the thread does not know it. */
function statementOf({ texts }: Thread, query: Expression) {
  const { sql, parameters } = writeSql(query)
  const known = texts.get(sql)
  if (known !== undefined) return { text: known, told: null, parameters }
  const text = texts.size < knownTexts ? texts.size : -1
  if (text !== -1) texts.set(sql, text)
  return { text, told: sql, parameters }
}

/**
 * Opens the writer. Its thread starts with the first transaction: a service that is only read does without.
 * `failed` hears of threads that died; what they were doing is answered with 503.
 */
export function openWriter(options: WriterOptions, failed: (error: Error) => void): WriteDatabase {
  let thread: Thread | null = null
  const asked = new Map<number, Asked>()
  let [messages, plans, waiting] = [0, 0, 0]
  /** Whether the thread may be holding a commit back for the next transaction to share. */
  let holding = false
  let last: Promise<unknown> = Promise.resolve()

  function start(): Thread {
    const workerData: WriterData = { sqlite: options.sqlite, signing: options.signing, counts: options.committed !== undefined }
    const worker = new Worker(new URL('./writer-thread.js', import.meta.url), { workerData })
    worker.on('message', (answers: readonly FromWriter[]) => answers.forEach(receive))
    // A thread that died is replaced at the next write; what it had not acknowledged was rolled back by the database.
    worker.on('error', giveUp)
    return { worker, told: new Set(), texts: new Map(), outgoing: [], leaving: false }
  }

  function giveUp(error: Error): void {
    thread = null
    failed(error)
    for (const { reject } of asked.values()) reject(cannotWrite())
    asked.clear()
  }

  function receive(message: FromWriter): void {
    const ask = asked.get(message.id)
    asked.delete(message.id)
    if ('code' in message) ask?.reject(asApiError(message.code, message.message))
    else if ('bytes' in message) ask?.resolve((message.bytes === null ? null : { bytes: message.bytes, release: () => {} }) as never)
    else if ('statements' in message) ask?.resolve(message.statements as never)
    else ask?.resolve(('rows' in message ? message.rows : message.changed) as never)
  }

  /** `later`: sent along with the next message. */
  function post(to: Thread, message: ToWriter, later = false): void {
    to.outgoing.push(message)
    if (later || to.leaving) return
    to.leaving = true
    process.nextTick(() => {
      const messages = to.outgoing
      to.leaving = false
      to.outgoing = []
      try {
        to.worker.postMessage(messages)
      } catch (error) {
        // Values that cannot be copied come from code of the project. What the thread was told is uncertain now: it is replaced.
        if (thread === to) giveUp(error as Error)
        void to.worker.terminate()
      }
    })
  }

  function send<Result>(to: Thread, message: (id: number) => ToWriter, later = false): Promise<Result> {
    const id = ++messages
    return new Promise((resolve, reject) => {
      asked.set(id, { resolve, reject })
      post(to, message(id), later)
    })
  }

  async function inTurn<Result>(work: (transaction: Transaction) => Promise<Result>, deadline: number): Promise<Turn<Result>> {
    if (Date.now() > deadline) throw tooSlow()
    thread ??= start()
    const mine = thread
    let open = true
    /** Why a statement was not even sent: the transaction fails, also when nobody waited for it. */
    let refused: Error | null = null
    const refuse = (): Error | null => {
      if (thread !== mine) refused = new Error('The writer has stopped')
      else if (!open || Date.now() > deadline) refused = tooSlow()
      return refused
    }
    const ask = <Answer>(message: (id: number) => ToWriter, later = false): Promise<Answer> => {
      const answer = refuse() === null ? send<Answer>(mine, message, later) : Promise.reject(refused)
      // Whoever does not wait for a statement learns of its failure at the commit.
      answer.catch(() => {})
      return answer
    }
    const statement = (kind: 'rows' | 'run', query: Expression) => (id: number) => ({ id, kind, ...statementOf(mine, query) })
    ask((id) => ({ id, kind: 'begin' }), true)
    try {
      const result = await work({
        rows: (query) => ask(statement('rows', query)),
        run: (query) => ask(statement('run', query)),
        follow: (query) => {
          if (refuse() === null) post(mine, { id: 0, kind: 'follow', ...statementOf(mine, query) }, true)
        },
        read: ({ id: plan, plan: whole }, parameters) => {
          const told = mine.told.has(plan) ? null : whole
          mine.told.add(plan)
          return ask((id) => ({ id, kind: 'read', plan, told, parameters }))
        },
      })
      open = false
      if (refused !== null || thread !== mine || Date.now() > deadline) throw refused ?? tooSlow()
      holding = waiting > 1
      const committed = send<number>(mine, (id) => ({ id, kind: 'commit', more: holding }))
      // The next turn begins before anyone waits for this.
      committed.catch(() => {})
      return { result, committed }
    } catch (error) {
      open = false
      if (thread === mine) await send(mine, (id) => ({ id, kind: 'rollback' })).catch(() => {})
      throw error
    }
  }

  /** A turn is over. Where no other follows, nothing may be held back for it. */
  function over(): void {
    waiting--
    if (waiting > 0 || !holding || thread === null) return
    holding = false
    post(thread, { kind: 'flush' })
  }

  /** Lets `work` have its turn after those that came before. */
  async function inLine<Result>(work: (transaction: Transaction) => Promise<Result>): Promise<Result> {
    if (waiting >= options.writeQueue) throw new ApiError('ServiceUnavailableError', 'Too many writes are waiting')
    waiting++
    const deadline = Date.now() + options.writeTimeout
    const turn = last.then(() => inTurn(work, deadline)).finally(over)
    last = turn.catch(() => {})
    const { result, committed } = await turn
    const statements = await committed
    options.committed?.(statements)
    return result
  }

  return {
    transaction: inLine,
    run: (query) => inLine(async ({ follow }) => follow(query)),
    know: (plan): KnownPlan => ({ id: ++plans, plan }),
    forget: ({ id }) => {
      if (thread?.told.delete(id)) post(thread, { kind: 'forget', plan: id }, true)
    },
    close: async () => {
      await last
      if (thread === null) return
      const { worker } = thread
      const gone = new Promise((resolve) => worker.once('exit', resolve))
      post(thread, { kind: 'close' })
      await gone
    },
  }
}

const cannotWrite = (): ApiError => new ApiError('ServiceUnavailableError', 'The database cannot be written to at the moment')
const tooSlow = (): ApiError => new ApiError('ServiceUnavailableError', 'The write took too long')

/** Another process holds the lock, or the disk is full: the caller may try again. Anything else is our bug. */
function asApiError(code: string, message: string): Error {
  if (code.startsWith('SQLITE_BUSY') || code.startsWith('SQLITE_LOCKED'))
    return new ApiError('ServiceUnavailableError', 'The database is busy')
  if (code === 'SQLITE_FULL' || code.startsWith('SQLITE_IOERR') || code.startsWith('SQLITE_READONLY')) {
    return cannotWrite()
  }
  return Object.assign(new Error(message), { code })
}
