// Sessions of users, for the mode with refresh tokens: rows in Strapi's own table. A refresh token is used once; using it
// again after a moment ends the whole family, because then two parties hold it.
import { randomBytes } from 'node:crypto'
import { createId } from '@paralleldrive/cuid2'
import { sql } from 'kysely'
import type { DirectDatabase, Transaction } from '../database/database.js'
import { insertRow } from '../documents/rows.js'

const origin = 'users-permissions'
/** Two tabs may refresh with the same token at the same time; milliseconds. */
const grace = 10_000

export interface SessionLimits {
  /** Milliseconds that a session may last, and that it may be unused. */
  readonly longest: number
  readonly idle: number
}

export interface Session {
  readonly sessionId: string
  /** When its refresh token ends; milliseconds since 1970. */
  readonly expiresAt: number
}

interface Row {
  readonly id: number
  readonly user_id: string
  readonly session_id: string
  readonly child_id: string | null
  readonly device_id: string
  readonly expires_at: number
  readonly absolute_expires_at: number
  readonly status: string
  readonly created_at: number
  readonly updated_at: number
}

const columns = sql`id, user_id, session_id, child_id, device_id, expires_at, absolute_expires_at, status, created_at, updated_at`

async function sessionRow(database: Pick<DirectDatabase, 'rows'>, sessionId: string): Promise<Row | null> {
  const [row = null] = await database.rows<Row>(
    sql`select ${columns} from strapi_sessions where session_id = ${sessionId} and origin = ${origin}`,
  )
  return row
}

/** Whose session this is; null for one that was revoked, or has ended. */
export async function ownerOfSession(database: Pick<DirectDatabase, 'rows'>, sessionId: string): Promise<number | null> {
  const row = await sessionRow(database, sessionId)
  return row === null ? null : Number(row.user_id)
}

/** Starts a session on a device. */
export async function startSession(
  transaction: Transaction,
  userId: number,
  deviceId: string | null,
  limits: SessionLimits,
  now: number,
): Promise<Session> {
  await transaction.run(sql`delete from strapi_sessions where origin = ${origin} and expires_at < ${now}`)
  return addSession(transaction, String(userId), deviceId ?? createId(), now + limits.longest, limits, now)
}

async function addSession(
  transaction: Transaction,
  userId: string,
  deviceId: string,
  end: number,
  limits: SessionLimits,
  now: number,
): Promise<Session> {
  const session = { sessionId: randomBytes(16).toString('hex'), expiresAt: Math.min(end, now + limits.idle) }
  await insertRow(transaction, 'strapi_sessions', {
    document_id: createId(),
    user_id: userId,
    session_id: session.sessionId,
    device_id: deviceId,
    origin,
    expires_at: session.expiresAt,
    absolute_expires_at: end,
    status: 'active',
    type: 'refresh',
    created_at: now,
    updated_at: now,
    published_at: now,
  })
  return session
}

/**
 * The session that follows a used refresh token; null where the token is void. A token that was used before ends every
 * session of its device.
 */
export async function nextSession(
  transaction: Transaction,
  sessionId: string,
  limits: SessionLimits,
  now: number,
): Promise<Session | null> {
  const row = await sessionRow(transaction, sessionId)
  if (row === null || row.expires_at <= now) return null
  if (row.status !== 'active') {
    const child = row.child_id === null ? null : await sessionRow(transaction, row.child_id)
    if (child?.status === 'active' && now - row.updated_at < grace) return { sessionId: child.session_id, expiresAt: child.expires_at }
    await endSessions(transaction, Number(row.user_id), { deviceId: row.device_id })
    return null
  }
  const next = await addSession(transaction, row.user_id, row.device_id, row.absolute_expires_at, limits, now)
  await transaction.run(
    sql`update strapi_sessions set status = 'rotated', child_id = ${next.sessionId}, updated_at = ${now} where id = ${row.id}`,
  )
  return next
}

/** Ends the sessions of a user: those of a device, or all. */
export async function endSessions(transaction: Transaction, userId: number, which: { readonly deviceId: string | null }): Promise<void> {
  const device = which.deviceId === null ? sql`` : sql` and device_id = ${which.deviceId}`
  await transaction.run(sql`delete from strapi_sessions where origin = ${origin} and user_id = ${String(userId)}${device}`)
}

/** A session as its user sees it. */
export interface ShownSession {
  readonly sessionId: string
  readonly deviceId: string
  readonly createdAt: string
  readonly expiresAt: string
  readonly current: boolean
}

/** The sessions in which the user is signed in. */
export async function sessionsOf(
  database: Pick<DirectDatabase, 'rows'>,
  userId: number,
  current: string | null,
  now: number,
): Promise<readonly ShownSession[]> {
  const rows = await database.rows<Row>(
    sql`select ${columns} from strapi_sessions
      where origin = ${origin} and user_id = ${String(userId)} and (status = 'active' or session_id = ${current ?? ''}) and expires_at > ${now}
      order by id`,
  )
  const currentDevice = rows.find((row) => row.session_id === current)?.device_id
  return rows
    .filter((row) => row.status === 'active')
    .map((row) => ({
      sessionId: row.session_id,
      deviceId: row.device_id,
      createdAt: new Date(row.created_at).toISOString(),
      expiresAt: new Date(row.expires_at).toISOString(),
      current: row.device_id === currentDevice,
    }))
}

/** Ends one session of this user, with what was rotated into it; false where the user has no such session. */
export async function revokeSession(transaction: Transaction, userId: number, sessionId: string): Promise<boolean> {
  const row = await sessionRow(transaction, sessionId)
  if (row === null || row.user_id !== String(userId)) return false
  await endSessions(transaction, userId, { deviceId: row.device_id })
  return true
}
