// Serves a project in this process: opens the service, listens, prints example requests, and shuts down gracefully.
import type { Logger } from 'pino'
import { refuseUnfinishedRestore } from '../../content/media/unfinished-restore.js'
import { getDriver } from '../../database/open.js'
import { type Config, loadConfig } from '../../foundation/config/config.js'
import { ConfigError } from '../../foundation/errors/errors.js'
import { growYoungGeneration } from '../../foundation/runtime/gc.js'
import { logLine, openLog } from '../../foundation/runtime/log.js'
import { loadModel } from '../../model/schema/load.js'
import type { Model } from '../../model/schema/types.js'
import { withContractOfDatabase } from '../../project/contract.js'
import { createService, type Service } from '../service.js'
import { orExplain, startFailure } from './explain-error.js'
import { checkPorts } from './port-check.js'
import { checkProject, refuseLost } from './project.js'
import { reportProjectCode } from './project-code.js'
import { ensureSecrets, reportCreated } from './secrets.js'
import { type Shutdown, watchShutdown } from './shutdown.js'
import { endWithParent, type Hangup } from './signals.js'

export interface ServeOptions {
  /** The configuration, if already loaded. */
  readonly config?: Config
  /** Starts with an empty database although the project had one. */
  readonly new?: boolean
  /** Another process listens on the shared port; this one prints nothing on start. */
  readonly replaces?: boolean
  /** The process belongs to `octavo dev`, which replaces it on every change. */
  readonly isDevelopment?: boolean
  /** The handler of SIGHUP, if this process is the whole command. */
  readonly hangup?: Hangup
  /** Changes the configuration of one process among several. */
  readonly configured?: (loaded: Config) => Config
  /** Called once signals are handled gracefully. */
  readonly watched?: (shutdown: Shutdown) => void
  /** Called with the address once the service listens. */
  readonly serving?: (address: string) => void
}

/** Serves the project until a signal stops the process. A failed start ends the process with one sentence. */
export async function serve(folder: string, options: ServeOptions = {}): Promise<void> {
  let shutdown: Shutdown | undefined
  const watched = (opened: Shutdown): void => {
    shutdown = opened
    options.watched?.(opened)
  }
  await orExplain(explained)(folder, { ...options, watched })
  if (process.exitCode === undefined) return
  // A failed start may have left threads that keep the process alive.
  await shutdown?.leave(1)
  process.exit()
}

async function explained(folder: string, options: ServeOptions): Promise<void> {
  try {
    await listen(folder, options)
  } catch (error) {
    throw startFailure(error)
  }
}

/** Resolves once the service listens. */
async function listen(folder: string, options: ServeOptions): Promise<void> {
  const { isDevelopment = false, replaces = false } = options
  const loaded = options.config ?? (await loadConfig(folder))
  // In development, another project may occupy the management port, which nothing depends on, and the process to be replaced keeps serving.
  const management = loaded.management === null ? null : { ...loaded.management, isRequired: !isDevelopment, opensFirst: !isDevelopment }
  const asked = { ...loaded, management, allowsNewDatabase: options.new === true }
  const given = options.configured?.(asked) ?? asked
  const { limits } = given
  const log = openLog({ level: given.logLevel, batches: given.production })
  const { logger } = log
  log.takeOver()
  const shutdown = watchShutdown(log, isDevelopment ? 'debug' : 'info')
  options.watched?.(shutdown)
  options.hangup?.does(
    () => shutdown.end(true, false),
    () => logger.warn(hangupIgnored),
  )
  endWithParent(() => process.kill(process.pid, 'SIGTERM'))
  checkProject(given.folder)
  refuseUnfinishedRestore(given)
  if (!replaces) await checkPorts(given)
  const driver = await getDriver(given)
  await refuseLost(given)
  const { config, service } = await open(given, logger).catch((error: Error) => {
    throw driver.classifyError(error) === null
      ? error
      : new ConfigError(`The database ${driver.getName(given)} cannot be used: ${error.message}.`)
  })
  warnOfRelations(logger, service.model)
  const address = await service.listen().catch(async (error: Error) => {
    await service.close()
    throw error
  })
  // With a database server, the main thread reads the rows.
  growYoungGeneration(config.database.server === null ? 4 : 16)
  if (!replaces) {
    await announce(config, service, { address, database: driver.getName(config) })
    void reportProjectCode(config, service, logger)
  }
  shutdown.serves((delay, isReplaced) => service.close({ delay, isReplaced }), limits)
  options.serving?.(address)
}

const hangupIgnored =
  'SIGHUP is ignored: it replaces several processes (--processes), and one serves here; a restart reads the configuration again'

/** Prints the address and, during development, example requests. */
async function announce(
  { production, folder, contract, contractReason, saysContract }: Config,
  service: Service,
  { address, database }: { readonly address: string; readonly database: string },
): Promise<void> {
  const seconds = (performance.now() / 1000).toFixed(1)
  const about = saysContract ? ` (contract: ${contract}, ${contractReason}; docs/differences.md describes both)` : ''
  const text = `Octavo serves ${folder} at ${address} after ${seconds} s, with the database ${database}${about}.`
  say(production, text, { folder, address, database, contract })
  if (production) return
  const examples = (await service.examples()).slice(0, 3).map((path) => `\n  curl -g '${address}${path}'`)
  if (examples.length > 0) say(production, `Open it in a browser, or try:${examples.join('')}`)
}

/** Prints a sentence at any log level; in production as a line of the log, for programs. */
function say(production: boolean, text: string, fields: Readonly<Record<string, unknown>> = {}): void {
  process.stdout.write(production ? logLine(30, text, fields) : `${text}\n`)
}

/** Generates missing secrets after loading the schemas, so that a failed start leaves no files. */
async function open(given: Config, logger: Logger): Promise<{ readonly config: Config; readonly service: Service }> {
  const config = await withContractOfDatabase(given)
  if (Object.keys(config.missingSecrets).length > 0) await loadModel(config)
  const saved = await ensureSecrets(config)
  const created = reportCreated(saved).trimEnd()
  if (created !== '') say(saved.config.production, created)
  return { config: saved.config, service: await createService(saved.config, logger) }
}

function warnOfRelations(logger: Logger, { skippedRelations }: Model): void {
  if (skippedRelations.length > 0)
    logger.warn({ attributes: skippedRelations }, 'skipped relations to types of plugins that are not available')
}
