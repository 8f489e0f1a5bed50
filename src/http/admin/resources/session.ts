// /session: sign-in, refresh and sign-out of administrators, and their sessions.
import * as z from 'zod'
import {
  type AdministratorTokens,
  confirmPassword,
  endAllSessions,
  endOneSession,
  refreshAdministrator,
  sessionsOfAdministrator,
  signInAdministrator,
  signOutAdministrator,
} from '../../../admin/identity/sign-in.js'
import { refreshCookieOf, refreshTokenOf } from '../own-page.js'
import { type Answered, answer, nothing, type Resource, type ResourceRequest, resource } from '../resource.js'
import { emailInput, moment, passwordInput } from '../values.js'

/** What a sign-in answers; the refresh token is in the cookie. */
export const signedInAnswer = z.strictObject({
  data: z.strictObject({
    administrator: z.int(),
    accessToken: z.string(),
    accessTokenExpiresAt: moment,
    sessionExpiresAt: moment,
  }),
})

/** The response to a sign-in. */
export function signedIn({ parts, administration }: Pick<ResourceRequest, 'parts' | 'administration'>, tokens: AdministratorTokens) {
  const data = {
    administrator: tokens.administratorId,
    accessToken: tokens.accessToken,
    accessTokenExpiresAt: new Date(tokens.accessEndsAt).toISOString(),
    sessionExpiresAt: new Date(tokens.refreshEndsAt).toISOString(),
  }
  return answer({ data }, { 'set-cookie': refreshCookieOf(parts.config, tokens, administration.now()) })
}

/** The response to a sign-out. */
const signedOut = ({ parts }: Pick<ResourceRequest, 'parts'>): Answered<undefined> =>
  nothing({ 'set-cookie': refreshCookieOf(parts.config, null, 0) })

const credentials = z.strictObject({
  email: emailInput,
  password: passwordInput,
  /** Stay signed in after the browser has ended. */
  remember: z.boolean().default(false),
  deviceId: z.string().min(1).max(200).nullable().default(null),
})

const shownSession = z.strictObject({
  id: z.string(),
  deviceId: z.string().nullable(),
  current: z.boolean(),
  loginAt: moment.optional(),
  lastActiveAt: moment,
})

/** The resources of sessions. */
export const sessionResources: readonly Resource[] = [
  resource({
    ...{ method: 'POST', path: '/session', summary: 'Sign in with an e-mail address and a password', who: 'page', isSecret: true },
    attempts: { name: 'session', counted: 'failures' },
    body: credentials,
    answer: signedInAnswer,
    handle: async (asked) => signedIn(asked, await signInAdministrator(asked.administration, asked.body, asked.request.ip)),
  }),
  resource({
    ...{ method: 'POST', path: '/session/refresh', summary: 'Exchange the cookie for new tokens', who: 'page', isSecret: true },
    refusals: [401],
    attempts: { name: 'refresh', counted: 'failures' },
    body: z.strictObject({}),
    answer: signedInAnswer,
    handle: async (asked) => signedIn(asked, await refreshAdministrator(asked.administration, refreshTokenOf(asked.request.raw))),
  }),
  resource({
    ...{ method: 'DELETE', path: '/session', summary: 'Sign out', who: 'page' },
    answer: null,
    handle: async (asked) => {
      await signOutAdministrator(asked.administration, refreshTokenOf(asked.request.raw))
      return signedOut(asked)
    },
  }),
  resource({
    ...{ method: 'GET', path: '/session/all', summary: 'List my sessions, the current one first', who: 'administrator' },
    answer: z.strictObject({ data: z.array(shownSession) }),
    handle: async ({ administration, administrator }) =>
      answer({ data: [...(await sessionsOfAdministrator(administration, administrator))] }),
  }),
  resource({
    ...{ method: 'DELETE', path: '/session/all', summary: 'End all my sessions', who: 'administrator' },
    answer: null,
    handle: async (asked) => {
      await endAllSessions(asked.administration, asked.administrator)
      return signedOut(asked)
    },
  }),
  resource({
    ...{ method: 'DELETE', path: '/session/all/:session', summary: 'End one of my sessions', who: 'administrator' },
    params: z.strictObject({ session: z.string().max(100) }),
    answer: null,
    handle: async ({ administration, administrator, params }) => {
      await endOneSession(administration, administrator, params.session)
      return nothing()
    },
  }),
  resource({
    ...{ method: 'POST', path: '/session/password', summary: 'Give the password again, for acts that ask for it', who: 'administrator' },
    attempts: { name: 'password', counted: 'failures' },
    body: z.strictObject({ password: passwordInput }),
    answer: z.strictObject({ data: z.strictObject({ passwordAt: moment }) }),
    handle: async ({ administration, administrator, body }) => {
      const at = await confirmPassword(administration, administrator, body.password)
      return answer({ data: { passwordAt: new Date(at).toISOString() } })
    },
  }),
]
