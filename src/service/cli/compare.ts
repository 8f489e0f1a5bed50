// `octavo compare`: sends the same requests to Strapi and to Octavo, or compares what passes a proxy in front of Strapi, and lists what
// differs. The exit status is that of diff: 0 nothing, 1 something, 2 not compared.
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { type CallerOptions, callersOf } from '../../../packages/compare/callers.js'
import { ignoredPaths } from '../../../packages/compare/ignored.js'
import { paceOf } from '../../../packages/compare/pace.js'
import { createProxy } from '../../../packages/compare/proxy.js'
import { namesOf, openRecorder } from '../../../packages/compare/record.js'
import { type CompareReport, jsonOf, linesOf, statusOf } from '../../../packages/compare/report.js'
import { get, isBelow, isRead } from '../../../packages/compare/request.js'
import { type Asked, runAll, sentBy } from '../../../packages/compare/run.js'
import { openServer } from '../../../packages/compare/server.js'
import { type CompareSession, openSession } from '../../../packages/compare/session.js'
import { openShadow } from '../../../packages/compare/shadow.js'
import { runWrites, sharingOf } from '../../../packages/compare/writes.js'
import { compareLimits } from '../../foundation/config/limits.js'
import { ConfigError } from '../../foundation/errors/errors.js'
import { filesFor } from './compare-code.js'
import { findModel, givenRequests, madeRequests, type SourceOptions } from './compare-requests.js'
import { orExplain } from './explain-error.js'
import { print } from './project.js'

/** Options of `octavo compare`. */
export interface CompareOptions extends CallerOptions, SourceOptions {
  readonly proxy?: string
  readonly host: string
  readonly record?: string
  readonly project: string
  readonly ignore?: readonly string[]
  readonly limit: string
  readonly rate: string
  readonly concurrency: string
  readonly timeout: string
  readonly retries: string
  readonly show: string
  readonly json?: boolean
}

/** Exit status if there is nothing to judge by. */
const notCompared = 2

/** Compares the services at two URLs. */
export const compareCommand = orExplain(async (strapi: string, octavo: string, options: CompareOptions) => {
  const urls = { strapi: urlOf(strapi), octavo: urlOf(octavo) }
  checkTogether(options)
  const session = await open(urls, options)
  try {
    const compared =
      options.proxy === undefined ? await compareRequests(session, options) : await compareTraffic(urls.strapi, session, options)
    const comparison = { ...compared, files: await filesFor(compared.findings.groups, session.run.model, options.project) }
    if (options.json === true) print(JSON.stringify(jsonOf(comparison), null, 2))
    else for (const line of linesOf(comparison)) print(line)
    process.exitCode = statusOf(comparison)
  } finally {
    session.recorder?.close()
    session.servers.strapi.close()
    session.servers.octavo.close()
  }
}, notCompared)

/** @throws ConfigError for options that contradict each other */
function checkTogether({ requests, log, proxy, writes }: CompareOptions): void {
  const sources = Object.entries({ requests, log, proxy }).flatMap(([name, value]) => (value === undefined ? [] : [`--${name}`]))
  if (sources.length > 1) throw new ConfigError(`${sources.join(' and ')} exclude each other.`)
  if (writes === true && requests === undefined) throw new ConfigError('--writes needs --requests: only what a file names is written.')
}

function urlOf(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null
  if (url === null || !/^https?:$/.test(url.protocol)) throw new ConfigError(`"${text}" is not a URL like http://localhost:1337.`)
  if (url.username !== '' || url.search !== '')
    throw new ConfigError('A URL of a service has neither a user nor a query: --header and --as name callers.')
  return url
}

function integerOf(name: string, text: string, least: number, most: number): number {
  const value = Number(text)
  if (!Number.isInteger(value) || value < least || value > most)
    throw new ConfigError(`--${name} is "${text}"; it must be a whole number from ${least} to ${most}.`)
  return value
}

async function open(urls: Readonly<Record<'strapi' | 'octavo', URL>>, options: CompareOptions): Promise<CompareSession> {
  const callers = callersOf(options)
  const { answerBytes } = compareLimits
  const timeout = integerOf('timeout', options.timeout, 1, 600_000)
  const retries = integerOf('retries', options.retries, 0, 10)
  const server = (url: URL) => openServer(url, { timeout, retries, answerBytes })
  const servers = { strapi: server(urls.strapi), octavo: server(urls.octavo) }
  const pace = paceOf(integerOf('rate', options.rate, 1, 10_000))
  const concurrency = integerOf('concurrency', options.concurrency, 1, 100)
  const show = integerOf('show', options.show, 1, 1_000)
  const isIgnored = ignoredPaths(options.ignore ?? [])
  await checkReachable(servers)
  const { prefix } = options
  const model = await findModel(servers, callers, prefix, options.project)
  return openSession({
    ...{ servers, callers, show },
    run: { ...{ model, prefix, answerBytes, isIgnored, pace, concurrency } },
    recorder: options.record === undefined ? null : openRecorder(options.record, compareLimits.requests),
    announce: options.proxy === undefined ? () => {} : (line) => process.stderr.write(`${line}\n`),
  })
}

