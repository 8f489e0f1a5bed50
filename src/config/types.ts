// The part of octavo.config that is about single content-types.
import * as z from 'zod'
import type { TypeSettings } from '../public/type-settings.js'

const isFunction = (value: unknown): boolean => typeof value === 'function'

/** By uid, what the project decides for a content-type. */
export const typeSettings = z
  .record(
    z.string(),
    z.strictObject({ scope: z.custom<NonNullable<TypeSettings['scope']>>(isFunction, 'must be a function').optional() }).readonly(),
  )
  .readonly()
