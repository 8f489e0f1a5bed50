// The one writer of a SQLite database: transactions wait in line for a thread of their own, so that neither statements nor
// the disk hold up requests. `BEGIN IMMEDIATE`, one at a time; a commit is on disk when it is acknowledged.
import { Worker } from 'node:worker_threads'
import { ApiError } from '../errors.js'
import type { Transaction, WriteDatabase } from './database.js'
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
}

interface Asked {
  readonly resolve: (value: never) => void
  readonly reject: (error: Error) => void
}

/**
 * Opens the writer. Its thread starts with the first transaction: a service that is only read does without.
 * `failed` hears of threads that died; what they were doing is answered with 503.
 */
export function openWriter(options: WriterOptions, failed: (error: Error) => void): WriteDatabase {
  let worker: Worker | null = null
  const asked = new Map<number, Asked>()
  let messages = 0
  let waiting = 0
  let last: Promise<unknown> = Promise.resolve()

  function start(): Worker {
    const started = new Worker(new URL('./writer-thread.js', import.meta.url), {
      workerData: { sqlite: options.sqlite, signing: options.signing } satisfies WriterData,
    })
    started.on('message', (message: FromWriter) => {
      const ask = asked.get(message.id)
      asked.delete(message.id)
      if ('code' in message) ask?.reject(asApiError(message.code, message.message))
      else if ('bytes' in message) ask?.resolve((message.bytes === null ? null : { bytes: message.bytes, release: () => {} }) as never)
      else ask?.resolve(('rows' in message ? message.rows : message.changed) as never)
    })
    // A thread that died is replaced at the next write; what it had not acknowledged was rolled back by the database.
    started.on('error', (error) => {
      worker = null
      failed(error)
      for (const { reject } of asked.values()) reject(cannotWrite())
      asked.clear()
    })
    return started
  }

  function send<Result>(kind: ToWriter['kind'], what: Pick<ToWriter, 'sql' | 'plan' | 'parameters'> = {}): Promise<Result> {
    const id = ++messages
    return new Promise((resolve, reject) => {
      worker ??= start()
      asked.set(id, { resolve, reject })
      worker.postMessage({ id, kind, ...what } satisfies ToWriter)
    })
  }

  async function inTurn<Result>(work: (transaction: Transaction) => Promise<Result>, deadline: number): Promise<Result> {
    if (Date.now() > deadline) throw tooSlow()
    const sent: Promise<unknown>[] = []
    let open = true
    const ask = <Answer>(kind: 'rows' | 'run' | 'read', what: Parameters<typeof send>[1]): Promise<Answer> => {
      const answer: Promise<Answer> = !open || Date.now() > deadline ? Promise.reject(tooSlow()) : send<Answer>(kind, what)
      sent.push(answer)
      // Whoever does not wait for a statement learns of its failure at the commit.
      answer.catch(() => {})
      return answer
    }
    await send('begin')
    try {
      const result = await work({
        rows: (query) => ask('rows', writeSql(query)),
        run: (query) => ask('run', writeSql(query)),
        read: (plan, parameters) => ask('read', { plan, parameters }),
      })
      await Promise.all(sent)
      open = false
      await send('commit')
      return result
    } catch (error) {
      open = false
      await Promise.allSettled(sent)
      await send('rollback')
      throw error
    }
  }

  /** Lets `write` have its turn after those that came before. */
  function inLine<Result>(write: (deadline: number) => Promise<Result>): Promise<Result> {
    if (waiting >= options.writeQueue) return Promise.reject(new ApiError('ServiceUnavailableError', 'Too many writes are waiting'))
    waiting++
    const deadline = Date.now() + options.writeTimeout
    const turn = last.then(() => write(deadline))
    last = turn.catch(() => {}).finally(() => waiting--)
    return turn
  }

  return {
    transaction: (work) => inLine((deadline) => inTurn(work, deadline)),
    run: (query) => inLine(() => send('run', writeSql(query))),
    close: async () => {
      await last
      if (worker === null) return
      const thread = worker
      const gone = new Promise((resolve) => thread.once('exit', resolve))
      thread.postMessage({ id: 0, kind: 'close' } satisfies ToWriter)
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
