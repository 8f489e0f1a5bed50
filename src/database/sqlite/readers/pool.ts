// The pool of reader threads. Light reads have threads of their own; heavy ones, by what their plans cost before, wait and run in a
// share beside them. What nobody waits for any more, or is over its time, is stopped (decision 015).

import { ApiError } from '../../../errors/errors.js'
import { elapsed } from '../../../runtime/clock.js'
import type { Signing } from '../../answer/signed-addresses.js'
import type { PlanHandle, ReadDatabase } from '../../database.js'
import type { Dialect } from '../../dialect.js'
import type { ReadPlan } from '../../plan.js'
import { unavailable } from '../../unavailable.js'
import type { SqliteOptions } from '../connection.js'
import { openCosts } from './costs.js'
import type { Job } from './job.js'
import { isOver, refuse, tooMany } from './job.js'
import type { Outcome, Reader } from './reader.js'
import { once, openReader } from './reader.js'

export interface ReaderOptions {
  readonly sqlite: SqliteOptions
  /** Threads for light reads, which are always there, and all threads together; at least one is for heavy reads. */
  readonly readers: number
  readonly maxReaders: number
  /** Light reads, and heavy ones, that may wait for a thread. */
  readonly readQueue: number
  readonly heavyReadQueue: number
  /** Milliseconds that a read may take, waiting included. */
  readonly readTimeout: number
  readonly answerBytes: number
  /** Bytes of all answers in memory of their own that were not released yet. */
  readonly maxBufferedResponseBytes: number
  /** How addresses of files are signed; null: not at all. */
  readonly signing: Signing | null
}

/**
 * A thread works on one job and has one more in its inbox, so that it never waits for the event loop; where jobs are short,
 * more of them, so that one message brings several.
 */
const [depth, depthOfShort] = [2, 16]
/** A look at what is under way; milliseconds. Nothing waits behind a job that takes longer than one. */
const lookEvery = 15
/** A light thread that was seen at one job for longer gives it up to the heavy share where another job waits for it; milliseconds. */
const slice = 20
/** Threads of the heavy share go when there was nothing for them for this long; milliseconds. */
const spareAfter = 5_000

/** Before a thread is tried again after one that could not open the database; milliseconds, doubled with each. */
const [shortestPause, longestPause] = [25, 5_000]

const never = () => false