/** @throws ConfigError if one of the services cannot be reached */
async function checkReachable(servers: CompareSession['servers']): Promise<void> {
  for (const side of ['strapi', 'octavo'] as const) {
    const outcome = await servers[side].ask({ ...sentBy(get('/_health'), { name: '', headers: { strapi: {}, octavo: {} } }, side) })
    const name = side === 'strapi' ? 'Strapi' : 'Octavo'
    if (outcome.kind === 'failure') throw new ConfigError(`${name} cannot be reached at ${servers[side].origin}: ${outcome.message}.`)
  }
}

/** Compares requests of a file, of a log or made from the model. SIGINT ends the run; the report then is about what was compared. */
async function compareRequests(session: CompareSession, options: CompareOptions): Promise<CompareReport> {
  const most = integerOf('limit', options.limit, 1, compareLimits.requests)
  const given = await givenRequests(options, session)
  const stop = stopped()
  const progress = showProgress(session)
  try {
    if (options.writes === true) await compareWrites(given ?? [], session)
    else
      await runAll(limited(given ?? madeRequests(session, options.prefix), most, stop, session), session.servers, session.run, session.add)
  } finally {
    clearInterval(progress)
  }
  return session.end(!stop.aborted)
}

/** The first requests, until the run is interrupted. */
async function* limited(
  requests: readonly Asked[] | AsyncIterable<Asked>,
  most: number,
  stop: AbortSignal,
  session: CompareSession,
): AsyncGenerator<Asked> {
  const isList = Array.isArray(requests)
  if (isList && requests.length > most) session.leave(`beyond --limit ${most}`, requests.length - most)
  let count = 0
  for await (const request of isList ? (requests.slice(0, most) as readonly Asked[]) : requests) {
    if (stop.aborted || count === most)
      return session.leave(stop.aborted ? 'the rest, as the run was interrupted' : `the rest, beyond --limit ${most}`, 0)
    count += 1
    yield request
  }
}

async function compareWrites(requests: readonly Asked[], session: CompareSession): Promise<void> {
  const { sharing, left } = await sharingOf(requests, session.servers)
  if (left !== null)
    process.stderr.write(`octavo: the draft ${left} was created in Octavo to find out about the databases, and could not be deleted.\n`)
  if (sharing === 'shared') throw new ConfigError('Both services have the same database: with --writes each needs a copy of its own.')
  if (sharing === 'unknown') process.stderr.write('octavo: whether both services have the same database could not be found out.\n')
  await runWrites(requests, session.servers, session.run, session.add)
}

/** Serves as a proxy in front of Strapi until a signal, and compares in the background. */
async function compareTraffic(strapi: URL, session: CompareSession, options: CompareOptions): Promise<CompareReport> {
  const known = session.callers.flatMap(({ name, headers }) =>
    headers.strapi.authorization === undefined ? [] : [[headers.strapi.authorization, name] as const],
  )
  const { queue, queuedBytes, answerBytes } = compareLimits
  const nameOf = namesOf(new Map(known), compareLimits.callers)
  const shadow = openShadow(session.servers.octavo, { ...session.run, queue, queuedBytes, nameOf }, session.add)
  const prefixes = [options.prefix, '/uploads']
  const server = createProxy(strapi, {
    answerBytes,
    wants: (request) => isRead(request) && prefixes.some((prefix) => isBelow(request.path, prefix)),
    completed: shadow.add,
  })
  server.listen({ port: integerOf('proxy', options.proxy!, 0, 65_535), host: options.host })
  await once(server, 'listening').catch((error: Error) => {
    throw new ConfigError(`The proxy cannot listen on ${options.host}:${options.proxy} (${error.message}).`)
  })
  const { address, port } = server.address() as AddressInfo
  process.stderr.write(
    `Forwards to Strapi at ${session.servers.strapi.origin} from http://${address}:${port}, and compares reads with Octavo. Ctrl+C prints the report.\n`,
  )
  const progress = showProgress(session)
  await once(stopped(), 'abort')
  clearInterval(progress)
  server.close()
  server.closeIdleConnections()
  await shadow.idle(compareLimits.drain)
  server.closeAllConnections()
  for (const [reason, count] of shadow.leftOut) session.leave(reason, count)
  return session.end(false)
}

/** Aborted by the first SIGINT or SIGTERM; a second one ends the process. */
function stopped(): AbortSignal {
  const controller = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => controller.abort())
  return controller.signal
}

/** Milliseconds between two lines about the progress. */
const progressInterval = 5_000

function showProgress(session: CompareSession): NodeJS.Timeout {
  let shown = 0
  const show = (): void => {
    if (session.count !== shown) process.stderr.write(`${session.count} compared …\n`)
    shown = session.count
  }
  return setInterval(show, progressInterval).unref()
}
