// Runs a custom route: validates its input, calls its code for a limited time, and converts what it returns.
import type { ServerResponse } from 'node:http'
import type { FastifyBaseLogger } from 'fastify'
import { theProject } from '../../../content/documents/actor.js'
import { answerOf } from '../../../content/documents/code-errors.js'
import { ApiError } from '../../../foundation/errors/errors.js'
import type { Grants } from '../../../foundation/grants.js'
import type { CodeLog } from '../../../foundation/public/code-log.js'
import type { CustomRoute, RouteCall } from '../../../foundation/public/routes.js'
import type { StandardSchema } from '../../../foundation/public/standard-schema.js'
import { codeLog } from '../../../foundation/runtime/code-log.js'
import { named, type RunningCode, runCode } from '../../../foundation/runtime/project-code.js'
import type { ContentServices } from '../../../project/code/content-service.js'
import { onceClosed } from '../../once-closed.js'
import type { ByteSource, Reply, RequestContext } from '../../request-context.js'
import { bodyOf, queryOf } from './input.js'
import { discardResult, replyOf } from './result.js'
import { type InputSource, validated } from './validation.js'

/** What a route is run with. */
export interface RouteRunOptions {
  readonly services: ContentServices
  /** Resolves to the caller's grants within its scopes. */
  readonly grants: () => Promise<Grants>
  /** The log of the request. */
  readonly log: FastifyBaseLogger
  readonly response: ServerResponse
  /** Aborted when the service stops. */
  readonly stopping: AbortSignal
}

/** The name of a route in messages. */
export const nameOfRoute = ({ method, path }: CustomRoute): string => `the route ${method} ${path}`

/** Runs a route for a request whose caller may call it. @throws ApiError as the response; Error for a fault of its code */
export async function runRoute(route: CustomRoute, context: RequestContext, options: RouteRunOptions): Promise<Reply> {
  const { limits } = context.config
  const code: RunningCode = { name: nameOfRoute(route), requestId: context.asker.requestId }
  const own = async <Result>(work: (signal: AbortSignal) => Result | Promise<Result>): Promise<Result> => {
    try {
      return await runCode(code, limits.routeTimeout, work)
    } catch (error) {
      throw answerOf(code.name, error)
    }
  }
  const check = (schema: StandardSchema | undefined, value: unknown, source: InputSource): Promise<unknown> =>
    schema === undefined ? Promise.resolve(value) : own(() => validated(schema, value, source))
  const params = await check(route.params, { ...context.params }, 'params')
  const query = await check(route.query, queryOf(context.query), 'query')
  // The time for a body to arrive is not the route's.
  const given = await bodyOf(route.body, context)
  const body = typeof route.body === 'string' ? given : await check(route.body, given, 'body')
  const input = { params, query, body } as Pick<RouteCall, 'params' | 'query' | 'body'>
  const lasting = watchClient(options.response)
  const result = await own(async (timeout) => {
    timeout.addEventListener('abort', () => lasting.abort(timeout.reason))
    const returned = await route.handle({ ...callOf(context, options, code), ...input, signal: lasting.signal })
    // Nobody waits for a result that comes after the response.
    if (timeout.aborted) discardResult(returned)
    return returned
  })
  const reply = replyOf(code.name, result, limits.answerBytes)
  return reply.source === undefined ? reply : { ...reply, source: inCode(code, reply.source) }
}

/** What a route is told and given apart from its input. */
function callOf(context: RequestContext, { services, grants, log, stopping }: RouteRunOptions, code: RunningCode) {
  const { asker, caller, request, address } = context
  return {
    ...services({ caller: asker.caller, grants, requestId: asker.requestId, depth: 0 }),
    unrestricted: services(theProject(0, asker.requestId)),
    caller: asker.caller,
    may: (action: string) => caller.grants.may(action),
    request: { id: code.requestId!, method: request.method!, url: request.url!, headers: request.headers, ip: address },
    log: codeLog(log, code.name) satisfies CodeLog,
    stopping,
  }
}

/** A signal that is aborted when the client closes the connection before it has the response. */
function watchClient(response: ServerResponse): AbortController {
  const lasting = new AbortController()
  const leave = (): void => {
    if (!response.writableFinished) lasting.abort(new ApiError('ClientClosedRequestError', 'The client closed the connection'))
  }
  onceClosed(response, leave)
  return lasting
}

/** A stream whose code runs under the name of its route. */
const inCode = (code: RunningCode, source: ByteSource): ByteSource => ({
  next: () => named(code, source.next),
  cancel: () => named(code, source.cancel),
})
