// Adds hints to responses in development: `details.hint` of errors, the header `Octavo-Hint` of all others. Loaded only if NODE_ENV is
// `development`.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { LRUCache } from 'lru-cache'
import type { Logger } from 'pino'
import type { Config } from '../../foundation/config/config.js'
import { ApiError } from '../../foundation/errors/errors.js'
import { fileType } from '../../model/schema/link.js'
import type { ContentType, Model } from '../../model/schema/types.js'
import { isObject, parseParameters } from '../../query/request.js'
import { isPreflight } from '../headers-and-cors.js'
import type { LoggedRequest, Reply, RequestContext } from '../request-context.js'
import {
  ignoredKeys,
  invalidKey,
  lostBlocks,
  missingData,
  missingTargets,
  nestedDocument,
  unreadBody,
  wrongAccount,
  wrongUpload,
  wrongValues,
} from './body-hints.js'
import {
  closedHeaders,
  closedOrigin,
  missingPermission,
  rateLimited,
  refusedByProject,
  refusedCredentials,
  unreadCredentials,
} from './caller-hints.js'
import { invalidName, leftOutOfPopulate } from './name-hints.js'
import {
  ineffectivePagination,
  lenientStatus,
  malformedParameters,
  unknownLocale,
  unknownParameters,
  unmatchedValue,
  wrongValue,
} from './parameter-hints.js'
import { missingDocument, missingUser, wrongPath } from './path-hints.js'
import type { Exchange, Hint } from './vocabulary.js'

/** Responses by their status; `key`: 400 with a key in its details, `value`: 400 without one. */
type ResponseCase = 'ok' | 'key' | 'value' | 400 | 401 | 403 | 404 | 405 | 429 | 'error'

/** All hints. The first one that applies to an error is its cause; a successful response can have several. */
const table: readonly (readonly [cases: readonly ResponseCase[], hint: Hint])[] = [
  [['ok', 'error'], closedHeaders],
  [['ok', 'error'], unreadCredentials],
  [[401], refusedCredentials],
  [[429], rateLimited],
  [['error'], missingPermission],
  [[403], refusedByProject],
  [[404, 405], wrongPath],
  [['ok', 404], missingDocument],
  [['ok'], missingUser],
  [[400], wrongAccount],
  [[400], wrongUpload],
  [[400], unreadBody],
  [[400], missingData],
  [['value'], nestedDocument],
  [['key'], invalidKey],
  [['error'], missingTargets],
  [[400], wrongValues],
  [['key'], unknownParameters],
  [['key'], invalidName],
  [['ok'], lostBlocks],
  [['ok'], ignoredKeys],
  [['ok'], unknownParameters],
  [['ok'], ineffectivePagination],
  [['ok'], lenientStatus],
  [['ok'], unknownLocale],
  [['ok', 'value'], wrongValue],
  [['value'], malformedParameters],
  [['error'], unknownLocale],
  [['ok'], unmatchedValue],
  [['ok'], leftOutOfPopulate],
  [['ok'], closedOrigin],
]

function isCase({ status, error, details }: Exchange, one: ResponseCase): boolean {
  if (one === 'ok') return status < 300 && error === null
  if (one === 'error') return status >= 400
  return status === (typeof one === 'number' ? one : 400) && (typeof one === 'number' || 'key' in details === (one === 'key'))
}

const maxHints = 3
const maxLength = 900
const quietTimeMs = 60_000
const maxRemembered = 500

async function explain(exchange: Exchange): Promise<string | null> {
  const max = exchange.error === null && exchange.status < 400 ? maxHints : 1
  const found: string[] = []
  for (const [cases, hint] of table) {
    if (found.length === max) break
    const one = cases.some((each) => isCase(exchange, each)) ? await hint(exchange) : null
    if (one !== null) found.push(one)
  }
  const text = found.join(' | ')
  return text === '' ? null : text.length > maxLength ? `${text.slice(0, maxLength)}…` : text
}

/** Notes of a request until its response is decided. */
interface RequestNotes {
  context: RequestContext | null
  body: { readonly value: unknown } | null
  wroteNothing: boolean
  error: ApiError | null
}

export interface Hints {
  /** Returns a context that notes the input and outcome of its route. */
  watch(request: FastifyRequest, context: RequestContext): RequestContext
  /** Adds the hint to a result that bypasses the hooks of the HTTP library. */
  beforeBytes(request: FastifyRequest, reply: FastifyReply, result: Reply): Promise<void>
}

