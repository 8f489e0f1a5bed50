// A reader thread: one read-only connection that executes plans and hands their bytes over. Knows nothing but plans.
import { parentPort, workerData } from 'node:worker_threads'
import { collectRegularly } from '../memory.js'
import type { PreparedRead } from './execute.js'
import { prepareRead } from './execute.js'
import type { ReadPlan } from './plan.js'
import { threadHere } from './processor.js'
import { type FromReader, jobStates, type ReaderData, roomBytes, roomsPerThread, type ToReader } from './rooms.js'
import { AnswerTooLarge, openSink } from './sink.js'
import { openSqliteReader } from './sqlite.js'

const port = parentPort!
const { sqlite, answerBytes, signing, states, memory } = workerData as ReaderData
const rooms = Array.from({ length: roomsPerThread }, (_, room) => Buffer.from(memory, room * roomBytes, roomBytes))
const database = openSqliteReader(sqlite)
const signer = signing === null ? null : await (await import('./signed-addresses.js')).openSigner(signing)
const source = { database, signer }
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
      return
    case 'run':
      run(message)
      return
    case 'close':
      database.close()
      port.close()
  }
})

function run({ room, plan: id, values }: ToReader & { readonly kind: 'run' }): void {
  jobs += 1
  if (Atomics.compareExchange(states, room, jobStates.waiting, jobStates.started) !== jobStates.waiting) {
    send({ kind: 'skipped', room })
    return
  }
  const answer = readInto(room, id, values)
  // Before the answer is heard of, since its room may be given to another job from then on.
  Atomics.store(states, room, jobStates.done)
  port.postMessage(answer, answer.kind === 'answer' && answer.own !== null ? [answer.own.buffer] : [])
}

function readInto(room: number, id: number, values: readonly unknown[]): FromReader {
  try {
    let read = prepared.get(id)
    if (read === undefined) {
      read = prepareRead(source, plans.get(id)!)
      prepared.set(id, read)
    }
    sink.begin(rooms[room]!)
    return read(values, sink) ? { kind: 'answer', room, ...sink.end() } : { kind: 'nothing', room }
  } catch (error) {
    if (error instanceof AnswerTooLarge) return { kind: 'tooLarge', room }
    return { kind: 'failed', room, message: (error as Error).stack ?? String(error) }
  }
}

function send(message: FromReader): void {
  port.postMessage(message)
}

send({ kind: 'ready', name: threadHere() })
