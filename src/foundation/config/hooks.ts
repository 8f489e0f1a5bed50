// The parts of octavo.config about what happens around changes: hooks, events and webhooks.
import { isIP } from 'node:net'
import * as z from 'zod'
import type { Uid } from '../public/content/content-types.js'
import type { AnyText } from '../public/content/selection.js'
import type { HookAction } from '../public/documents.js'
import type { EventListener } from '../public/events.js'
import type { Hook, HookOf } from '../public/hooks.js'

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
