// `octavo compare`: lists the differences between responses of Strapi and Octavo. Exit status: 0 none, 1 differences, 2 not compared.

import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import { createGunzip } from 'node:zlib'
import { type CallerOptions, type ComparedCaller, parseCallers } from '../../../packages/compare/callers.js'
import { parseIgnoredPaths } from '../../../packages/compare/differences.js'
import { type KnownModel, modelFromProject, modelFromResponses, noModel } from '../../../packages/compare/model.js'
import {
  type CompareReport,
  type CompareSession,
  createSession,
  exitStatus,
  type Group,
  toJson,
  toLines,
} from '../../../packages/compare/report.js'
import { type ComparedRequest, createLogReader, generateRequests, get, isRead, parseRequests } from '../../../packages/compare/requests.js'
import {
  assignCallers,
  type CallerRequest,
  createPace,
  detectSharing,
  runAll,
  runWrites,
  type Servers,
  toSentRequest,
} from '../../../packages/compare/run.js'
import { openServer, type Server, type ServiceOutcome } from '../../../packages/compare/server.js'
import { findCodeFiles } from '../../../packages/strapi-code/code-files.js'
import { type CodeLine, notConfigured } from '../../../packages/strapi-code/code-report.js'
import { type ProjectCode, readProjectCode } from '../../../packages/strapi-code/read-project-code.js'
import { ConfigError } from '../../foundation/errors/errors.js'
import { loadModel } from '../../model/schema/load.js'
import { orExplain } from './explain-error.js'
import { print } from './output.js'
import { checkProject } from './project.js'

/** Maximum number of lines in a file, and of distinct requests in a log. */
const maxRequests = 100_000
const maxResponseBytes = 20_000_000

interface CompareOptions extends CallerOptions, SourceOptions {
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

const notComparedStatus = 2

export const compareCommand = orExplain(async (strapi: string, octavo: string, options: CompareOptions) => {
  const urls = { strapi: parseUrl(strapi), octavo: parseUrl(octavo) }
  checkTogether(options)
  const session = await open(urls, options)
  try {
    const compared = await compareRequests(session, options)
    const comparison = { ...compared, files: await filesFor(compared.findings.groups, session.run.model, options.project) }
    if (options.json === true) print(JSON.stringify(toJson(comparison), null, 2))
    else for (const line of toLines(comparison)) print(line)
    process.exitCode = exitStatus(comparison)
  } finally {
    session.servers.strapi.close()
    session.servers.octavo.close()
  }
}, notComparedStatus)

/** @throws ConfigError for conflicting options */
function checkTogether({ requests, log, writes }: CompareOptions): void {
  if (requests !== undefined && log !== undefined) throw new ConfigError('--requests and --log exclude each other.')
  if (writes === true && requests === undefined) throw new ConfigError('--writes needs --requests: only what a file names is written.')
}

function parseUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null
  if (url === null || !/^https?:$/.test(url.protocol)) throw new ConfigError(`"${text}" is not a URL like http://localhost:1337.`)
  if (url.username !== '' || url.search !== '')
    throw new ConfigError('A URL of a service has neither a user nor a query: --header and --as name callers.')
  return url
}

function parseInteger(name: string, text: string, least: number, most: number): number {
  const value = Number(text)
  if (!Number.isInteger(value) || value < least || value > most)
    throw new ConfigError(`--${name} is "${text}"; it must be a whole number from ${least} to ${most}.`)
  return value
}

async function open(urls: Readonly<Record<'strapi' | 'octavo', URL>>, options: CompareOptions): Promise<CompareSession> {
  const callers = parseCallers(options)
  const timeout = parseInteger('timeout', options.timeout, 1, 600_000)
  const retries = parseInteger('retries', options.retries, 0, 10)
  const server = (url: URL) => openServer(url, { timeout, retries, maxResponseBytes })
  const servers = { strapi: server(urls.strapi), octavo: server(urls.octavo) }
  const pace = createPace(parseInteger('rate', options.rate, 1, 10_000))
  const concurrency = parseInteger('concurrency', options.concurrency, 1, 100)
  const show = parseInteger('show', options.show, 1, 1_000)
  const isIgnored = parseIgnoredPaths(options.ignore ?? [])
  await checkReachable(servers)
  const { prefix } = options
  const model = await findModel(servers, callers, prefix, options.project)
  return createSession({
    servers,
    callers,
    show,
    run: { model, prefix, maxResponseBytes, isIgnored, pace, concurrency },
  })
}

