// /tokens: API tokens. A key is in the response that makes it, and nowhere else.
import * as z from 'zod'
import type { DoneBefore } from '../../../admin/identity/once.js'
import {
  changeManagedToken,
  createManagedToken,
  deleteManagedToken,
  type ManagedToken,
  managedToken,
  managedTokens,
  type NewTokenKey,
  regenerateManagedToken,
  type TokenManager,
} from '../../../admin/manage/tokens.js'
import { answer, nothing, type Resource, type ResourceRequest, resource } from '../resource.js'
import { byId, descriptionInput, moment, momentOrNull, nameInput } from '../values.js'

const type = z.enum(['read-only', 'full-access', 'custom'])
const actions = z.array(z.string().max(255)).max(10_000)

const shownToken = z.strictObject({
  id: z.int(),
  name: z.string(),
  description: z.string(),
  type,
  /** Milliseconds; null: it never expires. */
  lifespan: z.int().nullable(),
  expiresAt: moment.nullable(),
  lastUsedAt: moment.nullable(),
  createdAt: moment.nullable(),
  actions: z.array(z.string()),
})

const shown = ({ expiresAt, lastUsedAt, createdAt, actions: all, ...token }: ManagedToken): z.input<typeof shownToken> => ({
  ...token,
  ...{ expiresAt: momentOrNull(expiresAt), lastUsedAt: momentOrNull(lastUsedAt), createdAt: momentOrNull(createdAt) },
  actions: [...all],
})

const one = z.strictObject({ data: shownToken })
const withKey = z.strictObject({ data: shownToken, key: z.string() })
const managerOf = ({ actor, administrator: { isSuperAdmin } }: ResourceRequest): TokenManager => ({ ...actor, isSuperAdmin })
const knownActions = ({ installation, parts }: ResourceRequest) => ({ model: installation.model, config: parts.config })

/** A token and its new key as a response. */
async function respondKey({ administration }: ResourceRequest, { id, key }: NewTokenKey) {
  return answer({ data: shown(await managedToken(administration.database, id)), key })
}

const keyMade = ({ ids, told }: DoneBefore): NewTokenKey => ({ id: Number(ids[0]), key: String(told) })

/** The longest lifespan of a token, in milliseconds: a century. */
const century = 36_525 * 86_400_000

/** The resources of API tokens. */
export const tokenResources: readonly Resource[] = [
  resource({
    ...{ method: 'GET', path: '/tokens', summary: 'List API tokens, without keys', who: { action: 'admin::api-tokens.read' } },
    answer: z.strictObject({ data: z.array(shownToken) }),
    handle: async ({ administration }) => answer({ data: (await managedTokens(administration.database)).map(shown) }),
  }),
  resource({
    ...{
      method: 'POST',
      path: '/tokens',
      summary: 'Create an API token; its key is shown once',
      who: { action: 'admin::api-tokens.create' },
    },
    ...{ status: 201, isStrong: true, isSecret: true },
    body: z.strictObject({
      name: nameInput,
      description: descriptionInput.default(''),
      type,
      lifespan: z.int().positive().max(century).nullable().default(null),
      actions: actions.default([]),
    }),
    answer: withKey,
    handle: async (asked) =>
      respondKey(asked, await createManagedToken(asked.administration, managerOf(asked), knownActions(asked), asked.body)),
    again: (asked, done) => respondKey(asked, keyMade(done)),
  }),
  resource({
    ...{ method: 'GET', path: '/tokens/:id', summary: 'Read an API token', who: { action: 'admin::api-tokens.read' } },
    params: byId,
    answer: one,
    handle: async ({ administration, params }) => answer({ data: shown(await managedToken(administration.database, params.id)) }),
  }),
  resource({
    ...{ method: 'PATCH', path: '/tokens/:id', summary: 'Change an API token; its key stays', who: { action: 'admin::api-tokens.update' } },
    isStrong: true,
    params: byId,
    body: z.strictObject({
      name: nameInput.optional(),
      description: descriptionInput.optional(),
      type: type.optional(),
      actions: actions.optional(),
    }),
    answer: one,
    handle: async (asked) => {
      const { administration, params, body } = asked
      return answer({ data: shown(await changeManagedToken(administration, managerOf(asked), knownActions(asked), params.id, body)) })
    },
  }),
  resource({
    ...{ method: 'POST', path: '/tokens/:id/regenerate', summary: 'Replace the key of an API token; the new one is shown once' },
    ...{ who: { action: 'admin::api-tokens.regenerate' }, isStrong: true, isSecret: true },
    params: byId,
    body: z.strictObject({}),
    answer: withKey,
    handle: async (asked) => respondKey(asked, await regenerateManagedToken(asked.administration, managerOf(asked), asked.params.id)),
    again: (asked, done) => respondKey(asked, keyMade(done)),
  }),
  resource({
    ...{ method: 'DELETE', path: '/tokens/:id', summary: 'Delete an API token', who: { action: 'admin::api-tokens.delete' } },
    isStrong: true,
    params: byId,
    answer: null,
    handle: async ({ administration, actor, params }) => {
      await deleteManagedToken(administration, actor, params.id)
      return nothing()
    },
  }),
]
