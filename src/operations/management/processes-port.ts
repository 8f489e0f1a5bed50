// The management port of several service processes, which the main process has: whether one of them serves, and their metrics as a sum.
import type { Logger } from 'pino'
import type { Config } from '../../foundation/config/config.js'
import { type ManagementConfig, managementLimits } from '../../foundation/config/management.js'
import { within } from '../../foundation/runtime/clock.js'
import { openSummedMetrics, type ProcessMetrics } from '../metrics/summed-metrics.js'
import type { AskedProcess } from './asked-processes.js'
import { watchEventLoop } from './event-loop-lag.js'
import { metricsPage } from './metrics-page.js'
import { type FailingPart, stateProblems } from './pages.js'
import { jsonResponse, type ManagementPage, type ManagementPort, prepareManagementPort } from './server.js'
import type { ServingReport } from './serving-report.js'

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
  /** A process has ended: what it has counted stays in the sum. */
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
