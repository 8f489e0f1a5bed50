// The writer's thread and the connection to it. Orders carry whole statements and plans; those that the thread already has are sent as
// numbers.
import { Worker } from 'node:worker_threads'
import type { ApiError } from '../../../foundation/errors/errors.js'
import type { PlanHandle } from '../../database.js'
import { outdatedModelError, schemaDriftError, unavailableError } from '../../errors.js'
import { responseTooLarge, responseTooLargeCode } from '../../response/write.js'
import { isDrift } from '../errors.js'
import { type FromWriter, outdated, type ToWriter, type WriterData } from './protocol.js'

export type Order =
  | { readonly kind: 'begin'; readonly change: number | null }
  | { readonly kind: 'rollback' }
  | { readonly kind: 'flush' }
  | { readonly kind: 'look' }
  | { readonly kind: 'close' }
  | { readonly kind: 'commit'; readonly more: boolean }
  | { readonly kind: 'rows' | 'run' | 'follow'; readonly sql: string; readonly parameters: readonly unknown[] }
  | { readonly kind: 'read'; readonly plan: PlanHandle; readonly parameters: readonly unknown[]; readonly isBounded: boolean }
  | { readonly kind: 'forget'; readonly plan: PlanHandle }

export interface Channel {
  /** False once the thread is closing or has died. */
  isOpen(): boolean
  /** Sends an order and awaits its response. `later`: send it along with the next order. @throws ApiError 503 if the thread dies first */
  ask<Answer>(order: Order, later?: boolean): Promise<Answer>
  /** Sends an order without a response. */
  tell(order: Order, later?: boolean): void
  close(): Promise<void>
}

/** An order with its request id; 0 if it has no response. */
interface NumberedOrder {
  readonly id: number
  readonly order: Order
}

/** Maximum statements that the thread knows by number; others are sent as text each time. */
const maxKnownTexts = 1_000

/** Encodes orders, replacing texts and plans sent before by their numbers. */
function createEncoder(): (numbered: NumberedOrder) => ToWriter {
  const texts = new Map<string, number>()
  const plans = new Set<number>()

  function textOf(sql: string): { readonly text: number; readonly told: string | null } {
    const known = texts.get(sql)
    if (known !== undefined) return { text: known, told: null }
    const text = texts.size < maxKnownTexts ? texts.size : -1
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
        return { id, ...order }
      case 'rollback':
      case 'look':
        return { id, kind: order.kind }
      case 'flush':
      case 'close':
        return order
    }
  }
}

interface PendingRequests {
  isEmpty(): boolean
  add<Answer>(id: number): Promise<Answer>
  settle(message: FromWriter): void
  rejectAll(cause: Error): void
}

function createPendingRequests(): PendingRequests {
  const pending = new Map<number, { readonly resolve: (value: never) => void; readonly reject: (error: Error) => void }>()
  return {
    isEmpty: () => pending.size === 0,
    add: (id) => new Promise((resolve, reject) => pending.set(id, { resolve, reject })),
    settle: (message) => {
      const request = pending.get(message.id)
      pending.delete(message.id)
      if ('code' in message) request?.reject(toApiError(message.code, message.message))
      else if ('bytes' in message) request?.resolve((message.bytes === null ? null : { bytes: message.bytes, release: () => {} }) as never)
      else if ('statements' in message) request?.resolve(message.statements as never)
      else if ('isAlone' in message) request?.resolve(message.isAlone as never)
      else request?.resolve(('rows' in message ? message.rows : message.changed) as never)
    },
    rejectAll: (cause) => {
      for (const { reject } of pending.values()) reject(cannotWriteError(cause))
      pending.clear()
    },
  }
}

/** Collects orders and sends them in one message after the current callback and its microtasks. */
interface Batch {
  /** Adds an order; with `later` it waits for the next one. */
  add(id: number, order: Order, later: boolean): void
  clear(): void
}

function createBatch(send: (orders: readonly NumberedOrder[]) => void): Batch {
  let orders: NumberedOrder[] = []
  let isScheduled = false

  function sendAll(): void {
    isScheduled = false
    const batch = orders
    orders = []
    send(batch)
  }

  return {
    add: (id, order, later) => {
      orders.push({ id, order })
      if (later || isScheduled) return
      isScheduled = true
      process.nextTick(sendAll)
    },
    clear: () => {
      orders = []
    },
  }
}

