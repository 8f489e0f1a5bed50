// Where the requests of `octavo compare` come from: a file, an access log, or the content model.
import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import { createGunzip } from 'node:zlib'
import { openLog } from '../../../packages/compare/access-log.js'
import type { ComparedCaller } from '../../../packages/compare/callers.js'
import { generateRequests } from '../../../packages/compare/generate.js'
import { type KnownModel, noModel, ofProject, ofResponses } from '../../../packages/compare/known-model.js'
import { type ComparedRequest, get, isRead } from '../../../packages/compare/request.js'
import { parseRequests } from '../../../packages/compare/request-file.js'
import { type Asked, type Servers, sentBy } from '../../../packages/compare/run.js'
import type { Server, ServiceOutcome } from '../../../packages/compare/server.js'
import type { CompareSession } from '../../../packages/compare/session.js'
import { askedBy } from '../../../packages/compare/writes.js'
import { compareLimits } from '../../foundation/config/limits.js'
import { ConfigError } from '../../foundation/errors/errors.js'
import { loadModel } from '../../model/schema/load.js'
import { checkProject } from './project-folder.js'

/** Finds the model: from Octavo or Strapi if a caller may read it there, else from the schemas of the project, else none. */
export async function findModel(servers: Servers, callers: readonly ComparedCaller[], prefix: string, folder: string): Promise<KnownModel> {
  for (const side of ['octavo', 'strapi'] as const) {
    for (const caller of callers) {
      const read = (path: string) => jsonFrom(servers[side], get(`${prefix}/content-type-builder/${path}`), caller, side)
      const types = await read('content-types')
      const model = types === null ? null : ofResponses(types, await read('components'))
      if (model !== null && model.types.size > 0) return model
    }
  }
  try {
    checkProject(folder)
    return ofProject(await loadModel({ folder }))
  } catch {
    return noModel
  }
}

async function jsonFrom(server: Server, request: ComparedRequest, caller: ComparedCaller, side: 'strapi' | 'octavo'): Promise<unknown> {
  return jsonOf(await server.ask(sentBy(request, caller, side)))
}

function jsonOf(outcome: ServiceOutcome): unknown {
  if (outcome.kind === 'failure' || outcome.status !== 200 || outcome.body === null) return null
  try {
    return JSON.parse(outcome.body.toString('utf8'))
  } catch {
    return null
  }
}

/** Options that say where requests come from. */
export interface SourceOptions {
  readonly requests?: string
  readonly log?: string
  readonly writes?: boolean
  readonly prefix: string
}

/** The requests of a file or log, with their callers; null if neither is given. Counts in the session what is left out. */
export async function givenRequests(options: SourceOptions, session: CompareSession): Promise<readonly Asked[] | null> {
  if (options.requests !== undefined) {
    const all = parseRequests(await linesOf(options.requests), options.requests)
    const requests = options.writes === true ? all : all.filter(isRead)
    if (requests.length < all.length) session.leave('requests that are not reads', all.length - requests.length)
    return withCallers(requests, session)
  }
  if (options.log === undefined) return null
  const log = openLog([options.prefix, '/uploads'], compareLimits.requests)
  for await (const line of readLines(options.log)) log.add(line)
  const { requests, leftOut } = log.end()
  for (const [reason, count] of leftOut) session.leave(`${reason} (lines of the log)`, count)
  return withCallers(requests, session)
}

function withCallers(requests: readonly ComparedRequest[], session: CompareSession): readonly Asked[] {
  const names = new Set(session.callers.map(({ name }) => name))
  for (const { as } of requests) if (as !== null && !names.has(as)) session.leave(`requests of ${as}: --as ${as}=<token> asks them`)
  return askedBy(requests, session.callers)
}

/** Requests made from the model. @throws ConfigError if the model is not known */
export async function* madeRequests(session: CompareSession, prefix: string): AsyncGenerator<Asked> {
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

const linesOf = async (file: string): Promise<readonly string[]> => {
  const lines: string[] = []
  for await (const line of readLines(file)) {
    lines.push(line)
    if (lines.length > compareLimits.requests) throw new ConfigError(`${file} has more than ${compareLimits.requests} lines.`)
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
