// `octavo start [folder]`: opens the service, listens, says what to try, stops gracefully.
import { once } from 'node:events'
import { createServer } from 'node:net'
import { type Logger, pino } from 'pino'
import { type Config, loadConfig } from '../config.js'
import { ConfigError } from '../errors.js'
import { releaseNursery } from '../memory.js'
import type { Model } from '../model/types.js'
import { createService } from '../service.js'
import { orExplain } from './explain.js'
import { checkProject, keepSecrets } from './folder.js'
import { codeNotRun } from './strapi-code.js'

/** Serves the project in `folder` until the process is told to stop; a start that fails ends it with one sentence. */
export async function start(folder: string): Promise<void> {
  await orExplain(serve)(folder)
  // What a failed start opened has threads that would keep the process.
  if (process.exitCode !== undefined) process.exit()
}

async function serve(folder: string): Promise<void> {
  try {
    await listen(folder)
  } catch (error) {
    if (process.env.LOG_LEVEL === 'debug') process.stderr.write(`${(error as Error).stack ?? String(error)}\n`)
    throw new ConfigError(sentence(error as StartError))
  }
}

async function listen(folder: string): Promise<void> {
  const config = await loadConfig(folder)
  const logger = pino(
    {
      level: config.logLevel,
      base: undefined,
      redact: ['req.headers.authorization', 'req.headers.cookie', 'authorization', 'password', 'token'],
    },
    // Lines are written together when there are many; each second at the latest.
    pino.destination({ fd: 1, sync: false, minLength: config.production ? 4096 : 0 }),
  )
  setInterval(() => logger.flush(), 1000).unref()
  checkProject(config.folder)
  await checkPort(config)
  process.stdout.write(keepSecrets(config.folder, config.missingSecrets))
  const service = await createService(config, logger).catch((error: StartError) => {
    const isDatabase = error.code?.startsWith('SQLITE_') === true
    throw isDatabase ? new ConfigError(`The database ${config.database.filename} cannot be used: ${error.message}.`) : error
  })
  warn(logger, config.folder, service.model)
  const address = await service.listen().catch(async (error: Error) => {
    await service.close()
    throw error
  })
  releaseNursery()
  const seconds = (performance.now() / 1000).toFixed(1)
  const examples = (await service.examples()).slice(0, 3).map((path) => `  curl -g '${address}${path}'\n`)
  let stopping = false
  const stop = () => {
    if (stopping) process.exit(1)
    stopping = true
    const deadline = setTimeout(() => process.exit(1), config.limits.drainTimeout)
    deadline.unref()
    service.close().then(() => {
      logger.flush()
      process.exit(0)
    })
  }
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)
  process.stdout.write(
    `Octavo serves ${config.folder} at ${address} after ${seconds} s (contract: ${config.contract}, ${config.contractReason}).\n${
      examples.length === 0 ? '' : `Open it in a browser, or try:\n${examples.join('')}`
    }`,
  )
}

/** Listens for a moment: whoever cannot have the port is told before the project is touched. A race shows when the service listens. */
async function checkPort({ host, port }: Config): Promise<void> {
  const server = createServer((socket) => socket.destroy()).listen({ host, port })
  await once(server, 'listening')
  server.close()
  await once(server, 'close')
}

type StartError = NodeJS.ErrnoException & { readonly port?: number; readonly address?: string }

/** What went wrong, so that whoever starts the service can do something about it. */
function sentence({ code = '', syscall, message, port, address }: StartError): string {
  if (code === 'EADDRINUSE') return `The port ${port} is in use by another process. Stop that one, or choose another port with PORT.`
  if (code === 'EACCES' && syscall === 'listen') return `The port ${port} is not for everyone. Choose one above 1023 with PORT.`
  if (code === 'EADDRNOTAVAIL') return `HOST is "${address}", which is no address of this machine.`
  return message
}

/** Tells what of the project this service does not do, one line for each kind. */
function warn(logger: Logger, folder: string, { leftOut }: Model): void {
  if (leftOut.length > 0) logger.warn({ attributes: leftOut }, 'attributes that point to types of absent plugins are left out')
  const paths = codeNotRun(folder)
  if (paths.length > 0) logger.warn({ paths }, 'policies, middlewares and settings of routes are not run: check what the roles allow')
}