/** Starts the thread. `died` is called if it ends unexpectedly: its requests are rejected with 503, and the database rolls back. */
function startChannel(data: WriterData, died: (error: Error) => void): Channel {
  const worker = new Worker(new URL('./writer-thread.js', import.meta.url), {
    workerData: data,
    // Closing a descriptor of the database file would release the locks of all connections (file/health.ts).
    trackUnmanagedFds: false,
  })
  const encode = createEncoder()
  const pending = createPendingRequests()
  const batch = createBatch(send)
  let ids = 0
  let state: 'open' | 'closing' | 'dead' = 'open'

  worker.on('message', (responses: readonly FromWriter[]) => responses.forEach(pending.settle))
  worker.on('error', die)
  worker.on('messageerror', die)
  worker.on('exit', () => die(new Error('The writer thread has ended')))

  function die(error: Error): void {
    if (state === 'dead') return
    const isExpected = state === 'closing' && pending.isEmpty()
    state = 'dead'
    batch.clear()
    if (!isExpected) died(error)
    pending.rejectAll(error)
    void worker.terminate()
  }

  function send(orders: readonly NumberedOrder[]): void {
    if (state === 'dead') return
    try {
      worker.postMessage(orders.map(encode))
    } catch (error) {
      // The project's code passed a value that cannot be cloned. Nothing was sent, but the encoder considers it sent.
      die(error as Error)
    }
  }

  return {
    isOpen: () => state === 'open',
    ask: (order, later = false) => {
      if (state !== 'open') return Promise.reject(cannotWriteError(new Error('The writer thread has ended')))
      const id = ++ids
      const response = pending.add<never>(id)
      batch.add(id, order, later)
      return response
    },
    tell: (order, later = false) => {
      if (state === 'open') batch.add(0, order, later)
    },
    close: async () => {
      if (state === 'dead') return
      const gone = new Promise((resolve) => worker.once('exit', resolve))
      batch.add(0, { kind: 'close' }, false)
      state = 'closing'
      await gone
    },
  }
}

/** A writer's thread, started by the first transaction and replaced if it dies. */
interface WriterThread {
  /** The connection to the thread, started if necessary. */
  running(): Channel
  /** True if the thread knows that no other process has committed since the last call; false without a thread. */
  isAlone(): Promise<boolean>
  /** Sends an order without a response if a thread is running; `later`: along with the next order. */
  tell(order: Order, later?: boolean): void
  close(): Promise<void>
}

/** `starting` is called before each start; `died` as in `startChannel`. */
export function createWriterThread(data: WriterData, starting: () => void, died: (error: Error) => void): WriterThread {
  let channel: Channel | null = null
  return {
    running: () => {
      if (channel?.isOpen()) return channel
      starting()
      channel = startChannel(data, died)
      return channel
    },
    isAlone: async () => channel?.isOpen() === true && channel.ask<boolean>({ kind: 'look' }),
    tell: (order, later) => channel?.tell(order, later),
    close: async () => channel?.close(),
  }
}

const cannotWriteError = (cause: unknown): ApiError => unavailableError('The database cannot be written to at the moment', cause)

/** Converts an error of the thread: 503 if the database is locked or its disk is full; anything else is a bug. */
function toApiError(code: string, message: string): Error {
  if (code === responseTooLargeCode) return responseTooLarge()
  if (code === outdated) return outdatedModelError()
  const cause = Object.assign(new Error(code.startsWith('SQLITE_') ? `${code}: ${message}` : message), { code })
  if (isDrift(code, message)) return schemaDriftError(cause)
  if (code.startsWith('SQLITE_BUSY') || code.startsWith('SQLITE_LOCKED')) return unavailableError('The database is busy', cause)
  return isTrouble.test(code) ? cannotWriteError(cause) : cause
}

/** SQLite codes for problems with the disk or the file rather than the statement. */
const isTrouble = /^(SQLITE_(FULL|IOERR|READONLY|CORRUPT|NOTADB|CANTOPEN|PROTOCOL|NOMEM)|OCTAVO_LOST_FILES)/
