// New passwords of administrators: by a code from an e-mail, by the current one, and with an invitation. A new password ends all sessions.

import type { Transaction } from '../../database/database.js'
import { validationError } from '../../foundation/errors/errors.js'
import { strangerAt } from '../../identity/access/rate-limit.js'
import { consumeOneTimeToken, createOneTimeToken, ownerOfToken, type Purpose } from '../../identity/accounts/one-time-tokens.js'
import { noteActivity } from '../activity.js'
import type { Administration } from '../context.js'
import { changeAdministrator, setPassword } from './accounts.js'
import { type AdministratorRow, administratorByEmail, administratorById, isActive } from './administrators.js'
import type { Administrator } from './identify.js'
import { letterOf } from './letters.js'
import { type AdministratorTokens, begin, checkCurrentPassword, inTurns, issue } from './sign-in.js'

/** How long an invitation is valid, in milliseconds. */
export const invitationLifespan = 7 * 86_400_000

/**
 * Sends an e-mail with a code, if the address belongs to an administrator who may sign in. The caller learns nothing: the look-up happens
 * after the response, and an unknown address causes the same work except for the e-mail.
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
  if (row !== null) mail.post(letterOf(administration, 'reset', row.email ?? '', code))
}

/** What comes with a code. */
export interface CodeAndPassword {
  readonly code: string
  readonly password: string
  /** The names that somebody who is invited chooses. */
  readonly names?: { readonly firstname?: string | undefined; readonly lastname?: string | null | undefined }
}

/** Who may use a code, whichever program has changed the account since: codes of their own end with other changes. */
const mayUse = {
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
  const refused = () => validationError('Incorrect code provided')
  // Before the password is hashed, which takes time.
  if ((await ownerOfToken(database, purpose, code, now())) === null) throw refused()
  const hashed = await passwords.of(strangerAt(address)).hash(password)
  const used = await writer.transaction(async (transaction) => {
    const at = now()
    const id = await consumeOneTimeToken(transaction, purpose, code, at)
    const owner = id === null ? null : await administratorById(transaction, id)
    if (owner === null || !mayUse[purpose](owner)) return null
    if (names.firstname !== undefined) await changeAdministrator(transaction, owner.id, { ...names, lastname: names.lastname ?? null }, at)
    await replacePassword(administration, transaction, owner, hashed, address)
    return signedInAnew(administration, transaction, owner.id)
  })
  if (used === null) throw refused()
  return issue(administration, used.row, used.session)
}

/** Returns who is invited by a code. @throws ApiError 400 for a wrong, used or expired one */
export async function invitedBy({ database, now }: Administration, code: string): Promise<AdministratorRow> {
  const id = await ownerOfToken(database, 'admin-invitation', code, now())
  const row = id === null ? null : await administratorById(database, id)
  if (row === null) throw validationError('Incorrect code provided')
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
  if (currentPassword === password) throw validationError('The new password must be another one')
  const hashed = await administration.passwords.of(inTurns(administrator.id)).hash(password)
  const used = await administration.writer.transaction(async (transaction) => {
    await replacePassword(administration, transaction, owner, hashed, address)
    return signedInAnew(administration, transaction, owner.id)
  })
  return issue(administration, used.row, used.session)
}

async function replacePassword(
  { config, now }: Administration,
  transaction: Transaction,
  { id, email }: AdministratorRow,
  hashed: string,
  address: string,
): Promise<void> {
  const at = now()
  await setPassword(transaction, id, hashed, at)
  const act = { action: 'update', subject: 'administrator', id: String(id), name: email ?? '', fields: ['password'] }
  await noteActivity(transaction, { administrator: { id, email: email ?? '' }, address }, act, {
    now: at,
    most: config.limits.activityEntries,
  })
}

async function signedInAnew(administration: Administration, transaction: Transaction, id: number) {
  const session = await begin(administration, transaction, id, { remember: false, deviceId: null }, administration.now())
  return { row: (await administratorById(transaction, id))!, session }
}
