// The part of octavo.config that is about single content-types.
import * as z from 'zod'
import type { ApiAction, Policy, ReadHooks, TypeSettings } from '../public/type-settings.js'

const isFunction = (value: unknown): boolean => typeof value === 'function'

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
