// Sign-in of administrators with a password, refresh, sign-out, and their sessions. Unknown addresses take the same time as known ones.

import type { Transaction } from '../../database/database.js'
import { ApiError, unauthorized, validationError } from '../../foundation/errors/errors.js'
import { hashIdentity, strangerAt } from '../../identity/access/rate-limit.js'
import { endSessions, nextSession, notePassword, revokeSession, type Session, startSession } from '../../identity/access/sessions.js'
import { doAction } from '../activity.js'
import type { Administration } from '../context.js'
import { type AdministratorRow, administratorByEmail, administratorById, isActive, sessionOwner } from './administrators.js'
import { type Administrator, passwordMark } from './identify.js'

interface Credentials {
  readonly email: string
  readonly password: string
  /** The session outlives the browser. */
  readonly remember: boolean
  readonly deviceId: string | null
}

/** The tokens of a sign-in. Times are milliseconds since 1970. */
export interface AdministratorTokens {
  readonly administratorId: number
  readonly accessToken: string
  readonly accessEndsAt: number
  readonly refreshToken: string
  readonly refreshEndsAt: number
  /** The cookie outlives the browser. */
  readonly isRemembered: boolean
}

/** Signs in. @throws ApiError 400, the same for a wrong password and an unknown address; 400 for an account that is blocked or not active */
export async function signInAdministrator(
  administration: Administration,
  credentials: Credentials,
  address: string,
): Promise<AdministratorTokens> {
  const { database, limiter, passwords } = administration
  const { email, password } = credentials
  const check = async () => {
    const found = await administratorByEmail(database, email.trim())
    const matches = await passwords.of(strangerAt(address)).matches(password, found?.password ?? null)
    if (found === null || !matches) throw validationError('Invalid email or password', { reason: 'credentials' })
    return found
  }
  const row = await limiter.perAccount(`admin ${hashIdentity(email)}`, check, address)
  checkMaySignIn(row)
  const actor = { administrator: { id: row.id, email: row.email ?? '' }, address }
  const session = await doAction(administration, actor, async (transaction, now) => {
    const act = { action: 'sign-in', subject: 'administrator', id: String(row.id), name: row.email ?? '' }
    return [act, await startAdministratorSession(administration, transaction, row.id, credentials, now)]
  })
  return issueTokens(administration, row, session)
}

/** @throws ApiError 400 that names the reason */
export function checkMaySignIn(row: AdministratorRow): void {
  if (row.blocked === 1) throw new ApiError('ApplicationError', 'This account is blocked', { reason: 'blocked' })
  if (row.is_active !== 1) throw new ApiError('ApplicationError', 'This account is not active', { reason: 'inactive' })
}

/** Starts a session for an administrator whose identity was checked. */
function startAdministratorSession(
  { sessionLimits }: Pick<Administration, 'sessionLimits'>,
  transaction: Transaction,
  id: number,
  { remember, deviceId }: Pick<Credentials, 'remember' | 'deviceId'>,
  now: number,
): Promise<Session> {
  const type = remember ? 'refresh' : 'session'
  return startSession(transaction, sessionOwner(id), { deviceId, type, limits: sessionLimits[type] }, now)
}

/** Starts a session of an administrator who was created or has a new password in the transaction. */
export async function startNewSession(administration: Administration, transaction: Transaction, id: number, remember = false) {
  const session = await startAdministratorSession(administration, transaction, id, { remember, deviceId: null }, administration.now())
  return { row: (await administratorById(transaction, id))!, session }
}

/** Signs the tokens of a session. */
export async function issueTokens(
  { jwts, keys, config }: Pick<Administration, 'jwts' | 'keys' | 'config'>,
  { id, document_id, password }: Pick<AdministratorRow, 'id' | 'document_id' | 'password'>,
  session: Session,
): Promise<AdministratorTokens> {
  const mark = passwordMark(keys.marks, document_id, password)
  const tokens = await jwts.ofSession(id, session, config.admin.sessions.accessTokenLifespan, mark)
  return { ...tokens, administratorId: id, refreshEndsAt: session.expiresAt, isRemembered: session.type === 'refresh' }
}

/** Exchanges a refresh token for new tokens. @throws ApiError 401 */
export async function refreshAdministrator(administration: Administration, token: string | undefined): Promise<AdministratorTokens> {
  const { writer, jwts, keys, sessionLimits, now } = administration
  const claims = token === undefined ? null : await jwts.verify(token)
  if (claims === null || claims.kind !== 'refresh') throw unauthorized('Invalid refresh token')
  const next = await writer.transaction(async (transaction) => {
    const session = await nextSession(transaction, 'admin', claims.sessionId, sessionLimits, now())
    const row = session === null ? null : await administratorById(transaction, claims.userId)
    if (session === null || row === null) return null
    if (isActive(row) && passwordMark(keys.marks, row.document_id, row.password) === claims.mark) return { session, row }
    await endSessions(transaction, sessionOwner(row.id))
    return null
  })
  if (next === null) throw unauthorized('Invalid refresh token')
  return issueTokens(administration, next.row, next.session)
}

/** Ends the session of a refresh token, which may have ended already. */
export async function signOutAdministrator({ writer, jwts }: Administration, token: string | undefined): Promise<void> {
  const claims = token === undefined ? null : await jwts.verify(token)
  if (claims === null || claims.kind !== 'refresh') return
  await writer.transaction((transaction) => revokeSession(transaction, sessionOwner(claims.userId), claims.sessionId))
}

/** The name of an administrator in the queue of password hashes. */
export const queueName = (id: number): string => `administrator ${id}`

/** Checks the password of a signed-in administrator. @throws ApiError 400 */
export async function checkCurrentPassword(
  { database, limiter, passwords }: Administration,
  { id }: Pick<Administrator, 'id'>,
  password: string,
): Promise<AdministratorRow> {
  // Counted apart from sign-ins, so that attempts of strangers do not affect signed-in administrators.
  return limiter.perAccount(`admin password ${id}`, async () => {
    const row = await administratorById(database, id)
    if (row === null || !(await passwords.of(queueName(id)).matches(password, row.password)))
      throw validationError('Invalid password', { reason: 'credentials' })
    return row
  })
}

/** Records that the password was confirmed, for actions that require it. @throws ApiError 400 */
export async function confirmPassword(administration: Administration, administrator: Administrator, password: string): Promise<number> {
  const { writer, now } = administration
  await checkCurrentPassword(administration, administrator, password)
  const at = now()
  await writer.transaction((transaction) => notePassword(transaction, sessionOwner(administrator.id), administrator.sessionId, at))
  return at
}

/** Strong actions require a password that was entered within this time. */
const passwordLifetime = 600_000

/** @throws ApiError 403 with the reason `password` if the password was entered too long ago for a strong action */
export function checkPasswordAge({ now }: Pick<Administration, 'now'>, { passwordAt }: Administrator): void {
  if (now() - passwordAt > passwordLifetime)
    throw new ApiError('ForbiddenError', 'This asks for your password again (POST /session/password)', { reason: 'password' })
}
