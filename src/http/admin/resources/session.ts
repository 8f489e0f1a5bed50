// /session: sign-in, sessions, passwords, and the first administrator.

import * as z from 'zod'
import { sessionOwner } from '../../../admin/identity/administrators.js'
import { createFirstAdministrator, signInDemoAdministrator } from '../../../admin/identity/bootstrap.js'
import { changeOwnPassword, forgotAdministratorPassword, invitedBy, usePasswordCode } from '../../../admin/identity/recovery.js'
import {
  type AdministratorTokens,
  confirmPassword,
  refreshAdministrator,
  signInAdministrator,
  signOutAdministrator,
} from '../../../admin/identity/sign-in.js'
import { codeInput, emailInput, newEmail, newPassword, passwordInput, personName, timestamp } from '../../../admin/values.js'
import { invalidAt, notFound } from '../../../foundation/errors/errors.js'
import { endOneSession, endSessions, sessionsOf } from '../../../identity/access/sessions.js'
import { isLocalDevelopment } from '../../own-machine.js'
import { type Resource, type ResourceRequest, type ResourceResponse, resource, respond, respondNothing } from '../resource.js'
import { readRefreshToken, refreshCookie } from '../session-cookie.js'

const accessSchema = z.strictObject({
  administrator: z.int(),
  accessToken: z.string(),
  accessTokenExpiresAt: timestamp,
  sessionExpiresAt: timestamp,
})

/** The response of a sign-in. The refresh token is in the cookie. */
const signedInAnswer = z.strictObject({ data: accessSchema })

/** The response to a sign-in. */
function signedIn({ parts, administration }: Pick<ResourceRequest, 'parts' | 'administration'>, tokens: AdministratorTokens) {
  const data = {
    administrator: tokens.administratorId,
    accessToken: tokens.accessToken,
    accessTokenExpiresAt: new Date(tokens.accessEndsAt).toISOString(),
    sessionExpiresAt: new Date(tokens.refreshEndsAt).toISOString(),
  }
  return respond({ data }, { 'set-cookie': refreshCookie(parts.config, tokens, administration.now()) })
}

/** The response to a sign-out. */
const signedOut = ({ parts }: Pick<ResourceRequest, 'parts'>): ResourceResponse<undefined> =>
  respondNothing({ 'set-cookie': refreshCookie(parts.config, null, 0) })

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
  loginAt: timestamp.optional(),
  lastActiveAt: timestamp,
})

/** The resources of sessions. */
export const sessionResources: readonly Resource[] = [
  resource({
    method: 'POST',
    path: '/session',
    summary: 'Sign in with an e-mail address and a password',
    who: 'page',
    isSecret: true,
    attempts: { name: 'session', counted: 'failures' },
    body: credentials,
    response: signedInAnswer,
    handle: async (context) => signedIn(context, await signInAdministrator(context.administration, context.body, context.request.ip)),
  }),
  resource({
    method: 'POST',
    path: '/session/refresh',
    summary: 'Exchange the cookie for new tokens; null without a cookie',
    who: 'page',
    isSecret: true,
    refusals: [401],
    attempts: { name: 'refresh', counted: 'failures' },
    body: z.strictObject({}),
    response: z.strictObject({ data: accessSchema.nullable() }),
    handle: async (context) => {
      const token = readRefreshToken(context.request.raw)
      if (token === undefined) return respond({ data: null })
      return signedIn(context, await refreshAdministrator(context.administration, token))
    },
  }),
  resource({
    method: 'DELETE',
    path: '/session',
    summary: 'Sign out',
    who: 'page',
    response: null,
    handle: async (context) => {
      await signOutAdministrator(context.administration, readRefreshToken(context.request.raw))
      return signedOut(context)
    },
  }),
  resource({
    method: 'GET',
    path: '/session/all',
    summary: 'List my sessions, the current one first',
    who: 'administrator',
    response: z.strictObject({ data: z.array(shownSession) }),
    handle: async ({ administration: { database, now }, administrator: { id, sessionId } }) =>
      respond({ data: await sessionsOf(database, sessionOwner(id), sessionId, now()) }),
  }),
  resource({
    method: 'DELETE',
    path: '/session/all',
    summary: 'End all my sessions',
    who: 'administrator',
    response: null,
    handle: async (context) => {
      const owner = sessionOwner(context.administrator.id)
      await context.administration.writer.transaction((transaction) => endSessions(transaction, owner))
      return signedOut(context)
    },
  }),
  resource({
    method: 'DELETE',
    path: '/session/all/:session',
    summary: 'End one of my sessions',
    who: 'administrator',
    params: z.strictObject({ session: z.string().max(100) }),
    response: null,
    handle: async ({ administration, administrator, params }) => {
      await endOneSession(administration, sessionOwner(administrator.id), params.session)
      return respondNothing()
    },
  }),
  resource({
    method: 'POST',
    path: '/session/password',
    summary: 'Give the password again, for acts that ask for it',
    who: 'administrator',
    attempts: { name: 'password', counted: 'failures' },
    body: z.strictObject({ password: passwordInput }),
    response: z.strictObject({ data: z.strictObject({ passwordAt: timestamp }) }),
    handle: async ({ administration, administrator, body }) => {
      const at = await confirmPassword(administration, administrator, body.password)
      return respond({ data: { passwordAt: new Date(at).toISOString() } })
    },
  }),
]

