// A reader thread: one read-only connection that executes plans and hands their bytes over. Knows nothing but plans.
import { parentPort, workerData } from 'node:worker_threads'
import type { PreparedRead } from './execute.js'
import { AnswerTooLarge, prepareRead } from './execute.js'
import type { ReadPlan } from './plan.js'
import { openSqliteReader, type SqliteOptions } from './sqlite.js'

export interface ReaderData {
  readonly sqlite: SqliteOptions
  readonly answerBytes: number
  /** One state per job slot, shared with the pool: see `jobStates`. */
  readonly states: Int32Array
}

/** A job waits, has been started, or was taken back before it was started. */
export const jobStates = { waiting: 0, started: 1, revoked: 2 } as const

export type ToReader =
  | { readonly kind: 'plan'; readonly id: number; readonly plan: ReadPlan }
  | { readonly kind: 'forget'; readonly id: number }
  | { readonly kind: 'run'; readonly slot: number; readonly plan: number; readonly values: readonly unknown[] }
  | { readonly kind: 'close' }

export type FromReader =
  | { readonly kind: 'ready' }
  | { readonly kind: 'answer'; readonly slot: number; readonly body: Uint8Array | null }
  | { readonly kind: 'tooLarge'; readonly slot: number }
  | { readonly kind: 'failed'; readonly slot: number; readonly message: string }

const port = parentPort!
const { sqlite, answerBytes, states } = workerData as ReaderData
const database = openSqliteReader(sqlite)
const plans = new Map<number, ReadPlan>()
const prepared = new Map<number, PreparedRead>()
const encoder = new TextEncoder()

port.on('message', (message: ToReader) => {
  switch (message.kind) {
    case 'plan':
      plans.set(message.id, message.plan)
      return
    case 'forget':
      plans.delete(message.id)
      prepared.delete(message.id)
      return
    case 'run':
      run(message.slot, message.plan, message.values)
      return
    case 'close':
      database.close()
      port.close()
  }
})

function run(slot: number, id: number, values: readonly unknown[]): void {
  if (Atomics.compareExchange(states, slot, jobStates.waiting, jobStates.started) !== jobStates.waiting) return
  try {
    let read = prepared.get(id)
    if (read === undefined) {
      read = prepareRead(database, plans.get(id)!, answerBytes)
      prepared.set(id, read)
    }
    const text = read(values)
    if (text === null) return send({ kind: 'answer', slot, body: null })
    const body = encoder.encode(text)
    port.postMessage({ kind: 'answer', slot, body } satisfies FromReader, [body.buffer as ArrayBuffer])
  } catch (error) {
    if (error instanceof AnswerTooLarge) send({ kind: 'tooLarge', slot })
    else send({ kind: 'failed', slot, message: (error as Error).stack ?? String(error) })
  }
}

function send(message: FromReader): void {
  port.postMessage(message)
}

send({ kind: 'ready' })
