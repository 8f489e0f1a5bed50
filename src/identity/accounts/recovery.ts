// Password changes and e-mail confirmation by one-time codes. A new password invalidates all tokens issued before.

import type { Transaction } from '../../database/database.js'
import { ApiError, validationError } from '../../foundation/errors/errors.js'
import { type AccountContext, type Issued, issue, userTransaction, userType } from './context.js'
import { confirmedPath, newPasswordUrl, publicPath, renderEmail, withPlainFragment } from './email.js'
import { checkLengths, type Field, readFields } from './input.js'
import { consumeOneTimeToken, createOneTimeToken, ownerOfToken } from './one-time-tokens.js'
import { confirmationEmail } from './sign-in.js'
import { changeUser, type User, userByEmail, userById } from './users.js'

/** The fields of a new password and its repetition. */
const passwordFields: readonly Field[] = [
  { name: 'passwordConfirmation', repeats: 'password' },
  { name: 'password', password: true },
]

/**
 * Sends an e-mail with a reset code, if the address belongs to a user. The caller learns nothing: the look-up happens after the response,
 * and an unknown address causes the same work except for the e-mail.
 */
export function forgotPassword(accounts: AccountContext, body: unknown): void {
  const { email } = readFields(body, [{ name: 'email', email: true }], true)
  sendReset(accounts, email!.toLowerCase()).catch((error) => accounts.log.error({ err: error }, 'could not send an e-mail'))
}

async function sendReset(accounts: AccountContext, email: string): Promise<void> {
  const found = await userByEmail(accounts.database, email)
  const user = found?.blocked === 1 ? null : found
  const { resetUrl } = await accounts.settings()
  const ownUrl = newPasswordUrl(accounts.publicUrl)
  const code = await codeFor(accounts, 'reset', user, accounts.signIn.resetLifespan)
  const values = {
    URL: resetUrl ?? ownUrl,
    TOKEN: code,
    'USER.username': user?.username ?? '',
    'USER.email': email,
    SERVER_URL: accounts.publicUrl,
    ADMIN_URL: `${accounts.publicUrl}/admin`,
  }
  const message = await renderEmail(accounts.database, 'reset_password', email, values)
  if (user !== null) accounts.mail.post(resetUrl === null ? withPlainFragment(message, ownUrl) : message)
}

/** Creates a code for an e-mail. This is an event, as in Strapi, which stores the code in the user. */
const codeFor = (accounts: AccountContext, purpose: 'reset' | 'confirm', user: User | null, lifespan: number): Promise<string> =>
  userTransaction(accounts, async (transaction) => {
    const code = await createOneTimeToken(transaction, purpose, user, accounts.now() + lifespan)
    if (user !== null) await accounts.watch?.happened(transaction, 'entry.update', user.id)
    return code
  })

/** Changes the password of a user and revokes earlier tokens. */
async function setPassword(accounts: AccountContext, transaction: Transaction, id: number, hashed: string): Promise<void> {
  await changeUser(transaction, id, { password: hashed }, accounts.now(), true)
  await accounts.watch?.happened(transaction, 'entry.update', id)
}

/** Sets a new password with a code from an e-mail. @throws ApiError 400 for a wrong, used or expired code. */
export async function resetPassword(accounts: AccountContext, body: unknown): Promise<Issued> {
  const { code, password } = readFields(body, [...passwordFields, { name: 'code' }], true)
  const refused = () => validationError('Incorrect code provided')
  if ((await ownerOfToken(accounts.database, 'reset', code!, accounts.now())) === null) throw refused()
  checkLengths(userType(accounts), { password })
  const hashed = await accounts.passwords.hash(password!)
  const userId = await userTransaction(accounts, async (transaction) => {
    const now = accounts.now()
    const id = await consumeOneTimeToken(transaction, 'reset', code!, now)
    const user = id === null ? null : await userById(transaction, id)
    if (user === null || user.blocked === 1) return null
    // The code reached the address, so it belongs to the user.
    await setPassword(accounts, transaction, user.id, hashed)
    return user.id
  })
  if (userId === null) throw refused()
  return issue(accounts, userId)
}

/** Sets a new password, given the current one. Invalidates all tokens and returns new ones. */
export async function changePassword(accounts: AccountContext, userId: number | null, body: unknown): Promise<Issued> {
  if (userId === null) throw new ApiError('ApplicationError', 'You must be authenticated to reset your password')
  const form = readFields(body, [...passwordFields, { name: 'currentPassword' }], true)
  const [current, password] = [form.currentPassword!, form.password!]
  const user = await userById(accounts.database, userId)
  if (!(await accounts.passwords.matches(current, user?.password ?? null)))
    throw validationError('The provided current password is invalid')
  if (current === password) throw validationError('Your new password must be different than your current password')
  checkLengths(userType(accounts), { password })
  const hashed = await accounts.passwords.hash(password)
  await userTransaction(accounts, (transaction) => setPassword(accounts, transaction, userId, hashed))
  return issue(accounts, userId)
}

/**
 * Confirms an e-mail address with a code; returns the URL or path to redirect to. A link that is opened again leads there too, as long as
 * the code would hold and the address is confirmed.
 */
export async function confirmEmail(accounts: AccountContext, given: Readonly<Record<string, unknown>>): Promise<string> {
  const { confirmation } = readFields(given, [{ name: 'confirmation' }])
  const confirmed = await userTransaction(accounts, async (transaction) => {
    const now = accounts.now()
    const id = await consumeOneTimeToken(transaction, 'confirm', confirmation!, now, 'confirmed')
    if (id !== null) {
      await changeUser(transaction, id, { confirmed: 1 }, now)
      await accounts.watch?.happened(transaction, 'entry.update', id)
      return true
    }
    const owner = await ownerOfToken(transaction, 'confirmed', confirmation!, now)
    return owner !== null && (await userById(transaction, owner))?.confirmed === 1
  })
  if (!confirmed) throw validationError('Invalid token')
  return (await accounts.settings()).confirmationRedirection ?? `${publicPath(accounts.publicUrl)}${confirmedPath}`
}

/**
 * Sends another confirmation e-mail, if there is something to confirm. The caller learns nothing, as in `forgotPassword`, unless the
 * project configures Strapi's responses.
 * @throws ApiError 400 with `auth.confirmationRequests: 'as-strapi'` if the address is confirmed or its user blocked
 */
export async function requestConfirmation(
  accounts: AccountContext,
  body: unknown,
): Promise<{ readonly email: string; readonly sent: boolean }> {
  const email = readFields(body, [{ name: 'email', email: true }]).email!.toLowerCase()
  if (accounts.signIn.confirmationRequests === 'as-strapi') await refuseConfirmedOrBlocked(accounts, email)
  sendConfirmationAgain(accounts, email).catch((error) => accounts.log.error({ err: error }, 'could not send an e-mail'))
  return { email, sent: true }
}

async function refuseConfirmedOrBlocked(accounts: AccountContext, email: string): Promise<void> {
  const user = await userByEmail(accounts.database, email)
  if (user?.confirmed === 1) throw new ApiError('ApplicationError', 'Already confirmed')
  if (user?.blocked === 1) throw new ApiError('ApplicationError', 'User blocked')
}

async function sendConfirmationAgain(accounts: AccountContext, email: string): Promise<void> {
  const found = await userByEmail(accounts.database, email)
  const user = found?.confirmed === 1 || found?.blocked === 1 ? null : found
  const code = await codeFor(accounts, 'confirm', user, accounts.signIn.confirmLifespan)
  const message = await confirmationEmail(accounts, email, user?.username ?? '', code)
  if (user !== null) accounts.mail.post(message)
}
