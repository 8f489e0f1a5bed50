// `octavo start --processes`: the main process owns the ports, and several others serve. It opens no database.

import { subscribe } from 'node:diagnostics_channel'
import type { Server } from 'node:net'
import type { Logger } from 'pino'
import type { Config } from '../../../foundation/config/config.js'
import { addToProcess } from '../../../foundation/config/environment.js'
import { pause } from '../../../foundation/runtime/clock.js'
import { openLog } from '../../../foundation/runtime/log.js'
import type { WatchedProcesses } from '../../../operations/management/processes-port.js'
import { openProcessesPort } from '../../../operations/management/processes-port.js'
import type { ManagementPort } from '../../../operations/management/server.js'
import { startFailure } from '../explain-error.js'
import { checkPorts } from '../port-check.js'
import { watchShutdown } from '../shutdown.js'
import { endWithParent, type Hangup } from '../signals.js'
import { createMembers, type Members, startMember } from './members.js'
import { shareConnections } from './workers.js'

/** Milliseconds until a process is killed after its longest shutdown, and for the main process in addition. */
const killTime = 2_000
const endTime = 1_000

interface MainProcessOptions {
  /** Permits an empty database although the project had one. */
  readonly allowsNew: boolean
  readonly hangup: Hangup
}

/** Serves the project in several processes until a signal stops them. */
export async function serveTogether(folder: string, config: Config, { allowsNew, hangup }: MainProcessOptions): Promise<void> {
  const { limits } = config
  const log = openLog({ level: config.logLevel, batches: false })
  log.takeOver()
  const shutdown = watchShutdown(log)
  // After its terminal is closed, nothing else would end the command.
  const end = (): void => shutdown.end(true, false)
  // SIGHUP has no effect yet: new processes read the current configuration.
  hangup.does(end, () => {})
  endWithParent(() => process.kill(process.pid, 'SIGTERM'))
  await checkPorts(config).catch((error) => {
    throw startFailure(error)
  })
  const running = await prepareProcesses(folder, config, allowsNew, log.logger, () => void stop(0).finally(() => shutdown.leave(1)))
  const { members, management } = running
  async function stop(delay: number): Promise<void> {
    running.isStopping = true
    const isWell = await members.stop(delay > 0)
    await management?.close()
    if (!isWell) throw new Error('a service process did not end well')
  }
  shutdown.serves(stop, { drainDelay: limits.drainDelay, drainTimeout: limits.drainTimeout + killTime + endTime })
  hangup.does(end, () => void members.restart())
  const first = await members.start()
  if (first === null || running.isStopping) return
  if (first.error !== undefined) process.stderr.write(`octavo: No service process can be started (${first.error}).\n`)
  await shutdown.leave(first.status ?? 1)
}

/** The processes, and their common management port. */
interface ServiceProcesses {
  readonly members: Members
  readonly management: ManagementPort | null
  isStopping: boolean
}

/** Prepares the processes and opens the management port. `hopeless` is called when further starts make no sense. */
async function prepareProcesses(
  folder: string,
  config: Config,
  allowsNew: boolean,
  logger: Logger,
  hopeless: () => void,
): Promise<ServiceProcesses> {
  const { host, port, limits } = config
  shareConnections()
  const environment = getEnvironment(config)
  const begin = { allowsNew, host, port, isManaged: config.management !== null }
  const write = (line: string): void => void process.stdout.write(line)
  let shared: SharedPort | null = null
  // When all stop, the first process that stops listening closes the port; otherwise others keep listening.
  const leaving = async (): Promise<void> => (running.isStopping ? shared?.close() : undefined)
  const members: Members = createMembers({
    count: config.processes,
    limits,
    endTime: limits.drainDelay + limits.drainTimeout + killTime,
    logger,
    begin: (isFirst) => startMember({ ...begin, isFirst }, { folder, environment, write, leaving }),
    hopeless: () => {
      logger.fatal('service processes end again and again, and none serves; the command ends')
      hopeless()
    },
  })
  // If this process exits without waiting, such as after a second signal, all others are killed.
  process.on('exit', () => {
    for (const { pid } of members.running()) kill(pid)
  })
  const watched = {
    serving: () => members.serving().map(({ askPage }) => askPage),
    listening: () => members.listening().map(({ askPage }) => askPage),
    isStopping: () => running.isStopping,
  }
  const management = await openManagementPort(config, watched, logger)
  const running: ServiceProcesses = { members, management, isStopping: false }
  shared = findSharedPort()
  return running
}

function kill(pid: number | null): void {
  try {
    if (pid !== null) process.kill(pid, 'SIGKILL')
  } catch {
    // It has just ended.
  }
}

/** Opens the common management port, if configured. */
async function openManagementPort(config: Config, processes: WatchedProcesses, logger: Logger): Promise<ManagementPort | null> {
  if (config.management === null) return null
  const port = openProcessesPort(config.management, processes, logger)
  await port.listen()
  return port
}

/** Additional environment variables of the processes. Removes those of .env, which each process reads itself. */
function getEnvironment({ processes }: Config): Readonly<Record<string, string>> {
  addToProcess({})
  return { OCTAVO_PROCESSES: String(processes) }
}

/** The used part of Node's socket handle, which has no public API. */
interface ListeningHandle {
  listen(length: number): number
  close(): void
}

/** A port shared by processes. */
interface SharedPort {
  /** Stops listening and passes on all accepted connections. */
  close(): Promise<void>
}

/** Milliseconds for accepted connections to reach a process. */
const passingTime = 100

/** Observes the next port that this process listens on. */
function findSharedPort(): SharedPort {
  let handle: ListeningHandle | null = null
  let closing: Promise<void> | null = null
  subscribe('tracing:net.server.listen:asyncEnd', (message) => {
    const { server } = message as { readonly server: Server & { readonly _handle?: ListeningHandle } }
    handle = server._handle ?? null
  })
  const close = async (): Promise<void> => {
    // A client that finds the queue full retries, and is then refused before it has sent anything.
    handle?.listen(0)
    await nextTurn()
    handle?.close()
    await pause(passingTime)
  }
  return {
    close: () => {
      closing ??= close()
      return closing
    },
  }
}

/** Resolves when all connections that have arrived are accepted. */
const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
