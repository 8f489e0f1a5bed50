// Cluster workers of `octavo dev` and `octavo start --processes`: start, end, messages and connections.

import cluster, { type Worker } from 'node:cluster'
import { fileURLToPath } from 'node:url'
import { pause } from '../../../foundation/runtime/clock.js'
import type { AskPage } from '../../../operations/management/processes-port.js'
import type { ManagementResponse, PageQuestion, PageReport } from '../../../operations/management/server.js'

/** Message to a process. */
export interface BeginServing {
  readonly kind: 'begin'
  /** The first of all processes: it prints the address. */
  readonly isFirst: boolean
  /** Permits an empty database although the project had one. */
  readonly allowsNew: boolean
  /** The shared address, even if the configuration has changed. */
  readonly host: string
  readonly port: number
  /** The main process has a management port. */
  readonly isManaged: boolean
}

/** Message to a process. */
export interface EndServing {
  readonly kind: 'end'
  /** Serves for a moment longer, for load balancers. */
  readonly waits: boolean
  /** Another process has replaced it. */
  readonly isReplaced: boolean
}

/** Message from a process that is about to stop listening. */
export interface LeavingPort {
  readonly kind: 'leaving'
}

/** Message to a process: it can stop listening without losing connections. */
export interface LeavePort {
  readonly kind: 'leave'
}

/** Message from a process: its code is loaded, or the service listens. */
type FromService = { readonly kind: 'loaded' } | { readonly kind: 'serving'; readonly address: string }

export const tellStarter = (message: FromService): void => void process.send?.(message)

interface WorkerOptions {
  readonly file: URL
  readonly folder: string
  /** Added to the environment of this process. */
  readonly environment: Readonly<Record<string, string>>
  /** `pipe`: this process reads the output; `inherit`: both share it. */
  readonly output: 'pipe' | 'inherit'
  readonly errors: 'pipe' | 'inherit'
}

/** `loaded` resolves when its code is loaded, or to null if it ends before. */
export interface LoadingWorker {
  readonly worker: Worker
  readonly loaded: Promise<unknown>
}

/**
 * Lets this process accept connections and pass each one to a listening process (decision 053), so that none is lost during a replacement.
 */
export function shareConnections(): void {
  cluster.schedulingPolicy = cluster.SCHED_RR
}

/** Starts a service process, which waits for the message to begin. */
export function startWorker({ file, folder, environment, output, errors }: WorkerOptions): LoadingWorker {
  cluster.setupPrimary({ exec: fileURLToPath(file), args: [folder], stdio: ['ignore', output, errors, 'ipc'] })
  const worker = cluster.fork(environment)
  passOnUntaken(worker)
  return { worker, loaded: waitForMessage(worker, 'loaded') }
}

/** Resolves to a message of this kind, or to null if the process ends first. */
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

export const waitForExit = (worker: Worker): Promise<unknown> =>
  worker.isDead() ? Promise.resolve() : new Promise((resolve) => worker.once('exit', resolve))

/** Kills a process that is still running after a timeout. */
export function killAfter(worker: Worker, milliseconds: number): void {
  const killing = setTimeout(() => worker.process.kill('SIGKILL'), milliseconds)
  worker.once('exit', () => clearTimeout(killing))
}

/** Creates a function that requests management pages of a process. Concurrent requests for a page share one message. */
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
 * The used part of Node's cluster messages, which have no public API. They are only read, and the simulated one has no effect unless Node
 * waits for it. If Node changes them, nothing happens.
 */
interface ClusterMessage {
  readonly cmd?: unknown
  readonly act?: unknown
  /** Key of the port. */
  readonly key?: unknown
  /** Sequence number of a message that expects a confirmation. */
  readonly seq?: unknown
  /** The `seq` of the confirmed message. */
  readonly ack?: unknown
  /** The process could not listen. */
  readonly errno?: unknown
}

const clusterCommand = 'NODE_CLUSTER'

/** Milliseconds after the end of a process to read its last messages. */
const readingTime = 1_000

/** Listening processes, by key of the port. */
const listening = new Map<unknown, Set<Worker>>()

/** When a process has ended, passes on the connections that it received but did not accept; closes them if no other process listens. */
function passOnUntaken(worker: Worker): void {
  const untaken = watchPassing(worker)
  // Node removes the process when its channel ends, possibly long before its exit.
  const leaveAll = (): void => {
    for (const key of [...listening.keys()]) leave(key, worker)
  }
  worker.once('disconnect', leaveAll)
  worker.once('exit', async () => {
    // The last messages confirm accepted connections.
    for (let waited = 0; worker.isConnected() && waited < readingTime; waited += 10) await pause(10)
    // From here on Node passes it no connections, but does not handle one in flight.
    worker.disconnect()
    leaveAll()
    // Simulates the confirmation that the process can no longer send. Node then closes the connection (accepted) or passes it on.
    for (const [key, seq] of untaken)
      worker.process.emit('internalMessage', { cmd: clusterCommand, ack: seq, accepted: !listening.has(key) })
  })
}

/**
 * Records where a process listens. Returns, by key of the port, the number of the connection that it received but has not accepted; Node
 * passes the next one only after that.
 */
function watchPassing(worker: Worker): ReadonlyMap<unknown, unknown> {
  const untaken = new Map<unknown, unknown>()
  const child = worker.process
  const { send } = child
  // The process could not be started.
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
