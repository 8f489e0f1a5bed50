// The schedules of a project: their form in octavo.config.
import * as z from 'zod'
import type { Schedule } from '../public/schedules.js'

const schedule = () =>
  z.strictObject({
    name: z.string().min(1).max(100),
    cron: z.string(),
    timeZone: z.string().optional(),
    catchUp: z.boolean().optional(),
    run: z.custom<Schedule['run']>((value) => typeof value === 'function', 'must be a function'),
  })

/** The schedules of a project. Their patterns are checked where they are opened. */
export const scheduleSettings = () =>
  z
    .array(schedule())
    .readonly()
    .refine((all) => new Set(all.map(({ name }) => name)).size === all.length, 'two schedules have the same name')
