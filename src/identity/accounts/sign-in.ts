// Sign-in with a password, registration, refresh, sign-out and sessions. Unknown accounts take the same time as known ones.
import { scalarColumns } from '../../content/documents/input/attributes.js'
import { attributeErrors, readAttributes } from '../../content/documents/input/input.js'
import { checkUniqueAttributes, writeAttributes } from '../../content/documents/user-attributes.js'
import { ApiError, notFound, unauthorized, validationError } from '../../foundation/errors/errors.js'
import { hashIdentity } from '../access/rate-limit.js'
import { endOneSession, endSessions, nextSession, revokeSession, type ShownSession, sessionsOf } from '../access/sessions.js'
import { type AccountContext, attributeWriting, type Issued, issue, issueSession, ofUser, userTransaction, userType } from './context.js'
import { type Email, renderEmail } from './email.js'
import { bodyMembers, isUnmistakable, readFields } from './input.js'
import { checkPasswordService } from './oauth-providers.js'
import { createOneTimeToken } from './one-time-tokens.js'
import { addUser, isIdentifier, roleByType, type User, userByEmail, userById, userByIdentifier, userByName } from './users.js'

/** Returns `deviceId` of a body; null if it is missing or empty. */
function deviceId(body: unknown): string | null {
  const given = bodyMembers(body).deviceId
  if (given === undefined || given === null || given === '') return null
  if (typeof given !== 'string' || given.length > 200) throw validationError('Invalid deviceId')
  return given
}

/** Signs in with `identifier` and `password`. @throws ApiError 400, the same for a wrong password and an unknown account, or if it is switched off. */
export async function signIn(accounts: AccountContext, body: unknown, address: string): Promise<Issued> {
  await checkPasswordService(accounts.database)
  const { identifier, password } = readFields(body, [{ name: 'identifier' }, { name: 'password' }])
  const device = deviceId(body)
  const check = async () => {
    const found = await userByIdentifier(accounts.database, identifier!)
    const matches = await accounts.passwords.matches(password!, found?.password ?? null)
    if (found === null || !matches) throw validationError('Invalid identifier or password')
    return found
  }
  const user = await accounts.limiter.perAccount(hashIdentity(identifier!), check, address)
  await checkMaySignIn(accounts, user)
  return issue(accounts, user.id, device)
}

/** @throws ApiError 400 for an unconfirmed or blocked account; called only after the credentials were checked. */
export async function checkMaySignIn(accounts: AccountContext, user: User): Promise<void> {
  const { emailConfirmation } = await accounts.settings()
  if (emailConfirmation && user.confirmed !== 1) throw new ApiError('ApplicationError', 'Your account email is not confirmed')
  if (user.blocked === 1) throw new ApiError('ApplicationError', 'Your account has been blocked by an administrator')
}

/** Attributes that cannot be set like the other attributes of a user. */
const protectedAttributes = new Set(['role', 'provider', 'resetPasswordToken', 'confirmationToken'])

/** Returns the members of a body that are ordinary attributes of a user. */
export const ordinaryAttributes = (given: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(given).filter(([name]) => !protectedAttributes.has(name)))

const registered = ['username', 'email', 'password']

