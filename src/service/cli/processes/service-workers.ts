// The processes of services in a cluster, as `octavo dev` and `octavo start --processes` start and end them.
import cluster, { type Worker } from 'node:cluster'
import { fileURLToPath } from 'node:url'
import type { FromService } from './cluster-messages.js'
import { passOnUntaken } from './untaken-connections.js'

/** What a process of a service is started with. */
export interface WorkerOptions {
  /** The file that it runs. */
  readonly file: URL
  readonly folder: string
  /** Added to the environment of this process. */
  readonly environment: Readonly<Record<string, string>>
  /** Whether its standard output and standard error can be read here, or are those of this process. */
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

/** Starts a process for a service. It waits until it is told to begin. */
export function startWorker({ file, folder, environment, output, errors }: WorkerOptions): LoadingWorker {
  cluster.setupPrimary({ exec: fileURLToPath(file), args: [folder], stdio: ['ignore', output, errors, 'ipc'] })
  const worker = cluster.fork(environment)
  passOnUntaken(worker)
  return { worker, loaded: messageOf(worker, 'loaded') }
}

/** Resolves to the message of a kind, or to null if the process ends before it. */
export const messageOf = <Kind extends FromService['kind']>(
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
export const workerEnded = (worker: Worker): Promise<unknown> =>
  worker.isDead() ? Promise.resolve() : new Promise((resolve) => worker.once('exit', resolve))

/** Kills a process that has not ended after so many milliseconds. */
export function killAfter(worker: Worker, milliseconds: number): void {
  const killing = setTimeout(() => worker.process.kill('SIGKILL'), milliseconds)
  worker.once('exit', () => clearTimeout(killing))
}
