// Signing in with a password, signing up, and what keeps or ends a sign-in. Known and unknown accounts take the same way.
import { createHash } from 'node:crypto'
import { members } from '../access/body.js'
import { endSessions, nextSession, revokeSession, type ShownSession, sessionsOf } from '../access/sessions.js'
import { attributeErrors, readAttributes } from '../documents/input/input.js'
import { scalarColumns } from '../documents/store/scalar-columns.js'
import { checkUniqueAttributes, writeAttributes } from '../documents/user-attributes.js'
import { ApiError, notFound, unauthorized, validationError } from '../errors/errors.js'
import { isPlainName } from './confusable-names.js'
import { attributeWriting, type House, type Issued, issue, issueSession, userType } from './context.js'
import { type Letter, writeLetter } from './email.js'
import { readForm } from './input.js'
import { makeCode } from './one-time-tokens.js'
import { addUser, isIdentifier, roleByType, type User, userByEmail, userById, userByIdentifier, userByName } from './users.js'

/** The text member `deviceId` of a body; the empty text names none. */
function deviceId(body: unknown): string | null {
  const given = members(body).deviceId
  if (given === undefined || given === null || given === '') return null
  if (typeof given !== 'string' || given.length > 200) throw validationError('Invalid deviceId')
  return given
}

/** Signs in with `identifier` and `password`. @throws ApiError 400, the same for a wrong password and an unknown account. */
export async function signIn(house: House, body: unknown): Promise<Issued> {
  const { identifier, password } = readForm(body, [{ name: 'identifier' }, { name: 'password' }])
  const device = deviceId(body)
  const account = createHash('sha256').update(identifier!.trim().toLowerCase()).digest('base64url')
  const user = await house.limiter.perAccount(account, async () => {
    const found = await userByIdentifier(house.database, identifier!)
    const fits = await house.passwords.fits(password!, found?.password ?? null)
    if (found === null || !fits) throw validationError('Invalid identifier or password')
    return found
  })
  await mayEnter(house, user)
  return issue(house, user.id, device)
}

/** @throws ApiError 400 for accounts that may not be used; only told to whoever proved to be their owner. */
export async function mayEnter(house: House, user: User): Promise<void> {
  const { emailConfirmation } = await house.settings()
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
export async function register(house: House, body: unknown): Promise<Issued | { readonly userId: number }> {
  const settings = await house.settings()
  if (!settings.allowRegister) throw new ApiError('ApplicationError', 'Register action is currently disabled')
  const allowed = house.signIn.register.allowedFields
  const unknown = Object.keys(members(body)).filter((name) => !registered.includes(name) && !allowed.includes(name))
  if (unknown.length > 0) throw validationError(`Invalid parameters: ${unknown.join(', ')}`)
  const form = readForm(body, [{ name: 'email', email: true }, { name: 'username' }, { name: 'password', password: true }])
  const [username, email, password] = [form.username!, form.email!.toLowerCase(), form.password!]
  if (house.signIn.register.names === 'plain' && !isPlainName(username)) {
    throw new ApiError('ApplicationError', 'The username has blanks at its ends, or characters that look like others or like none')
  }
  const type = userType(house)
  const more = Object.entries(othersOf(members(body))).filter(([name]) => allowed.includes(name))
  const { input, errors } = readAttributes(house.input(), type, { ...Object.fromEntries(more), username, email, password }, true)
  if (input === null) throw attributeErrors(errors)
  const role = await roleByType(house.database, settings.defaultRole)
  if (role === null) throw new ApiError('ApplicationError', 'Impossible to find the default role')
  const columns = await scalarColumns(input, house.passwords.hash)
  const [now, defaultLocale] = [house.now(), await house.defaultLocale()]
  const { userId, code } = await house.writer.transaction(async (transaction) => {
    const sameEmail = await userByEmail(transaction, email)
    const taken =
      (sameEmail !== null && (settings.uniqueEmail || sameEmail.provider === 'local')) ||
      (await userByName(transaction, email)) !== null ||
      (await isIdentifier(transaction, username))
    if (taken) throw new ApiError('ApplicationError', 'Email or Username are already taken')
    await checkUniqueAttributes(attributeWriting(house, transaction, defaultLocale), type, '', input)
    const values = { ...columns, provider: 'local', confirmed: settings.emailConfirmation ? 0 : 1, blocked: 0 }
    const id = await addUser(transaction, type, values, role, now)
    await writeAttributes(attributeWriting(house, transaction, defaultLocale), type, id, input, true)
    const user = settings.emailConfirmation ? await userById(transaction, id) : null
    const made = user === null ? null : await makeCode(transaction, 'confirm', user, now + house.signIn.confirmLifespan)
    return { userId: id, code: made }
  })
  if (code === null) return issue(house, userId)
  house.mail.post(await confirmationLetter(house, email, username, code))
  return { userId }
}

/** The letter that asks to confirm an address. */
export function confirmationLetter(house: House, email: string, username: string, code: string): Promise<Letter> {
  return writeLetter(house.database, 'email_confirmation', email, {
    URL: `${house.publicUrl}${house.prefix}/auth/email-confirmation`,
    CODE: code,
    'USER.username': username,
    'USER.email': email,
    SERVER_URL: house.publicUrl,
  })
}

/** New tokens for a refresh token, which is used up. @throws ApiError 401 */
export async function refresh(house: House, token: unknown): Promise<Issued> {
  checkMode(house)
  if (typeof token !== 'string') throw new ApiError('BadRequestError', 'Missing refresh token')
  const claims = await house.jwts.verify(token)
  if (claims === null || claims.kind !== 'refresh') throw unauthorized('Invalid refresh token')
  const limits = { longest: house.signIn.maxRefreshTokenLifespan, idle: house.signIn.idleRefreshTokenLifespan }
  const next = await house.writer.transaction((transaction) => nextSession(transaction, claims.sessionId, limits, house.now()))
  const user = next === null ? null : await userById(house.database, claims.userId)
  if (next === null || user === null || user.blocked === 1) throw unauthorized('Invalid refresh token')
  return issueSession(house, claims.userId, next)
}

/** Ends the current session, those of one device, or all. */
export async function signOut(house: House, userId: number, current: string | null, body: unknown): Promise<void> {
  checkMode(house)
  const device = deviceId(body)
  await house.writer.transaction(async (transaction) => {
    if (members(body).scope === 'all') await endSessions(transaction, userId, { deviceId: null })
    else if (device !== null) await endSessions(transaction, userId, { deviceId: device })
    else if (current !== null) await revokeSession(transaction, userId, current)
  })
}

export function listSessions(house: House, userId: number, current: string | null): Promise<readonly ShownSession[]> {
  checkMode(house)
  return sessionsOf(house.database, userId, current, house.now())
}

/** @throws ApiError 404 for a session that is not this user's: as if there were none. */
export async function endSession(house: House, userId: number, sessionId: string): Promise<void> {
  checkMode(house)
  if (!(await house.writer.transaction((transaction) => revokeSession(transaction, userId, sessionId)))) {
    throw notFound('Session not found')
  }
}

/** There are sessions only where they are switched on. */
function checkMode(house: House): void {
  if (house.signIn.jwtManagement !== 'refresh') throw notFound()
}
