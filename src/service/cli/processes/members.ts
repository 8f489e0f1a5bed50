// The service processes of `octavo start --processes`: their start, failures, replacement and end.
import type { Worker } from 'node:cluster'
import type { Readable } from 'node:stream'
import type { Logger } from 'pino'
import { pause } from '../../../foundation/runtime/clock.js'
import { type AskedProcess, askedProcess } from '../../../operations/management/processes-port.js'
import type { BeginServing, EndServing, LeavePort, LeavingPort } from './messages.js'
import { killAfter, type LoadingWorker, startWorker, waitForMessage } from './workers.js'

/** A service process. */
export interface ServiceMember {
  /** Null: the system has not started it. */
  readonly pid: number | null
  /** The address on which it listens; null: it ended first. */
  readonly serves: Promise<string | null>
  /** Resolves when it has ended and everything that it sent was read. */
  readonly ended: Promise<MemberEnd>
  /** For the management port. */
  readonly asked: AskedProcess
  /** Asks it to end, and kills it after a timeout. */
  end(how: Omit<EndServing, 'kind'>, milliseconds: number): void
}

export interface MemberEnd {
  /** Null: a signal ended it. */
  readonly status: number | null
  readonly signal: string | null
  /** Why the system has not started it. */
  readonly error?: string
}

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
    return createMember(started, begin, options)
  } catch (error) {
    return createFailedMember(Promise.resolve((error as Error).message))
  }
}

function createMember(
  { worker, loaded }: LoadingWorker,
  begin: Omit<BeginServing, 'kind'>,
  { write, leaving }: MemberOptions,
): ServiceMember {
  const failed = new Promise<string>((resolve) => {
    worker.on('error', ({ message }: Error) => resolve(message))
  })
  if (worker.process.pid === undefined) return createFailedMember(failed)
  passLines(worker.process.stdout!, write)
  const serving = waitForMessage(worker, 'serving')
  // Messages sent before its code is loaded may be lost.
  let whenLoaded: BeginServing | EndServing = { kind: 'begin', ...begin }
  void loaded.then((isLoaded) => isLoaded !== null && tell(worker, whenLoaded))
  worker.on('message', ({ kind }: LeavingPort) => {
    if (kind === 'leaving') void leaving().then(() => tell(worker, { kind: 'leave' }))
  })
  return {
    pid: worker.process.pid,
    serves: serving.then((message) => message?.address ?? null),
    ended: waitForEnd(worker),
    asked: askedProcess(worker),
    end: (how, milliseconds) => {
      whenLoaded = { kind: 'end', ...how }
      tell(worker, whenLoaded)
      killAfter(worker, milliseconds)
    },
  }
}

const outputTime = 1_000

/** A process that the system has not started, such as for want of memory or descriptors. */
const createFailedMember = (failed: Promise<string>): ServiceMember => ({
  pid: null,
  serves: Promise.resolve(null),
  ended: failed.then((error) => ({ status: null, signal: null, error })),
  asked: { ask: async () => null, lastMetrics: () => null },
  end: () => {},
})

/** Sends a message unless the process has ended. */
function tell(worker: Worker, message: BeginServing | EndServing | LeavePort): void {
  if (worker.isConnected()) worker.send(message, () => {})
}

async function waitForEnd(worker: Worker): Promise<MemberEnd> {
  const closed = new Promise((resolve) => worker.process.stdout!.once('close', resolve))
  const disconnected = new Promise((resolve) => worker.once('disconnect', resolve))
  const end = await new Promise<MemberEnd>((resolve) => {
    worker.once('exit', (status: number | null, signal: string | null) => resolve({ status, signal }))
  })
  // A process that it has started itself may keep its output open.
  await Promise.race([Promise.all([closed, disconnected]), pause(outputTime)])
  return end
}

/** Passes each line of a stream on, with its end. */
export function passLines(stream: Readable, write: (line: string) => void): void {
  let rest = ''
  stream.setEncoding('utf8')
  stream.on('data', (text: string) => {
    const lines = (rest + text).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) write(`${line}\n`)
  })
  stream.on('close', () => {
    if (rest !== '') write(`${rest}\n`)
    rest = ''
  })
}

/** A process that serves for this time has not failed; one that ends before is replaced after a pause. */
const settledMs = 10_000
const maxPauseMs = 30_000
/** Failures in a row after which the command ends, unless another process has settled. */
const maxFailures = 5

