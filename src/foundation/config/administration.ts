// The administration API: the section `admin` of the configuration.
import * as z from 'zod'

const [hour, day] = [3_600_000, 86_400_000]
const lifespan = () =>
  z
    .int()
    .positive()
    .max(36_525 * day)

/** Settings of the administration API. Lifespans are in milliseconds. */
export const adminSettings = () =>
  z.strictObject({
    /** True if administrators may sign in at /admin/api. */
    enabled: z.boolean().default(true),
    /** When the model may change while serving: in development, always, or never. */
    model: z.enum(['development', 'always', 'never']).default('development'),
    sessions: z
      .strictObject({
        accessTokenLifespan: lifespan().default(600_000),
        /** Sessions of administrators who stay signed in: their longest duration, and how long they may be idle. */
        maxRefreshTokenLifespan: lifespan().default(30 * day),
        idleRefreshTokenLifespan: lifespan().default(14 * day),
        /** The same for sessions that end with the browser. */
        maxSessionLifespan: lifespan().default(day),
        idleSessionLifespan: lifespan().default(2 * hour),
      })
      .prefault({}),
  })
