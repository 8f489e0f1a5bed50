// Opens the management port and the metrics of a service.
import type { Logger } from 'pino'
import type { Config } from '../../foundation/config/config.js'
import { type ManagementConfig, managementLimits } from '../../foundation/config/network.js'
import type { Measuring } from '../metrics/measuring.js'
import { measuredDatabase, measuredLibrary, measuredLimiter } from '../metrics/measuring.js'
import { openRegistry } from '../metrics/registry.js'
import type { MetricSources } from '../metrics/scraped-metrics.js'
import {
  failingParts,
  livePage,
  type ManagementPort,
  metricsPage,
  prepareManagementPort,
  preparePagesForMain,
  readyPage,
  type ServingState,
  watchEventLoop,
} from './server.js'

/** State of the service, which is opened after the port. */
interface WatchedService extends ServingState {
  /** Null until the service is open. */
  sources(): MetricSources | null
}

/** The port, and the measurement of the service. */
interface OpenedManagement extends ManagementPort {
  readonly measuring: Measuring
}

/** Prepares the management port, or its pages if the main process has the port. Does not listen yet. */
export function openManagement(
  management: ManagementConfig,
  { database }: Config,
  { service, version, logger }: { readonly service: WatchedService; readonly version: string; readonly logger: Logger },
): OpenedManagement {
  const lag = watchEventLoop()
  const system = database.client === 'postgres' ? 'postgresql' : database.client
  const isOneOfSeveral = management.askedBy === 'main'
  const registry = openRegistry({ version, system, isOneOfSeveral }, () => failingParts(service).length === 0)
  const scrape = () => registry.scrape(service.sources(), managementLimits.scrapeWait)
  const pages = new Map([
    ['/live', livePage(lag)],
    ['/ready', readyPage(service)],
    ['/metrics', metricsPage({ contentType: registry.contentType, scrape }, management.token)],
  ])
  const port = isOneOfSeveral ? preparePagesForMain(pages, logger) : prepareManagementPort(management, pages, logger)
  const { metrics } = registry
  return {
    measuring: {
      metrics,
      database: (measured, purpose) => measuredDatabase(measured, metrics, purpose ?? null),
      limiter: (limiter) => measuredLimiter(limiter, metrics),
      library: (library) => measuredLibrary(library, metrics),
    },
    listen: port.listen,
    close: async () => {
      await port.close()
      lag.close()
    },
  }
}