export interface Consequence {
  /** Failures in a row, this one included; 0: it had served for long enough. */
  readonly failures: number
  /** Milliseconds until it is replaced. */
  readonly pause: number
  /** As many have failed as may in a row. */
  readonly isHopeless: boolean
}

/** The consequence of an end. `served`: milliseconds of service, null if it never served; `before`: previous failures in a row. */
export function getConsequence(served: number | null, before: number, pauseMs: number): Consequence {
  if (served !== null && served >= settledMs) return { failures: 0, pause: 0, isHopeless: false }
  const failures = before + 1
  return {
    failures,
    pause: Math.min(maxPauseMs, pauseMs * 2 ** Math.min(before, 30)),
    isHopeless: failures >= maxFailures,
  }
}

/** Time for a process that does not serve yet to end by itself. */
const endTime = 2_000

/** Ends a process that does not serve in time. The returned function is true until then. */
export function endWhereLate(member: ServiceMember, milliseconds: number, logger: Logger): () => boolean {
  let isLate = false
  const ending = setTimeout(() => {
    isLate = true
    logger.error({ pid: member.pid, milliseconds }, 'a service process does not serve in time (limits.processStartTimeout); it is ended')
    member.end({ waits: false, isReplaced: false }, endTime)
  }, milliseconds)
  void member.serves.then(() => clearTimeout(ending))
  return () => !isLate
}

/** The processes that are replaced. */
export interface ReplaceableMembers {
  /** Those that listen and are not being replaced. */
  serving(): readonly ServiceMember[]
  /** Those that do not listen yet. */
  starting(): readonly ServiceMember[]
  /** Starts another one and waits until it serves; otherwise resolves to how it ended. */
  add(): Promise<ServiceMember | MemberEnd>
  /** Ends one that another one has taken the place of, and waits until it has ended. */
  leave(member: ServiceMember): Promise<void>
  isStopping(): boolean
}

/** True for a process that serves. */
export const isMember = (found: ServiceMember | MemberEnd): found is ServiceMember => 'serves' in found

/** Returns a function that replaces all processes. A call during a replacement starts another one afterwards, for newer changes. */
export function createRollingRestart(
  { serving, starting, add, leave, isStopping }: ReplaceableMembers,
  logger: Logger,
): () => Promise<void> {
  let restarting: Promise<void> | null = null
  let isAskedAgain = false

  async function replaceAll(): Promise<void> {
    logger.info('the service processes are replaced, one after the other')
    // Those that are starting may have read the configuration before it changed.
    for (const member of [...serving(), ...starting()]) {
      await member.serves
      if (isStopping()) return
      // A process that ended in the meantime was already replaced.
      if (!serving().includes(member)) continue
      const next = await add()
      if (isStopping()) return
      if (!isMember(next)) return logger.error({ ...next }, 'a service process could not be started; those before it serve on')
      // If the former process ended in the meantime, its replacement is surplus.
      await leave(serving().includes(member) ? member : next)
    }
    logger.info('all service processes are replaced')
  }

  async function replaceWhileAsked(): Promise<void> {
    while (isAskedAgain && !isStopping()) {
      isAskedAgain = false
      await replaceAll()
    }
  }

  return () => {
    isAskedAgain = true
    restarting ??= replaceWhileAsked().finally(() => {
      restarting = null
    })
    return restarting
  }
}

/** The service processes. */
export interface Members {
  /** Starts all, the first one alone, because it prepares the project. Resolves to how that ended if it does not serve, otherwise to null. */
  start(): Promise<MemberEnd | null>
  /** Replaces one after the other; where that is not possible, those before serve on. */
  restart(): Promise<void>
  /** Ends all. `waits`: they serve for a moment longer. Resolves to whether each has ended well. */
  stop(waits: boolean): Promise<boolean>
  /** Those that listen and are not being replaced. */
  serving(): readonly ServiceMember[]
  /** Those that have begun to listen and have not ended, also where they are being replaced. */
  listening(): readonly ServiceMember[]
  /** All that have not ended. */
  running(): readonly ServiceMember[]
}

