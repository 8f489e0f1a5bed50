// Settings shared with Strapi's panel: uploads, the view of the media library, users, their e-mails, and sign-in providers.
import { createHmac } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { storedSetting, writeSetting } from '../../content/documents/store/settings.js'
import { uploadSettings } from '../../content/media/rows.js'
import type { RowReader, Transaction } from '../../database/database.js'
import { ApiError, type InputMistake, mistakenInput } from '../../foundation/errors/errors.js'
import { httpUrl } from '../../identity/access/account-settings.js'
import { isEmailAddress } from '../../identity/accounts/input.js'
import { roleByType } from '../../identity/accounts/users.js'
import { type ActingAdministrator, doAction } from '../activity.js'
import type { Administration } from '../context.js'

const settingKeys = {
  uploads: uploadSettings,
  'media-view': 'plugin_upload_view_configuration',
  users: 'plugin_users-permissions_advanced',
  emails: 'plugin_users-permissions_email',
  providers: 'plugin_users-permissions_grant',
} as const

/** A part of the settings. */
export type SettingsPart = keyof typeof settingKeys

export type StoredMembers = Readonly<Record<string, unknown>>

const isMembers = (value: unknown): value is StoredMembers => typeof value === 'object' && value !== null && !Array.isArray(value)

/** The members of an object; none of other values. */
export const membersOf = (value: unknown): StoredMembers => (isMembers(value) ? value : {})

interface SettingsState {
  readonly stored: StoredMembers
  /** Keyed, because the value may contain secrets. */
  readonly revision: string
}

/** Reads a part. */
export async function readSettings({ keys: { marks } }: Administration, database: RowReader, part: SettingsPart): Promise<SettingsState> {
  const stored = membersOf(await storedSetting(database, settingKeys[part]))
  const revision = createHmac('sha256', marks)
    .update(`settings ${part} ${JSON.stringify(stored)}`)
    .digest('base64url')
    .slice(0, 27)
  return { stored, revision }
}

export interface SettingsChange {
  readonly part: SettingsPart
  readonly revisions: readonly string[]
  /** The new value, including stored members that the change does not name. */
  change(stored: StoredMembers, transaction: Transaction): Promise<StoredMembers> | StoredMembers
}

/** Changes a part. @throws ApiError 412 with another revision; errors of `change` */
export const changeSettings = (
  administration: Administration,
  actor: ActingAdministrator,
  { part, revisions, change }: SettingsChange,
): Promise<void> =>
  doAction(administration, actor, async (transaction) => {
    const { stored, revision } = await readSettings(administration, transaction, part)
    if (!revisions.includes(revision)) throw new ApiError('PreconditionFailedError', 'The settings have changed since they were read')
    const value = await change(stored, transaction)
    await writeSetting(transaction, settingKeys[part], value)
    const fields = Object.keys(value).filter((name) => JSON.stringify(value[name]) !== JSON.stringify(stored[name]))
    return [fields.length === 0 ? null : { action: 'update', subject: 'settings', id: part, fields }, undefined]
  })

/** A partial value, at every depth. */
export type ChangedMembers<Value> = Value extends readonly unknown[]
  ? Value
  : Value extends object
    ? { readonly [Name in keyof Value]?: ChangedMembers<Value[Name]> }
    : Value

/** The members of `given` that differ from `shown`. Only these are written. */
export function changedMembers<Value extends object>(given: Value, shown: StoredMembers): ChangedMembers<Value> {
  const changed = Object.entries(given).flatMap(([name, value]: [string, unknown]) => {
    const present = Object.hasOwn(shown, name) ? shown[name] : undefined
    if (value === undefined || isDeepStrictEqual(value, present)) return []
    return [[name, isMembers(value) && isMembers(present) ? changedMembers(value, present) : value]]
  })
  return Object.fromEntries(changed) as ChangedMembers<Value>
}

const invalidAt = (path: readonly string[], message: string): ApiError => mistakenInput([{ path, message }])

interface GivenUserSettings {
  readonly allow_register: boolean
  readonly email_confirmation: boolean
  readonly unique_email: boolean
  readonly default_role: string
  readonly email_reset_password: string | null
  readonly email_confirmation_redirection: string | null
}

/** Applies changes to the settings of users. @throws ApiError 400 for an unknown role, and for an invalid URL */
export async function changeUserSettings(
  stored: StoredMembers,
  changes: ChangedMembers<GivenUserSettings>,
  database: RowReader,
): Promise<StoredMembers> {
  for (const name of ['email_reset_password', 'email_confirmation_redirection'] as const) {
    const page = changes[name] ?? null
    if (page !== null && httpUrl(page) === null) throw invalidAt([name], 'This is not an address that begins with https:// or http://')
  }
  const { default_role: role } = changes
  if (role !== undefined && (role === 'public' || (await roleByType(database, role)) === null))
    throw invalidAt(['default_role'], `There is no role ${role} that users may have`)
  return { ...stored, ...changes }
}

