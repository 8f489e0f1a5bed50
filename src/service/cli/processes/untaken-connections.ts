// Connections that this process has passed to a process of a cluster, and that the process has not taken when it ends. Node keeps such a
// connection open here and waits for a confirmation that never comes; its client would wait too. They go to another process instead.
import type { Worker } from 'node:cluster'
import { pause } from '../../../foundation/runtime/clock.js'

/**
 * The part of the messages of Node's cluster that is used here; they have no public API. They are only read, and the one that is made
 * up has no effect where Node does not wait for it. If Node changes them, nothing is done.
 */
interface ClusterMessage {
  readonly cmd?: unknown
  readonly act?: unknown
  /** Of the port. */
  readonly key?: unknown
  /** Of a message that is to be confirmed. */
  readonly seq?: unknown
  /** The `seq` of the message that this one confirms. */
  readonly ack?: unknown
  /** The process could not listen. */
  readonly errno?: unknown
}

const clusterCommand = 'NODE_CLUSTER'

/** Milliseconds after the end of a process in which the rest of its messages is read. */
const readingTime = 1_000

/** The processes that listen, by the key of the port. */
const listening = new Map<unknown, Set<Worker>>()

/** When a process has ended, passes on the connections that it was passed and has not taken; closes them where no other one listens. */
export function passOnUntaken(worker: Worker): void {
  const untaken = watchPassing(worker)
  // Node counts it out with the end of its channel, which may come long before its exit.
  const leaveAll = (): void => {
    for (const key of [...listening.keys()]) leave(key, worker)
  }
  worker.once('disconnect', leaveAll)
  worker.once('exit', async () => {
    // What it has taken is among its last messages.
    for (let waited = 0; worker.isConnected() && waited < readingTime; waited += 10) await pause(10)
    // From here on Node passes nothing to it. Where a connection is under way, Node does not see to that itself.
    worker.disconnect()
    leaveAll()
    // The confirmation that it can send no more. With it, Node closes the connection (accepted) or passes it to another process.
    for (const [key, seq] of untaken)
      worker.process.emit('internalMessage', { cmd: clusterCommand, ack: seq, accepted: !listening.has(key) })
  })
}

/**
 * Notes where a process listens. Returns, by the key of the port, the number of the connection that it was passed and has not taken: Node
 * passes the next one when it has.
 */
function watchPassing(worker: Worker): ReadonlyMap<unknown, unknown> {
  const untaken = new Map<unknown, unknown>()
  const child = worker.process
  const { send } = child
  // The system has not started it.
  if (send === undefined) return untaken
  child.send = (message: ClusterMessage, ...rest: unknown[]): boolean => {
    if (message?.cmd === clusterCommand && message.key !== undefined) {
      if (message.act === 'newconn') untaken.set(message.key, message.seq)
      else if (message.act === undefined && !message.errno) enter(message.key, worker)
    }
    return Reflect.apply(send, child, [message, ...rest])
  }
  child.on('internalMessage', ({ cmd, act, key, ack }: ClusterMessage) => {
    if (cmd !== clusterCommand) return
    if (act === 'close') leave(key, worker)
    for (const [port, seq] of untaken) if (seq === ack) untaken.delete(port)
  })
  return untaken
}

function enter(key: unknown, worker: Worker): void {
  const workers = listening.get(key) ?? new Set()
  listening.set(key, workers.add(worker))
}

function leave(key: unknown, worker: Worker): void {
  const workers = listening.get(key)
  workers?.delete(worker)
  if (workers?.size === 0) listening.delete(key)
}
