// API tokens: operations of the administration.

import { sql } from 'kysely'
import * as z from 'zod'
import { updateRow } from '../../content/documents/store/rows.js'
import type { RowReader } from '../../database/database.js'
import { bindTimestamp } from '../../database/portable-sql.js'
import { ApiError, invalidAt, notFound } from '../../foundation/errors/errors.js'
import { actionsOf, isUseless } from '../../identity/access/actions.js'
import {
  createToken,
  listTokens,
  newKey,
  regenerateToken,
  revokeToken,
  setTokenActions,
  type TokenColumns,
  type TokenType,
  tokenColumns,
} from '../../identity/access/tokens.js'
import { nameTaken } from '../error-paths.js'
import { descriptionInput, nameInput, timestamp, toTimestampOrNull } from '../values.js'
import { act, type OperationContext, operation } from './operation.js'

const type = z.enum(['read-only', 'full-access', 'custom'])
const actionsInput = z.array(z.string().max(255)).max(10_000)

const shownToken = z.strictObject({
  id: z.int(),
  name: z.string(),
  description: z.string(),
  type,
  /** Milliseconds; null: it never expires. */
  lifespan: z.int().nullable(),
  expiresAt: timestamp.nullable(),
  lastUsedAt: timestamp.nullable(),
  createdAt: timestamp.nullable(),
  /** Only of custom tokens. */
  actions: z.array(z.string()),
})
type Token = z.input<typeof shownToken>

const tokenResponse = z.strictObject({ data: shownToken })
const withKey = z.strictObject({ data: shownToken, key: z.string() })
const right = (name: string) => ({ action: `admin::api-tokens.${name}` })
const audited = (action: string) => ({ action, subject: 'token' })

/** The longest lifespan of a token, in milliseconds: a century. */
const century = 36_525 * 86_400_000

const toNumber = (stored: number | string | null): number | null => (stored === null ? null : Number(stored))
const toTime = (stored: number | string | null): string | null => toTimestampOrNull(toNumber(stored))

/**
 * Returns all API tokens in the order of their ids, without their keys. Inside a transaction the caller provides `columns`: the statement that
 * detects them fails on databases of older versions, and would end the transaction.
 */
async function readTokens(database: RowReader, columns?: TokenColumns): Promise<Token[]> {
  const tokens = await listTokens(database, columns)
  const actions = await database.rows<{ token: number; action: string }>(sql`
    select l.api_token_id as token, p.action from strapi_api_token_permissions_token_lnk l
    join strapi_api_token_permissions p on p.id = l.api_token_permission_id order by p.action`)
  return tokens.map(({ id, name, description, type, lifespan, expires_at, last_used_at, created_at }) => ({
    id,
    name,
    description: description ?? '',
    type,
    lifespan: toNumber(lifespan),
    expiresAt: toTime(expires_at),
    lastUsedAt: toTime(last_used_at),
    createdAt: toTime(created_at),
    actions: actions.flatMap((one) => (one.token === id ? [one.action] : [])),
  }))
}

/** @throws ApiError 404 */
async function readToken(database: RowReader, id: number, columns?: TokenColumns): Promise<Token> {
  const found = (await readTokens(database, columns)).find((token) => token.id === id)
  if (found === undefined) throw notFound('Token not found')
  return found
}

const tokenStore = async ({ config, database }: OperationContext) => ({
  salt: config.secrets.apiTokenSalt,
  columns: await tokenColumns(database),
})

/** Full access includes changes of the model, which no right of a role covers. @throws ApiError 403 */
function checkMayGive({ isSuperAdmin }: OperationContext, type: TokenType): void {
  if (type === 'full-access' && !isSuperAdmin) throw new ApiError('ForbiddenError', 'Only super administrators give full access')
}

/** @throws ApiError 400 for unknown or unused actions, and for actions of a token that is not custom */
function checkActions(context: OperationContext, type: TokenType, actions: readonly string[]): void {
  if (type !== 'custom') {
    if (actions.length > 0) throw invalidAt(['actions'], 'Only a custom token has actions', 'unsupported')
    return
  }
  if (actions.length === 0) throw invalidAt(['actions'], 'A custom token needs actions', 'required')
  checkGrantable(context, actions)
}

/** @throws ApiError 400 for an unknown action, and for one whose route is disabled */
export function checkGrantable({ model, config }: Pick<OperationContext, 'model' | 'config'>, actions: readonly string[]): void {
  const all = actionsOf(model, config.routes)
  const useless = isUseless(config)
  const unknown = actions.find((action) => !all.has(action) || useless(action))
  if (unknown !== undefined)
    throw invalidAt(['actions', String(actions.indexOf(unknown))], `There is no action ${unknown} that can be granted`, 'notFound')
}