export interface MembersOptions {
  readonly count: number
  readonly limits: {
    /** Milliseconds before a failed process is replaced; doubles with each failure in a row. */
    readonly processRestartDelay: number
    /** Milliseconds for a process to serve, but for the first one. */
    readonly processStartTimeout: number
  }
  /** Time until an ending process is killed. */
  readonly endTime: number
  readonly logger: Logger
  /** Starts a process; `isFirst`: the first of all. */
  begin(isFirst: boolean): ServiceMember
  /** Called when a process has ended. */
  ended(member: ServiceMember): void
  /** Called when processes fail again and again, and none serves. */
  hopeless(): void
}

/** Prepares the processes. */
export function createMembers(options: MembersOptions): Members {
  const { count, endTime, logger } = options
  const { running, starting, since, add, replace } = createReplacement(options, () => isStopping)
  let isStopping = false
  const serving = () => [...since.keys()]
  const leave = async (member: ServiceMember): Promise<void> => {
    since.delete(member)
    member.end({ waits: true, isReplaced: true }, endTime)
    await member.ended
  }
  const addOrReplace = async (): Promise<void> => {
    const other = await add(false)
    if (!isMember(other) && !isStopping) await replace(null, other, null)
  }
  return {
    start: async () => {
      const first = await add(true)
      if (!isMember(first)) return first
      await Promise.all(Array.from({ length: count - 1 }, addOrReplace))
      if (!isStopping) logger.info({ processes: since.size }, 'all service processes serve')
      return null
    },
    restart: createRollingRestart(
      { serving, starting: () => [...starting], add: () => add(false), leave, isStopping: () => isStopping },
      logger,
    ),
    stop: async (waits) => {
      isStopping = true
      const all = [...running]
      const served = new Set(serving())
      for (const member of all) member.end({ waits, isReplaced: false }, endTime)
      const ends = await Promise.all(all.map((member) => member.ended))
      return ends.every((end, index) => end.status === 0 || (!served.has(all[index]!) && isInterrupted(end)))
    },
    serving,
    listening: () => [...running].filter((member) => !starting.has(member)),
    running: () => [...running],
  }
}

/** True if a signal ended the process, which happens only before it serves. */
const isInterrupted = ({ status, signal }: MemberEnd): boolean =>
  status === 130 || status === 143 || signal === 'SIGINT' || signal === 'SIGTERM'

/** Starts processes, and others in the place of those that end by themselves. */
function createReplacement({ limits, logger, begin, ended, hopeless }: MembersOptions, isStopping: () => boolean) {
  const running = new Set<ServiceMember>()
  /** Those that do not listen yet. */
  const starting = new Set<ServiceMember>()
  /** Start of service by process, without ending ones. */
  const since = new Map<ServiceMember, number>()
  let failures = 0

  /** Starts a process and waits until it serves; otherwise resolves to how it ended. One that ends later is replaced. */
  async function add(isFirst: boolean): Promise<ServiceMember | MemberEnd> {
    const member = begin(isFirst)
    running.add(member)
    starting.add(member)
    const hasTime = isFirst ? () => true : endWhereLate(member, limits.processStartTimeout, logger)
    const end = member.ended.then((how) => {
      running.delete(member)
      ended(member)
      return how
    })
    const address = await member.serves
    starting.delete(member)
    if (address === null || !hasTime() || isStopping()) return end
    since.set(member, performance.now())
    void end.then((how) => lost(member, how))
    return member
  }

  async function lost(member: ServiceMember, how: MemberEnd): Promise<void> {
    const began = since.get(member)
    since.delete(member)
    if (began !== undefined && !isStopping()) await replace(member.pid, how, performance.now() - began)
  }

  /** Replaces a process that ended. `served`: milliseconds of service; null: it never served. */
  async function replace(pid: number | null, how: MemberEnd, served: number | null): Promise<void> {
    const consequence = getConsequence(served, failures, limits.processRestartDelay)
    failures = consequence.failures
    logger.error({ pid, ...how, failures, pause: consequence.pause }, 'a service process ended; another one is started')
    if (consequence.isHopeless && !hasSettled()) return hopeless()
    await pause(consequence.pause)
    if (isStopping()) return
    const next = await add(false)
    if (isMember(next)) logger.info({ pid: next.pid }, 'another service process serves')
    else if (!isStopping()) await replace(null, next, null)
  }

  /** True if a process has served for long enough to say that the others could too. */
  const hasSettled = (): boolean => [...since.values()].some((began) => performance.now() - began >= settledMs)

  return { running, starting, since, add, replace }
}
