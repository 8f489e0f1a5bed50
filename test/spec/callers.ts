// Callers for tests: API tokens, users and permissions, written into the service's database while it serves.
import { createHmac } from 'node:crypto'
import Database from 'better-sqlite3'
import type { Served } from '../support/serve.js'

/** Passed to the service as environment. */
export const secrets = { API_TOKEN_SALT: 'salt of the tests', JWT_SECRET: 'secret of the tests' }

export type Row = Readonly<Record<string, string | number | null>>

/** Runs `work` on a connection of its own, as another process would. */
export function write<Result>(served: Served, work: (database: Database.Database) => Result): Result {
  const database = new Database(served.database)
  try {
    return work(database)
  } finally {
    database.close()
  }
}

export function insert(database: Database.Database, table: string, row: Row): number {
  const names = Object.keys(row)
  const places = names.map(() => '?').join(', ')
  const statement = database.prepare(`INSERT INTO "${table}" (${names.map((name) => `"${name}"`).join(', ')}) VALUES (${places})`)
  return Number(statement.run(...Object.values(row)).lastInsertRowid)
}

interface Token {
  readonly type: 'read-only' | 'full-access' | 'custom'
  readonly actions?: readonly string[]
  /** Milliseconds since 1970. */
  readonly expiresAt?: number
}

/** Writes an API token with the given text. */
export function addToken(served: Served, text: string, { type, actions = [], expiresAt }: Token): void {
  const access_key = createHmac('sha512', secrets.API_TOKEN_SALT).update(text).digest('hex')
  const moments = { created_at: Date.now(), updated_at: Date.now() }
  write(served, (database) => {
    const row = { name: text, type, kind: 'content-api', access_key, expires_at: expiresAt ?? null, ...moments }
    const token = insert(database, 'strapi_api_tokens', row)
    for (const action of actions) {
      const permission = insert(database, 'strapi_api_token_permissions', { action, ...moments })
      insert(database, 'strapi_api_token_permissions_token_lnk', { api_token_permission_id: permission, api_token_id: token })
    }
  })
}

/** Writes a user with a role, by the role's type, and gives the row id. */
export function addUser(served: Served, username: string, role: string | null, more: Row = {}): number {
  return write(served, (database) => {
    const row = { username, email: `${username}@users.example`, provider: 'local', confirmed: 1, blocked: 0, ...more }
    const user = insert(database, 'up_users', { ...row, created_at: Date.now(), updated_at: Date.now() })
    if (role !== null) insert(database, 'up_users_role_lnk', { user_id: user, role_id: roleId(database, role), user_ord: user })
    return user
  })
}

export function roleId(database: Database.Database, type: string): number {
  return database.prepare('SELECT id FROM up_roles WHERE type = ?').pluck().get(type) as number
}

/** Grants an action to a role, by the role's type. */
export function grant(served: Served, role: string, action: string): void {
  write(served, (database) => {
    const permission = insert(database, 'up_permissions', { action, created_at: Date.now(), updated_at: Date.now() })
    insert(database, 'up_permissions_role_lnk', { permission_id: permission, role_id: roleId(database, role) })
  })
}

/** Takes an action away from a role. */
export function revoke(served: Served, role: string, action: string): void {
  write(served, (database) => {
    const statement = `DELETE FROM up_permissions WHERE action = ? AND id IN (SELECT permission_id FROM up_permissions_role_lnk WHERE role_id = ?)`
    database.prepare(statement).run(action, roleId(database, role))
  })
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
