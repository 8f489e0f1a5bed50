// New passwords and confirmed addresses: codes by letter, used once, hashed, ending. A new password voids what was issued.
import { ApiError, validationError } from '../errors.js'
import { makeCode, ownerOfCode, useCode } from './codes.js'
import { checkLengths, type Field, readForm } from './form.js'
import { type House, type Issued, issue, userType } from './house.js'
import { writeLetter } from './mail.js'
import { hashPassword, passwordFits } from './passwords.js'
import { sendConfirmation } from './sign-in.js'
import { changeUser, userByEmail, userById } from './users.js'

/** A new password, given twice. */
const twice: readonly Field[] = [
  { name: 'passwordConfirmation', repeats: 'password' },
  { name: 'password', password: true },
]

/**
 * Sends a letter with a code to the address as it is stored, if it is somebody's. Whoever asks learns nothing: the
 * look-up, too, happens after the answer.
 */
export function forgotPassword(house: House, body: unknown): void {
  const { email } = readForm(body, [{ name: 'email', email: true }], true)
  sendReset(house, email!.toLowerCase()).catch((error) => house.log.error({ err: error }, 'a letter could not be sent'))
}

async function sendReset(house: House, email: string): Promise<void> {
  const user = await userByEmail(house.database, email)
  if (user === null || user.blocked === 1 || user.email === null) return
  const { resetUrl } = await house.settings()
  const code = await house.writer.transaction((transaction) =>
    makeCode(transaction, 'reset', user.id, house.now() + house.signIn.resetLifespan),
  )
  const values = {
    URL: resetUrl ?? `${house.publicUrl}${house.prefix}/auth/reset-password`,
    TOKEN: code,
    'USER.username': user.username ?? '',
    'USER.email': user.email,
    SERVER_URL: house.publicUrl,
  }
  await house.mail.send(await writeLetter(house.database, 'reset_password', user.email, values))
}

/** Sets a new password with a letter's code. @throws ApiError 400 for a code that is wrong, used or too old. */
export async function resetPassword(house: House, body: unknown): Promise<Issued> {
  const { code, password } = readForm(body, [...twice, { name: 'code' }], true)
  checkLengths(userType(house), { password })
  const refused = () => validationError('Incorrect code provided')
  if ((await ownerOfCode(house.database, 'reset', code!, house.now())) === null) throw refused()
  const hashed = await hashPassword(password!)
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
  if (!(await passwordFits(current, user?.password ?? null))) throw validationError('The provided current password is invalid')
  if (current === password) throw validationError('Your new password must be different than your current password')
  checkLengths(userType(house), { password })
  const hashed = await hashPassword(password)
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

/** Sends the letter again that asks to confirm an address. */
export async function requestConfirmation(house: House, body: unknown): Promise<{ readonly email: string; readonly sent: boolean }> {
  const email = readForm(body, [{ name: 'email', email: true }]).email!.toLowerCase()
  const user = await userByEmail(house.database, email)
  if (user === null) return { email, sent: true }
  if (user.confirmed === 1) throw new ApiError('ApplicationError', 'Already confirmed')
  if (user.blocked === 1) throw new ApiError('ApplicationError', 'User blocked')
  const code = await house.writer.transaction((transaction) =>
    makeCode(transaction, 'confirm', user.id, house.now() + house.signIn.confirmLifespan),
  )
  sendConfirmation(house, email, user.username ?? '', code)
  return { email, sent: true }
}
