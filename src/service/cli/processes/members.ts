// The service processes of `octavo start --processes`: start, failures, replacement and end.
import type { Worker } from 'node:cluster'
import type { Readable } from 'node:stream'
import type { Logger } from 'pino'
import { pause } from '../../../foundation/runtime/clock.js'
import type { AskPage } from '../../../operations/management/processes-port.js'
import {
  type BeginServing,
  createAskPage,
  type EndServing,
  killAfter,
  type LeavePort,
  type LeavingPort,
  type LoadingWorker,
  startWorker,
  waitForMessage,
} from './workers.js'

interface ServiceMember {
  /** Null if the process could not be started. */
  readonly pid: number | null
  /** Resolves to its address once it listens; null if it ended before. */
  readonly serves: Promise<string | null>
  /** Resolves when it has ended and its output is read. */
  readonly ended: Promise<MemberEnd>
  /** For the management port. */
  readonly askPage: AskPage
  /** Requests its end, and kills it after a timeout. */
  end(how: Omit<EndServing, 'kind'>, milliseconds: number): void
}

interface MemberEnd {
  /** Null: a signal ended it. */
  readonly status: number | null
  readonly signal: string | null
  /** Why it could not be started. */
  readonly error?: string
}

interface MemberOptions {
  readonly folder: string
  /** Added to the environment of the main process. */
  readonly environment: Readonly<Record<string, string>>
  /** Receives lines of standard output. */
  write(line: string): void
  /** Resolves when the process may stop listening. */
  leaving(): Promise<void>
}

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
    askPage: createAskPage(worker),
    end: (how, milliseconds) => {
      whenLoaded = { kind: 'end', ...how }
      tell(worker, whenLoaded)
      killAfter(worker, milliseconds)
    },
  }
}

const outputTime = 1_000

/** A process that could not be started, for example for lack of memory or descriptors. */
const createFailedMember = (failed: Promise<string>): ServiceMember => ({
  pid: null,
  serves: Promise.resolve(null),
  ended: failed.then((error) => ({ status: null, signal: null, error })),
  askPage: async () => null,
  end: () => {},
})

/** Sends a message unless the process has ended. */
function tell(worker: Worker, message: BeginServing | EndServing | LeavePort): void {
  if (worker.isConnected()) worker.send(message, () => {})
}

async function waitForEnd(worker: Worker): Promise<MemberEnd> {
  const closed = new Promise((resolve) => worker.process.stdout!.once('close', resolve))
  const end = await new Promise<MemberEnd>((resolve) => {
    worker.once('exit', (status: number | null, signal: string | null) => resolve({ status, signal }))
  })
  // A process started by it may keep its output open.
  await Promise.race([closed, pause(outputTime)])
  return end
}

