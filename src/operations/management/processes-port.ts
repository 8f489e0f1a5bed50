// The management port of several service processes, run by the main process, which requests pages from them.

import type { Logger } from 'pino'
import { type ManagementConfig, managementLimits } from '../../foundation/config/network.js'
import { within } from '../../foundation/runtime/clock.js'
import { createProcessMetrics, joinMetrics } from '../metrics/registry.js'
import {
  type FailingPart,
  jsonResponse,
  type ManagementPage,
  type ManagementPort,
  type ManagementResponse,
  maxLagMs,
  metricsPage,
  prepareManagementPort,
  stateProblems,
  watchEventLoop,
} from './server.js'

/** Requests a page of a service process. Resolves to null if the process ends first; may take as long as the process hangs. */
export type AskPage = (path: string) => Promise<ManagementResponse | null>

export interface WatchedProcesses {
  /** Processes that accept connections and are not being replaced. */
  serving(): readonly AskPage[]
  /** Processes that have started to listen and have not ended. */
  listening(): readonly AskPage[]
  isStopping(): boolean
}

/** Does not listen yet. */
export function openProcessesPort(management: ManagementConfig, processes: WatchedProcesses, logger: Logger): ManagementPort {
  const lag = watchEventLoop()
  const { contentType, scrape: scrapeMain } = createProcessMetrics()
  const scrape = async (): Promise<string> => {
    const pages = await Promise.all(ask(processes.listening(), '/metrics', managementLimits.reportWait))
    return joinMetrics([await scrapeMain(), ...pages.flatMap((page) => (page?.status === 200 ? [page.body] : []))])
  }
  const pages = new Map<string, ManagementPage>([
    ['/live', livePage(processes, lag.now)],
    ['/ready', readyPage(processes)],
    ['/metrics', metricsPage({ contentType, scrape }, management.token)],
  ])
  const port = prepareManagementPort(management, pages, logger)
  return {
    listen: port.listen,
    close: async () => {
      await port.close()
      lag.close()
    },
  }
}

const ask = (processes: readonly AskPage[], path: string, waitMs: number): readonly Promise<ManagementResponse | null>[] =>
  processes.map((each) => within(waitMs, each(path)))

/** The first page with status 200; null if there is none. */
const firstOk = (pages: readonly Promise<ManagementResponse | null>[]): Promise<ManagementResponse | null> =>
  Promise.any(
    pages.map(async (each) => {
      const page = await each
      if (page?.status !== 200) throw new Error('not this one')
      return page
    }),
  ).catch(() => null)

/**
 * Responds 200 if the event loops of the main process and of a serving process lag at most `maxLagMs`; before any process serves, the main
 * process alone counts.
 */
const livePage =
  (processes: WatchedProcesses, mainLag: () => number): ManagementPage =>
  async () => {
    const own = Math.round(mainLag())
    const pages = ask(processes.serving(), '/live', maxLagMs)
    const live = await firstOk(pages)
    const isLive = own <= maxLagMs && (live !== null || pages.length === 0)
    const eventLoopLag = live === null ? own : Math.max(own, (JSON.parse(live.body) as { readonly eventLoopLag: number }).eventLoopLag)
    return jsonResponse(isLive ? 200 : 503, { status: isLive ? 'live' : 'late', eventLoopLag })
  }

/** Responds 200 if a process is ready, otherwise 503 with the failing parts. */
const readyPage =
  (processes: WatchedProcesses): ManagementPage =>
  async () => {
    if (processes.isStopping()) return notReady([{ part: 'service', problem: stateProblems.draining }])
    const pages = ask(processes.serving(), '/ready', managementLimits.readyWait)
    if (pages.length === 0) return notReady([{ part: 'service', problem: stateProblems.starting }])
    if ((await firstOk(pages)) !== null) return jsonResponse(200, { status: 'ready', processes: pages.length })
    const failing = (await Promise.all(pages)).flatMap((page): readonly FailingPart[] =>
      page === null ? [silent] : (JSON.parse(page.body) as { readonly failing: readonly FailingPart[] }).failing,
    )
    return notReady([...new Map(failing.map((each) => [`${each.part} ${each.problem}`, each])).values()])
  }

const silent: FailingPart = { part: 'service', problem: 'A process of the service does not respond' }
const notReady = (failing: readonly FailingPart[]) => jsonResponse(503, { status: 'not ready', failing })
