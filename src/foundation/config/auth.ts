// Sign-in, sessions and registration of users: the section `auth` of the configuration.
import * as z from 'zod'
import { previewSettings } from './preview.js'

const day = 86_400_000
/** The longest lifespan of a token. */
const century = 36_525 * day

/** An external sign-in provider: a built-in one by its name, or any OpenID Connect provider by its `issuer`. */
const provider = () =>
  z.strictObject({
    enabled: z.boolean().default(true),
    key: z.string(),
    secret: z.string().default(''),
    issuer: z.url({ protocol: /^https?$/ }).optional(),
    scope: z.array(z.string()).optional(),
    /** The page of the site that users return to after signing in. */
    callback: z.url({ protocol: /^https?$/ }).optional(),
  })

/** Settings for sign-in, sessions and registration. Lifespans are in milliseconds. */
export const authSettings = () =>
  z.strictObject({
    /** One long-lived JWT, or a short-lived one with a refresh token. */
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
    /** Attributes that users may set when they register, in addition to name, e-mail address and password. */
    register: z
      .strictObject({ allowedFields: z.array(z.string()).default([]), names: z.enum(['plain', 'as-strapi']).default('plain') })
      .prefault({}),
    /** `bounded`: users with `user.update` cannot change roles, or the e-mail address or password of others. */
    userWrites: z.enum(['bounded', 'as-strapi']).default('bounded'),
    /** `uniform`: a request for another confirmation e-mail gets the same response for every address. */
    confirmationRequests: z.enum(['uniform', 'as-strapi']).default('uniform'),
    /** Lifespans of the codes in password-reset and confirmation e-mails. */
    resetLifespan: z.int().positive().max(century).default(3_600_000),
    confirmLifespan: z.int().positive().max(century).default(day),
    providers: z.record(z.string().regex(/^[\w-]+$/), provider()).default({}),
    /**
     * Count attempts in the database, for several processes that serve it together; each counted attempt is a small write. Absent: where
     * `processes` are several.
     */
    sharedLimits: z.boolean().optional(),
    /** OAuth callback URLs allowed in addition to each provider's own; compared exactly. */
    allowedCallbacks: z.array(z.url({ protocol: /^https?$/ })).default([]),
    cookie: z
      .strictObject({
        name: z
          .string()
          .regex(/^[\w-]+$/)
          .default('strapi_up_refresh'),
        sameSite: z.enum(['lax', 'strict']).default('lax'),
        domain: z.string().optional(),
        /** Always set the refresh token as a cookie, even if the client does not ask for it. */
        always: z.boolean().default(false),
      })
      .prefault({}),
  })

const hour = 3_600_000
const lifespan = () => z.int().positive().max(century)

/** Settings of the administration API. Lifespans are in milliseconds. */
export const adminSettings = () =>
  z.strictObject({
    /** True if administrators may sign in at /admin/api. */
    enabled: z.boolean().default(true),
    /** When the model may change while serving: in development, always, or never. */
    model: z.enum(['development', 'always', 'never']).default('development'),
    /** True if a browser on the machine of a service in development may sign in as a demo administrator, without a password. */
    demo: z.boolean().default(false),
    /** The addresses of documents on the website, for editors; absent: there is no preview. */
    preview: previewSettings().optional(),
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
