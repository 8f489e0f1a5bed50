// `octavo start [folder]`: opens the service, listens, says what to try, stops gracefully.
import { randomBytes } from 'node:crypto'
import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { pino } from 'pino'
import { loadConfig } from '../config.js'
import { releaseNursery } from '../memory.js'
import { createService } from '../service.js'
import { orExplain } from './explain.js'

/** Serves the project in `folder` until the process is told to stop. */
export const start = orExplain(async (folder: string) => {
  const config = await loadConfig(folder, process.env, () => randomBytes(24).toString('base64url'))
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
  keepSecrets(config.folder, config.missingSecrets)
  const service = await createService(config, logger)
  const address = await service.listen()
  releaseNursery()
  const seconds = (performance.now() / 1000).toFixed(1)
  const examples = (await service.examples()).slice(0, 3).map((path) => `  curl -g '${address}${path}'\n`)
  process.stdout.write(
    `Octavo serves ${config.folder} at ${address} after ${seconds} s (contract: ${config.contract}, ${config.contractReason}).\n${
      examples.length === 0 ? '' : `Open it in a browser, or try:\n${examples.join('')}`
    }`,
  )
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
})

/** Secrets that the project lacked are written to its .env, so that tokens stay valid after a restart. */
function keepSecrets(folder: string, missing: Readonly<Record<string, string>>): void {
  const lines = Object.entries(missing).map(([name, value]) => `${name}=${value}\n`)
  if (lines.length === 0) return
  appendFileSync(join(folder, '.env'), `${lines.join('')}`)
  process.stdout.write(`Made ${Object.keys(missing).join(' and ')} and kept them in .env.\n`)
}