/** Values that Strapi also provides to templates. */
const templateNames = ['URL', 'ADMIN_URL', 'SERVER_URL', 'CODE', 'TOKEN', 'USER', 'USER.username', 'USER.email']

/** True if a template contains only known values: Strapi would run code in it. */
function isTemplate(text: string): boolean {
  const rest = text.replaceAll(/<%=\s*([\w.]{1,50})\s*%>/g, (whole, name: string) => (templateNames.includes(name) ? '' : whole))
  return !rest.includes('<%') && !rest.includes('${')
}

interface GivenEmail {
  readonly from: { readonly name: string; readonly email: string }
  readonly response_email: string
  readonly object: string
  readonly message: string
}

/**
 * Applies changes to e-mails. Members for Strapi's panel are retained.
 * @throws ApiError 400 for an invalid address, and for a template with code
 */
export function changeEmailSettings(stored: StoredMembers, changes: ChangedMembers<Readonly<Record<string, GivenEmail>>>): StoredMembers {
  const mistakes = Object.entries(changes).flatMap(([kind, email = {}]) => findErrors(kind, email))
  if (mistakes.length > 0) throw mistakenInput(mistakes)
  const emails = Object.entries(changes).map(([kind, email]) => {
    const former = membersOf(stored[kind])
    const options = membersOf(former.options)
    return [kind, { ...former, options: { ...options, ...email, from: { ...membersOf(options.from), ...email?.from } } }]
  })
  return { ...stored, ...Object.fromEntries(emails) }
}

function findErrors(kind: string, { from, response_email, object, message }: ChangedMembers<GivenEmail>): readonly InputMistake[] {
  const addresses = [
    { path: [kind, 'from', 'email'], text: from?.email },
    { path: [kind, 'response_email'], text: response_email },
  ]
  const templates = [
    { path: [kind, 'object'], text: object },
    { path: [kind, 'message'], text: message },
  ]
  return [
    ...addresses
      .filter(({ text = '' }) => text !== '' && !isEmailAddress(text))
      .map(({ path }) => ({ path, message: 'This is not a valid e-mail address' })),
    ...templates
      .filter(({ text = '' }) => !isTemplate(text))
      .map(({ path }) => ({ path, message: 'A template has only values such as <%= URL %>, and no code' })),
  ]
}

/** A sign-in provider; an absent secret stays. */
interface GivenProvider {
  readonly enabled: boolean
  readonly key: string
  readonly secret?: string | undefined
  /** Read-only. */
  readonly hasSecret?: boolean | undefined
  readonly callback?: string | null | undefined
  readonly scope?: readonly string[] | undefined
  readonly subdomain?: string | null | undefined
}

const withoutSecret: readonly string[] = ['email']

/**
 * The subdomain determines the server that receives the secret, so a new subdomain requires the secret again.
 * @throws ApiError 400 if a stored secret would be sent to another server
 */
function refuseSecretElsewhere(name: string, former: StoredMembers, value: StoredMembers, given: string | undefined): void {
  const hasSecret = (former.secret ?? '') !== '' && given === undefined
  if (!hasSecret || (value.subdomain ?? '') === '' || value.subdomain === former.subdomain) return
  throw invalidAt(['providers', name, 'secret'], 'The subdomain is another one: give the secret again, or remove it with an empty text')
}

/** Applies changes to providers; others stay. @throws ApiError 400 for an unknown provider, and for an enabled one without a key */
export function changeProviderSettings(
  stored: StoredMembers,
  changes: ChangedMembers<Readonly<Record<string, GivenProvider>>>,
): StoredMembers {
  const changed = Object.entries(changes).map(([name, given = {}]) => {
    if (!Object.hasOwn(stored, name)) throw invalidAt(['providers', name], `There is no service ${name}`)
    const former = membersOf(stored[name])
    const { callback, subdomain, hasSecret, ...members } = given
    if (hasSecret !== undefined)
      throw invalidAt(['providers', name, 'hasSecret'], 'Whether there is a secret is only shown; give the secret')
    if (withoutSecret.includes(name)) return [name, { ...former, enabled: given.enabled ?? former.enabled }]
    // Strapi has two names for it.
    const place = 'callbackUrl' in former ? 'callbackUrl' : 'callback'
    const value: StoredMembers = {
      ...former,
      ...members,
      ...(callback === undefined ? {} : { [place]: callback ?? '' }),
      ...(subdomain === undefined ? {} : { subdomain: subdomain ?? '' }),
    }
    refuseSecretElsewhere(name, former, value, given.secret)
    if (value.enabled === true && (value.key ?? '') === '') throw invalidAt(['providers', name, 'key'], 'A service that is on has a key')
    return [name, value]
  })
  return { ...stored, ...Object.fromEntries(changed) }
}
