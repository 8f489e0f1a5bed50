// The processes of `octavo dev`: one serves, and its successor replaces it as soon as it listens. Both share the port.
import cluster, { type Worker } from 'node:cluster'
import type { Readable } from 'node:stream'
import { killAfter, type LoadingWorker, shareConnections, startWorker, waitForExit, waitForMessage } from '../processes/workers.js'
import type { BeginMessage } from './service-process.js'

/** `superseded`: the next start began first. */
export type StartOutcome =
  | { readonly kind: 'serving'; readonly address: string; readonly milliseconds: number }
  | { readonly kind: 'failed'; readonly isServed: boolean }
  | { readonly kind: 'superseded' }

interface Services {
  /** Starts a service. Its predecessor serves until it listens, or continues if it fails. `fresh`: in a process without loaded code. */
  start(fresh: boolean): Promise<StartOutcome>
  /** Ends all processes within a second. */
  stop(): Promise<void>
}

interface ServiceOptions {
  /** Receives standard output and standard error of each process; null: they are inherited. */
  readonly output: ((stream: Readable, descriptor: 1 | 2) => void) | null
  /** Called when the serving process ends by itself. */
  ended(status: string): void
}

/** Milliseconds for a replaced process to finish its last requests. */
const replacedTimeout = 3_000
/** Milliseconds for processes to end by themselves after Ctrl+C, and until they are killed. */
const interruptTime = 300
const stopTime = 1_000
/** Milliseconds after a start until the standby process loads its code. */
const standbyDelay = 300

export function createServices(root: string, { output, ended }: ServiceOptions): Services {
  shareConnections()
  let serving: Worker | null = null
  let starting: Worker | null = null
  let standby: LoadingWorker | null = null

  let isStopped = false

  const fork = (): LoadingWorker => forkService(root, output)

  /** Starts a process that loads its code for the next start. */
  function standBy(): void {
    if (starting === null && !isStopped) standby ??= fork()
  }

  function takeProcess(fresh: boolean): LoadingWorker {
    const ready = standby
    standby = null
    if (ready !== null && fresh) end(ready.worker, 0)
    return ready === null || fresh || ready.worker.isDead() ? fork() : ready
  }

  async function start(fresh: boolean): Promise<StartOutcome> {
    const begin = performance.now()
    if (starting !== null) end(starting, stopTime)
    const { worker, loaded } = takeProcess(fresh)
    starting = worker
    const listening = waitForMessage(worker, 'serving')
    if ((await loaded) !== null && starting === worker) worker.send({ kind: 'begin', replaces: serving !== null } satisfies BeginMessage)
    const listens = await listening
    if (starting !== worker) return { kind: 'superseded' }
    starting = null
    setTimeout(standBy, standbyDelay).unref()
    if (listens === null) return { kind: 'failed', isServed: serving !== null }
    if (serving !== null) end(serving, replacedTimeout)
    serving = worker
    worker.once('exit', (code, signal) => {
      if (serving !== worker) return
      serving = null
      ended(signal ?? `status ${code}`)
    })
    return { kind: 'serving', address: listens.address, milliseconds: performance.now() - begin }
  }

  async function stop(): Promise<void> {
    ;[serving, starting, standby, isStopped] = [null, null, null, true]
    const workers = Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined)
    // A terminal interrupts all processes at once; a second signal would abort their last requests.
    const asking = setTimeout(() => workers.map((worker) => worker.process.kill('SIGTERM')), interruptTime)
    const killing = setTimeout(() => workers.map((worker) => worker.process.kill('SIGKILL')), stopTime)
    await Promise.all(workers.map(waitForExit))
    clearTimeout(asking)
    clearTimeout(killing)
  }

  return { start, stop }
}

/** Forks a service process, which waits for the message to begin. */
function forkService(root: string, output: ServiceOptions['output']): LoadingWorker {
  const stdio = output === null ? 'inherit' : 'pipe'
  const file = new URL('./service-process.js', import.meta.url)
  const started = startWorker({ file, folder: root, environment: { NODE_ENV: 'development' }, output: stdio, errors: stdio })
  output?.(started.worker.process.stdout!, 1)
  output?.(started.worker.process.stderr!, 2)
  return started
}

/** Ends a process gracefully, or kills it after `timeout` milliseconds. */
function end(worker: Worker, timeout: number): void {
  worker.process.kill('SIGTERM')
  killAfter(worker, timeout)
}