/** Passes on each line of a stream with its line break. */
function passLines(stream: Readable, write: (line: string) => void): void {
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

export interface Members {
  /** Starts all processes, the first one alone to prepare the project. Resolves to its end if it fails to serve, otherwise to null. */
  start(): Promise<MemberEnd | null>
  /** Replaces processes one by one; on failure, the others keep serving. A call during a replacement causes another one. */
  restart(): Promise<void>
  /** Ends all processes. `waits`: they serve for a moment longer. Resolves to true if all ended cleanly. */
  stop(waits: boolean): Promise<boolean>
  /** Processes that accept connections and are not being replaced. */
  serving(): readonly ServiceMember[]
  /** Processes that have started to listen and have not ended, including those being replaced. */
  listening(): readonly ServiceMember[]
  /** All that have not ended. */
  running(): readonly ServiceMember[]
}

interface MembersOptions {
  readonly count: number
  readonly limits: {
    /** Milliseconds for a process to start serving, except the first one. */
    readonly processStartTimeout: number
  }
  /** Milliseconds until an ending process is killed. */
  readonly endTime: number
  readonly logger: Logger
  /** Starts a process; `isFirst`: the first of all. */
  begin(isFirst: boolean): ServiceMember
  /** Called when processes fail repeatedly and none serves. */
  hopeless(): void
}

/** A process that serves for this long has not failed; one that ends before is replaced after a pause. */
const settledMs = 10_000
/** The pause doubles with each consecutive failure. */
const [minPauseMs, maxPauseMs] = [1_000, 30_000]
/** Consecutive failures after which the command ends, unless another process has settled. */
const maxFailures = 5

/** Milliseconds for a process that does not serve yet to end by itself. */
const lateEndTime = 2_000

const isMember = (found: ServiceMember | MemberEnd): found is ServiceMember => 'serves' in found

export function createMembers(options: MembersOptions): Members {
  const { count, endTime, logger } = options
  const group = createGroup(options)
  const { running, starting, since, add, replace } = group
  let restarting: Promise<void> | null = null
  let isRestartDue = false

  async function restartWhileDue(): Promise<void> {
    while (isRestartDue && !group.isStopping) {
      isRestartDue = false
      await restartAll(group, endTime, logger)
    }
  }

  return {
    start: async () => {
      const first = await add(true)
      if (!isMember(first)) return first
      await Promise.all(
        Array.from({ length: count - 1 }, async () => {
          const other = await add(false)
          if (!isMember(other) && !group.isStopping) await replace(null, other, null)
        }),
      )
      if (!group.isStopping) logger.info({ processes: since.size }, 'all service processes serve')
      return null
    },
    restart: () => {
      isRestartDue = true
      restarting ??= restartWhileDue().finally(() => {
        restarting = null
      })
      return restarting
    },
    stop: async (waits) => {
      group.isStopping = true
      const all = [...running].map((member) => ({ member, served: since.has(member) }))
      for (const { member } of all) member.end({ waits, isReplaced: false }, endTime)
      const endedWell = all.map(async ({ member, served }) => {
        const end = await member.ended
        return end.status === 0 || (!served && isInterrupted(end))
      })
      return (await Promise.all(endedWell)).every(Boolean)
    },
    serving: () => [...since.keys()],
    listening: () => [...running].filter((member) => !starting.has(member)),
    running: () => [...running],
  }
}

/** True if a signal ended the process before it served. */
const isInterrupted = ({ status, signal }: MemberEnd): boolean =>
  status === 130 || status === 143 || signal === 'SIGINT' || signal === 'SIGTERM'

/** Replaces all processes one by one. */
async function restartAll(group: MemberGroup, endTime: number, logger: Logger): Promise<void> {
  const { since, starting, add } = group
  logger.info('the service processes are replaced, one after the other')
  // Processes that are starting may have read the configuration before it changed.
  for (const member of [...since.keys(), ...starting]) {
    await member.serves
    if (group.isStopping) return
    // A process that has ended since was already replaced.
    if (!since.has(member)) continue
    const next = await add(false)
    if (group.isStopping) return
    if (!isMember(next)) return logger.error({ ...next }, 'a service process could not be started; those before it serve on')
    // If the former process has ended since, its replacement is surplus.
    const surplus = since.has(member) ? member : next
    since.delete(surplus)
    surplus.end({ waits: true, isReplaced: true }, endTime)
    await surplus.ended
  }
  logger.info('all service processes are replaced')
}

type MemberGroup = ReturnType<typeof createGroup>

/** Starts processes, and replaces those that end by themselves. */
function createGroup({ limits, logger, begin, hopeless }: MembersOptions) {
  const running = new Set<ServiceMember>()
  /** Processes that do not listen yet. */
  const starting = new Set<ServiceMember>()
  /** Start of service by process, without ending ones. */
  const since = new Map<ServiceMember, number>()
  const group = { running, starting, since, isStopping: false, add, replace }
  let failures = 0

  /** Starts a process and waits until it serves, or resolves to its end. If it ends later, it is replaced. */
  async function add(isFirst: boolean): Promise<ServiceMember | MemberEnd> {
    const member = begin(isFirst)
    running.add(member)
    starting.add(member)
    let isLate = false
    const ending = isFirst ? undefined : setTimeout(endLate, limits.processStartTimeout)
    function endLate(): void {
      isLate = true
      const milliseconds = limits.processStartTimeout
      logger.error({ pid: member.pid, milliseconds }, 'a service process does not serve in time (limits.processStartTimeout); it is ended')
      member.end({ waits: false, isReplaced: false }, lateEndTime)
    }
    const end = member.ended.finally(() => running.delete(member))
    const address = await member.serves
    clearTimeout(ending)
    starting.delete(member)
    if (address === null || isLate || group.isStopping) return end
    since.set(member, performance.now())
    void end.then((how) => replaceLost(member, how))
    return member
  }

  async function replaceLost(member: ServiceMember, how: MemberEnd): Promise<void> {
    const began = since.get(member)
    since.delete(member)
    if (began !== undefined && !group.isStopping) await replace(member.pid, how, performance.now() - began)
  }

  /** Replaces a process that ended. `served`: milliseconds of service; null: it never served. */
  async function replace(pid: number | null, how: MemberEnd, served: number | null): Promise<void> {
    failures = served !== null && served >= settledMs ? 0 : failures + 1
    const pauseMs = failures === 0 ? 0 : Math.min(maxPauseMs, minPauseMs * 2 ** Math.min(failures - 1, 30))
    logger.error({ pid, ...how, failures, pause: pauseMs }, 'a service process ended; another one is started')
    if (failures >= maxFailures && !hasSettled()) return hopeless()
    await pause(pauseMs)
    if (group.isStopping) return
    const next = await add(false)
    if (isMember(next)) logger.info({ pid: next.pid }, 'another service process serves')
    else if (!group.isStopping) await replace(null, next, null)
  }

  /** True if a process has served for long enough that the others should be able to as well. */
  const hasSettled = (): boolean => [...since.values()].some((began) => performance.now() - began >= settledMs)

  return group
}
