// The parts of octavo.config that are project code: hooks and event listeners.
import * as z from 'zod'
import type { Uid } from '../public/content/content-types.js'
import type { AnyText, Hook, HookAction, HookOf } from '../public/documents.js'
import type { EventListener } from '../public/events.js'

const isFunction = (value: unknown): boolean => typeof value === 'function'
const hookActions = ['create', 'update', 'delete', 'publish', 'unpublish', 'discardDraft'] as const satisfies readonly HookAction[]

/** A hook that runs before or after operations on documents. */
export const hookSettings = z
  .strictObject({
    name: z.string().optional(),
    types: z.array(z.string()).readonly().optional(),
    actions: z.array(z.enum(hookActions)).readonly().optional(),
    before: z.custom<NonNullable<Hook['before']>>(isFunction, 'must be a function').optional(),
    after: z.custom<NonNullable<Hook['after']>>(isFunction, 'must be a function').optional(),
  })
  .refine(({ before, after }) => before !== undefined || after !== undefined, 'has neither before nor after, so it has no effect')

/** Types a hook of octavo.config.ts by the content-types that it is for: `hooks: [defineHook({ types: ['api::article.article'], … })]`. */
export const defineHook = <const Type extends Uid | AnyText>(hook: HookOf<Type>): Hook => hook as Hook

/** Recording and delivery of events. */
export const eventSettings = z.strictObject({
  /** Record events for later reading by `octavo events` or `service.events`. */
  outbox: z.boolean().default(false),
  /** Functions called with every event after its commit. If there are any, events are recorded too. */
  listeners: z.array(z.custom<EventListener>(isFunction, 'must be a function')).readonly().default([]),
})
