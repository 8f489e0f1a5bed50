// A service process as the main process sees it: from its start until it serves, and until it has ended.
import type { Worker } from 'node:cluster'
import { pause } from '../../../foundation/runtime/clock.js'
import { type AskedProcess, askedProcess } from '../../../operations/management/processes-port.js'
import type { BeginServing, EndServing, LeavePort, LeavingPort } from './messages.js'
import { killAfter, type LoadingWorker, messageOf, startWorker } from './service-workers.js'
import { passLines } from './whole-lines.js'

/** A service process. */
export interface ServiceMember {
  /** Null: the system has not started it. */
  readonly pid: number | null
  /** Where it listens; null: it ended before it did. */
  readonly serves: Promise<string | null>
  /** Resolves when it has ended and everything that it sent was read. */
  readonly ended: Promise<MemberEnd>
  /** For the management port. */
  readonly asked: AskedProcess
  /** Tells it to end, and kills it where it has not after so many milliseconds. */
  end(how: Omit<EndServing, 'kind'>, milliseconds: number): void
}

/** How a service process has ended. */
export interface MemberEnd {
  /** Null: a signal ended it. */
  readonly status: number | null
  readonly signal: string | null
  /** Why the system has not started it. */
  readonly error?: string
}

/** What the main process does for its processes. */
export interface MemberOptions {
  readonly folder: string
  /** Added to the environment of the main process. */
  readonly environment: Readonly<Record<string, string>>
  /** Receives the lines of standard output. */
  write(line: string): void
  /** Resolves when the process may stop listening. */
  leaving(): Promise<void>
}

/** Starts a service process. */
export function startMember(begin: Omit<BeginServing, 'kind'>, options: MemberOptions): ServiceMember {
  const { folder, environment } = options
  const file = new URL('./process-of-several.js', import.meta.url)
  try {
    const started = startWorker({ file, folder, environment, output: 'pipe', errors: 'inherit' })
    return memberOf(started, begin, options)
  } catch (error) {
    return notStarted(Promise.resolve((error as Error).message))
  }
}

function memberOf({ worker, loaded }: LoadingWorker, begin: Omit<BeginServing, 'kind'>, { write, leaving }: MemberOptions): ServiceMember {
  const failed = new Promise<string>((resolve) => {
    worker.on('error', ({ message }: Error) => resolve(message))
  })
  if (worker.process.pid === undefined) return notStarted(failed)
  passLines(worker.process.stdout!, write)
  const serving = messageOf(worker, 'serving')
  // What it is told before it has loaded its code may be lost.
  let whenLoaded: BeginServing | EndServing = { kind: 'begin', ...begin }
  void loaded.then((isLoaded) => isLoaded !== null && tell(worker, whenLoaded))
  worker.on('message', ({ kind }: LeavingPort) => {
    if (kind === 'leaving') void leaving().then(() => tell(worker, { kind: 'leave' }))
  })
  return {
    pid: worker.process.pid,
    serves: serving.then((message) => message?.address ?? null),
    ended: endOf(worker),
    asked: askedProcess(worker),
    end: (how, milliseconds) => {
      whenLoaded = { kind: 'end', ...how }
      tell(worker, whenLoaded)
      killAfter(worker, milliseconds)
    },
  }
}

/** Milliseconds after its end in which the rest of its output is read. */
const outputTime = 1_000

/** A process that the system has not started, such as for want of memory or descriptors. */
const notStarted = (failed: Promise<string>): ServiceMember => ({
  pid: null,
  serves: Promise.resolve(null),
  ended: failed.then((error) => ({ status: null, signal: null, error })),
  asked: { ask: async () => null, lastMetrics: () => null },
  end: () => {},
})

/** Sends a message, unless the process ends meanwhile. */
function tell(worker: Worker, message: BeginServing | EndServing | LeavePort): void {
  if (worker.isConnected()) worker.send(message, () => {})
}

async function endOf(worker: Worker): Promise<MemberEnd> {
  const closed = new Promise((resolve) => worker.process.stdout!.once('close', resolve))
  const disconnected = new Promise((resolve) => worker.once('disconnect', resolve))
  const end = await new Promise<MemberEnd>((resolve) => {
    worker.once('exit', (status: number | null, signal: string | null) => resolve({ status, signal }))
  })
  // A process that it has started itself may keep its output open.
  await Promise.race([Promise.all([closed, disconnected]), pause(outputTime)])
  return end
}
