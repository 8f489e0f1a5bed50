// Prepares the management port of a service that has one; only then is its code loaded, and that of metrics.
import type { Logger } from 'pino'
import type { Config } from '../../foundation/config/config.js'
import type { Closers } from '../../foundation/runtime/shutdown.js'
import { type Measuring, notMeasuring } from '../metrics/measuring.js'
import type { MetricSources } from '../metrics/scraped-metrics.js'
import type { ServingState } from './server.js'

/** A server of the service, as the port knows it. */
interface ListeningServer {
  listen(): Promise<string>
  state(): ReturnType<ServingState['service']>
}

/** The management port of a service. */
export interface Management {
  readonly measuring: Measuring
  /**
   * Returns the server with a `listen` that opens the port first, unless it is open. `trouble`: null while the database can be used; `sources`:
   * what a scrape asks.
   */
  beside<Served extends ListeningServer>(server: Served, trouble: () => string | null, sources: MetricSources): Served
}

const noManagement: Management = { measuring: notMeasuring, beside: (server) => server }

/**
 * Prepares the management port. It listens at once where `opensFirst` says so, and closes after everything that was opened since. Without one,
 * this costs nothing. `version`: of this build.
 */
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
