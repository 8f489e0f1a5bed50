// Asks both services each request, at a bounded rate, and judges the responses. What differs is asked again before it counts.
import { pause } from '../../src/foundation/runtime/clock.js'
import type { ComparedCaller, ServiceName } from './callers.js'
import { isAccepted, type Judgement, type JudgeOptions, judge } from './judge.js'
import type { Pace } from './pace.js'
import { type PairOptions, pairOf } from './pair.js'
import type { ComparedRequest } from './request.js'
import type { SentRequest, Server, ServiceOutcome } from './server.js'

/** The two services. */
export interface Servers {
  readonly strapi: Server
  readonly octavo: Server
}

/** The result of one request. */
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

/** How a run goes. */
export interface RunOptions extends JudgeOptions, PairOptions {
  readonly pace: Pace
  /** Pairs of requests at the same time. */
  readonly concurrency: number
}

/** Milliseconds before a request that differs is asked again: content may have changed between the two responses. */
const secondLook = 200

/** A request with the caller who makes it. */
export interface Asked {
  readonly request: ComparedRequest
  readonly caller: ComparedCaller
}

/** Compares all requests and reports each result as it is known. */
export async function runAll(
  requests: AsyncIterable<Asked>,
  servers: Servers,
  options: RunOptions,
  report: (result: PairResult) => void,
): Promise<void> {
  const iterator = requests[Symbol.asyncIterator]()
  let turn = 0
  const work = async (): Promise<void> => {
    for (let next = await iterator.next(); next.done !== true; next = await iterator.next())
      report(await compared(next.value, servers, options, turn++))
  }
  await Promise.all(Array.from({ length: options.concurrency }, work))
}

async function compared({ request, caller }: Asked, servers: Servers, options: RunOptions, turn: number): Promise<PairResult> {
  const first = await askBoth(request, caller, servers, options, turn)
  if (first.kind === 'failed' || isAccepted(first.judgement)) return first
  await pause(secondLook)
  const second = await askBoth(request, caller, servers, options, turn + 1)
  return second.kind === 'failed' ? first : { ...second, milliseconds: first.milliseconds }
}

/** Asks both, by turns Strapi or Octavo first, so that neither always finds the caches of the machine warm. */
async function askBoth(
  request: ComparedRequest,
  caller: ComparedCaller,
  servers: Servers,
  options: RunOptions,
  turn: number,
): Promise<PairResult> {
  await options.pace()
  const ask = (side: ServiceName): Promise<ServiceOutcome> => servers[side].ask(sentBy(request, caller, side))
  const isStrapiFirst = turn % 2 === 0
  const first = await ask(isStrapiFirst ? 'strapi' : 'octavo')
  const second = await ask(isStrapiFirst ? 'octavo' : 'strapi')
  const [strapi, octavo] = isStrapiFirst ? [first, second] : [second, first]
  return resultOf(request, caller.name, { strapi, octavo }, options)
}

/** Judges two outcomes. */
export async function resultOf(
  request: ComparedRequest,
  caller: string,
  { strapi, octavo }: Readonly<Record<ServiceName, ServiceOutcome>>,
  options: JudgeOptions & PairOptions,
): Promise<PairResult> {
  if (strapi.kind === 'failure') return { kind: 'failed', request, caller, side: 'strapi', message: strapi.message }
  if (octavo.kind === 'failure') return { kind: 'failed', request, caller, side: 'octavo', message: octavo.message }
  const pair = await pairOf(request, caller, { strapi, octavo }, options)
  const milliseconds = { strapi: strapi.milliseconds, octavo: octavo.milliseconds }
  return { kind: 'compared', judgement: judge(pair, options), milliseconds }
}

/** The request as a service gets it: headers of the request win over those of the caller. */
export const sentBy = ({ method, path, headers, body }: ComparedRequest, caller: ComparedCaller, side: ServiceName): SentRequest => ({
  ...{ method, path, body },
  headers: { ...caller.headers[side], ...headers },
})
