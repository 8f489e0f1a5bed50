// New passwords and confirmed addresses: codes by letter, used once, hashed, ending. A new password voids what was issued.
import { ApiError, validationError } from '../errors/errors.js'
import { type AccountContext, type Issued, issue, userType } from './context.js'
import { renderEmail } from './email.js'
import { checkLengths, type Field, readFields } from './input.js'
import { consumeOneTimeToken, createOneTimeToken, ownerOfToken } from './one-time-tokens.js'
import { confirmationLetter } from './sign-in.js'
import { changeUser, userByEmail, userById } from './users.js'

/** A new password, given twice. */
const twice: readonly Field[] = [
  { name: 'passwordConfirmation', repeats: 'password' },
  { name: 'password', password: true },
]

/**
 * Sends a letter with a code to the address as it is stored, if it is somebody's. Whoever asks learns nothing: the look-up happens
 * after the answer, and what is done for an address of nobody is the same, but for the letter.
 */
export function forgotPassword(accounts: AccountContext, body: unknown): void {
  const { email } = readFields(body, [{ name: 'email', email: true }], true)
  sendReset(accounts, email!.toLowerCase()).catch((error) => accounts.log.error({ err: error }, 'a letter could not be sent'))
}

async function sendReset(accounts: AccountContext, email: string): Promise<void> {
  const found = await userByEmail(accounts.database, email)
  const user = found?.blocked === 1 ? null : found
  const { resetUrl } = await accounts.settings()
  const code = await accounts.writer.transaction((transaction) =>
    createOneTimeToken(transaction, 'reset', user, accounts.now() + accounts.signIn.resetLifespan),
  )
  const values = {
    URL: resetUrl ?? `${accounts.publicUrl}${accounts.prefix}/auth/reset-password`,
    TOKEN: code,
    'USER.username': user?.username ?? '',
    'USER.email': email,
    SERVER_URL: accounts.publicUrl,
  }
  const letter = await renderEmail(accounts.database, 'reset_password', email, values)
  if (user !== null) accounts.mail.post(letter)
}

/** Sets a new password with a letter's code. @throws ApiError 400 for a code that is wrong, used or too old. */
export async function resetPassword(accounts: AccountContext, body: unknown): Promise<Issued> {
  const { code, password } = readFields(body, [...twice, { name: 'code' }], true)
  const refused = () => validationError('Incorrect code provided')
  if ((await ownerOfToken(accounts.database, 'reset', code!, accounts.now())) === null) throw refused()
  checkLengths(userType(accounts), { password })
  const hashed = await accounts.passwords.hash(password!)
  const userId = await accounts.writer.transaction(async (transaction) => {
    const now = accounts.now()
    const id = await consumeOneTimeToken(transaction, 'reset', code!, now)
    const user = id === null ? null : await userById(transaction, id)
    if (user === null || user.blocked === 1) return null
    // The letter reached the address: that it is the user's is proven with it.
    await changeUser(transaction, user.id, { password: hashed }, now, true)
    return user.id
  })
  if (userId === null) throw refused()
  return issue(accounts, userId)
}

/** Sets a new password with the current one. Everything issued before is void, the answer's credentials are new. */
export async function changePassword(accounts: AccountContext, userId: number | null, body: unknown): Promise<Issued> {
  if (userId === null) throw new ApiError('ApplicationError', 'You must be authenticated to reset your password')
  const form = readFields(body, [...twice, { name: 'currentPassword' }], true)
  const [current, password] = [form.currentPassword!, form.password!]
  const user = await userById(accounts.database, userId)
  if (!(await accounts.passwords.fits(current, user?.password ?? null))) throw validationError('The provided current password is invalid')
  if (current === password) throw validationError('Your new password must be different than your current password')
  checkLengths(userType(accounts), { password })
  const hashed = await accounts.passwords.hash(password)
  await accounts.writer.transaction((transaction) => changeUser(transaction, userId, { password: hashed }, accounts.now(), true))
  return issue(accounts, userId)
}

/** Confirms the address that a letter's code was sent to; gives the page to show then. */
export async function confirmEmail(accounts: AccountContext, given: Readonly<Record<string, unknown>>): Promise<string> {
  const { confirmation } = readFields(given, [{ name: 'confirmation' }])
  const confirmed = await accounts.writer.transaction(async (transaction) => {
    const now = accounts.now()
    const id = await consumeOneTimeToken(transaction, 'confirm', confirmation!, now)
    if (id !== null) await changeUser(transaction, id, { confirmed: 1 }, now)
    return id !== null
  })
  if (!confirmed) throw validationError('Invalid token')
  return (await accounts.settings()).confirmationRedirection ?? '/'
}

/**
 * Sends the letter again that asks to confirm an address, if there is something to confirm. Whoever asks learns as little as from
 * `forgotPassword`, unless the project wants Strapi's answers.
 * @throws ApiError 400 with `auth.confirmationRequests: 'as-strapi'` where the address is confirmed, or its user blocked
 */
export async function requestConfirmation(
  accounts: AccountContext,
  body: unknown,
): Promise<{ readonly email: string; readonly sent: boolean }> {
  const email = readFields(body, [{ name: 'email', email: true }]).email!.toLowerCase()
  if (accounts.signIn.confirmationRequests === 'as-strapi') await refuseSettled(accounts, email)
  sendConfirmationAgain(accounts, email).catch((error) => accounts.log.error({ err: error }, 'a letter could not be sent'))
  return { email, sent: true }
}

async function refuseSettled(accounts: AccountContext, email: string): Promise<void> {
  const user = await userByEmail(accounts.database, email)
  if (user?.confirmed === 1) throw new ApiError('ApplicationError', 'Already confirmed')
  if (user?.blocked === 1) throw new ApiError('ApplicationError', 'User blocked')
}

async function sendConfirmationAgain(accounts: AccountContext, email: string): Promise<void> {
  const found = await userByEmail(accounts.database, email)
  const user = found?.confirmed === 1 || found?.blocked === 1 ? null : found
  const code = await accounts.writer.transaction((transaction) =>
    createOneTimeToken(transaction, 'confirm', user, accounts.now() + accounts.signIn.confirmLifespan),
  )
  const letter = await confirmationLetter(accounts, email, user?.username ?? '', code)
  if (user !== null) accounts.mail.post(letter)
}
