// Compares requests that write: one after the other, each service on a database of its own, which is found out before anything is sent.
import type { ComparedCaller, ServiceName } from './callers.js'
import { isRecord } from './difference.js'
import { isMadeUp, openIds } from './made-up.js'
import { type ComparedRequest, pathOf } from './request.js'
import { type Asked, type PairResult, type RunOptions, resultOf, type Servers, sentBy } from './run.js'
import type { ServiceAnswer, ServiceOutcome } from './server.js'

/** Whether the two services have one database. `unknown`: no request creates a document by which it could be found out. */
export type Sharing = 'shared' | 'separate' | 'unknown'

/** A document that was created to find out, and that Octavo did not let the caller delete. */
export interface Left {
  readonly sharing: Sharing
  /** Its path; null if nothing is left. */
  readonly left: string | null
}

/**
 * Finds out whether both services have one database: creates a draft through Octavo, by the first request that creates a document, looks
 * for it in Strapi, and deletes it.
 */
export async function sharingOf(requests: readonly Asked[], servers: Servers): Promise<Left> {
  const creating = requests.find(({ request: { method, body } }) => method === 'POST' && bodyData(body) !== null)
  if (creating === undefined) return { sharing: 'unknown', left: null }
  const { request, caller } = creating
  const ask = (side: ServiceName, method: string, path: string, body: string | null) =>
    servers[side].ask(sentBy({ ...request, method, path, body }, caller, side))
  const list = pathOf(request.path)
  const created = jsonOf(await ask('octavo', 'POST', `${list}?status=draft`, request.body))
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

/** Sends all requests to both services, in their order. */
export async function runWrites(
  requests: readonly Asked[],
  servers: Servers,
  options: RunOptions,
  report: (result: PairResult) => void,
): Promise<void> {
  const ids = openIds()
  const answers: Readonly<Record<ServiceName, Map<string, unknown>>> = { strapi: new Map(), octavo: new Map() }
  const isIgnored: RunOptions['isIgnored'] = (path) => isMadeUp(path) || options.isIgnored(path)
  for (const { request, caller } of requests) {
    await options.pace()
    const ask = async (side: ServiceName): Promise<ServiceOutcome> => {
      const outcome = await servers[side].ask(sentBy(filled(request, answers[side]), caller, side))
      if (request.name !== null) answers[side].set(request.name, jsonOf(outcome))
      return outcome
    }
    const [strapi, octavo] = [await ask('strapi'), await ask('octavo')]
    ids.learn(jsonOf(strapi), jsonOf(octavo))
    report(await resultOf(request, caller.name, { strapi: withBody(strapi, ids.translate), octavo }, { ...options, isIgnored }))
  }
}

/** The request with the values of earlier responses in place of `{{name.path}}`. */
function filled(request: ComparedRequest, answers: ReadonlyMap<string, unknown>): ComparedRequest {
  const fill = (text: string): string =>
    text.replace(/\{\{([\w-]+)((?:\.[\w-]+)*)\}\}/g, (whole, name: string, path: string) => {
      let found: unknown = answers.get(name)
      for (const key of path.split('.').slice(1))
        found = typeof found === 'object' && found !== null ? (found as Record<string, unknown>)[key] : undefined
      return typeof found === 'string' || typeof found === 'number' ? String(found) : whole
    })
  return { ...request, path: fill(request.path), body: request.body === null ? null : fill(request.body) }
}

function jsonOf(outcome: ServiceOutcome): unknown {
  if (outcome.kind === 'failure' || outcome.body === null) return null
  try {
    return JSON.parse(outcome.body.toString('utf8'))
  } catch {
    return null
  }
}

function withBody(outcome: ServiceOutcome, change: (value: unknown) => unknown): ServiceOutcome {
  const value = jsonOf(outcome)
  return outcome.kind === 'failure' || value === null
    ? outcome
    : ({ ...outcome, body: Buffer.from(JSON.stringify(change(value))) } satisfies ServiceAnswer)
}

/** The requests with their callers: those of one caller as that one, the others once for each. */
export function askedBy(requests: readonly ComparedRequest[], callers: readonly ComparedCaller[]): readonly Asked[] {
  return requests.flatMap((request) =>
    callers.filter(({ name }) => request.as === null || request.as === name).map((caller) => ({ request, caller })),
  )
}
