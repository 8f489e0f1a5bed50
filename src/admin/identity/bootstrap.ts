// The first administrator of a project, who proves access to the log with a code from it. The code is not stored: it is derived from the secrets and
// the hour, so every process of a service accepts it, and it is void once there is an administrator.

import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Transaction } from '../../database/database.js'
import type { Secrets } from '../../foundation/config/secrets.js'
import { ApiError, validationError } from '../../foundation/errors/errors.js'
import { commandLine } from '../../foundation/runtime/terminal.js'
import { strangerAt } from '../../identity/access/rate-limit.js'
import { logActivities } from '../activity.js'
import type { Administration } from '../context.js'
import { addDefaultRoles, findRoles } from '../manage/administrator-roles.js'
import { addAdministrator, administratorByEmail, anyAdministrator, type NewAdministrator, superAdminCode } from './administrators.js'
import { deriveAdministrationKeys } from './identify.js'
import { type AdministratorTokens, checkMaySignIn, issueTokens, startNewSession } from './sign-in.js'

/** Each code is valid for its hour and for the next one. */
const hourMs = 3_600_000

/** Characters that do not look alike. */
const letters = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789'

/** The code of an hour, such as `K7PM-2QXA-9RTE-VH4C`: 80 bits. */
function codeAt(key: string, at: number): string {
  const bytes = createHmac('sha256', key)
    .update(String(Math.floor(at / hourMs)))
    .digest()
  const text = [...bytes.subarray(0, 16)].map((byte) => letters[byte % letters.length]).join('')
  return text.match(/.{4}/g)!.join('-')
}

/** True if this is the code of this hour or the previous one. */
function isCode(key: string, given: string, now: number): boolean {
  const plain = (code: string) => Buffer.from(code.toUpperCase().replaceAll(/[^A-Z\d]/g, ''))
  return [now, now - hourMs].some((at) => {
    const expected = plain(codeAt(key, at))
    const sent = plain(given)
    return expected.length === sent.length && timingSafeEqual(expected, sent)
  })
}

interface FirstCodeParts {
  readonly secrets: Secrets
  readonly publicUrl: string
  readonly folder: string
  log(sentence: string): void
  now(): number
}

/** The hour of the last code that this process logged. */
export interface LoggedCode {
  hour: number | null
}

/** Logs the code, once an hour. */
export function logFirstCode({ secrets, publicUrl, folder, log, now }: FirstCodeParts, told: LoggedCode): void {
  const at = now()
  if (told.hour === Math.floor(at / hourMs)) return
  told.hour = Math.floor(at / hourMs)
  const code = codeAt(deriveAdministrationKeys(secrets).first, at)
  log(
    `There is no administrator yet. The code for the first one is ${code}, for at least an hour (open ${publicUrl}/admin, or run: ${commandLine('admins create', folder)})`,
  )
}

interface FirstAdministrator extends Pick<NewAdministrator, 'email' | 'firstname' | 'lastname'> {
  /** Null: the caller may do without. */
  readonly code: string | null
  readonly password: string
  readonly remember: boolean
}

/** Creates the first administrator, and signs in. @throws ApiError 400 for a wrong code, and once there is an administrator */
export async function createFirstAdministrator(
  administration: Administration,
  { code, password, remember, ...given }: FirstAdministrator,
  address: string,
): Promise<AdministratorTokens> {
  const { writer, keys, passwords, now } = administration
  // Attempts are limited by address only: with 80 bits no lock is needed, and a lock would let strangers keep the owner out.
  if (code !== null && !isCode(keys.first, code, now())) throw validationError('Incorrect code provided', { reason: 'code' })
  const hashed = await passwords.of(strangerAt(address)).hash(password)
  const { row, session } = await writer.transaction(async (transaction) => {
    if (await anyAdministrator(transaction))
      throw new ApiError('ApplicationError', 'There is an administrator already', { reason: 'exists' })
    const at = now()
    await addDefaultRoles(transaction, at)
    const id = await addSuperAdministrator(administration, transaction, { ...given, password: hashed }, address)
    return startNewSession(administration, transaction, id, remember)
  })
  return issueTokens(administration, row, session)
}

async function addSuperAdministrator(
  administration: Administration,
  transaction: Transaction,
  given: Omit<NewAdministrator, 'roles'>,
  address: string,
): Promise<number> {
  const at = administration.now()
  await addDefaultRoles(transaction, at)
  const [role] = await findRoles(transaction, [superAdminCode])
  if (role === null || role === undefined) throw new ApiError('ApplicationError', `The database has no role ${superAdminCode}`)
  const id = await addAdministrator(transaction, { ...given, roles: [role.id] }, at)
  const email = given.email.toLowerCase()
  const act = { action: 'create', subject: 'administrator', id: String(id), name: email }
  await logActivities(administration, transaction, { administrator: { id, email }, address }, [act])
  return id
}

/** A reserved domain: no e-mail with a code for a new password arrives. */
const demoEmail = 'demo@example.com'
const demoPasswordBytes = 24

/** Signs in as the demo administrator, who is created with a random password. Callers check that the request may. */
export async function signInDemoAdministrator(administration: Administration, address: string): Promise<AdministratorTokens> {
  const { database, writer, passwords } = administration
  const isMissing = (await administratorByEmail(database, demoEmail)) === null
  const password = isMissing ? await passwords.of(strangerAt(address)).hash(randomBytes(demoPasswordBytes).toString('base64url')) : null
  const { row, session } = await writer.transaction(async (transaction) => {
    const found = await administratorByEmail(transaction, demoEmail)
    if (found !== null) checkMaySignIn(found)
    const given = { email: demoEmail, firstname: 'Demo', lastname: null, password }
    return startNewSession(
      administration,
      transaction,
      found?.id ?? (await addSuperAdministrator(administration, transaction, given, address)),
    )
  })
  return issueTokens(administration, row, session)
}