/** Opens the pool; resolves when the first thread can read. */
export async function openReaders(options: ReaderOptions, dialect: Dialect, report: (error: Error) => void): Promise<ReadDatabase> {
  const { sqlite, answerBytes, signing } = options
  const light: Reader[] = []
  const heavy: Reader[] = []
  const mostHeavy = Math.max(1, options.maxReaders - options.readers)
  /** Jobs of plans that were seen before, of fresh ones, and heavy ones. */
  const [seen, fresh, large]: [Job[], Job[], Job[]] = [[], [], []]
  /** Threads that may be at fresh plans at once: one is left for the others where there are several. */
  const mostFresh = Math.max(1, options.readers - 1)
  const costs = openCosts()
  /** Plans that fell out of the cache; threads forget them again when the last jobs that waited for them have ended. */
  const forgotten = new WeakSet<PlanHandle>()
  /** Jobs that are stopped to be done in the heavy share. */
  const moving = new Set<Job>()
  let isFreshNext = false
  let plans = 0
  let unsent = 0
  let [isOpen, isClosing] = [false, false]
  let lastHeavy = elapsed()
  /** Threads in a row that could not open the database, and when the next one may be tried. */
  let [failures, nextTry] = [0, 0]

  function addReader(share: Reader[]): Promise<void> {
    let hasOpened = false
    const reader = openReader(
      { sqlite, answerBytes, signing },
      {
        ended,
        free: pump,
        failed: report,
        lost: (working, notBegun) => {
          share.splice(share.indexOf(reader), 1)
          if (!hasOpened) nextTry = elapsed() + Math.min(longestPause, shortestPause * 2 ** failures++)
          // What ends a thread would end the next one as well.
          if (working !== null)
            refuse(working, unavailable('The database cannot be read at the moment', new Error('A reader thread ended at its work')))
          queueOf(share).unshift(...notBegun)
          addLight()
          pump()
        },
      },
    )
    share.push(reader)
    return reader.opened.then(() => {
      hasOpened = true
      failures = 0
    })
  }

  const mayTry = (): boolean => elapsed() >= nextTry

  /** Replaces a light thread that has gone. */
  function addLight(): void {
    if (isOpen && !isClosing && light.length < options.readers && mayTry()) addReader(light).catch(report)
  }

  function forget({ id }: PlanHandle): void {
    for (const reader of [...light, ...heavy]) reader.forget(id)
  }

  const queueOf = (share: Reader[]): Job[] => (share === light ? seen : large)

  function ended(job: Job, outcome: Outcome, milliseconds: number): void {
    const isStopped = outcome.kind === 'stopped'
    if (milliseconds > 0) costs.note(job.plan, milliseconds, isStopped)
    if (forgotten.has(job.plan)) forget(job.plan)
    const isMoved = moving.delete(job)
    if (job.over) {
      if (outcome.kind === 'answer') outcome.answer.release()
    } else if (isStopped) {
      if (isMoved) queue(job, large, options.heavyReadQueue)
      else refuse(job, tooMany())
    } else settle(job, outcome)
  }

  function settle(job: Job, outcome: Exclude<Outcome, { kind: 'stopped' }>): void {
    if (outcome.kind === 'failed') refuse(job, outcome.error)
    else if (outcome.kind === 'own') lend(job, outcome.bytes)
    else {
      job.over = true
      job.resolve(outcome.kind === 'nothing' ? null : outcome.answer)
    }
  }

  /** A large answer, unless clients leave too many of them lying: their memory is what a server runs out of first. */
  function lend(job: Job, bytes: Uint8Array): void {
    if (unsent > 0 && unsent + bytes.length > options.maxBufferedResponseBytes) {
      refuse(job, new ApiError('ServiceUnavailableError', 'Too many answers are being sent'))
      return
    }
    unsent += bytes.length
    job.over = true
    job.resolve({ bytes, release: once(() => (unsent -= bytes.length)) })
  }

  function queue(job: Job, line: Job[], most: number): void {
    if (isClosing || line.length >= most) refuse(job, tooMany())
    else line.push(job)
  }

  function take(job: Job): void {
    const cost = costs.of(job.plan)
    if (cost === 'heavy') queue(job, large, options.heavyReadQueue)
    else queue(job, cost === 'fresh' ? fresh : seen, options.readQueue)
  }

  function pump(): void {
    const now = elapsed()
    while (serveLight(now));
    while (serveHeavy(now));
  }

  /** Gives the next light job to a thread. False: there is none, or no thread for it. */
  function serveLight(now: number): boolean {
    const line = fresh.length > 0 && (isFreshNext || seen.length === 0) && mayBeginFresh() ? fresh : seen
    const [job] = line
    if (job === undefined) return false
    if (isOver(job, now)) return line.shift() !== undefined
    const cost = costs.of(job.plan)
    // Others of its kind have shown meanwhile what it costs.
    if (cost === 'heavy') {
      queue(line.shift()!, large, options.heavyReadQueue)
      return true
    }
    const reader = freest(cost === 'short' ? depthOfShort : depth, now)
    if (reader === null) return false
    isFreshNext = line === seen
    reader.give(line.shift()!)
    return true
  }

  const mayBeginFresh = (): boolean =>
    light.filter((reader) => reader.jobs().some(({ plan }) => costs.of(plan) === 'fresh')).length < mostFresh

  function freest(most: number, now: number): Reader | null {
    let best: Reader | null = null
    for (const reader of light) {
      if (!reader.isOpen(most) || reader.atWorkFor(now) > lookEvery) continue
      if (best === null || reader.held() < best.held()) best = reader
    }
    return best
  }

  /** Gives the next heavy job to a thread of its share, or adds one. */
  function serveHeavy(now: number): boolean {
    const [job] = large
    if (job === undefined) return false
    if (isOver(job, now)) return large.shift() !== undefined
    const reader = heavy.find((one) => one.isOpen(1))
    const coming = heavy.filter((one) => one.held() === 0).length
    if (reader !== undefined) reader.give(large.shift()!)
    else if (heavy.length < mostHeavy && coming < large.length && mayTry()) addReader(heavy).catch(report)
    return reader !== undefined
  }

  /** Ends what nobody waits for or took too long, and sees to it that nothing light waits behind something heavy. */
  function look(): void {
    const now = elapsed()
    for (const reader of [...light, ...heavy]) for (const job of reader.jobs()) if (isOver(job, now)) reader.stop(job)
    for (const line of [seen, fresh, large]) dropOver(line, now)
    for (const reader of light) if (reader.atWorkFor(now) > lookEvery) seen.unshift(...reader.takeBack())
    pump()
    makeRoom(now)
    addLight()
    if (large.length > 0 || heavy.some((reader) => reader.held() > 0)) lastHeavy = now
    else if (now - lastHeavy > spareAfter) {
      lastHeavy = now
      heavy.at(-1)?.close()
    }
  }

  /** Jobs that nobody waits for leave their line: they take no place from others. */
  function dropOver(line: Job[], now: number): void {
    let kept = 0
    for (const job of line) if (!isOver(job, now)) line[kept++] = job
    line.length = kept
  }

  /** Where light jobs wait for threads that are at long ones, these are begun again in the heavy share. */
  function makeRoom(now: number): void {
    let waiting = seen.length + fresh.length
    for (const reader of light) {
      const [job] = reader.jobs()
      if (waiting === 0 || job === undefined) continue
      if (reader.atWorkFor(now) <= lookEvery || reader.busyFor(now) < slice || moving.has(job) || job.over) continue
      waiting--
      moving.add(job)
      reader.stop(job)
    }
  }

  await Promise.any(Array.from({ length: options.readers }, () => addReader(light))).catch((error: AggregateError) => {
    throw error.errors[0]
  })
  isOpen = true
  const timer = setInterval(look, lookEvery)
  timer.unref()

  return {
    dialect,
    register: (plan: ReadPlan): PlanHandle => ({ id: ++plans, plan }),
    unregister: (plan) => {
      forgotten.add(plan)
      forget(plan)
    },
    execute: (plan, values, isGone = never) =>
      new Promise((resolve, reject) => {
        take({ plan, values, deadline: elapsed() + options.readTimeout, isGone, resolve, reject, over: false })
        pump()
      }),
    close: async () => {
      isClosing = true
      clearInterval(timer)
      for (const job of [...seen, ...fresh, ...large]) refuse(job, tooMany())
      const all = [...light, ...heavy]
      for (const reader of all) for (const job of reader.jobs()) reader.stop(job)
      await Promise.all(all.map((reader) => reader.close()))
    },
  }
}
