// Signing in with a password, signing up, and what keeps or ends a sign-in. Known and unknown accounts take the same way.
import { createHash } from 'node:crypto'
import { bodyMembers } from '../access/body.js'
import { endSessions, nextSession, revokeSession, type ShownSession, sessionsOf } from '../access/sessions.js'
import { attributeErrors, readAttributes } from '../documents/input/input.js'
import { scalarColumns } from '../documents/store/scalar-columns.js'
import { checkUniqueAttributes, writeAttributes } from '../documents/user-attributes.js'
import { ApiError, notFound, unauthorized, validationError } from '../errors/errors.js'
import { isUnmistakable } from './confusable-names.js'
import { type AccountContext, attributeWriting, type Issued, issue, issueSession, userType } from './context.js'
import { type Email, renderEmail } from './email.js'
import { readFields } from './input.js'
import { createOneTimeToken } from './one-time-tokens.js'
import { addUser, isIdentifier, roleByType, type User, userByEmail, userById, userByIdentifier, userByName } from './users.js'

/** The text member `deviceId` of a body; the empty text names none. */
function deviceId(body: unknown): string | null {
  const given = bodyMembers(body).deviceId
  if (given === undefined || given === null || given === '') return null
  if (typeof given !== 'string' || given.length > 200) throw validationError('Invalid deviceId')
  return given
}

/** Signs in with `identifier` and `password`. @throws ApiError 400, the same for a wrong password and an unknown account. */
export async function signIn(accounts: AccountContext, body: unknown): Promise<Issued> {
  const { identifier, password } = readFields(body, [{ name: 'identifier' }, { name: 'password' }])
  const device = deviceId(body)
  const account = createHash('sha256').update(identifier!.trim().toLowerCase()).digest('base64url')
  const user = await accounts.limiter.perAccount(account, async () => {
    const found = await userByIdentifier(accounts.database, identifier!)
    const fits = await accounts.passwords.fits(password!, found?.password ?? null)
    if (found === null || !fits) throw validationError('Invalid identifier or password')
    return found
  })
  await checkMaySignIn(accounts, user)
  return issue(accounts, user.id, device)
}

/** @throws ApiError 400 for accounts that may not be used; only told to whoever proved to be their owner. */
export async function checkMaySignIn(accounts: AccountContext, user: User): Promise<void> {
  const { emailConfirmation } = await accounts.settings()
  if (emailConfirmation && user.confirmed !== 1) throw new ApiError('ApplicationError', 'Your account email is not confirmed')
  if (user.blocked === 1) throw new ApiError('ApplicationError', 'Your account has been blocked by an administrator')
}

/** What nobody can set on a user by naming it among other attributes. */
const own = new Set(['role', 'provider', 'resetPasswordToken', 'confirmationToken'])

/** What a body says about a user beside what has a way of its own. */
export const othersOf = (given: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(given).filter(([name]) => !own.has(name)))

const registered = ['username', 'email', 'password']

/** Adds a user who signs up. Without credentials where the address must be confirmed first. */
export async function register(accounts: AccountContext, body: unknown): Promise<Issued | { readonly userId: number }> {
  const settings = await accounts.settings()
  if (!settings.allowRegister) throw new ApiError('ApplicationError', 'Register action is currently disabled')
  const allowed = accounts.signIn.register.allowedFields
  const unknown = Object.keys(bodyMembers(body)).filter((name) => !registered.includes(name) && !allowed.includes(name))
  if (unknown.length > 0) throw validationError(`Invalid parameters: ${unknown.join(', ')}`)
  const form = readFields(body, [{ name: 'email', email: true }, { name: 'username' }, { name: 'password', password: true }])
  const [username, email, password] = [form.username!, form.email!.toLowerCase(), form.password!]
  if (accounts.signIn.register.names === 'plain' && !isUnmistakable(username)) {
    throw new ApiError('ApplicationError', 'The username has blanks at its ends, or characters that look like others or like none')
  }
  const type = userType(accounts)
  const more = Object.entries(othersOf(bodyMembers(body))).filter(([name]) => allowed.includes(name))
  const { input, errors } = readAttributes(accounts.input, type, { ...Object.fromEntries(more), username, email, password }, true)
  if (input === null) throw attributeErrors(errors)
  const role = await roleByType(accounts.database, settings.defaultRole)
  if (role === null) throw new ApiError('ApplicationError', 'Impossible to find the default role')
  const columns = await scalarColumns(input, accounts.passwords.hash)
  const now = accounts.now()
  const { defaultLocale } = accounts
  const { userId, code } = await accounts.writer.transaction(async (transaction) => {
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
    const user = settings.emailConfirmation ? await userById(transaction, id) : null
    const made = user === null ? null : await createOneTimeToken(transaction, 'confirm', user, now + accounts.signIn.confirmLifespan)
    return { userId: id, code: made }
  })
  if (code === null) return issue(accounts, userId)
  accounts.mail.post(await confirmationLetter(accounts, email, username, code))
  return { userId }
}

/** The letter that asks to confirm an address. */
export function confirmationLetter(accounts: AccountContext, email: string, username: string, code: string): Promise<Email> {
  return renderEmail(accounts.database, 'email_confirmation', email, {
    URL: `${accounts.publicUrl}${accounts.prefix}/auth/email-confirmation`,
    CODE: code,
    'USER.username': username,
    'USER.email': email,
    SERVER_URL: accounts.publicUrl,
  })
}

/** New tokens for a refresh token, which is used up. @throws ApiError 401 */
export async function refresh(accounts: AccountContext, token: unknown): Promise<Issued> {
  checkMode(accounts)
  if (typeof token !== 'string') throw new ApiError('BadRequestError', 'Missing refresh token')
  const claims = await accounts.jwts.verify(token)
  if (claims === null || claims.kind !== 'refresh') throw unauthorized('Invalid refresh token')
  const limits = { longest: accounts.signIn.maxRefreshTokenLifespan, idle: accounts.signIn.idleRefreshTokenLifespan }
  const next = await accounts.writer.transaction((transaction) => nextSession(transaction, claims.sessionId, limits, accounts.now()))
  const user = next === null ? null : await userById(accounts.database, claims.userId)
  if (next === null || user === null || user.blocked === 1) throw unauthorized('Invalid refresh token')
  return issueSession(accounts, claims.userId, next)
}

/** Ends the current session, those of one device, or all. */
export async function signOut(accounts: AccountContext, userId: number, current: string | null, body: unknown): Promise<void> {
  checkMode(accounts)
  const device = deviceId(body)
  await accounts.writer.transaction(async (transaction) => {
    if (bodyMembers(body).scope === 'all') await endSessions(transaction, userId, { deviceId: null })
    else if (device !== null) await endSessions(transaction, userId, { deviceId: device })
    else if (current !== null) await revokeSession(transaction, userId, current)
  })
}

export function listSessions(accounts: AccountContext, userId: number, current: string | null): Promise<readonly ShownSession[]> {
  checkMode(accounts)
  return sessionsOf(accounts.database, userId, current, accounts.now())
}

/** @throws ApiError 404 for a session that is not this user's: as if there were none. */
export async function endSession(accounts: AccountContext, userId: number, sessionId: string): Promise<void> {
  checkMode(accounts)
  if (!(await accounts.writer.transaction((transaction) => revokeSession(transaction, userId, sessionId)))) {
    throw notFound('Session not found')
  }
}

/** There are sessions only where they are switched on. */
function checkMode(accounts: AccountContext): void {
  if (accounts.signIn.jwtManagement !== 'refresh') throw notFound()
}