/** @throws ConfigError if one of the services is unreachable */
async function checkReachable(servers: CompareSession['servers']): Promise<void> {
  for (const side of ['strapi', 'octavo'] as const) {
    const outcome = await servers[side].ask({ ...toSentRequest(get('/_health'), { name: '', headers: { strapi: {}, octavo: {} } }, side) })
    const name = side === 'strapi' ? 'Strapi' : 'Octavo'
    if (outcome.kind === 'failure') throw new ConfigError(`${name} cannot be reached at ${servers[side].origin}: ${outcome.message}.`)
  }
}

/** Compares requests of a file, a log or the model. SIGINT ends the run with a report of the results so far. */
async function compareRequests(session: CompareSession, options: CompareOptions): Promise<CompareReport> {
  const most = parseInteger('limit', options.limit, 1, maxRequests)
  const given = await readRequests(options, session)
  const stop = stopSignal()
  const progress = showProgress(session)
  try {
    if (options.writes === true) await compareWrites(given ?? [], session)
    else
      await runAll(
        limitRequests(given ?? requestsFromModel(session, options.prefix), most, stop, session),
        session.servers,
        session.run,
        session.add,
      )
  } finally {
    clearInterval(progress)
  }
  return session.end(!stop.aborted)
}

/** Yields the first requests, until interrupted. */
async function* limitRequests(
  requests: readonly CallerRequest[] | AsyncIterable<CallerRequest>,
  most: number,
  stop: AbortSignal,
  session: CompareSession,
): AsyncGenerator<CallerRequest> {
  const isList = Array.isArray(requests)
  if (isList && requests.length > most) session.leave(`beyond --limit ${most}`, requests.length - most)
  let count = 0
  for await (const request of isList ? (requests.slice(0, most) as readonly CallerRequest[]) : requests) {
    if (stop.aborted || count === most)
      return session.leave(stop.aborted ? 'the rest, as the run was interrupted' : `the rest, beyond --limit ${most}`, 0)
    count += 1
    yield request
  }
}

async function compareWrites(requests: readonly CallerRequest[], session: CompareSession): Promise<void> {
  const { sharing, left } = await detectSharing(requests, session.servers)
  if (left !== null)
    process.stderr.write(`octavo: the draft ${left} was created in Octavo to find out about the databases, and could not be deleted.\n`)
  if (sharing === 'shared') throw new ConfigError('Both services have the same database: with --writes each needs a separate copy.')
  if (sharing === 'unknown') process.stderr.write('octavo: whether both services have the same database could not be found out.\n')
  await runWrites(requests, session.servers, session.run, session.add)
}

/** Aborted by the first SIGINT or SIGTERM; a second one ends the process. */
function stopSignal(): AbortSignal {
  const controller = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => controller.abort())
  return controller.signal
}

const progressInterval = 5_000

function showProgress(session: CompareSession): NodeJS.Timeout {
  let shown = 0
  const show = (): void => {
    if (session.count !== shown) process.stderr.write(`${session.count} compared …\n`)
    shown = session.count
  }
  return setInterval(show, progressInterval).unref()
}

/** Finds the model: from Octavo or Strapi if a caller may read it there, else from the project's schemas, else none. */
async function findModel(servers: Servers, callers: readonly ComparedCaller[], prefix: string, folder: string): Promise<KnownModel> {
  for (const side of ['octavo', 'strapi'] as const) {
    for (const caller of callers) {
      const read = (path: string) => jsonFrom(servers[side], get(`${prefix}/content-type-builder/${path}`), caller, side)
      const types = await read('content-types')
      const model = types === null ? null : modelFromResponses(types, await read('components'))
      if (model !== null && model.types.size > 0) return model
    }
  }
  try {
    checkProject(folder)
    return modelFromProject(await loadModel({ folder }))
  } catch {
    return noModel
  }
}

async function jsonFrom(server: Server, request: ComparedRequest, caller: ComparedCaller, side: 'strapi' | 'octavo'): Promise<unknown> {
  return parseBody(await server.ask(toSentRequest(request, caller, side)))
}

function parseBody(outcome: ServiceOutcome): unknown {
  if (outcome.kind === 'failure' || outcome.status !== 200 || outcome.body === null) return null
  try {
    return JSON.parse(outcome.body.toString('utf8'))
  } catch {
    return null
  }
}

