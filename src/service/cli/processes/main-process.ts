// `octavo start --processes`: the main process holds the ports, and several others serve. It prepares nothing and opens no database.
import type { Logger } from 'pino'
import { addToProcess } from '../../../foundation/config/code-environment.js'
import type { Config } from '../../../foundation/config/config.js'
import { openLog } from '../../../foundation/runtime/log.js'
import type { ProcessesPort, WatchedProcesses } from '../../../operations/management/processes-port.js'
import { endWithParent } from '../end-with-parent.js'
import type { Hangup } from '../hangup.js'
import { checkPorts } from '../port-check.js'
import { watchShutdown } from '../shutdown.js'
import { startFailure } from '../start-failure.js'
import { startMember } from './member.js'
import { type Members, openMembers } from './members.js'
import { shareConnections } from './service-workers.js'
import { findSharedPort, type SharedPort } from './shared-port.js'

/** Milliseconds beyond the longest shutdown of a process after which it is killed, and beyond that for the main process itself. */
const [killTime, endTime] = [2_000, 1_000]

/** What the command was started with. */
interface Started {
  /** An empty database may be created although the project had one. */
  readonly allowsNew: boolean
  readonly hangup: Hangup
}

/** Serves the project in `folder` by several processes, until a signal stops them. */
export async function serveTogether(folder: string, config: Config, { allowsNew, hangup }: Started): Promise<void> {
  const { limits } = config
  const log = openLog({ level: config.logLevel, bytes: limits.logBytes, batches: false })
  log.takeOver()
  const shutdown = watchShutdown(log)
  // Where a terminal is closed, nobody is left who could end the command.
  const end = (): void => shutdown.end(true, false)
  // Processes that have not begun to start read the configuration as it is then.
  hangup.does(end, () => {})
  endWithParent(() => process.kill(process.pid, 'SIGTERM'))
  await checkPorts(config).catch((error) => {
    throw startFailure(error)
  })
  const running = await openRunning(folder, config, allowsNew, log.logger, () => void stop(0).finally(() => shutdown.leave(1)))
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
interface Running {
  readonly members: Members
  readonly management: ProcessesPort | null
  isStopping: boolean
}

/** Prepares the processes, and opens the management port. `hopeless`: called when it is no use to start any more. */
async function openRunning(folder: string, config: Config, allowsNew: boolean, logger: Logger, hopeless: () => void): Promise<Running> {
  const { host, port, limits } = config
  shareConnections()
  const environment = environmentOf(config)
  const begin = { allowsNew, host, port, isManaged: config.management !== null }
  const write = (line: string): void => void process.stdout.write(line)
  let shared: SharedPort | null = null
  // Where all stop, the first one that is about to leave has the port closed; otherwise others listen on.
  const leaving = async (): Promise<void> => (running.isStopping ? shared?.close() : undefined)
  const members: Members = openMembers({
    count: config.processes,
    limits,
    endTime: limits.drainDelay + limits.drainTimeout + killTime,
    logger,
    begin: (isFirst) => startMember({ ...begin, isFirst }, { folder, environment, write, leaving }),
    ended: ({ asked }) => void running.management?.ended(asked),
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
    serving: () => members.serving().map(({ asked }) => asked),
    running: () => members.listening().map(({ asked }) => asked),
    isStopping: () => running.isStopping,
  }
  const management = await openPort(config, watched, logger)
  const running: Running = { members, management, isStopping: false }
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
async function openPort(config: Config, processes: WatchedProcesses, logger: Logger): Promise<ProcessesPort | null> {
  if (config.management === null) return null
  const { openProcessesPort } = await import('../../../operations/management/processes-port.js')
  const port = openProcessesPort(config.management, config, processes, logger)
  await port.listen()
  return port
}

/**
 * What the processes have beside the environment of this one, which gets back what it had before the configuration was loaded: each of
 * them reads .env again.
 */
function environmentOf({ processes }: Config): Readonly<Record<string, string>> {
  addToProcess({})
  return { OCTAVO_PROCESSES: String(processes) }
}