const hasDemo = ({ parts, request }: Pick<ResourceRequest, 'parts' | 'request'>): boolean =>
  parts.config.admin.demo && isLocalDevelopment(request.raw, parts.config)

const byCode = z.strictObject({ code: codeInput })
const names = { firstname: personName, lastname: personName.nullable().default(null) }

/** The resources of passwords. */
export const recoveryResources: readonly Resource[] = [
  resource({
    method: 'GET',
    path: '/session/first',
    summary: 'Ask how one may sign in: is the first administrator missing, whose code is in the log then',
    who: 'anybody',
    attempts: { name: 'first-context', counted: 'all' },
    response: z.strictObject({
      data: z.strictObject({ isMissing: z.boolean(), needsCode: z.boolean(), hasDemo: z.boolean(), sendsEmails: z.boolean() }),
    }),
    handle: async (context) => {
      const { administration, parts, request } = context
      const needsCode = !isLocalDevelopment(request.raw, parts.config)
      const isMissing = await administration.logFirstCode()
      return respond({ data: { isMissing, needsCode, hasDemo: hasDemo(context), sendsEmails: parts.config.mail.url !== null } })
    },
  }),
  resource({
    method: 'POST',
    path: '/session/first',
    summary:
      'Create the first administrator, with the code from the log; in development a browser on the machine of the service needs none',
    who: 'page',
    isSecret: true,
    attempts: { name: 'first', counted: 'failures' },
    body: z.strictObject({
      code: codeInput.optional(),
      email: newEmail,
      password: newPassword,
      ...names,
      remember: z.boolean().default(false),
    }),
    response: signedInAnswer,
    handle: async (context) => {
      const { administration, body, parts, request } = context
      const { code = null, ...given } = body
      if (code === null && !isLocalDevelopment(request.raw, parts.config))
        throw invalidAt(['code'], 'Give the code from the log', 'required')
      return signedIn(context, await createFirstAdministrator(administration, { ...given, code }, request.ip))
    },
  }),
  resource({
    method: 'POST',
    path: '/session/demo',
    summary: 'Sign in as the demo administrator, where `GET /session/first` says that there is one',
    who: 'page',
    isSecret: true,
    refusals: [404],
    attempts: { name: 'demo', counted: 'all' },
    response: signedInAnswer,
    handle: async (context) => {
      if (!hasDemo(context)) throw notFound()
      return signedIn(context, await signInDemoAdministrator(context.administration, context.request.ip))
    },
  }),
  resource({
    method: 'POST',
    path: '/session/forgot',
    summary: 'Ask for an e-mail with a code for a new password',
    who: 'page',
    attempts: { name: 'forgot', counted: 'all' },
    body: z.strictObject({ email: emailInput }),
    response: null,
    handle: async ({ administration, body }) => {
      forgotAdministratorPassword(administration, body.email)
      return respondNothing()
    },
  }),
  resource({
    method: 'POST',
    path: '/session/reset',
    summary: 'Set a new password with a code from an e-mail, and sign in',
    who: 'page',
    isSecret: true,
    attempts: { name: 'reset', counted: 'failures' },
    body: z.strictObject({ code: codeInput, password: newPassword }),
    response: signedInAnswer,
    handle: async (context) =>
      signedIn(context, await usePasswordCode(context.administration, 'admin-reset', context.body, context.request.ip)),
  }),
  resource({
    method: 'GET',
    path: '/session/invitation/:code',
    summary: 'Read who is invited by a code',
    who: 'anybody',
    attempts: { name: 'invitation', counted: 'failures' },
    params: byCode,
    response: z.strictObject({
      data: z.strictObject({ email: z.string(), firstname: z.string().nullable(), lastname: z.string().nullable() }),
    }),
    handle: async ({ administration, params }) => {
      const { email, firstname, lastname } = await invitedBy(administration, params.code)
      return respond({ data: { email: email ?? '', firstname, lastname } })
    },
  }),
  resource({
    method: 'POST',
    path: '/session/invitation/:code',
    summary: 'Accept an invitation with a password, and sign in',
    who: 'page',
    isSecret: true,
    attempts: { name: 'invitation', counted: 'failures' },
    params: byCode,
    body: z.strictObject({ password: newPassword, firstname: personName.optional(), lastname: personName.nullable().optional() }),
    response: signedInAnswer,
    handle: async (context) => {
      const { password, ...given } = context.body
      const accepted = { code: context.params.code, password, names: given }
      return signedIn(context, await usePasswordCode(context.administration, 'admin-invitation', accepted, context.request.ip))
    },
  }),
  resource({
    method: 'POST',
    path: '/session/change-password',
    summary: 'Set a new password, given the current one, and sign in again',
    isSecret: true,
    who: 'administrator',
    attempts: { name: 'password', counted: 'failures' },
    body: z.strictObject({ currentPassword: passwordInput, password: newPassword }),
    response: signedInAnswer,
    handle: async (context) =>
      signedIn(context, await changeOwnPassword(context.administration, context.administrator, context.body, context.request.ip)),
  }),
]
