// The management port of several service processes, which the main process has: whether one of them serves, and their metrics as a sum.

import type { Worker } from 'node:cluster'
import type { Logger } from 'pino'
import type { Config } from '../../foundation/config/config.js'
import { type ManagementConfig, managementLimits } from '../../foundation/config/management.js'
import { within } from '../../foundation/runtime/clock.js'
import { openSummedMetrics, type ProcessMetrics } from '../metrics/registry.js'
import { watchEventLoop } from './event-loop-lag.js'
import {
  type FailingPart,
  jsonResponse,
  type ManagementPage,
  type ManagementPort,
  metricsPage,
  prepareManagementPort,
  stateProblems,
} from './server.js'
import type { ReportQuestion, ServingReport } from './serving-report.js'

/** The service processes, as the port asks for them. */
export interface WatchedProcesses {
  /** Those that listen and are not being replaced. */
  serving(): readonly AskedProcess[]
  /** Those that have begun to listen, and have not ended. */
  running(): readonly AskedProcess[]
  isStopping(): boolean
}

/** The port. */
export interface ProcessesPort extends ManagementPort {
  /** A process has ended: its counts stay in the sum. */
  ended(process: AskedProcess): Promise<void>
}

/** Prepares the management port of several processes; it does not listen yet. */
export function openProcessesPort(
  management: ManagementConfig,
  { limits }: Config,
  processes: WatchedProcesses,
  logger: Logger,
): ProcessesPort {
  const lag = watchEventLoop()
  const sum = openSummedMetrics()
  const scrape = async (): Promise<string> => {
    await Promise.all(processes.running().map((each) => within(managementLimits.reportWait, each.ask(true))))
    // Of one that does not say it in time, the last that it has said: sums do not become less. Those that have ended meanwhile are in the
    // sum already.
    const known = processes.running().map((each) => each.lastMetrics())
    return sum.text(known.filter((metrics) => metrics !== null))
  }
  const pages = new Map<string, ManagementPage>([
    ['/live', livePage(processes, lag.now, limits.eventLoopLag)],
    ['/ready', readyPage(processes)],
    ['/metrics', metricsPage({ contentType: sum.contentType, scrape }, management.token)],
  ])
  const port = prepareManagementPort(management, pages, logger)
  return {
    listen: port.listen,
    ended: async (process) => {
      const last: ProcessMetrics | null = process.lastMetrics()
      if (last !== null) await sum.keep(last)
    },
    close: async () => {
      await port.close()
      lag.close()
    },
  }
}

/** Responds 200 while this process and one of those that serve are at most `most` milliseconds late; where none serves yet, by this one alone. */
function livePage(processes: WatchedProcesses, ownLag: () => number, most: number): ManagementPage {
  return async () => {
    const own = Math.round(ownLag())
    const reports = processes.serving().map((each) => within(most, each.ask(false)))
    const live = await first(reports, ({ lag }) => lag <= most)
    const isLive = own <= most && (live !== null || reports.length === 0)
    return jsonResponse(isLive ? 200 : 503, { status: isLive ? 'live' : 'late', eventLoopLag: Math.max(own, Math.round(live?.lag ?? 0)) })
  }
}

/** Responds 200 while one process serves, and otherwise 503 with the failing parts. */
function readyPage(processes: WatchedProcesses): ManagementPage {
  return async () => {
    if (processes.isStopping()) return notReady([{ part: 'service', problem: stateProblems.draining }])
    const serving = processes.serving()
    const reports = serving.map((each) => within(managementLimits.readyWait, each.ask(false)))
    const ready = await first(reports, ({ failing }) => failing.length === 0)
    if (ready !== null) return jsonResponse(200, { status: 'ready', processes: serving.length })
    if (serving.length === 0) return notReady([{ part: 'service', problem: stateProblems.starting }])
    const failing = (await Promise.all(reports)).flatMap((report) => report?.failing ?? [silent])
    return notReady([...new Map(failing.map((each) => [`${each.part} ${each.problem}`, each])).values()])
  }
}

const silent: FailingPart = { part: 'service', problem: 'A process of the service does not respond' }
const notReady = (failing: readonly FailingPart[]) => jsonResponse(503, { status: 'not ready', failing })

/** The first report that fits; null once none does. */
async function first(
  reports: readonly Promise<ServingReport | null>[],
  fits: (report: ServingReport) => boolean,
): Promise<ServingReport | null> {
  const fitting = reports.map(async (each) => {
    const report = await each
    if (report === null || !fits(report)) throw new Error('another one')
    return report
  })
  return Promise.any(fitting).catch(() => null)
}

/** A service process, as the management port knows it. */
export interface AskedProcess {
  /** Resolves to null if the process ends before it answers; it may take as long as the process hangs. */
  ask(metrics: boolean): Promise<ServingReport | null>
  /** The last metrics that it has reported; null: none. */
  lastMetrics(): ProcessMetrics | null
}

/** Prepares to ask a process. */
export function askedProcess(worker: Worker): AskedProcess {
  let asked = 0
  let last: ProcessMetrics | null = null
  const open = new Map<number, (report: ServingReport | null) => void>()
  const waiting = new Map<boolean, Promise<ServingReport | null>>()
  const end = (id: number, report: ServingReport | null): void => {
    open.get(id)?.(report)
    open.delete(id)
  }
  worker.on('message', (message: ServingReport) => {
    if (message.kind !== 'report') return
    last = message.metrics ?? last
    if (message.id !== null) end(message.id, message)
  })
  worker.on('exit', () => {
    for (const id of open.keys()) end(id, null)
  })

  function ask(metrics: boolean): Promise<ServingReport | null> {
    if (!worker.isConnected()) return Promise.resolve(null)
    const id = ++asked
    return new Promise((resolve) => {
      open.set(id, resolve)
      worker.send({ kind: 'question', id, metrics } satisfies ReportQuestion, (error) => {
        if (error !== null) end(id, null)
      })
    })
  }

  return {
    ask: (metrics) => {
      const before = waiting.get(metrics)
      if (before !== undefined) return before
      const answer = ask(metrics)
      waiting.set(metrics, answer)
      // A question that got lost must not keep the next one from being asked.
      void within(managementLimits.reportWait, answer).then(() => waiting.delete(metrics))
      return answer
    },
    lastMetrics: () => last,
  }
}
