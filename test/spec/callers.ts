// Callers for tests: API tokens, users and permissions, written into the service's database while it serves.
import { createHmac } from 'node:crypto'
import { expect } from 'vitest'
import type { Served, TestResponse } from '../support/serve.js'
import type { Value } from '../support/statements.js'

/** Passed to the service as environment. */
export const secrets = { API_TOKEN_SALT: 'salt of the tests', JWT_SECRET: 'secret of the tests' }

export type Row = Readonly<Record<string, Value>>

/** Inserts a row and returns its id. */
export async function insert({ sql }: Pick<Served, 'sql'>, table: string, row: Row): Promise<number> {
  const names = Object.keys(row)
  const places = names.map(() => '?').join(', ')
  const statement = `INSERT INTO "${table}" (${names.map((name) => `"${name}"`).join(', ')}) VALUES (${places}) RETURNING id`
  return (await sql(statement, ...Object.values(row)))[0]!.id
}

/** Adds the locale `de`. */
export async function addGerman(served: Pick<Served, 'sql'>): Promise<void> {
  const moments = { created_at: Date.now(), updated_at: Date.now(), published_at: Date.now() }
  await insert(served, 'i18n_locale', { document_id: 'german', code: 'de', name: 'German (de)', ...moments })
}

/** Sends data with a token and resolves to that of the response, which has to be a success. */
export const sending =
  (served: () => Pick<Served, 'request'>, token: string) =>
  async (method: string, path: string, data?: object): Promise<TestResponse['body']> => {
    const sent = data === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify({ data }) }
    const { status, body, text } = await served().request(`/api/${path}`, { method, token, ...sent })
    expect(status, `${method} ${path}: ${text}`).toBeLessThan(300)
    return body?.data
  }

interface Token {
  readonly type: 'read-only' | 'full-access' | 'custom'
  readonly actions?: readonly string[]
  /** Milliseconds since 1970. */
  readonly expiresAt?: number
}

/** Writes an API token with the given text. */
export async function addToken(served: Served, text: string, { type, actions = [], expiresAt }: Token): Promise<void> {
  const access_key = createHmac('sha512', secrets.API_TOKEN_SALT).update(text).digest('hex')
  const moments = { created_at: Date.now(), updated_at: Date.now() }
  const row = { name: text, type, kind: 'content-api', access_key, expires_at: expiresAt ?? null, ...moments }
  const token = await insert(served, 'strapi_api_tokens', row)
  for (const action of actions) {
    const permission = await insert(served, 'strapi_api_token_permissions', { action, ...moments })
    await insert(served, 'strapi_api_token_permissions_token_lnk', { api_token_permission_id: permission, api_token_id: token })
  }
}

/** Writes a user with a role, by the role's type, and returns the row id. */
export async function addUser(served: Served, username: string, role: string | null, more: Row = {}): Promise<number> {
  const row = { username, email: `${username}@users.example`, provider: 'local', confirmed: 1, blocked: 0, ...more }
  const user = await insert(served, 'up_users', { ...row, created_at: Date.now(), updated_at: Date.now() })
  const link = { user_id: user, user_ord: user }
  if (role !== null) await insert(served, 'up_users_role_lnk', { ...link, role_id: await roleId(served, role) })
  return user
}

export async function roleId({ sql }: Served, type: string): Promise<number> {
  return (await sql('SELECT id FROM up_roles WHERE type = ?', type))[0]!.id
}

/** Grants an action to a role, by the role's type. */
export async function grant(served: Served, role: string, action: string): Promise<void> {
  const permission = await insert(served, 'up_permissions', { action, created_at: Date.now(), updated_at: Date.now() })
  await insert(served, 'up_permissions_role_lnk', { permission_id: permission, role_id: await roleId(served, role) })
}

/** Takes an action away from a role. */
export async function revoke(served: Served, role: string, action: string): Promise<void> {
  const statement = `DELETE FROM up_permissions WHERE action = ? AND id IN (SELECT permission_id FROM up_permissions_role_lnk WHERE role_id = ?)`
  await served.sql(statement, action, await roleId(served, role))
}

interface JwtOptions {
  readonly algorithm?: 'HS256' | 'HS512' | 'none'
  readonly secret?: string
  /** Seconds from now until it expires; negative: it has. */
  readonly seconds?: number
}

/** A user's JSON Web Token. */
export function jwt(id: unknown, { algorithm = 'HS256', secret = secrets.JWT_SECRET, seconds = 3600 }: JwtOptions = {}): string {
  const now = Math.floor(Date.now() / 1000)
  const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const signed = `${encoded({ alg: algorithm, typ: 'JWT' })}.${encoded({ id, iat: now, exp: now + seconds })}`
  if (algorithm === 'none') return `${signed}.`
  const signature = createHmac(algorithm === 'HS512' ? 'sha512' : 'sha256', secret)
    .update(signed)
    .digest('base64url')
  return `${signed}.${signature}`
}
