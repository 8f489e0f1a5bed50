// The connection between the writer and its thread. Only here is it known what the thread has been sent: orders carry whole
// statements and plans, and are put into numbers at the very moment when they leave.
import { Worker } from 'node:worker_threads'
import type { ApiError } from '../../../errors/errors.js'
import { answerTooLarge, tooLarge } from '../../answer/sink.js'
import type { PlanHandle } from '../../database.js'
import { unavailable } from '../../unavailable.js'
import type { FromWriter, ToWriter, WriterData } from './protocol.js'

/** What the thread is to do. */
export type Order =
  | { readonly kind: 'begin' | 'rollback' }
  | { readonly kind: 'flush' }
  | { readonly kind: 'close' }
  | { readonly kind: 'commit'; readonly more: boolean }
  | { readonly kind: 'rows' | 'run' | 'follow'; readonly sql: string; readonly parameters: readonly unknown[] }
  | { readonly kind: 'read'; readonly plan: PlanHandle; readonly parameters: readonly unknown[]; readonly isBounded: boolean }
  | { readonly kind: 'forget'; readonly plan: PlanHandle }

export interface Channel {
  /** False once the thread has died: nothing is sent any more. */
  isOpen(): boolean
  /** Sends an order that has an answer; `later`: along with the next one. @throws ApiError 503 where the thread dies meanwhile */
  ask<Answer>(order: Order, later?: boolean): Promise<Answer>
  /** Sends an order that has none. */
  tell(order: Order, later?: boolean): void
  /** Lets the thread finish what it was told, and end. */
  close(): Promise<void>
}

interface Asked {
  readonly resolve: (value: never) => void
  readonly reject: (error: Error) => void
}

interface Leaving {
  readonly id: number
  readonly order: Order
}

/** Texts of statements that the thread knows by number; further ones are sent whole each time. */
const knownTexts = 1_000

/** What a thread has been sent; it begins with the thread, and ends with it. */
function openEncoder(): (leaving: Leaving) => ToWriter {
  const texts = new Map<string, number>()
  const plans = new Set<number>()

  function textOf(sql: string): { readonly text: number; readonly told: string | null } {
    const known = texts.get(sql)
    if (known !== undefined) return { text: known, told: null }
    const text = texts.size < knownTexts ? texts.size : -1
    if (text !== -1) texts.set(sql, text)
    return { text, told: sql }
  }

  return ({ id, order }) => {
    switch (order.kind) {
      case 'rows':
      case 'run':
        return { id, kind: order.kind, ...textOf(order.sql), parameters: order.parameters }
      case 'follow':
        return { id: 0, kind: 'follow', ...textOf(order.sql), parameters: order.parameters }
      case 'read': {
        const { id: plan, plan: whole } = order.plan
        const told = plans.has(plan) ? null : whole
        plans.add(plan)
        return { id, kind: 'read', plan, told, parameters: order.parameters, isBounded: order.isBounded }
      }
      case 'forget':
        plans.delete(order.plan.id)
        return { kind: 'forget', plan: order.plan.id }
      case 'commit':
        return { id, kind: 'commit', more: order.more }
      case 'begin':
      case 'rollback':
        return { id, kind: order.kind }
      case 'flush':
      case 'close':
        return order
    }
  }
}

/**
 * Starts the thread. `died` is called once, when it ends without having been told to: what it was asked is refused with 503,
 * and what it had not acknowledged is rolled back by the database.
 */
export function openChannel(data: WriterData, died: (error: Error) => void): Channel {
  const worker = new Worker(new URL('./writer-thread.js', import.meta.url), {
    workerData: data,
    // To close a descriptor of the database's file would end the locks of all connections (wal.ts).
    trackUnmanagedFds: false,
  })
  const encode = openEncoder()
  const asked = new Map<number, Asked>()
  let ids = 0
  let leaving: Leaving[] = []
  /** Whether they are sent as soon as the callback that is running, and what follows from it without waiting, has ended. */
  let isLeaving = false
  let state: 'open' | 'closing' | 'dead' = 'open'

  worker.on('message', (answers: readonly FromWriter[]) => answers.forEach(receive))
  worker.on('error', die)
  worker.on('messageerror', die)
  worker.on('exit', () => die(new Error('The writer thread has ended')))

  function die(error: Error): void {
    if (state === 'dead') return
    const isExpected = state === 'closing' && asked.size === 0
    state = 'dead'
    leaving = []
    if (!isExpected) died(error)
    for (const { reject } of asked.values()) reject(cannotWrite(error))
    asked.clear()
    void worker.terminate()
  }

  function receive(message: FromWriter): void {
    const ask = asked.get(message.id)
    asked.delete(message.id)
    if ('code' in message) ask?.reject(asApiError(message.code, message.message))
    else if ('bytes' in message) ask?.resolve((message.bytes === null ? null : { bytes: message.bytes, release: () => {} }) as never)
    else if ('statements' in message) ask?.resolve(message.statements as never)
    else ask?.resolve(('rows' in message ? message.rows : message.changed) as never)
  }

  function sendAll(): void {
    isLeaving = false
    const orders = leaving
    leaving = []
    if (state === 'dead') return
    try {
      worker.postMessage(orders.map(encode))
    } catch (error) {
      // Values that cannot be copied come from code of the project. Nothing of these orders has arrived, though they were encoded.
      die(error as Error)
    }
  }

  function put(id: number, order: Order, later: boolean): void {
    leaving.push({ id, order })
    if (later || isLeaving) return
    isLeaving = true
    process.nextTick(sendAll)
  }

  return {
    isOpen: () => state === 'open',
    ask: (order, later = false) => {
      if (state !== 'open') return Promise.reject(cannotWrite(new Error('The writer thread has ended')))
      const id = ++ids
      return new Promise((resolve, reject) => {
        asked.set(id, { resolve, reject })
        put(id, order, later)
      })
    },
    tell: (order, later = false) => {
      if (state === 'open') put(0, order, later)
    },
    close: async () => {
      if (state === 'dead') return
      const gone = new Promise((resolve) => worker.once('exit', resolve))
      put(0, { kind: 'close' }, false)
      state = 'closing'
      await gone
    },
  }
}

const cannotWrite = (cause: unknown): ApiError => unavailable('The database cannot be written to at the moment', cause)

/** Another process holds the lock, or the disk is full: the caller may try again. Anything else is our bug. */
function asApiError(code: string, message: string): Error {
  if (code === answerTooLarge) return tooLarge()
  const cause = Object.assign(new Error(code.startsWith('SQLITE_') ? `${code}: ${message}` : message), { code })
  if (code.startsWith('SQLITE_BUSY') || code.startsWith('SQLITE_LOCKED')) return unavailable('The database is busy', cause)
  return isTrouble.test(code) ? cannotWrite(cause) : cause
}

/** Codes of SQLite that are about the disk or the file, and not about what was asked. */
const isTrouble = /^(SQLITE_(FULL|IOERR|READONLY|CORRUPT|NOTADB|CANTOPEN|PROTOCOL|NOMEM)|OCTAVO_LOST_FILES)/
