// Adds hints to responses: `details.hint` of errors, the header `Octavo-Hint` of all others. Nothing of this is loaded or called unless
// NODE_ENV is `development`.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Config } from '../foundation/config/config.js'
import { ApiError } from '../foundation/errors/errors.js'
import { fileType } from '../model/schema/link.js'
import type { ContentType, Model } from '../model/schema/types.js'
import { isPreflight } from './headers-and-cors.js'
import type { RawExchange, ServedRequest } from './hints/exchange.js'
import type { Hints } from './hints/hints.js'
import type { Reply, RequestContext } from './request-context.js'
import type { LoggedRequest } from './request-log.js'

/** Hints for the requests of a server. */
export interface Hinting {
  /** Returns the context of a request, from which hints learn what its route reads and does. */
  watch(request: FastifyRequest, context: RequestContext): RequestContext
  /** Adds the hint to a result that is sent past the hooks of the HTTP library. */
  beforeBytes(request: FastifyRequest, reply: FastifyReply, result: Reply): Promise<void>
}

/** What is noted of a request until its response is decided. */
interface Notes {
  context: RequestContext | null
  body: ServedRequest['body']
  wroteNothing: boolean
  error: ApiError | null
}

/** The header of hints, and the header by which pages of other origins may read it. */
const [header, exposed] = ['octavo-hint', 'access-control-expose-headers']

/** Opens hints for a server, before its routes are registered. */
export function openHinting(app: FastifyInstance, hints: Hints, config: Config, model: () => Model): Hinting {
  const noted = new WeakMap<FastifyRequest, Notes>()
  const notesOf = (request: FastifyRequest): Notes => {
    const notes = noted.get(request) ?? { context: null, body: null, wroteNothing: false, error: null }
    noted.set(request, notes)
    return notes
  }

  const explain = (request: FastifyRequest, reply: FastifyReply): Promise<string | null> =>
    hints.explain(exchangeOf(request, reply.statusCode, notesOf(request), config, model()))

  app.addHook('onError', async (request, _reply, error) => {
    if (error instanceof ApiError) notesOf(request).error = error
  })
  app.addHook('onSend', async (request, reply, payload) => {
    if (!isExplained(request, config) || isOfProject(request, notesOf(request))) return payload
    const hint = await explain(request, reply)
    if (hint === null) return payload
    const withHint = reply.statusCode >= 400 && request.method !== 'HEAD' ? addToError(payload, hint) : null
    if (withHint === null) addHeader(reply, hint)
    return withHint ?? payload
  })

  return {
    watch: (request, context) => {
      const notes = notesOf(request)
      notes.context = context
      return {
        ...context,
        body: async () => {
          notes.body = { value: undefined }
          const value = await context.body()
          notes.body = { value }
          return value
        },
        writes: async (asked) => {
          const outcome = await context.writes(asked)
          notes.wroteNothing = outcome === null
          return outcome
        },
      }
    },
    beforeBytes: async (request, reply, { status }) => {
      if (isOfProject(request, notesOf(request))) return
      const hint = await explain(request, reply.status(status))
      if (hint !== null) addHeader(reply, hint)
    },
  }
}

/** Requests to the API and to paths that do not exist, and preflights that a browser will not follow. */
const isExplained = (request: FastifyRequest, { rest }: Config): boolean => {
  const { url } = request.routeOptions
  if (request.method === 'OPTIONS') return isPreflight(request)
  return url === undefined || url.startsWith(`${rest.prefix}/`) || url === '/uploads/*'
}

/** Responses of custom routes are for the project to explain, but not why a caller was refused. */
const isOfProject = ({ routeOptions }: FastifyRequest, { error }: Notes): boolean =>
  routeOptions.config?.isCustom === true && error?.status !== 401 && error?.situation?.kind !== 'permission'

function exchangeOf(request: FastifyRequest, status: number, notes: Notes, config: Config, model: Model): RawExchange {
  const [path = '', ...query] = (request.raw.url ?? '').split('?')
  const { documentId, id } = (request.params ?? {}) as { readonly documentId?: string; readonly id?: string }
  const { context } = notes
  return {
    method: request.method,
    path: decoded(path),
    query: query.join('?'),
    headers: request.headers,
    status,
    error: notes.error,
    config,
    model: context?.installation.model ?? model,
    type: typeOf(request, config, context?.installation.model ?? model),
    documentId: documentId ?? id ?? null,
    asked: context === null ? null : { caller: context.caller, access: context.access, documents: context.documents, ...notes },
  }
}

/** The content-type that a route is about: users and files have routes of their own. */
function typeOf(request: FastifyRequest, { rest }: Config, model: Model): ContentType | null {
  const { uid } = request as LoggedRequest
  if (uid !== undefined) return model.types.get(uid) ?? null
  const route = (request.routeOptions.url ?? '').slice(rest.prefix.length)
  const { name } = (request.params ?? {}) as { readonly name?: string }
  if (route.startsWith('/:name')) return model.paths.get((name ?? '').toLowerCase()) ?? null
  if (/^\/users(?:\/|$)/.test(route)) return model.types.get('plugin::users-permissions.user') ?? null
  return route.startsWith('/upload') ? (model.types.get(fileType) ?? null) : null
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}

/** Adds a hint to the body of an error; null if the payload is none. */
function addToError(payload: unknown, hint: string): string | null {
  if (typeof payload !== 'string' || !payload.startsWith('{')) return null
  const body = JSON.parse(payload) as { readonly error?: { readonly details?: object } }
  return body.error === undefined ? null : JSON.stringify({ ...body, error: { ...body.error, details: { ...body.error.details, hint } } })
}

/** Headers are ASCII: other characters are written as in JSON. */
function addHeader(reply: FastifyReply, hint: string): void {
  const ascii = hint.replace(/[^\x20-\x7e]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
  reply.header(header, ascii).header(exposed, header)
}
