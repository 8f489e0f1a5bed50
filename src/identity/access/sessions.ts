// Sessions with refresh tokens, of users and of administrators: rows in Strapi's own table. A refresh token can be used once. If it is used
// again after a short time, two parties have it, so the whole family of sessions ends.
import { randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import { insertRow, newEntry } from '../../content/documents/store/rows.js'
import type { RowReader, Transaction, WriteDatabase } from '../../database/database.js'
import { bindTimestamp, isSame } from '../../database/portable-sql.js'
import { notFound } from '../../foundation/errors/errors.js'

type SessionOrigin = 'users-permissions' | 'admin'

/** The owner of sessions: a user or an administrator. */
export interface SessionOwner {
  readonly origin: SessionOrigin
  readonly id: number
}

/** `session`: it ends with the browser, and sooner than others. Users only have `refresh`. */
export type SessionType = 'refresh' | 'session'

/** Milliseconds of grace for reuse of a refresh token, because two tabs may refresh at the same time; by the clock of the database. */
const grace = 10_000

/** Lifetimes of sessions. */
export interface SessionLimits {
  /** Milliseconds that a session may last, and that it may be idle. */
  readonly longest: number
  readonly idle: number
}

interface SignedInBy {
  readonly deviceId: string | null
  readonly type: SessionType
  readonly limits: SessionLimits
}

/** A new session. */
export interface Session {
  readonly sessionId: string
  readonly type: SessionType
  /** When its refresh token expires; milliseconds since 1970. */
  readonly expiresAt: number
}

interface Row {
  readonly id: number
  readonly user_id: string
  readonly session_id: string
  readonly child_id: string | null
  /** The device name that the client sent, or a generated one; usually null. */
  readonly device_id: string | null
  readonly expires_at: number
  /** Inherited by all following sessions; identifies the family together with user and device. */
  readonly absolute_expires_at: number
  readonly status: string
  readonly type: string | null
  readonly metadata: string | null
  readonly updated_at: number
}

const columns = sql`id, user_id, session_id, child_id, device_id, expires_at, absolute_expires_at, status, type, metadata, updated_at`

/** The row of a session, and the time of day by the clock of the database. */
async function sessionAndTime(transaction: Transaction, origin: SessionOrigin, sessionId: string): Promise<(Row & Timed) | null> {
  const [row = null] = await transaction.rows<Row & { readonly moment: unknown }>(
    sql`select ${columns}, ${transaction.dialect.timeOfDay} as moment from strapi_sessions where session_id = ${sessionId} and origin = ${origin}`,
  )
  return row === null ? null : { ...row, moment: Number(row.moment) }
}

interface Timed {
  /** Milliseconds since 1970. */
  readonly moment: number
}

async function sessionRow(database: RowReader, origin: SessionOrigin, sessionId: string): Promise<Row | null> {
  const [row = null] = await database.rows<Row>(
    sql`select ${columns} from strapi_sessions where session_id = ${sessionId} and origin = ${origin}`,
  )
  return row
}

/** Returns the id of the owner of a session; null if it was revoked or has ended. */
export async function ownerOfSession(database: RowReader, origin: SessionOrigin, sessionId: string): Promise<number | null> {
  const row = await sessionRow(database, origin, sessionId)
  return row === null ? null : Number(row.user_id)
}

/** Starts a session on a device, and deletes expired ones. */
export async function startSession(
  transaction: Transaction,
  { origin, id }: SessionOwner,
  { deviceId, type, limits }: SignedInBy,
  now: number,
): Promise<Session> {
  await transaction.run(sql`delete from strapi_sessions where expires_at < ${bindTimestamp(now)} and origin = ${origin}`)
  const metadata = JSON.stringify({ loginAt: new Date(now).toISOString() })
  const family = { user_id: String(id), device_id: deviceId, absolute_expires_at: now + limits.longest, metadata }
  return addSession(transaction, origin, { ...family, type }, limits, now)
}

async function addSession(
  transaction: Transaction,
  origin: SessionOrigin,
  family: Pick<Row, 'user_id' | 'device_id' | 'absolute_expires_at' | 'metadata' | 'type'>,
  limits: SessionLimits,
  now: number,
): Promise<Session> {
  const { user_id, device_id, absolute_expires_at, metadata } = family
  const type = typeOf(family)
  const session = { sessionId: randomBytes(16).toString('hex'), type, expiresAt: Math.min(absolute_expires_at, now + limits.idle) }
  await insertRow(transaction, 'strapi_sessions', {
    ...newEntry(now),
    user_id,
    session_id: session.sessionId,
    device_id,
    origin,
    expires_at: bindTimestamp(session.expiresAt),
    absolute_expires_at: bindTimestamp(absolute_expires_at),
    status: 'active',
    type,
    metadata,
  })
  return session
}

const typeOf = ({ type }: Pick<Row, 'type'>): SessionType => (type === 'session' ? type : 'refresh')

/**
 * Returns the session that follows a refresh token; null if the token is invalid. A token that was used before ends its family, and every
 * session of its device.
 */
export async function nextSession(
  transaction: Transaction,
  origin: SessionOrigin,
  sessionId: string,
  limits: Readonly<Record<SessionType, SessionLimits>>,
  now: number,
): Promise<Session | null> {
  const row = await sessionAndTime(transaction, origin, sessionId)
  if (row === null || row.expires_at <= now) return null
  if (row.status !== 'active') {
    const child = row.child_id === null ? null : await sessionRow(transaction, origin, row.child_id)
    if (child?.status === 'active' && row.moment - row.updated_at < grace)
      return { sessionId: child.session_id, type: typeOf(child), expiresAt: child.expires_at }
    await endFamily(transaction, origin, row)
    if (row.device_id !== null) await endSessions(transaction, { origin, id: Number(row.user_id) }, row.device_id)
    return null
  }
  const next = await addSession(transaction, origin, row, limits[typeOf(row)], now)
  await transaction.run(
    sql`update strapi_sessions set status = 'rotated', child_id = ${next.sessionId}, updated_at = ${bindTimestamp(row.moment)} where id = ${row.id}`,
  )
  return next
}

/** Ends all sessions of a family: those that were refreshed from each other. */
async function endFamily(transaction: Transaction, origin: SessionOrigin, { user_id, device_id, absolute_expires_at }: Row): Promise<void> {
  await transaction.run(sql`delete from strapi_sessions where user_id = ${user_id} and origin = ${origin}
    and absolute_expires_at = ${bindTimestamp(absolute_expires_at)} and ${isSame(sql`device_id`, device_id)}`)
}

/** Ends the sessions of an owner on one device, or all. */
export async function endSessions(transaction: Transaction, { origin, id }: SessionOwner, deviceId: string | null = null): Promise<void> {
  const device = deviceId === null ? sql`` : sql` and device_id = ${deviceId}`
  await transaction.run(sql`delete from strapi_sessions where user_id = ${String(id)} and origin = ${origin}${device}`)
}

/** A session as the API shows it. */
export interface ShownSession {
  readonly id: string
  readonly deviceId: string | null
  readonly current: boolean
  /** When the user signed in; missing if unknown. */
  readonly loginAt?: string
  readonly lastActiveAt: string
}

/** Returns the active sessions of an owner: the current one first, then by last activity. */
export async function sessionsOf(
  database: RowReader,
  { origin, id }: SessionOwner,
  current: string | null,
  now: number,
): Promise<readonly ShownSession[]> {
  const rows = await database.rows<Row>(
    sql`select ${columns} from strapi_sessions
      where user_id = ${String(id)} and origin = ${origin} and (status = 'active' or session_id = ${current ?? ''}) and expires_at > ${bindTimestamp(now)}
      order by updated_at desc, id desc`,
  )
  const own = rows.find((row) => row.session_id === current)
  const isOwn = (row: Row) => row.device_id === own?.device_id && row.absolute_expires_at === own.absolute_expires_at
  return rows
    .filter((row) => row.status === 'active')
    .sort((one, other) => Number(isOwn(other)) - Number(isOwn(one)))
    .map((row) => ({
      id: row.session_id,
      deviceId: row.device_id,
      current: isOwn(row),
      ...loginOf(row),
      lastActiveAt: new Date(row.updated_at).toISOString(),
    }))
}

function loginOf({ metadata }: Row): { readonly loginAt?: string } {
  const { loginAt } = JSON.parse(metadata ?? '{}') as { loginAt?: unknown }
  return typeof loginAt === 'string' ? { loginAt } : {}
}

/** Ends one session of this owner with its family; false if there is no such session. */
export async function revokeSession(transaction: Transaction, { origin, id }: SessionOwner, sessionId: string): Promise<boolean> {
  const row = await sessionRow(transaction, origin, sessionId)
  if (row === null || row.user_id !== String(id)) return false
  await endFamily(transaction, origin, row)
  return true
}

/** Ends one session of this owner. @throws ApiError 404 also for a session of another one */
export async function endOneSession({ writer }: { readonly writer: WriteDatabase }, owner: SessionOwner, sessionId: string): Promise<void> {
  if (!(await writer.transaction((transaction) => revokeSession(transaction, owner, sessionId)))) throw notFound('Session not found')
}

/** Notes in a session, and in those that it was refreshed from, when its owner gave the password last. */
export async function notePassword(transaction: Transaction, { origin, id }: SessionOwner, sessionId: string, at: number): Promise<void> {
  const row = await sessionRow(transaction, origin, sessionId)
  if (row === null || row.user_id !== String(id)) return
  const metadata = JSON.stringify({ ...(JSON.parse(row.metadata ?? '{}') as object), passwordAt: new Date(at).toISOString() })
  await transaction.run(sql`update strapi_sessions set metadata = ${metadata} where user_id = ${row.user_id} and origin = ${origin}
    and absolute_expires_at = ${bindTimestamp(row.absolute_expires_at)} and ${isSame(sql`device_id`, row.device_id)}`)
}
