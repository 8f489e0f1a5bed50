// The parts of octavo.config about what happens around changes: hooks, events and webhooks.

import { isIP } from 'node:net'
import * as z from 'zod'
import type { Uid } from '../public/content/content-types.js'
import type { AnyText } from '../public/content/selection.js'
import type { HookAction } from '../public/documents.js'
import type { EventListener } from '../public/events.js'
import type { Hook, HookOf } from '../public/hooks.js'
import type {
  CustomRoute,
  ResponsesByStatus,
  RouteBody,
  RouteDefinition,
  RouteMethod,
  RouteResponse,
  StandardSchema,
} from '../public/routes.js'
import type { Schedule } from '../public/schedules.js'
import type { ApiAction, Policy, ReadHooks, TypeSettings } from '../public/type-settings.js'
import { checkedText } from './checks.js'

const isFunction = (value: unknown): boolean => typeof value === 'function'
const hookActions = ['create', 'update', 'delete', 'publish', 'unpublish', 'discardDraft'] as const satisfies readonly HookAction[]

/** A hook that runs before or after operations on documents. */
export const hookSettings = () =>
  z
    .strictObject({
      name: z.string().optional(),
      types: z.array(z.string()).readonly().optional(),
      actions: z.array(z.enum(hookActions)).readonly().optional(),
      before: z.custom<NonNullable<Hook['before']>>(isFunction, 'must be a function').optional(),
      after: z.custom<NonNullable<Hook['after']>>(isFunction, 'must be a function').optional(),
    })
    .refine(({ before, after }) => before !== undefined || after !== undefined, 'has neither before nor after, so it has no effect')

/** Types a hook of octavo.config.ts by the content-types that it is for: `hooks: [defineHook({ types: ['api::article.article'], … })]`. */
export const defineHook = <const Type extends Uid | AnyText = AnyText, const Action extends HookAction = HookAction>(
  hook: HookOf<Type, Action>,
): Hook => hook as unknown as Hook

/** Recording and delivery of events. */
export const eventSettings = () =>
  z.strictObject({
    /** Record events for later reading by `octavo events` or `service.events`. */
    outbox: z.boolean().default(false),
    /** Functions called with every event after its commit. If there are any, events are recorded too. */
    listeners: z.array(z.custom<EventListener>(isFunction, 'must be a function')).readonly().default([]),
    /** Serve a stream of events to clients: at `path` below the prefix of the API. */
    stream: z
      .union([z.boolean(), z.strictObject({ path: z.string().regex(/^(?:\/[\w-]+)+$/, 'must be a path like /events') })])
      .default(false)
      .transform((stream) => (stream === true ? { path: '/events' } : stream === false ? null : stream)),
  })

const isNetwork = (entry: string): boolean => {
  const [address = '', bits, ...rest] = entry.split('/')
  const most = isIP(address) === 4 ? 32 : isIP(address) === 6 ? 128 : -1
  return rest.length === 0 && (bits === undefined ? most > 0 : /^\d{1,3}$/.test(bits) && Number(bits) <= most)
}
const isHost = (entry: string): boolean => /^(?=.*[a-z])[a-z0-9_-]+(?:\.[a-z0-9_-]+)*$/i.test(entry)

/** Webhooks, which are themselves in the database. */
export const webhookSettings = () =>
  z.strictObject({
    /** Headers that every webhook gets. */
    defaultHeaders: z.record(z.string(), z.string()).readonly().optional(),
    /** True if webhooks may be sent to private addresses: all, none, or those of these hosts, addresses and networks. */
    allowPrivateAddresses: z
      .union([
        z.boolean(),
        z
          .array(
            z.string().refine((entry) => isNetwork(entry) || isHost(entry), 'must be a host name, an address or a network like 10.0.0.0/8'),
          )
          .readonly(),
      ])
      .optional(),
    /** False: this process leaves the delivery to other processes. */
    deliver: z.boolean().default(true),
  })

const schedule = () =>
  z.strictObject({
    name: z.string().min(1).max(100),
    cron: z.string(),
    timeZone: z.string().optional(),
    catchUp: z.boolean().optional(),
    run: z.custom<Schedule['run']>(isFunction, 'must be a function'),
  })

/** The schedules of a project. Their patterns are checked where they are opened. */
export const scheduleSettings = () =>
  z
    .array(schedule())
    .readonly()
    .refine((all) => new Set(all.map(({ name }) => name)).size === all.length, 'two schedules have the same name')

const apiAction = () =>
  z.enum(['find', 'findOne', 'create', 'update', 'delete', 'publish', 'unpublish', 'discardDraft'] satisfies readonly ApiAction[])

