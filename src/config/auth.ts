// How users sign in: the part `auth` of the configuration.
import * as z from 'zod'

const day = 86_400_000
/** No token outlives its maker. */
const century = 36_525 * day

/** Another service that signs users in: one that is known by its name, or any with OpenID Connect by its `issuer`. */
const provider = z.strictObject({
  enabled: z.boolean().default(true),
  key: z.string(),
  secret: z.string().default(''),
  issuer: z.url({ protocol: /^https?$/ }).optional(),
  scope: z.array(z.string()).optional(),
  /** The page of the site that users come back to. */
  callback: z.url({ protocol: /^https?$/ }).optional(),
})

/** How users sign in. Lifespans in milliseconds. */
export const auth = z.strictObject({
  /** One JWT that lives long, or a short one beside a refresh token. */
  jwtManagement: z.enum(['legacy-support', 'refresh']).default('legacy-support'),
  jwtLifespan: z
    .int()
    .positive()
    .max(century)
    .default(30 * day),
  accessTokenLifespan: z.int().positive().max(century).default(600_000),
  maxRefreshTokenLifespan: z
    .int()
    .positive()
    .max(century)
    .default(30 * day),
  idleRefreshTokenLifespan: z
    .int()
    .positive()
    .max(century)
    .default(14 * day),
  /** Attributes of users that may be given when signing up, beside name, address and password. */
  register: z
    .strictObject({ allowedFields: z.array(z.string()).default([]), names: z.enum(['plain', 'as-strapi']).default('plain') })
    .prefault({}),
  /** `bounded`: users with `user.update` set no rights, and no address or password of others. */
  userWrites: z.enum(['bounded', 'as-strapi']).default('bounded'),
  /** `uniform`: asking for another letter of confirmation gets the same answer for every address. */
  confirmationRequests: z.enum(['uniform', 'as-strapi']).default('uniform'),
  /** How long the codes in letters hold. */
  resetLifespan: z.int().positive().max(century).default(3_600_000),
  confirmLifespan: z.int().positive().max(century).default(day),
  providers: z.record(z.string().regex(/^[\w-]+$/), provider).default({}),
  /** Count attempts in the database, because several processes serve it; each one that counts is a small write. */
  sharedLimits: z.boolean().default(false),
  /** Pages that users may come back to from other services, beside each provider's own; compared exactly. */
  allowedCallbacks: z.array(z.url({ protocol: /^https?$/ })).default([]),
  cookie: z
    .strictObject({
      name: z
        .string()
        .regex(/^[\w-]+$/)
        .default('strapi_up_refresh'),
      sameSite: z.enum(['lax', 'strict']).default('lax'),
      domain: z.string().optional(),
      /** Set the refresh token as a cookie also for callers that do not ask for it. */
      always: z.boolean().default(false),
    })
    .prefault({}),
})