/** Registers a user. Returns no tokens if the e-mail address must be confirmed first. */
export async function register(accounts: AccountContext, body: unknown): Promise<Issued | { readonly userId: number }> {
  const settings = await accounts.settings()
  if (!settings.allowRegister) throw new ApiError('ApplicationError', 'Register action is currently disabled')
  const allowed = accounts.signIn.register.allowedFields
  const unknown = Object.keys(bodyMembers(body)).filter((name) => !registered.includes(name) && !allowed.includes(name))
  if (unknown.length > 0) throw validationError(`Invalid parameters: ${unknown.join(', ')}`)
  const form = readFields(body, [{ name: 'email', email: true }, { name: 'username' }, { name: 'password', password: true }])
  const [username, email, password] = [form.username!, form.email!.toLowerCase(), form.password!]
  if (accounts.signIn.register.names === 'plain' && !isUnmistakable(username)) {
    throw new ApiError('ApplicationError', 'The username must not start or end with spaces or contain invisible or look-alike characters')
  }
  const type = userType(accounts)
  const more = Object.entries(ordinaryAttributes(bodyMembers(body))).filter(([name]) => allowed.includes(name))
  const { input, errors } = readAttributes(accounts.input, type, { ...Object.fromEntries(more), username, email, password }, true)
  if (input === null) throw attributeErrors(errors)
  const role = await roleByType(accounts.database, settings.defaultRole)
  if (role === null) throw new ApiError('ApplicationError', 'Impossible to find the default role')
  const columns = await scalarColumns(input, accounts.passwords.hash)
  const now = accounts.now()
  const { defaultLocale } = accounts
  const { userId, code } = await userTransaction(accounts, async (transaction) => {
    const sameEmail = await userByEmail(transaction, email)
    const taken =
      (sameEmail !== null && (settings.uniqueEmail || sameEmail.provider === 'local')) ||
      (await userByName(transaction, email)) !== null ||
      (await isIdentifier(transaction, username))
    if (taken) throw new ApiError('ApplicationError', 'Email or Username are already taken')
    await checkUniqueAttributes(attributeWriting(accounts, transaction, defaultLocale), type, '', input)
    const values = { ...columns, provider: 'local', confirmed: settings.emailConfirmation ? 0 : 1, blocked: 0 }
    const id = await addUser(transaction, type, values, role, now)
    await writeAttributes(attributeWriting(accounts, transaction, defaultLocale), type, id, input, true)
    await accounts.watch?.happened(transaction, 'entry.create', id)
    const user = settings.emailConfirmation ? await userById(transaction, id) : null
    const made = user === null ? null : await createOneTimeToken(transaction, 'confirm', user, now + accounts.signIn.confirmLifespan)
    // As Strapi, which stores the code in the user.
    if (made !== null) await accounts.watch?.happened(transaction, 'entry.update', id)
    return { userId: id, code: made }
  })
  if (code === null) return issue(accounts, userId)
  accounts.mail.post(await confirmationEmail(accounts, email, username, code))
  return { userId }
}

/** Renders the e-mail with a confirmation code. */
export function confirmationEmail(accounts: AccountContext, email: string, username: string, code: string): Promise<Email> {
  return renderEmail(accounts.database, 'email_confirmation', email, {
    URL: `${accounts.publicUrl}${accounts.prefix}/auth/email-confirmation`,
    CODE: code,
    'USER.username': username,
    'USER.email': email,
    SERVER_URL: accounts.publicUrl,
    ADMIN_URL: `${accounts.publicUrl}/admin`,
  })
}

/** Exchanges a refresh token for new tokens. @throws ApiError 401 */
export async function refresh(accounts: AccountContext, token: unknown): Promise<Issued> {
  checkSessionsEnabled(accounts)
  if (typeof token !== 'string') throw new ApiError('BadRequestError', 'Missing refresh token')
  const claims = await accounts.jwts.verify(token)
  if (claims === null || claims.kind !== 'refresh') throw unauthorized('Invalid refresh token')
  const limits = { longest: accounts.signIn.maxRefreshTokenLifespan, idle: accounts.signIn.idleRefreshTokenLifespan }
  const next = await accounts.writer.transaction((transaction) =>
    nextSession(transaction, 'users-permissions', claims.sessionId, { refresh: limits, session: limits }, accounts.now()),
  )
  const user = next === null ? null : await userById(accounts.database, claims.userId)
  if (next === null || user === null || user.blocked === 1) throw unauthorized('Invalid refresh token')
  return issueSession(accounts, claims.userId, next)
}

/** Ends the current session, the sessions of one device, or all. */
export async function signOut(accounts: AccountContext, userId: number, current: string | null, body: unknown): Promise<void> {
  checkSessionsEnabled(accounts)
  const device = deviceId(body)
  await accounts.writer.transaction(async (transaction) => {
    if (bodyMembers(body).scope === 'all') await endSessions(transaction, ofUser(userId))
    else if (device !== null) await endSessions(transaction, ofUser(userId), device)
    else if (current !== null) await revokeSession(transaction, ofUser(userId), current)
  })
}

/** Returns the active sessions of a user. */
export function listSessions(accounts: AccountContext, userId: number, current: string | null): Promise<readonly ShownSession[]> {
  checkSessionsEnabled(accounts)
  return sessionsOf(accounts.database, ofUser(userId), current, accounts.now())
}

/** Ends one session. @throws ApiError 404 also for a session of another user. */
export async function endSession(accounts: AccountContext, userId: number, sessionId: string): Promise<void> {
  checkSessionsEnabled(accounts)
  await endOneSession(accounts, ofUser(userId), sessionId)
}

/** @throws ApiError 404 if sessions are not enabled */
function checkSessionsEnabled(accounts: AccountContext): void {
  if (accounts.signIn.jwtManagement !== 'refresh') throw notFound()
}
