// The writer's thread: one connection that executes statements in order. Consecutive transactions share a commit to disk (group commit):
// each is a savepoint, acknowledged after the commit.
import { statSync } from 'node:fs'
import { parentPort, workerData } from 'node:worker_threads'
import type { ReadPlan } from '../../plan.js'
import type { PreparedRead } from '../../response/write.js'
import { createSink, isTooLarge, responseTooLargeCode, type Sink } from '../../response/write.js'
import { createStatementCache, reopenSqlite } from '../connection.js'
import { prepareRead } from '../execute.js'
import { lostFiles, watchFiles } from '../file/health.js'
import { type FromWriter, outdated, type ToWriter, type WriterData } from './protocol.js'

const maxStatements = 500
/** Limits of a shared commit: transactions, milliseconds during which they may join, and milliseconds of waiting for the next one. */
const shared = { transactions: 32, milliseconds: 25, idle: 2 }

const port = parentPort!
const { sqlite, signing, files, writtenBytes, counts } = workerData as WriterData
let statementsRun = 0
const database = reopenSqlite(sqlite, counts ? () => void statementsRun++ : undefined)
/** Checks that the files are still those that were opened, on a connection without transactions. */
const watch = files === null ? null : watchFiles(reopenSqlite(sqlite), files, 1)
checkFiles()
const signer = signing === null ? null : await (await import('../../response/signed-addresses.js')).createSigner(signing)
const source = { database, signer }
const room = Buffer.allocUnsafeSlow(64 * 1024)
const sinks = { whole: createSink(Number.MAX_SAFE_INTEGER), bounded: createSink(writtenBytes) }
const prepared = createStatementCache(database, maxStatements)
const plans = new Map<number, ReadPlan | PreparedRead>()
const texts: string[] = []

/** Transactions awaiting the shared commit, with their statement counts. */
let held: { readonly id: number; readonly statements: number }[] = []
let sharedSince = 0
/** The current transaction: none, a separate one, or a savepoint in a shared one. */
let open: 'none' | 'own' | 'inside' = 'none'
/** The error that prevents the current transaction from being committed: it failed to begin, or a statement failed. */
let broken: unknown = null
let responses: FromWriter[] = []
let isClosing = false
let waiting: NodeJS.Timeout | undefined

port.on('message', (messages: readonly ToWriter[]) => {
  clearTimeout(waiting)
  for (const message of messages) perform(message)
  sendResponses()
  // The main thread may be busy; do not hold the write lock for long.
  if (held.length > 0 && open === 'none') waiting = setTimeout(commitIdle, shared.idle)
  if (!isClosing) return
  database.close()
  port.close()
})

function sendResponses(): void {
  if (responses.length > 0) port.postMessage(responses)
  responses = []
}

/** When idle, shrinks a log that grew during a long read: milliseconds without writes, and minimum bytes. */
const shrinking = { rest: 2_000, bytes: 4_194_304 }
let wrote = performance.now()

/** Checkpoints and truncates the log unless a reader needs it; does not wait. */
function shrinkLog(): void {
  if (open !== 'none' || held.length > 0 || performance.now() - wrote < shrinking.rest) return
  const size = statSync(`${sqlite.filename}-wal`, { throwIfNoEntry: false })?.size ?? 0
  if (size < shrinking.bytes) return
  database.pragma('busy_timeout = 0')
  try {
    if ((watch?.look() ?? null) !== null) return
    database.pragma('wal_checkpoint(TRUNCATE)')
    watch?.settle()
  } catch {
    // Another process holds a lock, or the disk is full: retried later.
  } finally {
    database.pragma(`busy_timeout = ${sqlite.busyTimeout}`)
  }
}
setInterval(shrinkLog, shrinking.rest).unref()

function commitIdle(): void {
  commitHeld()
  sendResponses()
}

function perform(message: ToWriter): void {
  if (message.kind === 'forget') plans.delete(message.plan)
  else if (message.kind === 'flush') commitHeld()
  else if (message.kind === 'close') {
    commitHeld()
    isClosing = true
  } else {
    try {
      handle(message)
    } catch (error) {
      fail(message.id, error)
    }
  }
}

function handle(message: Extract<ToWriter, { readonly id: number }>): void {
  const { id, kind } = message
  switch (kind) {
    case 'begin':
      begin(message.change)
      responses.push({ id, rows: [] })
      return
    case 'commit':
      commit(id, message.more)
      return
    case 'rollback':
      rollback()
      responses.push({ id, rows: [] })
      return
    case 'look':
      responses.push({ id, isAlone: isAlone() })
      return
    default:
      remember(message)
      if (broken !== null) {
        if (kind === 'follow') return
        throw broken
      }
      try {
        const done = run(message)
        if (done !== null) responses.push(done)
      } catch (error) {
        broken ??= error
        // On some errors, such as a full disk, SQLite rolls back the whole transaction.
        if (!database.inTransaction) failHeld(error)
        if (kind !== 'follow') throw error
      }
  }
}

