// The part of octavo.config that is code of the project: hooks and listeners.
import * as z from 'zod'
import type { Hook, HookAction } from '../public/documents.js'
import type { EventListener } from '../public/events.js'

const isFunction = (value: unknown): boolean => typeof value === 'function'
const hookActions = ['create', 'update', 'delete', 'publish', 'unpublish', 'discardDraft'] as const satisfies readonly HookAction[]

/** Code that runs before and after operations on documents. */
export const hookSettings = z
  .strictObject({
    name: z.string().optional(),
    types: z.array(z.string()).readonly().optional(),
    actions: z.array(z.enum(hookActions)).readonly().optional(),
    before: z.custom<NonNullable<Hook['before']>>(isFunction, 'must be a function').optional(),
    after: z.custom<NonNullable<Hook['after']>>(isFunction, 'must be a function').optional(),
  })
  .refine(({ before, after }) => before !== undefined || after !== undefined, 'has neither before nor after, so it does nothing')

/** Who hears of what has happened. */
export const eventSettings = z.strictObject({
  /** Record events for who reads them later: `octavo events`, `service.events`. */
  outbox: z.boolean().default(false),
  /** Functions that hear of every event after its commit. With one, events are recorded too. */
  listeners: z.array(z.custom<EventListener>(isFunction, 'must be a function')).readonly().default([]),
})
