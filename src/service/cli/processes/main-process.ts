// `octavo start --processes`: the main process holds the ports, and several others serve. It prepares nothing and opens no database.

import { subscribe } from 'node:diagnostics_channel'
import type { Server } from 'node:net'
import type { Logger } from 'pino'
import type { Config } from '../../../foundation/config/config.js'
import { addToProcess } from '../../../foundation/config/environment.js'
import { pause } from '../../../foundation/runtime/clock.js'
import { openLog } from '../../../foundation/runtime/log.js'
import type { WatchedProcesses } from '../../../operations/management/processes-port.js'
import type { ManagementPort } from '../../../operations/management/server.js'
import { startFailure } from '../explain-error.js'
import { checkPorts } from '../port-check.js'
import { watchShutdown } from '../shutdown.js'
import { endWithParent, type Hangup } from '../signals.js'
import { createMembers, type Members, startMember } from './members.js'
import { shareConnections } from './workers.js'

/** Milliseconds beyond the longest shutdown of a process after which it is killed, and beyond that for the main process itself. */
const killTime = 2_000
const endTime = 1_000

interface MainProcessOptions {
  /** An empty database may be created although the project had one. */
  readonly allowsNew: boolean
  readonly hangup: Hangup
}

/** Serves the project in `folder` by several processes, until a signal stops them. */
export async function serveTogether(folder: string, config: Config, { allowsNew, hangup }: MainProcessOptions): Promise<void> {
  const { limits } = config
  const log = openLog({ level: config.logLevel, bytes: limits.logBytes, batches: false })
  log.takeOver()
  const shutdown = watchShutdown(log)
  // After a terminal is closed, nothing else ends the command.
  const end = (): void => shutdown.end(true, false)
  // Processes that have not begun to start read the configuration as it is then.
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

/** The processes, and the management port of all of them. */
interface ServiceProcesses {
  readonly members: Members
  readonly management: ManagementPort | null
  isStopping: boolean
}

/** Prepares the processes and opens the management port. `hopeless`: called when further starts make no sense. */
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
  // While all stop, the first process that stops listening closes the port; otherwise others keep listening.
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
  // None goes on where this process leaves without having waited for it, such as after a second signal.
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

/** Opens the management port of all processes, if there is one. Only then is its code loaded. */
async function openManagementPort(config: Config, processes: WatchedProcesses, logger: Logger): Promise<ManagementPort | null> {
  if (config.management === null) return null
  const { openProcessesPort } = await import('../../../operations/management/processes-port.js')
  const port = openProcessesPort(config.management, config, processes, logger)
  await port.listen()
  return port
}

/** Additional variables of the processes. Restores the environment of this process without .env, which each of them reads again. */
function getEnvironment({ processes }: Config): Readonly<Record<string, string>> {
  addToProcess({})
  return { OCTAVO_PROCESSES: String(processes) }
}

/** The part of Node's handle of a socket that is used here; it has no public API. */
interface ListeningHandle {
  listen(length: number): number
  close(): void
}

/** A port that processes share. */
interface SharedPort {
  /** Stops listening and passes on every connection that was accepted. */
  close(): Promise<void>
}

/** Milliseconds for connections that were accepted to reach a process. */
const passingTime = 100

/** Finds the next port that this process listens on. */
function findSharedPort(): SharedPort {
  let handle: ListeningHandle | null = null
  let closing: Promise<void> | null = null
  subscribe('tracing:net.server.listen:asyncEnd', (message) => {
    const { server } = message as { readonly server: Server & { readonly _handle?: ListeningHandle } }
    handle = server._handle ?? null
  })
  const close = async (): Promise<void> => {
    // A client that finds the queue full tries again, and is refused then, before it has sent anything.
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

/** Resolves when everything was accepted that had arrived. */
const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
