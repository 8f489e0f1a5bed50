// New passwords of administrators: with a code from an e-mail, with the current password, or with an invitation. A new password ends all
// sessions.

import type { Transaction } from '../../database/database.js'
import { inputError, validationError } from '../../foundation/errors/errors.js'
import { strangerAt } from '../../identity/access/rate-limit.js'
import { consumeOneTimeToken, createOneTimeToken, ownerOfToken, type Purpose } from '../../identity/accounts/one-time-tokens.js'
import { logActivities } from '../activity.js'
import type { Administration } from '../context.js'
import {
  type AdministratorRow,
  administratorByEmail,
  administratorById,
  changeAdministrator,
  isActive,
  setPassword,
} from './administrators.js'
import { createEmail } from './emails.js'
import type { Administrator } from './identify.js'
import { type AdministratorTokens, checkCurrentPassword, issueTokens, queueName, startNewSession } from './sign-in.js'

export const invitationLifespan = 7 * 86_400_000

/**
 * Sends an e-mail with a code if the address belongs to an active administrator. The look-up follows the response, and unknown addresses
 * cause the same work except for the e-mail, so that callers learn nothing.
 */
export function forgotAdministratorPassword(administration: Administration, email: string): void {
  sendReset(administration, email).catch((error: unknown) => administration.log.error({ err: error }, 'could not send an e-mail'))
}

async function sendReset(administration: Administration, email: string): Promise<void> {
  const { database, writer, mail, config, now } = administration
  const found = await administratorByEmail(database, email.trim())
  const row = found !== null && isActive(found) ? found : null
  const code = await writer.transaction((transaction) =>
    createOneTimeToken(transaction, 'admin-reset', row, now() + config.auth.resetLifespan),
  )
  if (row !== null) mail.post(createEmail(administration, 'reset', row.email ?? '', code))
}

interface CodeAndPassword {
  readonly code: string
  readonly password: string
  /** The names that the invited administrator chooses. */
  readonly names?: { readonly firstname?: string | undefined; readonly lastname?: string | null | undefined }
}

/** True if a code is still usable, even if another program has changed the account. */
const mayUseCode = {
  'admin-reset': isActive,
  'admin-invitation': ({ password, blocked }: AdministratorRow) => password === null && blocked !== 1,
} as const

/** Sets a new password with a code from an e-mail or an invitation, and signs in. @throws ApiError 400 for a wrong, used or expired code */
export async function usePasswordCode(
  administration: Administration,
  purpose: Extract<Purpose, `admin-${string}`>,
  { code, password, names = {} }: CodeAndPassword,
  address: string,
): Promise<AdministratorTokens> {
  const { database, writer, passwords, now } = administration
  const refused = () => validationError('Incorrect code provided', { reason: 'code' })
  // Checked before the password is hashed, which takes time.
  if ((await ownerOfToken(database, purpose, code, now())) === null) throw refused()
  const hashed = await passwords.of(strangerAt(address)).hash(password)
  const used = await writer.transaction(async (transaction) => {
    const at = now()
    const id = await consumeOneTimeToken(transaction, purpose, code, at)
    const owner = id === null ? null : await administratorById(transaction, id)
    if (owner === null || !mayUseCode[purpose](owner)) return null
    if (names.firstname !== undefined) await changeAdministrator(transaction, owner.id, { ...names, lastname: names.lastname ?? null }, at)
    await replacePassword(administration, transaction, owner, hashed, address)
    return startNewSession(administration, transaction, owner.id)
  })
  if (used === null) throw refused()
  return issueTokens(administration, used.row, used.session)
}

/** Returns the invited administrator. @throws ApiError 400 for a wrong, used or expired one */
export async function invitedBy({ database, now }: Administration, code: string): Promise<AdministratorRow> {
  const id = await ownerOfToken(database, 'admin-invitation', code, now())
  const row = id === null ? null : await administratorById(database, id)
  if (row === null) throw validationError('Incorrect code provided', { reason: 'code' })
  return row
}

/** Sets a new password, given the current one. Ends all sessions and starts a new one. @throws ApiError 400 */
export async function changeOwnPassword(
  administration: Administration,
  administrator: Administrator,
  { currentPassword, password }: { readonly currentPassword: string; readonly password: string },
  address: string,
): Promise<AdministratorTokens> {
  const owner = await checkCurrentPassword(administration, administrator, currentPassword)
  if (currentPassword === password) throw inputError('The new password must be another one', ['password'], 'conflict')
  const hashed = await administration.passwords.of(queueName(administrator.id)).hash(password)
  const used = await administration.writer.transaction(async (transaction) => {
    await replacePassword(administration, transaction, owner, hashed, address)
    return startNewSession(administration, transaction, owner.id)
  })
  return issueTokens(administration, used.row, used.session)
}

async function replacePassword(
  administration: Administration,
  transaction: Transaction,
  { id, email }: AdministratorRow,
  hashed: string,
  address: string,
): Promise<void> {
  await setPassword(transaction, id, hashed, administration.now())
  const act = { action: 'update', subject: 'administrator', id: String(id), name: email ?? '', fields: ['password'] }
  await logActivities(administration, transaction, { administrator: { id, email: email ?? '' }, address }, [act])
}
