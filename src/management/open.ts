// Opens the management port of a service.
import type { Logger } from 'pino'
import type { Config } from '../config/config.js'
import type { ManagementConfig } from '../config/management.js'
import { watchEventLoop } from './event-loop-lag.js'
import { livePage, readyPage, type ServingState } from './pages.js'
import { type ManagementPort, prepareManagementPort } from './server.js'

/** Prepares the management port; it does not listen yet. */
export function openManagement(management: ManagementConfig, { limits }: Config, state: ServingState, logger: Logger): ManagementPort {
  const lag = watchEventLoop()
  const pages = new Map([
    ['/live', livePage(lag, limits.eventLoopLag)],
    ['/ready', readyPage(state)],
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
