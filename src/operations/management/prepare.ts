// Prepares the management port if configured; only then is its code, and that of metrics, loaded.
import type { Logger } from 'pino'
import type { Config } from '../../foundation/config/config.js'
import type { Closers } from '../../foundation/runtime/shutdown.js'
import { type Measuring, notMeasuring } from '../metrics/measuring.js'
import type { MetricSources } from '../metrics/scraped-metrics.js'
import type { ServingState } from './server.js'

/** A server as the port uses it. */
interface ListeningServer {
  listen(): Promise<string>
  state(): ReturnType<ServingState['service']>
}

export interface Management {
  readonly measuring: Measuring
  /** Wraps a server: its `listen` opens the port first. `trouble`: null while the database is available; `sources`: data for scrapes. */
  beside<Served extends ListeningServer>(server: Served, trouble: () => string | null, sources: MetricSources): Served
}

const noManagement: Management = { measuring: notMeasuring, beside: (server) => server }

/** Prepares the management port. It listens at once if `opensFirst` is set, and closes after everything opened later. */
export async function prepareManagement(config: Config, version: string, logger: Logger, opened: Closers): Promise<Management> {
  const { management } = config
  if (management === null) return noManagement
  const { openManagement } = await import('./open.js')
  let state: ServingState = { service: () => 'starting', database: () => null }
  let asked: MetricSources | null = null
  const service = { service: () => state.service(), database: () => state.database(), sources: () => asked }
  const port = openManagement(management, config, { service, version, logger })
  opened.add(port.close)
  const { opensFirst = false } = management
  if (opensFirst) await port.listen()
  return {
    measuring: port.measuring,
    beside: (server, trouble, sources) => {
      state = { service: server.state, database: trouble }
      asked = sources
      return {
        ...server,
        listen: async () => {
          if (!opensFirst) await port.listen()
          return server.listen()
        },
      }
    },
  }
}