/** `data_version` at the last check. */
let seen: unknown = null

/** True if no other connection has committed since the last call; false on the first call. */
function isAlone(): boolean {
  const before = seen
  seen = prepared('select data_version from pragma_data_version').pluck().get()
  return seen === before
}

/** Stores texts and plans, even if their transaction has failed. */
function remember(message: Extract<ToWriter, { readonly told: unknown }>): void {
  if (message.kind === 'read') {
    if (message.told !== null) plans.set(message.plan, message.told)
  } else if (message.told !== null && message.text !== -1) texts[message.text] = message.told
}

/** Selects a row if a later model change moves content. */
const moved = 'select 1 from octavo_model_history where id > ? and moves = 1 limit 1'

function begin(change: number | null): void {
  rollback()
  broken = null
  statementsRun = 0
  open = 'none'
  const joins = database.inTransaction
  try {
    prepared(joins ? 'savepoint octavo' : 'begin immediate').run()
    open = joins ? 'inside' : 'own'
    if (!joins) sharedSince = performance.now()
    if (change !== null && prepared(moved).get(change) !== undefined)
      throw Object.assign(new Error('The model was changed'), { code: outdated })
  } catch (error) {
    broken = error
    throw error
  }
}

function commit(id: number, more: boolean): void {
  if (broken !== null) {
    rollback()
    throw broken
  }
  if (open === 'inside') prepared('release octavo').run()
  open = 'none'
  held.push({ id, statements: statementsRun })
  if (!more || held.length >= shared.transactions || performance.now() - sharedSince > shared.milliseconds) commitHeld()
}

function commitHeld(): void {
  if (held.length === 0) return
  try {
    checkFiles()
    prepared('commit').run()
    wrote = performance.now()
    watch?.settle()
    checkFiles()
    const last = held.length - 1
    responses.push(...held.map((one, index) => ({ id: one.id, statements: one.statements + (index === last ? 1 : 0) })))
    held = []
  } catch (error) {
    if (database.inTransaction) prepared('rollback').run()
    failHeld(error)
  }
}

/** Commits to deleted or foreign files would be lost. */
function checkFiles(): void {
  const trouble = watch?.look() ?? null
  if (trouble !== null) throw Object.assign(new Error(trouble), { code: lostFiles })
}

/** Rolls back the current transaction, but not those sharing its commit. */
function rollback(): void {
  // If an error has ended the transaction, there is nothing to roll back.
  if (open !== 'none' && database.inTransaction) {
    if (open === 'own') prepared('rollback').run()
    else {
      prepared('rollback to octavo').run()
      prepared('release octavo').run()
    }
  }
  open = 'none'
}

/** Fails all transactions of the shared commit; none was acknowledged. */
function failHeld(error: unknown): void {
  for (const { id } of held) fail(id, error)
  held = []
}

function fail(id: number, error: unknown): void {
  const { code = isTooLarge(error) ? responseTooLargeCode : 'UNKNOWN', message } = error as Error & { code?: string }
  responses.push({ id, code, message })
}

function run(message: Extract<ToWriter, { readonly kind: 'rows' | 'run' | 'follow' | 'read' }>): FromWriter | null {
  const { id, kind, parameters } = message
  if (kind === 'read') {
    return { id, bytes: read(planOf(message.plan), parameters, message.isBounded ? sinks.bounded : sinks.whole) }
  }
  const statement = prepared(message.told ?? texts[message.text]!)
  if (kind === 'rows') return { id, rows: statement.all(...parameters) }
  const { changes, lastInsertRowid } = statement.run(...parameters)
  if (kind === 'follow') return null
  return { id, changed: { rows: changes, id: Number(lastInsertRowid) } }
}

function planOf(number: number): PreparedRead {
  const known = plans.get(number)!
  if (typeof known === 'function') return known
  const plan = prepareRead(source, known, 'inside')
  plans.set(number, plan)
  return plan
}

/** Executes a plan inside the transaction; null if the requested row does not exist. */
function read(plan: PreparedRead, values: readonly unknown[], sink: Sink): Uint8Array | null {
  sink.begin(room)
  if (!plan(values, sink)) return null
  const { length, own } = sink.end()
  return own ?? Uint8Array.from(room.subarray(0, length))
}