interface SourceOptions {
  readonly requests?: string
  readonly log?: string
  readonly writes?: boolean
  readonly prefix: string
}

/** Requests of a file or log with their callers; null without either. The session counts omitted requests. */
async function readRequests(options: SourceOptions, session: CompareSession): Promise<readonly CallerRequest[] | null> {
  if (options.requests !== undefined) {
    const all = parseRequests(await readRequestLines(options.requests), options.requests)
    const requests = options.writes === true ? all : all.filter(isRead)
    if (requests.length < all.length) session.leave('requests that are not reads', all.length - requests.length)
    return withCallers(requests, session)
  }
  if (options.log === undefined) return null
  const log = createLogReader([options.prefix, '/uploads'], maxRequests)
  for await (const line of readLines(options.log)) log.add(line)
  const { requests, leftOut } = log.end()
  for (const [reason, count] of leftOut) session.leave(`${reason} (lines of the log)`, count)
  return withCallers(requests, session)
}

function withCallers(requests: readonly ComparedRequest[], session: CompareSession): readonly CallerRequest[] {
  const names = new Set(session.callers.map(({ name }) => name))
  for (const { as } of requests) if (as !== null && !names.has(as)) session.leave(`requests of ${as}: --as ${as}=<token> asks them`)
  return assignCallers(requests, session.callers)
}

/** Requests generated from the model. @throws ConfigError if the model is unknown */
async function* requestsFromModel(session: CompareSession, prefix: string): AsyncGenerator<CallerRequest> {
  const { callers, servers, run } = session
  if (run.model.types.size === 0) {
    throw new ConfigError(
      'There are no requests: --requests or --log names a file of them. To make them from the content model, run the command in the project (--project), or name a caller who may read the model, such as a token with full access.',
    )
  }
  const byName = new Map(callers.map((caller) => [caller.name, caller]))
  const look = async (path: string, caller: string): Promise<unknown> => {
    await run.pace()
    return jsonFrom(servers.strapi, get(path), byName.get(caller)!, 'strapi')
  }
  for await (const request of generateRequests(run.model, prefix, [...byName.keys()], look))
    yield { request, caller: byName.get(request.as!)! }
}

const readRequestLines = async (file: string): Promise<readonly string[]> => {
  const lines: string[] = []
  for await (const line of readLines(file)) {
    lines.push(line)
    if (lines.length > maxRequests) throw new ConfigError(`${file} has more than ${maxRequests} lines.`)
  }
  return lines
}

/** @throws ConfigError if the file cannot be read */
async function* readLines(file: string): AsyncGenerator<string> {
  const source = file === '-' ? process.stdin : createReadStream(file)
  try {
    yield* createInterface({ input: file.endsWith('.gz') ? source.pipe(createGunzip()) : source, crlfDelay: Number.POSITIVE_INFINITY })
  } catch (error) {
    throw new ConfigError(`${file} cannot be read (${(error as Error).message}).`)
  }
}

/** Files with their effects, by group; empty if the folder has no code or cannot be read. */
async function filesFor(groups: readonly Group[], { shapes }: KnownModel, folder: string): Promise<ReadonlyMap<Group, readonly string[]>> {
  if (groups.length === 0 || findCodeFiles(folder).length === 0) return new Map()
  const attributes = [...new Set([...shapes.values()].flatMap((shape) => Object.keys(shape.attributes)))]
  const { lines } = await readProjectCode({ folder, attributes, configured: notConfigured }).catch(
    (): ProjectCode => ({ lines: [], suggestions: [] }),
  )
  // Code that runs on every request is less likely to be the cause.
  const inOrder = [...lines].sort((one, other) => Number(isOnAll(one)) - Number(isOnAll(other)))
  return new Map(groups.map((group) => [group, inOrder.flatMap((line) => describeLine(line, group.subject))]))
}

const isOnAll = ({ on = [] }: CodeLine): boolean => on.includes('every request')

/** Describes a file whose code runs on routes of a type, or on every request, and has effects there. */
function describeLine({ path, on = [], does = [], isSettled }: CodeLine, uid: string): readonly string[] {
  const places = on.flatMap((place) =>
    place === 'every request' ? [place] : place.endsWith(` of ${uid}`) ? [place.slice(0, -` of ${uid}`.length)] : [],
  )
  return isSettled || places.length === 0 || does.length === 0 ? [] : [`${path} (${places.join(', ')}): ${does.join(', ')}`]
}
