// A reader thread: one read-only connection that executes plans and hands their bytes over. Knows nothing but plans.
import { parentPort, workerData } from 'node:worker_threads'
import { collectRegularly } from '../../../runtime/gc.js'
import { AnswerTooLarge, openSink } from '../../answer/sink.js'
import type { PreparedRead } from '../../answer/write.js'
import type { ReadPlan } from '../../plan.js'
import { openSqliteReader } from '../connection.js'
import { prepareRead } from '../execute.js'
import { currentThread, schedulingDelay } from '../scheduling-delay.js'
import { type FromReader, type ReaderData, type Run, slotBytes, slotStates, slotsPerThread, type ToReader } from './protocol.js'

const port = parentPort!
const { sqlite, answerBytes, signing, shared } = workerData as ReaderData
const { memory, states, lengths, times, called } = shared
const rooms = Array.from({ length: slotsPerThread }, (_, room) => Buffer.from(memory, room * slotBytes, slotBytes))
/** The room of the job at work. */
let current = 0
function look(): void {
  if (Atomics.load(states, current) === slotStates.revoked) throw new Error('The read was stopped')
}
const database = openSqliteReader(sqlite, look)
const signer = signing === null ? null : await (await import('../../answer/signed-addresses.js')).openSigner(signing)
const source = { database, signer, look }
const plans = new Map<number, ReadPlan>()
const prepared = new Map<number, PreparedRead>()
const sink = openSink(answerBytes)
let jobs = 0

collectRegularly(() => {
  const worked = jobs > 0
  jobs = 0
  return worked
})

port.on('message', (message: ToReader) => {
  switch (message.kind) {
    case 'plan':
      plans.set(message.id, message.plan)
      return
    case 'forget':
      plans.delete(message.id)
      prepared.delete(message.id)
      slow.delete(message.id)
      return
    case 'run':
      for (const one of message.runs) run(one)
      return
    case 'close':
      database.close()
      port.close()
  }
})

function run({ room, plan, values }: Run): void {
  jobs += 1
  if (Atomics.compareExchange(states, room, slotStates.waiting, slotStates.started) !== slotStates.waiting) {
    port.postMessage({ kind: 'skipped', room } satisfies FromReader)
    return
  }
  current = room
  const { milliseconds, done } = timed(plan, () => readInto(room, plan, values))
  const { state, told } = done
  Atomics.store(times, room, Math.min(milliseconds * 1_000, longestTime))
  // Before the answer is heard of, since its room may be given to another job from then on.
  const isWanted = Atomics.compareExchange(states, room, slotStates.started, state) === slotStates.started
  if (!isWanted) {
    port.postMessage({ kind: 'skipped', room } satisfies FromReader)
  } else if (told !== null) {
    port.postMessage(told, told.kind === 'large' ? [told.bytes.buffer] : [])
  } else if (Atomics.exchange(called, 0, 1) === 0) port.postMessage({ kind: 'call' } satisfies FromReader)
}

const longestTime = 2 ** 31 - 1
/** Milliseconds from which on the time that a plan waits for a processor is asked for when it runs again: on a busy machine all are slow. */
const slowFrom = 5
const name = currentThread()
const slow = new Set<number>()

/** Does the work of a plan, and says how long it took. */
function timed(plan: number, work: () => Done): { readonly milliseconds: number; readonly done: Done } {
  const waited = slow.has(plan) ? schedulingDelay(name) : null
  const began = performance.now()
  const done = work()
  const milliseconds = performance.now() - began
  if (milliseconds >= slowFrom) slow.add(plan)
  else slow.delete(plan)
  return { milliseconds: waited === null ? milliseconds : Math.max(0, milliseconds - (schedulingDelay(name) - waited)), done }
}

/** What became of a job; `told` where that needs a message of its own. */
interface Done {
  readonly state: number
  readonly told: FromReader | null
}

const tell = (told: FromReader): Done => ({ state: slotStates.told, told })

/** Executes a plan into a room. */
function readInto(room: number, id: number, values: readonly unknown[]): Done {
  try {
    let read = prepared.get(id)
    if (read === undefined) {
      read = prepareRead(source, plans.get(id)!)
      prepared.set(id, read)
    }
    sink.begin(rooms[room]!)
    if (!read(values, sink)) return { state: slotStates.nothing, told: null }
    const { length, own } = sink.end()
    if (own !== null) return tell({ kind: 'large', room, bytes: own })
    Atomics.store(lengths, room, length)
    return { state: slotStates.answered, told: null }
  } catch (error) {
    if (error instanceof AnswerTooLarge) return tell({ kind: 'tooLarge', room })
    const { code, stack = String(error) } = error as { readonly code?: string; readonly stack?: string }
    return tell({ kind: 'failed', room, message: stack, code })
  }
}

port.postMessage({ kind: 'ready', name } satisfies FromReader)
