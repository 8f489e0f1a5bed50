// Cluster workers for services, as `octavo dev` and `octavo start --processes` start and end them; their messages and connections.

import cluster, { type Worker } from 'node:cluster'
import { fileURLToPath } from 'node:url'
import { pause } from '../../../foundation/runtime/clock.js'
import type { AskPage } from '../../../operations/management/processes-port.js'
import type { ManagementResponse, PageQuestion, PageReport } from '../../../operations/management/server.js'

/** To a process: serve the project. */
export interface BeginServing {
  readonly kind: 'begin'
  /** The first of all: it prints where the project is served. */
  readonly isFirst: boolean
  /** An empty database may be created although the project had one. */
  readonly allowsNew: boolean
  /** The shared address, even if the configuration has changed. */
  readonly host: string
  readonly port: number
  /** The main process has a management port. */
  readonly isManaged: boolean
}

/** To a process: end. */
export interface EndServing {
  readonly kind: 'end'
  /** Serve for a moment longer, for load balancers. */
  readonly waits: boolean
  /** Another process has taken its place. */
  readonly isReplaced: boolean
}

/** From a process: it is about to stop listening. */
export interface LeavingPort {
  readonly kind: 'leaving'
}

/** To a process: nothing is lost if it stops listening. */
export interface LeavePort {
  readonly kind: 'leave'
}

/** From a process: its code is loaded, or the service listens. */
export type FromService = { readonly kind: 'loaded' } | { readonly kind: 'serving'; readonly address: string }

/** Sends a message to the parent process. */
export const tellStarter = (message: FromService): void => void process.send?.(message)

export interface WorkerOptions {
  /** The file that it runs. */
  readonly file: URL
  readonly folder: string
  /** Added to the environment of this process. */
  readonly environment: Readonly<Record<string, string>>
  /** `pipe`: this process reads the output; `inherit`: both share it. */
  readonly output: 'pipe' | 'inherit'
  readonly errors: 'pipe' | 'inherit'
}

/** A process, and when it has loaded its code: null if it ends before. */
export interface LoadingWorker {
  readonly worker: Worker
  readonly loaded: Promise<unknown>
}

/**
 * This process accepts connections and passes each one to a process that listens (decision 053), so none is lost while one takes the place
 * of another.
 */
export function shareConnections(): void {
  cluster.schedulingPolicy = cluster.SCHED_RR
}

/** Starts a process for a service, which waits for the message to begin. */
export function startWorker({ file, folder, environment, output, errors }: WorkerOptions): LoadingWorker {
  cluster.setupPrimary({ exec: fileURLToPath(file), args: [folder], stdio: ['ignore', output, errors, 'ipc'] })
  const worker = cluster.fork(environment)
  passOnUntaken(worker)
  return { worker, loaded: waitForMessage(worker, 'loaded') }
}

/** Resolves to the message of a kind, or to null if the process ends before it. */
export const waitForMessage = <Kind extends FromService['kind']>(
  worker: Worker,
  kind: Kind,
): Promise<Extract<FromService, { readonly kind: Kind }> | null> =>
  new Promise((resolve) => {
    worker.on('message', (received: FromService) => {
      if (received.kind === kind) resolve(received as Extract<FromService, { readonly kind: Kind }>)
    })
    worker.once('exit', () => resolve(null))
  })

/** Resolves when a process has ended. */
export const waitForExit = (worker: Worker): Promise<unknown> =>
  worker.isDead() ? Promise.resolve() : new Promise((resolve) => worker.once('exit', resolve))

/** Kills a process that is still running after a timeout. */
export function killAfter(worker: Worker, milliseconds: number): void {
  const killing = setTimeout(() => worker.process.kill('SIGKILL'), milliseconds)
  worker.once('exit', () => clearTimeout(killing))
}

/** Returns a function that requests management pages of a process. Requests for the same page share one message. */
export function createAskPage(worker: Worker): AskPage {
  const pending = new Map<string, { readonly page: Promise<ManagementResponse | null>; resolve(page: ManagementResponse | null): void }>()
  const end = (path: string, page: ManagementResponse | null): void => {
    pending.get(path)?.resolve(page)
    pending.delete(path)
  }
  worker.on('message', ({ kind, path, response }: PageReport) => {
    if (kind === 'page') end(path, response)
  })
  worker.on('exit', () => {
    for (const path of [...pending.keys()]) end(path, null)
  })
  return (path) => {
    const before = pending.get(path)
    if (before !== undefined) return before.page
    if (!worker.isConnected()) return Promise.resolve(null)
    let resolve!: (page: ManagementResponse | null) => void
    const page = new Promise<ManagementResponse | null>((settle) => {
      resolve = settle
    })
    pending.set(path, { page, resolve })
    worker.send({ kind: 'page', path } satisfies PageQuestion, (error) => {
      if (error !== null) end(path, null)
    })
    return page
  }
}

/**
 * The part of the messages of Node's cluster that is used here; they have no public API. They are only read, and the one that is made
 * up has no effect where Node does not wait for it. If Node changes them, nothing is done.
 */
interface ClusterMessage {
  readonly cmd?: unknown
  readonly act?: unknown
  /** Of the port. */
  readonly key?: unknown
  /** Sequence number of a message that expects a confirmation. */
  readonly seq?: unknown
  /** The `seq` of the message that this one confirms. */
  readonly ack?: unknown
  /** The process could not listen. */
  readonly errno?: unknown
}

const clusterCommand = 'NODE_CLUSTER'

/** Time after the end of a process to read its last messages. */
const readingTime = 1_000

/** The processes that listen, by the key of the port. */
const listening = new Map<unknown, Set<Worker>>()

/** When a process has ended, passes on the connections that it was passed and has not taken; closes them where no other one listens. */
function passOnUntaken(worker: Worker): void {
  const untaken = watchPassing(worker)
  // Node counts it out with the end of its channel, which may come long before its exit.
  const leaveAll = (): void => {
    for (const key of [...listening.keys()]) leave(key, worker)
  }
  worker.once('disconnect', leaveAll)
  worker.once('exit', async () => {
    // The last messages confirm the accepted connections.
    for (let waited = 0; worker.isConnected() && waited < readingTime; waited += 10) await pause(10)
    // From here on Node passes nothing to it. Where a connection is under way, Node does not see to that itself.
    worker.disconnect()
    leaveAll()
    // The confirmation that the process can no longer send. Node then closes the connection (accepted) or passes it on.
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
