// /session/first, /forgot, /reset, /invitation and /change-password: how administrators come to a password.
import * as z from 'zod'
import { createFirst } from '../../../admin/identity/first.js'
import { changeOwnPassword, forgotAdministratorPassword, invitedBy, usePasswordCode } from '../../../admin/identity/recovery.js'
import { answer, nothing, type Resource, resource } from '../resource.js'
import { codeInput, emailInput, newEmail, newPassword, passwordInput, personName } from '../values.js'
import { signedIn, signedInAnswer } from './session.js'

const byCode = z.strictObject({ code: codeInput })
const names = { firstname: personName, lastname: personName.nullable().default(null) }

/** The resources of passwords. */
export const recoveryResources: readonly Resource[] = [
  resource({
    ...{
      method: 'GET',
      path: '/session/first',
      summary: 'Ask whether the first administrator is missing; the log has its code then',
      who: 'anybody',
    },
    attempts: { name: 'first-asked', counted: 'all' },
    answer: z.strictObject({ data: z.strictObject({ isMissing: z.boolean() }) }),
    handle: async ({ administration }) => answer({ data: { isMissing: await administration.tellFirst() } }),
  }),
  resource({
    ...{
      method: 'POST',
      path: '/session/first',
      summary: 'Create the first administrator with the code from the log',
      who: 'page',
      isSecret: true,
    },
    attempts: { name: 'first', counted: 'failures' },
    body: z.strictObject({ code: codeInput, email: newEmail, password: newPassword, ...names, remember: z.boolean().default(false) }),
    answer: signedInAnswer,
    handle: async (asked) => signedIn(asked, await createFirst(asked.administration, asked.body, asked.request.ip)),
  }),
  resource({
    ...{ method: 'POST', path: '/session/forgot', summary: 'Ask for an e-mail with a code for a new password', who: 'page' },
    attempts: { name: 'forgot', counted: 'all' },
    body: z.strictObject({ email: emailInput }),
    answer: null,
    handle: async ({ administration, body }) => {
      forgotAdministratorPassword(administration, body.email)
      return nothing()
    },
  }),
  resource({
    ...{
      method: 'POST',
      path: '/session/reset',
      summary: 'Set a new password with a code from an e-mail, and sign in',
      who: 'page',
      isSecret: true,
    },
    attempts: { name: 'reset', counted: 'failures' },
    body: z.strictObject({ code: codeInput, password: newPassword }),
    answer: signedInAnswer,
    handle: async (asked) => signedIn(asked, await usePasswordCode(asked.administration, 'admin-reset', asked.body, asked.request.ip)),
  }),
  resource({
    ...{ method: 'GET', path: '/session/invitation/:code', summary: 'Read who is invited by a code', who: 'anybody' },
    attempts: { name: 'invitation', counted: 'failures' },
    params: byCode,
    answer: z.strictObject({
      data: z.strictObject({ email: z.string(), firstname: z.string().nullable(), lastname: z.string().nullable() }),
    }),
    handle: async ({ administration, params }) => {
      const { email, firstname, lastname } = await invitedBy(administration, params.code)
      return answer({ data: { email: email ?? '', firstname, lastname } })
    },
  }),
  resource({
    ...{
      method: 'POST',
      path: '/session/invitation/:code',
      summary: 'Accept an invitation with a password, and sign in',
      who: 'page',
      isSecret: true,
    },
    attempts: { name: 'invitation', counted: 'failures' },
    params: byCode,
    body: z.strictObject({ password: newPassword, firstname: personName.optional(), lastname: personName.nullable().optional() }),
    answer: signedInAnswer,
    handle: async (asked) => {
      const { password, ...given } = asked.body
      const accepted = { code: asked.params.code, password, names: given }
      return signedIn(asked, await usePasswordCode(asked.administration, 'admin-invitation', accepted, asked.request.ip))
    },
  }),
  resource({
    ...{
      method: 'POST',
      path: '/session/change-password',
      summary: 'Set a new password, given the current one, and sign in anew',
      isSecret: true,
    },
    who: 'administrator',
    attempts: { name: 'password', counted: 'failures' },
    body: z.strictObject({ currentPassword: passwordInput, password: newPassword }),
    answer: signedInAnswer,
    handle: async (asked) =>
      signedIn(asked, await changeOwnPassword(asked.administration, asked.administrator, asked.body, asked.request.ip)),
  }),
]