/** By uid, what the project decides for a content-type. */
export const typeSettings = () =>
  z
    .record(
      z.string(),
      z
        .strictObject({
          defaults: z
            .strictObject({
              populate: z.unknown(),
              fields: z.union([z.string(), z.array(z.string())]),
              filters: z.record(z.string(), z.unknown()),
              sort: z.unknown(),
              locale: z.string().refine((locale) => locale !== '*', 'cannot be "*", which a single document has not'),
              status: z.enum(['draft', 'published']),
              pageSize: z.int().positive(),
            })
            .partial()
            .optional(),
          policies: z.partialRecord(apiAction(), z.custom<Policy>(isFunction, 'must be a function')).optional(),
          reads: z
            .strictObject({
              before: z.custom<NonNullable<ReadHooks['before']>>(isFunction, 'must be a function').optional(),
              after: z.custom<NonNullable<ReadHooks['after']>>(isFunction, 'must be a function').optional(),
            })
            .optional(),
          routes: z
            .strictObject({ only: z.array(apiAction()).readonly().optional(), except: z.array(apiAction()).readonly().optional() })
            .refine(
              ({ only, except }) => (only === undefined) !== (except === undefined),
              'needs either only or except, with a list of actions',
            )
            .optional(),
          scope: z.custom<NonNullable<TypeSettings['scope']>>(isFunction, 'must be a function').optional(),
        })
        .readonly(),
    )
    .readonly()

/** Schemas are objects, or functions with properties. */
const isSchema = (value: unknown): boolean =>
  (typeof value === 'object' || typeof value === 'function') &&
  value !== null &&
  isFunction((value as Partial<StandardSchema>)['~standard']?.validate)

const schema = () =>
  z.custom<StandardSchema>(isSchema, 'must be a schema of a library that implements Standard Schema, such as Zod or Valibot')

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null && !Array.isArray(value)

/** Responses by their statuses. */
export const isByStatus = (response: RouteResponse): response is ResponsesByStatus => {
  const statuses = Object.keys(response)
  return statuses.length > 0 && statuses.every((status) => /^[2-5]\d\d$/.test(status))
}

const isDescribed = (value: unknown): boolean => isSchema(value) || isObject(value)

const response = () =>
  z.custom<RouteResponse>(
    (value) =>
      isDescribed(value) &&
      (!isByStatus(value as RouteResponse) || Object.values(value as object).every((one) => one === null || isDescribed(one))),
    'must be JSON Schema, a schema of a library, or an object with these by status',
  )

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const satisfies readonly RouteMethod[]

/** The most characters and parts of a path. */
const [longestPath, mostParts] = [200, 20]
const literal = /^(?!\.{1,2}$)[\w.~-]+$/
const parameter = /^:(?!__proto__$|constructor$|prototype$)[A-Za-z_]\w*$/

/** The error of a path as the end of a sentence, or null. */
function problemOf(path: string): string | null {
  if (!path.startsWith('/') || path.length > longestPath) return `must begin with a slash and have at most ${longestPath} characters`
  const [first, ...others] = path.slice(1).split('/')
  if (others.length >= mostParts) return `must have at most ${mostParts} parts`
  if (!literal.test(first!)) return 'must begin with a name, as in /orders/:documentId'
  const wrong = others.find((part) => !literal.test(part) && !parameter.test(part))
  if (wrong !== undefined) return `has the part "${wrong}", which is neither a name nor a :parameter`
  const names = others.filter((part) => part.startsWith(':'))
  return new Set(names).size < names.length ? 'names a parameter twice' : null
}

const action = () => z.string().regex(/^(?:api|plugin)::[\w-]+\.[\w-]+\.[\w-]+$/, 'must have the form api::order.order.checkout')

const routeSettings = () =>
  z
    .strictObject({
      method: z.enum(methods),
      path: checkedText(problemOf),
      base: z.enum(['api', 'root']).optional(),
      action: action().optional(),
      auth: z.boolean().optional(),
      params: schema().optional(),
      query: schema().optional(),
      body: z.union([z.enum(['json', 'raw', 'stream']), schema()], 'must be "json", "raw", "stream" or a schema').optional(),
      summary: z.string().optional(),
      description: z.string().optional(),
      tags: z.array(z.string().min(1)).readonly().optional(),
      response: response().optional(),
      handle: z.custom<CustomRoute['handle']>(isFunction, 'must be a function'),
    })
    .refine(
      (route) => (route.action === undefined) === (route.auth === false),
      'needs either an action, which roles are granted, or auth: false',
    )
    .refine(({ method, body }) => method !== 'GET' || body === undefined, 'has the method GET, which has no body')

/** The routes of a project. */
export const routesSettings = () =>
  z.array(routeSettings()).readonly() as unknown as z.ZodType<readonly CustomRoute[], readonly CustomRoute[]>

/** Types a route: `defineRoute({ method, path, action, handle })`. Its path and schemas give the argument of `handle` its types. */
export const defineRoute = <
  const Path extends string,
  Params extends StandardSchema | undefined = undefined,
  Query extends StandardSchema | undefined = undefined,
  const Body extends RouteBody = undefined,
>(
  route: RouteDefinition<Path, Params, Query, Body>,
): CustomRoute => route as unknown as CustomRoute
