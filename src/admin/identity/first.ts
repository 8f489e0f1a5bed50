// The first administrator of a project, who proves access to the log with a code from it. No code is stored: it follows from the secrets and
// the hour, so every process of a service knows it, and it is worth nothing once there is an administrator.
import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Secrets } from '../../foundation/config/secrets.js'
import { ApiError, validationError } from '../../foundation/errors/errors.js'
import { commandLine } from '../../foundation/runtime/command-line.js'
import { strangerAt } from '../../identity/access/rate-limit.js'
import { noteActivity } from '../activity.js'
import type { Administration } from '../context.js'
import { addFirstRoles, findRoles } from '../permissions/roles.js'
import { addAdministrator, type NewAdministrator } from './accounts.js'
import { administratorById, anyAdministrator, superAdminCode } from './administrators.js'
import { administrationKeys } from './keys.js'
import { type AdministratorTokens, begin, issue } from './sign-in.js'

/** Milliseconds in which the code is the same. It is valid for that long after it was replaced. */
const hour = 3_600_000

/** Without letters and digits that look alike. */
const letters = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789'

/** The code of an hour, such as `K7PM-2QXA-9RTE-VH4C`: 80 bits. */
function codeOf(key: string, at: number): string {
  const bytes = createHmac('sha256', key)
    .update(String(Math.floor(at / hour)))
    .digest()
  const text = [...bytes.subarray(0, 16)].map((byte) => letters[byte % letters.length]).join('')
  return text.match(/.{4}/g)!.join('-')
}

/** True if this is the code of the hour, or of the one before. */
function isCode(key: string, given: string, now: number): boolean {
  const plain = (code: string) => Buffer.from(code.toUpperCase().replaceAll(/[^A-Z\d]/g, ''))
  return [now, now - hour].some((at) => {
    const [expected, sent] = [plain(codeOf(key, at)), plain(given)]
    return expected.length === sent.length && timingSafeEqual(expected, sent)
  })
}

/** What telling the code needs. */
interface FirstParts {
  readonly secrets: Secrets
  readonly publicUrl: string
  /** Of the project. */
  readonly folder: string
  log(sentence: string): void
  now(): number
}

/** The hour whose code was logged last by this process. */
export interface ToldCode {
  hour: number | null
}

/** Logs the code, once an hour. */
export function tellFirstCode({ secrets, publicUrl, folder, log, now }: FirstParts, told: ToldCode): void {
  const at = now()
  if (told.hour === Math.floor(at / hour)) return
  told.hour = Math.floor(at / hour)
  const code = codeOf(administrationKeys(secrets).first, at)
  log(
    `There is no administrator yet. The code for the first one is ${code}, for at least an hour (POST ${publicUrl}/admin/api/session/first, or run: ${commandLine('admins create', folder)})`,
  )
}

/** What the first administrator gives. */
export interface FirstAdministrator extends Pick<NewAdministrator, 'email' | 'firstname' | 'lastname'> {
  readonly code: string
  readonly password: string
  readonly remember: boolean
}

/** Creates the first administrator, and signs in. @throws ApiError 400 for a wrong code, and once there is an administrator */
export async function createFirst(
  administration: Administration,
  { code, password, remember, ...given }: FirstAdministrator,
  address: string,
): Promise<AdministratorTokens> {
  const { writer, keys, passwords, config, now } = administration
  // Guesses are limited by address alone: 80 bits need no lock, by which strangers would keep the owner out.
  if (!isCode(keys.first, code, now())) throw validationError('Incorrect code provided')
  const hashed = await passwords.of(strangerAt(address)).hash(password)
  const { row, session } = await writer.transaction(async (transaction) => {
    if (await anyAdministrator(transaction)) throw new ApiError('ApplicationError', 'There is an administrator already')
    const at = now()
    await addFirstRoles(transaction, at)
    const [role] = await findRoles(transaction, [superAdminCode])
    if (role === null || role === undefined) throw new ApiError('ApplicationError', `The database has no role ${superAdminCode}`)
    const id = await addAdministrator(transaction, { ...given, password: hashed, roles: [role.id] }, at)
    const act = { action: 'create', subject: 'administrator', id: String(id), name: given.email.toLowerCase() }
    await noteActivity(transaction, { administrator: { id, email: given.email.toLowerCase() }, address }, act, {
      now: at,
      most: config.limits.activityEntries,
    })
    return {
      row: (await administratorById(transaction, id))!,
      session: await begin(administration, transaction, id, { remember, deviceId: null }, at),
    }
  })
  return issue(administration, row, session)
}
