// Sends requests to both services at a limited rate and judges the responses. A difference counts only if a second request confirms it.
import { pause } from '../../src/foundation/runtime/clock.js'
import type { ComparedCaller, ServiceName } from './callers.js'
import { isAccepted, type Judgement, type JudgeOptions, judge } from './causes.js'
import { isRecord, type JsonPath } from './differences.js'
import { type ComparedRequest, getPath } from './requests.js'
import { createPair, type PairOptions } from './response-pair.js'
import type { SentRequest, Server, ServiceAnswer, ServiceOutcome } from './server.js'

export interface Servers {
  readonly strapi: Server
  readonly octavo: Server
}

export type PairResult =
  | {
      readonly kind: 'compared'
      readonly judgement: Judgement
      readonly milliseconds: { readonly strapi: number; readonly octavo: number }
    }
  | {
      readonly kind: 'failed'
      readonly request: ComparedRequest
      readonly caller: string
      readonly side: ServiceName
      readonly message: string
    }

export interface RunOptions extends JudgeOptions, PairOptions {
  readonly pace: Pace
  /** Maximum number of concurrent pairs. */
  readonly concurrency: number
}

/** Milliseconds before a differing request is repeated: content may have changed between the two responses. */
const repeatDelayMs = 200

export interface CallerRequest {
  readonly request: ComparedRequest
  readonly caller: ComparedCaller
}

/** Compares all requests and reports each result immediately. */
export async function runAll(
  requests: AsyncIterable<CallerRequest>,
  servers: Servers,
  options: RunOptions,
  report: (result: PairResult) => void,
): Promise<void> {
  const iterator = requests[Symbol.asyncIterator]()
  let turn = 0
  const work = async (): Promise<void> => {
    for (let next = await iterator.next(); next.done !== true; next = await iterator.next())
      report(await compareRequest(next.value, servers, options, turn++))
  }
  await Promise.all(Array.from({ length: options.concurrency }, work))
}

async function compareRequest(
  { request, caller }: CallerRequest,
  servers: Servers,
  options: RunOptions,
  turn: number,
): Promise<PairResult> {
  const first = await askBoth(request, caller, servers, options, turn)
  if (first.kind === 'failed' || isAccepted(first.judgement)) return first
  await pause(repeatDelayMs)
  const second = await askBoth(request, caller, servers, options, turn + 1)
  return second.kind === 'failed' ? first : { ...second, milliseconds: first.milliseconds }
}

/** Sends a request to both services, alternating which one is first, so that neither always benefits from warm caches. */
async function askBoth(
  request: ComparedRequest,
  caller: ComparedCaller,
  servers: Servers,
  options: RunOptions,
  turn: number,
): Promise<PairResult> {
  await options.pace()
  const ask = (side: ServiceName): Promise<ServiceOutcome> => servers[side].ask(toSentRequest(request, caller, side))
  const isStrapiFirst = turn % 2 === 0
  const first = await ask(isStrapiFirst ? 'strapi' : 'octavo')
  const second = await ask(isStrapiFirst ? 'octavo' : 'strapi')
  const [strapi, octavo] = isStrapiFirst ? [first, second] : [second, first]
  return judgeOutcomes(request, caller.name, { strapi, octavo }, options)
}

export async function judgeOutcomes(
  request: ComparedRequest,
  caller: string,
  { strapi, octavo }: Readonly<Record<ServiceName, ServiceOutcome>>,
  options: JudgeOptions & PairOptions,
): Promise<PairResult> {
  if (strapi.kind === 'failure') return { kind: 'failed', request, caller, side: 'strapi', message: strapi.message }
  if (octavo.kind === 'failure') return { kind: 'failed', request, caller, side: 'octavo', message: octavo.message }
  const pair = await createPair(request, caller, { strapi, octavo }, options)
  const milliseconds = { strapi: strapi.milliseconds, octavo: octavo.milliseconds }
  return { kind: 'compared', judgement: judge(pair, options), milliseconds }
}

/** The request for one service: its headers override those of the caller. */
export const toSentRequest = (
  { method, path, headers, body }: ComparedRequest,
  caller: ComparedCaller,
  side: ServiceName,
): SentRequest => ({
  method,
  path,
  body,
  headers: { ...caller.headers[side], ...headers },
})

/** Resolves when the next request may be sent. */
export type Pace = () => Promise<void>

/** Limits requests per second. */
export function createPace(rate: number): Pace {
  const interval = 1_000 / rate
  let next = 0
  return async () => {
    const now = performance.now()
    const slot = Math.max(now, next)
    next = slot + interval
    if (slot > now) await pause(slot - now)
  }
}

/** Keys whose values differ between two databases. */
const generatedKeys = new Set([
  'id',
  'createdAt',
  'updatedAt',
  'publishedAt',
  'lastUsedAt',
  'jwt',
  'refreshToken',
  'accessKey',
  'hash',
  'url',
])

/** True if each service generates its own value at a path. */
export const isGenerated = (path: JsonPath): boolean => generatedKeys.has(String(path.at(-1)))

/** Document ids of Strapi and the matching ids of Octavo. */
export interface Ids {
  /** Matches the ids in two responses to one write. */
  learn(strapi: unknown, octavo: unknown): void
  /** Replaces Strapi's ids in a value by Octavo's. */
  translate(value: unknown): unknown
}

