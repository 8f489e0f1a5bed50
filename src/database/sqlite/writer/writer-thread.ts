// The writer's thread: one connection that executes statements in order. Consecutive transactions share one commit to disk: each is a
// savepoint in it, and none is acknowledged before that commit.
import { statSync } from 'node:fs'
import { parentPort, workerData } from 'node:worker_threads'
import type { ReadPlan } from '../../plan.js'
import type { PreparedRead } from '../../response/write.js'
import { createSink, isTooLarge, responseTooLargeCode, type Sink } from '../../response/write.js'
import { createStatementCache, reopenSqlite } from '../connection.js'
import { prepareRead } from '../execute.js'
import { lostFiles, watchFiles } from '../file/health.js'
import { type FromWriter, outdated, type ToWriter, type WriterData } from './protocol.js'

/** Prepared statements that are kept. */
const kept = 500
/** Maximum transactions of a shared commit, milliseconds during which transactions join, and for which it waits for the next one. */
const shared = { transactions: 32, milliseconds: 25, idle: 2 }

const port = parentPort!
const { sqlite, signing, files, writtenBytes, counts } = workerData as WriterData
let statementsRun = 0
const database = reopenSqlite(sqlite, counts ? () => void statementsRun++ : undefined)
/** Checks that the files are still the opened ones, on a connection without a transaction. */
const watch = files === null ? null : watchFiles(reopenSqlite(sqlite), files, 1)
checkFiles()
const signer = signing === null ? null : await (await import('../../response/signed-addresses.js')).createSigner(signing)
const source = { database, signer }
const room = Buffer.allocUnsafeSlow(64 * 1024)
const sinks = { whole: createSink(Number.MAX_SAFE_INTEGER), bounded: createSink(writtenBytes) }
const prepared = createStatementCache(database, kept)
const plans = new Map<number, ReadPlan | PreparedRead>()
const texts: string[] = []

/** Commits that wait for the one they share, with the statements of their transactions. */
let held: { readonly id: number; readonly statements: number }[] = []
let sharedSince = 0
/** The open transaction: none, a separate one, or a savepoint in a shared one. */
let open: 'none' | 'own' | 'inside' = 'none'
/** Why it cannot go on and must not be committed: it could not begin, or one of its statements failed. */
let broken: unknown = null
let answers: FromWriter[] = []
let isClosing = false
let waiting: NodeJS.Timeout | undefined

port.on('message', (messages: readonly ToWriter[]) => {
  clearTimeout(waiting)
  for (const message of messages) perform(message)
  tell()
  // The main thread may be busy with something else: the database is not kept from others for that.
  if (held.length > 0 && open === 'none') waiting = setTimeout(giveUpWaiting, shared.idle)
  if (!isClosing) return
  database.close()
  port.close()
})

function tell(): void {
  if (answers.length > 0) port.postMessage(answers)
  answers = []
}

/** A log that a long reader made large is made small again once nothing is written: milliseconds of rest, and bytes. */
const tidying = { rest: 2_000, bytes: 4_194_304 }
let wrote = performance.now()

/** Moves the log into the database and truncates it, unless a reader needs it; does not wait. */
function shrinkLog(): void {
  if (open !== 'none' || held.length > 0 || performance.now() - wrote < tidying.rest) return
  const size = statSync(`${sqlite.filename}-wal`, { throwIfNoEntry: false })?.size ?? 0
  if (size < tidying.bytes) return
  database.pragma('busy_timeout = 0')
  try {
    if ((watch?.look() ?? null) !== null) return
    database.pragma('wal_checkpoint(TRUNCATE)')
    watch?.settle()
  } catch {
    // Another process is in the way, or the disk is full: the next look may find that gone.
  } finally {
    database.pragma(`busy_timeout = ${sqlite.busyTimeout}`)
  }
}
setInterval(shrinkLog, tidying.rest).unref()

function giveUpWaiting(): void {
  commitHeld()
  tell()
}

