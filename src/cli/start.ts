// `octavo start [folder]`: opens the service, listens, says what to try, stops gracefully.
import { once } from 'node:events'
import { createServer } from 'node:net'
import type { Logger } from 'pino'
import { type Config, loadConfig } from '../config/config.js'
import { refuseLost } from '../database/open.js'
import { ConfigError } from '../errors/errors.js'
import { loadModel } from '../model/load.js'
import type { Model } from '../model/types.js'
import { adaptYoungGeneration } from '../runtime/gc.js'
import { openLog } from '../runtime/log.js'
import { createService, type Service } from '../service.js'
import { orExplain } from './explain-error.js'
import { strapiSign } from './project.js'
import { codeNotRun } from './project-code.js'
import { checkProject } from './project-folder.js'
import { keepSecrets, reportCreated } from './secrets.js'
import { type Shutdown, watchShutdown } from './shutdown.js'

export interface StartOptions {
  /** Begin with an empty database though the project had one. */
  readonly new?: boolean
}

/** Serves the project in `folder` until the process is told to stop; a start that fails ends it with one sentence. */
export async function start(folder: string, options: StartOptions = {}): Promise<void> {
  let ending: Shutdown | undefined
  await orExplain(serve)(folder, options, (watched) => {
    ending = watched
  })
  if (process.exitCode === undefined) return
  // What a failed start opened has threads that would keep the process.
  await ending?.leave(1)
  process.exit()
}

async function serve(folder: string, options: StartOptions, watched: (ending: Shutdown) => void): Promise<void> {
  try {
    await listen(folder, options, watched)
  } catch (error) {
    if (process.env.LOG_LEVEL === 'debug') process.stderr.write(`${(error as Error).stack ?? String(error)}\n`)
    throw new ConfigError(sentence(error as StartError))
  }
}

async function listen(folder: string, options: StartOptions, watched: (ending: Shutdown) => void): Promise<void> {
  const given = { ...(await loadConfig(folder)), mayBegin: options.new === true }
  const { limits } = given
  const log = openLog({ level: given.logLevel, bytes: limits.logBytes, batches: given.production })
  const { logger } = log
  log.takeOver()
  const ending = watchShutdown(log)
  watched(ending)
  checkProject(given.folder)
  await checkPort(given)
  refuseLost(given, strapiSign(given.folder))
  const { config, service } = await open(given, logger).catch((error: StartError) => {
    const isDatabase = error.code?.startsWith('SQLITE_') === true
    throw isDatabase ? new ConfigError(`The database ${given.database.filename} cannot be used: ${error.message}.`) : error
  })
  warn(logger, config.folder, service.model)
  const address = await service.listen().catch(async (error: Error) => {
    await service.close()
    throw error
  })
  adaptYoungGeneration()
  const seconds = (performance.now() / 1000).toFixed(1)
  const examples = (await service.examples()).slice(0, 3).map((path) => `  curl -g '${address}${path}'\n`)
  ending.serves((delay) => service.close({ delay }), limits)
  process.stdout.write(
    `Octavo serves ${config.folder} at ${address} after ${seconds} s (contract: ${config.contract}, ${config.contractReason}).\n${
      examples.length === 0 ? '' : `Open it in a browser, or try:\n${examples.join('')}`
    }`,
  )
}

/** What is missing of the secrets is made where schemas are in order, so that a start that fails leaves nothing behind. */
async function open(given: Config, logger: Logger): Promise<{ readonly config: Config; readonly service: Service }> {
  if (Object.keys(given.missingSecrets).length > 0) await loadModel(given.folder, given.privateAttributes)
  const kept = keepSecrets(given)
  process.stdout.write(reportCreated(kept))
  return { config: kept.config, service: await createService(kept.config, logger) }
}

/** Listens for a moment: whoever cannot have the port is told before the project is touched. A race shows when the service listens. */
async function checkPort({ host, port }: Config): Promise<void> {
  const server = createServer((socket) => socket.destroy()).listen({ host, port })
  await once(server, 'listening')
  server.close()
  await once(server, 'close')
}

type StartError = NodeJS.ErrnoException & { readonly port?: number; readonly address?: string; readonly hostname?: string }

/** What went wrong, so that whoever starts the service can do something about it. */
function sentence({ code = '', syscall, message, port, address, hostname }: StartError): string {
  if (code === 'EADDRINUSE') return `The port ${port} is in use by another process. Stop that one, or choose another port with PORT.`
  if (code === 'EACCES' && syscall === 'listen') return `The port ${port} is not for everyone. Choose one above 1023 with PORT.`
  if (code === 'EADDRNOTAVAIL') return `HOST is "${address}", which is no address of this machine.`
  if (syscall === 'getaddrinfo') return `HOST is "${hostname}", which is no address of this machine.`
  return message
}

/** Tells what of the project this service does not do, one line for each kind. */
function warn(logger: Logger, folder: string, { leftOut }: Model): void {
  if (leftOut.length > 0) logger.warn({ attributes: leftOut }, 'attributes that point to types of absent plugins are left out')
  const paths = codeNotRun(folder)
  if (paths.length > 0) logger.warn({ paths }, 'policies, middlewares and settings of routes are not run: check what the roles allow')
}