function createIdMap(): Ids {
  const known = new Map<string, string>()
  const learn = (strapi: unknown, octavo: unknown): void => {
    if (Array.isArray(strapi) && Array.isArray(octavo)) for (const [index, entry] of strapi.entries()) learn(entry, octavo[index])
    else if (isRecord(strapi) && isRecord(octavo)) {
      const { documentId } = strapi
      if (typeof documentId === 'string' && typeof octavo.documentId === 'string' && !known.has(documentId))
        known.set(documentId, octavo.documentId)
      for (const [key, value] of Object.entries(strapi)) learn(value, octavo[key])
    }
  }
  const translate = (value: unknown): unknown => {
    if (typeof value === 'string') return known.get(value) ?? value
    if (Array.isArray(value)) return value.map(translate)
    return isRecord(value) ? Object.fromEntries(Object.entries(value).map(([key, below]) => [key, translate(below)])) : value
  }
  return { learn, translate }
}

/** Whether the services share one database. `unknown`: the check requires a request that creates a document. */
export type Sharing = 'shared' | 'separate' | 'unknown'

/** The outcome, and the created document if Octavo did not let the caller delete it. */
interface SharingCheck {
  readonly sharing: Sharing
  /** Path of the remaining document; null if there is none. */
  readonly left: string | null
}

/** Detects whether both services share one database: creates a draft in Octavo, looks for it in Strapi, and deletes it. */
export async function detectSharing(requests: readonly CallerRequest[], servers: Servers): Promise<SharingCheck> {
  const creating = requests.find(({ request: { method, body } }) => method === 'POST' && bodyData(body) !== null)
  if (creating === undefined) return { sharing: 'unknown', left: null }
  const { request, caller } = creating
  const ask = (side: ServiceName, method: string, path: string, body: string | null) =>
    servers[side].ask(toSentRequest({ ...request, method, path, body }, caller, side))
  const list = getPath(request.path)
  const created = parseJson(await ask('octavo', 'POST', `${list}?status=draft`, request.body))
  const document = isRecord(created) && isRecord(created.data) ? created.data.documentId : null
  if (typeof document !== 'string') return { sharing: 'unknown', left: null }
  const path = `${list}/${document}`
  const found = await ask('strapi', 'GET', `${path}?status=draft`, null)
  const deleted = await ask('octavo', 'DELETE', path, null)
  const isDeleted = deleted.kind === 'answer' && deleted.status === 204
  const status = found.kind === 'answer' ? found.status : 0
  return { sharing: status === 200 ? 'shared' : status === 404 ? 'separate' : 'unknown', left: isDeleted ? null : path }
}

function bodyData(body: string | null): unknown {
  try {
    const parsed: unknown = JSON.parse(body ?? 'null')
    return isRecord(parsed) && isRecord(parsed.data) ? parsed.data : null
  } catch {
    return null
  }
}

/** Sends all requests to both services, in order. */
export async function runWrites(
  requests: readonly CallerRequest[],
  servers: Servers,
  options: RunOptions,
  report: (result: PairResult) => void,
): Promise<void> {
  const ids = createIdMap()
  const answers: Readonly<Record<ServiceName, Map<string, unknown>>> = { strapi: new Map(), octavo: new Map() }
  const isIgnored: RunOptions['isIgnored'] = (path) => isGenerated(path) || options.isIgnored(path)
  for (const { request, caller } of requests) {
    await options.pace()
    const ask = async (side: ServiceName): Promise<ServiceOutcome> => {
      const outcome = await servers[side].ask(toSentRequest(fillReferences(request, answers[side]), caller, side))
      if (request.name !== null) answers[side].set(request.name, parseJson(outcome))
      return outcome
    }
    const strapi = await ask('strapi')
    const octavo = await ask('octavo')
    ids.learn(parseJson(strapi), parseJson(octavo))
    report(await judgeOutcomes(request, caller.name, { strapi: withBody(strapi, ids.translate), octavo }, { ...options, isIgnored }))
  }
}

/** Replaces `{{name.path}}` by values from earlier responses. */
function fillReferences(request: ComparedRequest, answers: ReadonlyMap<string, unknown>): ComparedRequest {
  const fill = (text: string): string =>
    text.replace(/\{\{([\w-]+)((?:\.[\w-]+)*)\}\}/g, (whole, name: string, path: string) => {
      let found: unknown = answers.get(name)
      for (const key of path.split('.').slice(1))
        found = typeof found === 'object' && found !== null ? (found as Record<string, unknown>)[key] : undefined
      return typeof found === 'string' || typeof found === 'number' ? String(found) : whole
    })
  return { ...request, path: fill(request.path), body: request.body === null ? null : fill(request.body) }
}

function parseJson(outcome: ServiceOutcome): unknown {
  if (outcome.kind === 'failure' || outcome.body === null) return null
  try {
    return JSON.parse(outcome.body.toString('utf8'))
  } catch {
    return null
  }
}

function withBody(outcome: ServiceOutcome, change: (value: unknown) => unknown): ServiceOutcome {
  const value = parseJson(outcome)
  return outcome.kind === 'failure' || value === null
    ? outcome
    : ({ ...outcome, body: Buffer.from(JSON.stringify(change(value))) } satisfies ServiceAnswer)
}

/** Assigns callers: the named one, or each caller in turn. */
export function assignCallers(requests: readonly ComparedRequest[], callers: readonly ComparedCaller[]): readonly CallerRequest[] {
  return requests.flatMap((request) =>
    callers.filter(({ name }) => request.as === null || request.as === name).map((caller) => ({ request, caller })),
  )
}