function perform(message: ToWriter): void {
  if (message.kind === 'forget') plans.delete(message.plan)
  else if (message.kind === 'flush') commitHeld()
  else if (message.kind === 'close') {
    commitHeld()
    isClosing = true
  } else {
    try {
      answer(message)
    } catch (error) {
      fail(message.id, error)
    }
  }
}

function answer(message: Extract<ToWriter, { readonly id: number }>): void {
  const { id, kind } = message
  switch (kind) {
    case 'begin':
      begin(message.change)
      answers.push({ id, rows: [] })
      return
    case 'commit':
      commit(id, message.more)
      return
    case 'rollback':
      rollback()
      answers.push({ id, rows: [] })
      return
    case 'look':
      answers.push({ id, isAlone: isAlone() })
      return
    default:
      remember(message)
      if (broken !== null) {
        if (kind === 'follow') return
        throw broken
      }
      try {
        const done = run(message)
        if (done !== null) answers.push(done)
      } catch (error) {
        broken ??= error
        // SQLite itself ends the whole transaction when the disk is full, for one: nothing of it is left.
        if (!database.inTransaction) lose(error)
        if (kind !== 'follow') throw error
      }
  }
}

/** The version of what other connections have committed, when it was last looked at. */
let seen: unknown = null

/** Whether no other connection has committed since the last call; false for the first one. */
function isAlone(): boolean {
  const before = seen
  seen = prepared('select data_version from pragma_data_version').pluck().get()
  return seen === before
}

/** Remembers texts and plans, even if their transaction has failed. */
function remember(message: Extract<ToWriter, { readonly told: unknown }>): void {
  if (message.kind === 'read') {
    if (message.told !== null) plans.set(message.plan, message.told)
  } else if (message.told !== null && message.text !== -1) texts[message.text] = message.told
}

/** Selects a row if a change of the model that moves content follows another one. */
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

/** Commits what waits for it; only now is it acknowledged. */
function commitHeld(): void {
  if (held.length === 0) return
  try {
    checkFiles()
    prepared('commit').run()
    wrote = performance.now()
    watch?.settle()
    checkFiles()
    const last = held.length - 1
    answers.push(...held.map((one, index) => ({ id: one.id, statements: one.statements + (index === last ? 1 : 0) })))
    held = []
  } catch (error) {
    if (database.inTransaction) prepared('rollback').run()
    lose(error)
  }
}

/** A commit to files that are gone, or that others wrote to, would be lost. */
function checkFiles(): void {
  const trouble = watch?.look() ?? null
  if (trouble !== null) throw Object.assign(new Error(trouble), { code: lostFiles })
}

/** Takes back the transaction that is under way, and none of those that it shares a commit with. */
function rollback(): void {
  // An error that ended the transaction by itself leaves nothing to roll back.
  if (open !== 'none' && database.inTransaction) {
    if (open === 'own') prepared('rollback').run()
    else {
      prepared('rollback to octavo').run()
      prepared('release octavo').run()
    }
  }
  open = 'none'
}

/** All transactions of the shared commit are lost; none was acknowledged. */
function lose(error: unknown): void {
  for (const { id } of held) fail(id, error)
  held = []
}

function fail(id: number, error: unknown): void {
  const { code = isTooLarge(error) ? responseTooLargeCode : 'UNKNOWN', message } = error as Error & { code?: string }
  answers.push({ id, code, message })
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

/** A plan is prepared when it is first read. */
function planOf(number: number): PreparedRead {
  const known = plans.get(number)!
  if (typeof known === 'function') return known
  const plan = prepareRead(source, known, 'inside')
  plans.set(number, plan)
  return plan
}

/** The answer to a plan as the transaction sees it; null where one row was asked for and is not there. */
function read(plan: PreparedRead, values: readonly unknown[], sink: Sink): Uint8Array | null {
  sink.begin(room)
  if (!plan(values, sink)) return null
  const { length, own } = sink.end()
  return own ?? Uint8Array.from(room.subarray(0, length))
}