const respondKey = async (
  { database }: OperationContext,
  _input: unknown,
  done: { readonly id: string; readonly responseData?: unknown },
) => ({
  data: await readToken(database, Number(done.id)),
  key: String(done.responseData),
})

/** The operations on API tokens. */
export const tokens = {
  list: operation({
    route: 'GET /tokens',
    summary: 'List API tokens, without keys',
    rights: right('read'),
    output: z.strictObject({ data: z.array(shownToken) }),
    respond: async ({ database }) => ({ data: await readTokens(database) }),
  }),
  create: operation({
    route: 'POST /tokens',
    summary: 'Create an API token; its key is shown once',
    rights: right('create'),
    isStrong: true,
    isSecret: true,
    input: z.strictObject({
      name: nameInput,
      description: descriptionInput.default(''),
      type,
      lifespan: z.int().positive().max(century).nullable().default(null),
      actions: actionsInput.default([]),
    }),
    output: withKey,
    audit: audited('create'),
    run: async (context, values) => {
      checkActions(context, values.type, values.actions)
      checkMayGive(context, values.type)
      const store = await tokenStore(context)
      const { key = newKey() } = context
      return act(context, async (transaction, now) => {
        const id = await createToken(transaction, store, key, values, now)
        return { id: String(id), name: values.name, responseData: key }
      })
    },
    respond: respondKey,
  }),
  read: operation({
    route: 'GET /tokens/:id',
    summary: 'Read an API token',
    rights: right('read'),
    output: tokenResponse,
    respond: async ({ database }, { id }) => ({ data: await readToken(database, id) }),
  }),
  update: operation({
    route: 'PATCH /tokens/:id',
    summary: 'Change an API token; its key stays',
    rights: right('update'),
    isStrong: true,
    input: z.strictObject({
      name: nameInput.optional(),
      description: descriptionInput.optional(),
      type: type.optional(),
      actions: actionsInput.optional(),
    }),
    output: tokenResponse,
    audit: audited('update'),
    run: async (context, { id, actions, ...given }) => {
      const columns = await tokenColumns(context.database)
      return act(context, async (transaction, now) => {
        const before = await readToken(transaction, id, columns)
        const wanted = given.type ?? before.type
        if (wanted !== before.type) checkMayGive(context, wanted)
        const allowed = actions ?? (wanted === 'custom' ? before.actions : [])
        const changesActions = given.type !== undefined || actions !== undefined
        if (changesActions) checkActions(context, wanted, allowed)
        const { name } = given
        if (name !== undefined && (await readTokens(transaction, columns)).some((token) => token.name === name && token.id !== id))
          throw nameTaken('token')
        const fields = [...Object.keys(given), ...(actions === undefined ? [] : ['actions'])]
        if (fields.length > 0)
          await updateRow(transaction, 'strapi_api_tokens', id, { ...(given as Record<string, string>), updated_at: bindTimestamp(now) })
        if (changesActions) await setTokenActions(transaction, id, allowed, now)
        return { id: String(id), name: before.name, fields }
      })
    },
    respond: async ({ database }, { id }) => ({ data: await readToken(database, id) }),
  }),
  regenerate: operation({
    route: 'POST /tokens/:id/regenerate',
    summary: 'Replace the key of an API token; the new one is shown once',
    rights: right('regenerate'),
    isStrong: true,
    isSecret: true,
    output: withKey,
    audit: audited('regenerate'),
    run: async (context, { id }) => {
      const store = await tokenStore(context)
      const { key = newKey() } = context
      return act(context, async (transaction, now) => {
        const { name, type } = await readToken(transaction, id, store.columns)
        checkMayGive(context, type)
        await regenerateToken(transaction, store, id, key, now)
        return { id: String(id), name, responseData: key }
      })
    },
    respond: respondKey,
  }),
  delete: operation({
    route: 'DELETE /tokens/:id',
    summary: 'Delete an API token',
    rights: right('delete'),
    isStrong: true,
    output: null,
    audit: audited('delete'),
    run: async (context, { id }) => {
      const columns = await tokenColumns(context.database)
      return act(context, async (transaction) => {
        const { name } = await readToken(transaction, id, columns)
        await revokeToken(transaction, id)
        return { id: String(id), name }
      })
    },
  }),
}
