// Keeps so many service processes: starts them, replaces those that end, and ends all.
import type { Logger } from 'pino'
import { pause } from '../../../foundation/runtime/clock.js'
import { consequenceOf, type FailureLimits } from './failures.js'
import { endWhereLate } from './late-start.js'
import type { MemberEnd, ServiceMember } from './member.js'
import { isMember, openRollingRestart } from './rolling-restart.js'

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

/** What the processes need. */
export interface MembersOptions {
  readonly count: number
  readonly limits: FailureLimits & {
    /** Milliseconds for a process to serve, but for the first one. */
    readonly processStart: number
  }
  /** Milliseconds after which a process is killed that was told to end. */
  readonly endTime: number
  readonly logger: Logger
  /** Starts a process; `isFirst`: the first of all. */
  begin(isFirst: boolean): ServiceMember
  /** Called when a process has ended. */
  ended(member: ServiceMember): void
  /** Called when processes fail again and again, and none serves. */
  hopeless(): void
}

/** Prepares so many processes. */
export function openMembers(options: MembersOptions): Members {
  const { count, endTime, logger } = options
  const { running, starting, since, add, replace } = openReplacing(options, () => isStopping)
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
    restart: openRollingRestart(
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

/** Whether a signal has ended a process, as it does before it serves. */
const isInterrupted = ({ status, signal }: MemberEnd): boolean =>
  status === 130 || status === 143 || signal === 'SIGINT' || signal === 'SIGTERM'

/** Starts processes, and others in the place of those that end by themselves. */
function openReplacing({ limits, logger, begin, ended, hopeless }: MembersOptions, isStopping: () => boolean) {
  const running = new Set<ServiceMember>()
  /** Those that do not listen yet. */
  const starting = new Set<ServiceMember>()
  /** When each that listens began to; those that were told to end are not among them. */
  const since = new Map<ServiceMember, number>()
  let failures = 0

  /** Starts a process and waits until it serves; otherwise resolves to how it ended. One that ends later is replaced. */
  async function add(isFirst: boolean): Promise<ServiceMember | MemberEnd> {
    const member = begin(isFirst)
    running.add(member)
    starting.add(member)
    const hasTime = isFirst ? () => true : endWhereLate(member, limits.processStart, logger)
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

  /** Starts another process in the place of one that has ended. `served`: for so many milliseconds; null: it never did. */
  async function replace(pid: number | null, how: MemberEnd, served: number | null): Promise<void> {
    const consequence = consequenceOf(served, failures, limits)
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
  const hasSettled = (): boolean => [...since.values()].some((began) => performance.now() - began >= limits.processSettled)

  return { running, starting, since, add, replace }
}
