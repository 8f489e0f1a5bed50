// New passwords and confirmed addresses: codes by letter, used once, hashed, ending. A new password voids what was issued.
import { ApiError, validationError } from '../errors/errors.js'
import { type House, type Issued, issue, userType } from './context.js'
import { writeLetter } from './email.js'
import { checkLengths, type Field, readForm } from './input.js'
import { makeCode, ownerOfCode, useCode } from './one-time-tokens.js'
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
export function forgotPassword(house: House, body: unknown): void {
  const { email } = readForm(body, [{ name: 'email', email: true }], true)
  sendReset(house, email!.toLowerCase()).catch((error) => house.log.error({ err: error }, 'a letter could not be sent'))
}

async function sendReset(house: House, email: string): Promise<void> {
  const found = await userByEmail(house.database, email)
  const user = found?.blocked === 1 ? null : found
  const { resetUrl } = await house.settings()
  const code = await house.writer.transaction((transaction) =>
    makeCode(transaction, 'reset', user, house.now() + house.signIn.resetLifespan),
  )
  const values = {
    URL: resetUrl ?? `${house.publicUrl}${house.prefix}/auth/reset-password`,
    TOKEN: code,
    'USER.username': user?.username ?? '',
    'USER.email': email,
    SERVER_URL: house.publicUrl,
  }
  const letter = await writeLetter(house.database, 'reset_password', email, values)
  if (user !== null) house.mail.post(letter)
}

/** Sets a new password with a letter's code. @throws ApiError 400 for a code that is wrong, used or too old. */
export async function resetPassword(house: House, body: unknown): Promise<Issued> {
  const { code, password } = readForm(body, [...twice, { name: 'code' }], true)
  const refused = () => validationError('Incorrect code provided')
  if ((await ownerOfCode(house.database, 'reset', code!, house.now())) === null) throw refused()
  checkLengths(userType(house), { password })
  const hashed = await house.passwords.hash(password!)
  const userId = await house.writer.transaction(async (transaction) => {
    const now = house.now()
    const id = await useCode(transaction, 'reset', code!, now)
    const user = id === null ? null : await userById(transaction, id)
    if (user === null || user.blocked === 1) return null
    // The letter reached the address: that it is the user's is proven with it.
    await changeUser(transaction, user.id, { password: hashed }, now, true)
    return user.id
  })
  if (userId === null) throw refused()
  return issue(house, userId)
}

/** Sets a new password with the current one. Everything issued before is void, the answer's credentials are new. */
export async function changePassword(house: House, userId: number | null, body: unknown): Promise<Issued> {
  if (userId === null) throw new ApiError('ApplicationError', 'You must be authenticated to reset your password')
  const form = readForm(body, [...twice, { name: 'currentPassword' }], true)
  const [current, password] = [form.currentPassword!, form.password!]
  const user = await userById(house.database, userId)
  if (!(await house.passwords.fits(current, user?.password ?? null))) throw validationError('The provided current password is invalid')
  if (current === password) throw validationError('Your new password must be different than your current password')
  checkLengths(userType(house), { password })
  const hashed = await house.passwords.hash(password)
  await house.writer.transaction((transaction) => changeUser(transaction, userId, { password: hashed }, house.now(), true))
  return issue(house, userId)
}

/** Confirms the address that a letter's code was sent to; gives the page to show then. */
export async function confirmEmail(house: House, given: Readonly<Record<string, unknown>>): Promise<string> {
  const { confirmation } = readForm(given, [{ name: 'confirmation' }])
  const confirmed = await house.writer.transaction(async (transaction) => {
    const now = house.now()
    const id = await useCode(transaction, 'confirm', confirmation!, now)
    if (id !== null) await changeUser(transaction, id, { confirmed: 1 }, now)
    return id !== null
  })
  if (!confirmed) throw validationError('Invalid token')
  return (await house.settings()).confirmationRedirection ?? '/'
}

/**
 * Sends the letter again that asks to confirm an address, if there is something to confirm. Whoever asks learns as little as from
 * `forgotPassword`, unless the project wants Strapi's answers.
 * @throws ApiError 400 with `auth.confirmationRequests: 'as-strapi'` where the address is confirmed, or its user blocked
 */
export async function requestConfirmation(house: House, body: unknown): Promise<{ readonly email: string; readonly sent: boolean }> {
  const email = readForm(body, [{ name: 'email', email: true }]).email!.toLowerCase()
  if (house.signIn.confirmationRequests === 'as-strapi') await refuseSettled(house, email)
  sendConfirmationAgain(house, email).catch((error) => house.log.error({ err: error }, 'a letter could not be sent'))
  return { email, sent: true }
}

async function refuseSettled(house: House, email: string): Promise<void> {
  const user = await userByEmail(house.database, email)
  if (user?.confirmed === 1) throw new ApiError('ApplicationError', 'Already confirmed')
  if (user?.blocked === 1) throw new ApiError('ApplicationError', 'User blocked')
}

async function sendConfirmationAgain(house: House, email: string): Promise<void> {
  const found = await userByEmail(house.database, email)
  const user = found?.confirmed === 1 || found?.blocked === 1 ? null : found
  const code = await house.writer.transaction((transaction) =>
    makeCode(transaction, 'confirm', user, house.now() + house.signIn.confirmLifespan),
  )
  const letter = await confirmationLetter(house, email, user?.username ?? '', code)
  if (user !== null) house.mail.post(letter)
}
