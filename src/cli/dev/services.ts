// The processes of `octavo dev`: one serves, and another one that is starting takes its place as soon as it listens. Both share the port.
import cluster, { type Worker } from 'node:cluster'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import type { Serving } from './messages.js'

/** How the start of a service ended; `superseded`: another start followed before it did. */
export type StartOutcome =
  | { readonly kind: 'serving'; readonly address: string; readonly milliseconds: number }
  | { readonly kind: 'failed'; readonly isServed: boolean }
  | { readonly kind: 'superseded' }

/** The processes of services on one project. */
export interface Services {
  /** Starts a service. The one before, if any, serves until the new one listens, and goes on if the new one fails. */
  start(): Promise<StartOutcome>
  /** Ends all processes, at the latest after a second. */
  stop(): Promise<void>
}

/** Options of the services. */
export interface ServiceOptions {
  /** Receives standard output and standard error of each process; null: they write where this process does. */
  readonly output: ((stream: Readable, descriptor: 1 | 2) => void) | null
  /** Called when the process that serves ends by itself. */
  ended(status: string): void
}

/** Milliseconds for a replaced process to answer its last requests. */
const replacedTimeout = 3_000
/** Milliseconds for processes to end by themselves after Ctrl+C, and until they are killed. */
const [interruptTime, stopTime] = [300, 1_000]

/** Prepares to serve the project in `root`. */
export function openServices(root: string, { output, ended }: ServiceOptions): Services {
  // This process accepts connections and passes each one to a process that listens, so none is lost while one replaces another.
  cluster.schedulingPolicy = cluster.SCHED_RR
  let [serving, starting]: [Worker | null, Worker | null] = [null, null]

  function fork(): Worker {
    const stdio = output === null ? 'inherit' : 'pipe'
    cluster.setupPrimary({
      exec: fileURLToPath(new URL('./service-process.js', import.meta.url)),
      args: [root, ...(serving === null ? [] : ['replaces'])],
      stdio: ['ignore', stdio, stdio, 'ipc'],
    })
    const worker = cluster.fork({ NODE_ENV: 'development' })
    output?.(worker.process.stdout!, 1)
    output?.(worker.process.stderr!, 2)
    return worker
  }

  async function start(): Promise<StartOutcome> {
    const begin = performance.now()
    if (starting !== null) end(starting, stopTime)
    const worker = fork()
    starting = worker
    const address = await listens(worker)
    if (starting !== worker) return { kind: 'superseded' }
    starting = null
    if (address === null) return { kind: 'failed', isServed: serving !== null }
    if (serving !== null) end(serving, replacedTimeout)
    serving = worker
    worker.once('exit', (code, signal) => {
      if (serving !== worker) return
      serving = null
      ended(signal ?? `status ${code}`)
    })
    return { kind: 'serving', address, milliseconds: performance.now() - begin }
  }

  async function stop(): Promise<void> {
    ;[serving, starting] = [null, null]
    const workers = Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined)
    // A terminal interrupts all processes at once; a second signal would end them in the middle of their last requests.
    const asking = setTimeout(() => workers.map((worker) => worker.process.kill('SIGTERM')), interruptTime)
    const killing = setTimeout(() => workers.map((worker) => worker.process.kill('SIGKILL')), stopTime)
    await Promise.all(workers.map(gone))
    clearTimeout(asking)
    clearTimeout(killing)
  }

  return { start, stop }
}

/** Ends a process: gracefully, and after `timeout` milliseconds at once. */
function end(worker: Worker, timeout: number): void {
  worker.process.kill('SIGTERM')
  const killing = setTimeout(() => worker.process.kill('SIGKILL'), timeout)
  worker.once('exit', () => clearTimeout(killing))
}

const gone = (worker: Worker): Promise<unknown> =>
  worker.isDead() ? Promise.resolve() : new Promise((resolve) => worker.once('exit', resolve))

/** Resolves to the address once a service listens, or to null if its process ends before. */
const listens = (worker: Worker): Promise<string | null> =>
  new Promise((resolve) => {
    worker.on('message', ({ kind, address }: Serving) => {
      if (kind === 'serving') resolve(address)
    })
    worker.once('exit', () => resolve(null))
  })
