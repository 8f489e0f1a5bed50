// Prepares the management port of a service that has one; only then is its code loaded.
import type { Logger } from 'pino'
import type { Config } from '../config/config.js'
import type { Closers } from '../runtime/closers.js'
import type { ServingState } from './pages.js'

/** A server of the service, as the port knows it. */
interface ListeningServer {
  listen(): Promise<string>
  state(): ReturnType<ServingState['service']>
}

/** The management port of a service. */
export interface Management {
  /** Returns the server with a `listen` that opens the port first. `trouble`: null while the database can be used. */
  beside<Served extends ListeningServer>(server: Served, trouble: () => string | null): Served
}

const noManagement: Management = { beside: (server) => server }

/** Prepares the management port, which is closed after everything that was opened since. Without one, this costs nothing. */
export async function prepareManagement(config: Config, logger: Logger, opened: Closers): Promise<Management> {
  const { management } = config
  if (management === null) return noManagement
  const { openManagement } = await import('./open.js')
  let state: ServingState = { service: () => 'starting', database: () => null }
  const port = openManagement(management, config, { service: () => state.service(), database: () => state.database() }, logger)
  opened.add(port.close)
  return {
    beside: (server, trouble) => {
      state = { service: server.state, database: trouble }
      return {
        ...server,
        listen: async () => {
          await port.listen()
          return server.listen()
        },
      }
    },
  }
}
