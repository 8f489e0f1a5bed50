// A reader thread: executes plans on a read-only connection and writes the responses.
import { parentPort, workerData } from 'node:worker_threads'
import type { ReadPlan } from '../../plan.js'
import type { PreparedRead } from '../../response/write.js'
import { createSink, ResponseTooLarge } from '../../response/write.js'
import { openSqliteReader } from '../connection.js'
import { prepareRead } from '../execute.js'
import { type FromReader, type ReaderData, type Run, slotBytes, slotStates, slotsPerThread, type ToReader } from './protocol.js'

const port = parentPort!
const { sqlite, responseBytes, signing, shared } = workerData as ReaderData
const { memory, states, lengths, times, notified } = shared
const slots = Array.from({ length: slotsPerThread }, (_, slot) => Buffer.from(memory, slot * slotBytes, slotBytes))
let current = 0
function look(): void {
  if (Atomics.load(states, current) === slotStates.revoked) throw new Error('The read was stopped')
}
const database = openSqliteReader(sqlite, look)
const signer = signing === null ? null : await (await import('../../response/signed-addresses.js')).createSigner(signing)
const source = { database, signer, look }
const plans = new Map<number, ReadPlan>()
const prepared = new Map<number, PreparedRead>()
const sink = createSink(responseBytes)

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
      for (const one of message.runs) run(one)
      return
    case 'close':
      database.close()
      port.close()
  }
})

function run({ slot, plan, values }: Run): void {
  if (Atomics.compareExchange(states, slot, slotStates.waiting, slotStates.started) !== slotStates.waiting) {
    port.postMessage({ kind: 'skipped', slot } satisfies FromReader)
    return
  }
  current = slot
  const began = performance.now()
  const { state, message } = readInto(slot, plan, values)
  Atomics.store(times, slot, Math.min((performance.now() - began) * 1_000, maxMicroseconds))
  // Set before the response is announced, because the slot may be reassigned from then on.
  const isWanted = Atomics.compareExchange(states, slot, slotStates.started, state) === slotStates.started
  if (!isWanted) {
    port.postMessage({ kind: 'skipped', slot } satisfies FromReader)
  } else if (message !== null) {
    port.postMessage(message, message.kind === 'large' ? [message.bytes.buffer] : [])
  } else if (Atomics.exchange(notified, 0, 1) === 0) port.postMessage({ kind: 'notify' } satisfies FromReader)
}

const maxMicroseconds = 2 ** 31 - 1

/** Outcome of a job, with a message unless the slot's state says everything. */
interface Done {
  readonly state: number
  readonly message: FromReader | null
}

const reported = (message: FromReader): Done => ({ state: slotStates.reported, message })

function readInto(slot: number, id: number, values: readonly unknown[]): Done {
  try {
    let read = prepared.get(id)
    if (read === undefined) {
      read = prepareRead(source, plans.get(id)!)
      prepared.set(id, read)
    }
    sink.begin(slots[slot]!)
    if (!read(values, sink)) return { state: slotStates.nothing, message: null }
    const { length, own } = sink.end()
    if (own !== null) return reported({ kind: 'large', slot, bytes: own })
    Atomics.store(lengths, slot, length)
    return { state: slotStates.answered, message: null }
  } catch (error) {
    if (error instanceof ResponseTooLarge) return reported({ kind: 'tooLarge', slot })
    const { code, stack = String(error) } = error as { readonly code?: string; readonly stack?: string }
    return reported({ kind: 'failed', slot, message: stack, code })
  }
}

port.postMessage({ kind: 'ready' } satisfies FromReader)