/** Adds hints to a server whose routes are not registered yet; each hint is logged too, as pages often cannot see headers. */
export function addHints(app: FastifyInstance, config: Config, model: () => Model, logger: Pick<Logger, 'warn' | 'error'>): Hints {
  const noted = new WeakMap<FastifyRequest, RequestNotes>()
  const logged = new LRUCache<string, true>({ max: maxRemembered, ttl: quietTimeMs })

  function getNotes(request: FastifyRequest): RequestNotes {
    const notes = noted.get(request) ?? { context: null, body: null, wroteNothing: false, error: null }
    noted.set(request, notes)
    return notes
  }

  async function hintFor(request: FastifyRequest, status: number): Promise<string | null> {
    const notes = getNotes(request)
    // Responses of custom routes are for the project to explain, except why a caller was refused.
    const isCustom = request.routeOptions.config?.isCustom === true
    if (isCustom && notes.error?.status !== 401 && notes.error?.situation?.kind !== 'permission') return null
    try {
      const exchange = toExchange(request, status, notes, config, notes.context?.installation.model ?? model())
      const hint = await explain(exchange)
      const { method, path } = exchange
      if (hint !== null && !logged.has(`${method} ${path} ${hint}`)) {
        logged.set(`${method} ${path} ${hint}`, true)
        logger.warn({ method, path, status, hint }, `hint: ${hint}`)
      }
      return hint
    } catch (error) {
      logger.error({ err: error }, 'a hint failed')
      return null
    }
  }

  app.addHook('onError', async (request, _reply, error) => {
    if (error instanceof ApiError) getNotes(request).error = error
  })
  app.addHook('onSend', async (request, reply, payload) => {
    const { url } = request.routeOptions
    const isExplained =
      request.method === 'OPTIONS'
        ? isPreflight(request)
        : url === undefined ||
          url.startsWith(`${config.rest.prefix}/`) ||
          url === '/uploads/*' ||
          (/^\/admin(?:\/\*)?$/.test(url) && reply.statusCode === 404)
    const hint = isExplained ? await hintFor(request, reply.statusCode) : null
    if (hint === null) return payload
    const withHint = reply.statusCode >= 400 && request.method !== 'HEAD' ? addToError(payload, hint) : null
    if (withHint === null) addHeader(reply, hint)
    return withHint ?? payload
  })

  return {
    watch: (request, context) => {
      const notes = getNotes(request)
      notes.context = context
      const body = async (): Promise<unknown> => {
        notes.body = { value: undefined }
        const value = await context.body()
        notes.body = { value }
        return value
      }
      const writes: RequestContext['writes'] = async (operation) => {
        const outcome = await context.writes(operation)
        notes.wroteNothing = outcome === null
        return outcome
      }
      return { ...context, body, writes }
    },
    beforeBytes: async (request, reply, { status }) => {
      const hint = await hintFor(request, status)
      if (hint !== null) addHeader(reply, hint)
    },
  }
}

function toExchange(request: FastifyRequest, status: number, notes: RequestNotes, config: Config, model: Model): Exchange {
  const [path = '', ...query] = (request.raw.url ?? '').split('?')
  const { documentId, id } = (request.params ?? {}) as { readonly documentId?: string; readonly id?: string }
  const { context, body, error, wroteNothing } = notes
  const type = findType(request, config, model)
  const sent = body?.value
  return {
    method: request.method,
    path: decode(path),
    parameters: parseParameters(query.join('?'), config.rest.arrayLimit),
    headers: request.headers,
    status,
    error,
    details: error?.details ?? {},
    config,
    model,
    type,
    documentId: documentId ?? id ?? null,
    route: context === null ? null : { caller: context.caller, access: context.access, documents: context.documents, body, wroteNothing },
    data: type?.exposed === true && isObject(sent) && isObject(sent.data) ? sent.data : null,
  }
}

/** The content-type of a route; users and files have their own routes. */
function findType(request: FastifyRequest, { rest }: Config, model: Model): ContentType | null {
  const { uid } = request as LoggedRequest
  if (uid !== undefined) return model.types.get(uid) ?? null
  const route = (request.routeOptions.url ?? '').slice(rest.prefix.length)
  const { name } = (request.params ?? {}) as { readonly name?: string }
  if (route.startsWith('/:name')) return model.paths.get((name ?? '').toLowerCase()) ?? null
  if (/^\/users(?:\/|$)/.test(route)) return model.types.get('plugin::users-permissions.user') ?? null
  return route.startsWith('/upload') ? (model.types.get(fileType) ?? null) : null
}

function decode(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}

/** Adds a hint to the body of an error; null if the payload is not one. */
function addToError(payload: unknown, hint: string): string | null {
  if (typeof payload !== 'string' || !payload.startsWith('{')) return null
  const body = JSON.parse(payload) as { readonly error?: { readonly details?: object } }
  return body.error === undefined ? null : JSON.stringify({ ...body, error: { ...body.error, details: { ...body.error.details, hint } } })
}

/** Headers are ASCII: other characters are escaped as in JSON. */
function addHeader(reply: FastifyReply, hint: string): void {
  const ascii = hint.replace(/[^\x20-\x7e]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
  reply.header('octavo-hint', ascii).header('access-control-expose-headers', 'octavo-hint')
}
