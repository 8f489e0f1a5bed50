// Settings that Strapi's panel shares, as administrators read and change them: of uploads, of the media library's page, of users, of their
// e-mails, and of sign-in by other services.
import { createHmac } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { storedSetting, writeSetting } from '../../content/documents/store/settings.js'
import { uploadSettings } from '../../content/media/rows.js'
import type { RowReader, Transaction } from '../../database/database.js'
import { ApiError, type InputMistake, mistakenInput } from '../../foundation/errors/errors.js'
import { httpUrl } from '../../identity/access/account-settings.js'
import { isEmailAddress } from '../../identity/accounts/input.js'
import { roleByType } from '../../identity/accounts/users.js'
import { type ActingAdministrator, doAct } from '../activity.js'
import type { Administration } from '../context.js'

/** The keys of settings, by the names of their parts. */
const keys = {
  uploads: uploadSettings,
  'media-view': 'plugin_upload_view_configuration',
  users: 'plugin_users-permissions_advanced',
  emails: 'plugin_users-permissions_email',
  providers: 'plugin_users-permissions_grant',
} as const

/** A part of the settings. */
export type SettingsPart = keyof typeof keys

/** Members of a stored value. */
export type StoredMembers = Readonly<Record<string, unknown>>

const isMembers = (value: unknown): value is StoredMembers => typeof value === 'object' && value !== null && !Array.isArray(value)

/** Members of a value; none of what is no object. */
export const membersOf = (value: unknown): StoredMembers => (isMembers(value) ? value : {})

/** A part as it is stored, and its revision. */
export interface SettingsState {
  readonly stored: StoredMembers
  /** Changes with the value, and reveals nothing of it: secrets may be part of it. */
  readonly revision: string
}

/** Reads a part. */
export async function readSettings({ keys: { marks } }: Administration, database: RowReader, part: SettingsPart): Promise<SettingsState> {
  const stored = membersOf(await storedSetting(database, keys[part]))
  const revision = createHmac('sha256', marks)
    .update(`settings ${part} ${JSON.stringify(stored)}`)
    .digest('base64url')
    .slice(0, 27)
  return { stored, revision }
}

/** What is to become of a part. */
export interface SettingsChange {
  readonly part: SettingsPart
  readonly revisions: readonly string[]
  /** The new value; what it does not name of the stored one is its own to keep. */
  change(stored: StoredMembers, transaction: Transaction): Promise<StoredMembers> | StoredMembers
}

/** Changes a part. @throws ApiError 412 with another revision; what `change` throws */
export const changeSettings = (
  administration: Administration,
  actor: ActingAdministrator,
  { part, revisions, change }: SettingsChange,
): Promise<void> =>
  doAct(administration, actor, async (transaction) => {
    const { stored, revision } = await readSettings(administration, transaction, part)
    if (!revisions.includes(revision)) throw new ApiError('PreconditionFailedError', 'The settings have changed since they were read')
    const value = await change(stored, transaction)
    await writeSetting(transaction, keys[part], value)
    const fields = Object.keys(value).filter((name) => JSON.stringify(value[name]) !== JSON.stringify(stored[name]))
    return [fields.length === 0 ? null : { action: 'update', subject: 'settings', id: part, fields }, undefined]
  })

/** What a change says of a value: only the members that it changes, at every depth. */
export type ChangedMembers<Value> = Value extends readonly unknown[]
  ? Value
  : Value extends object
    ? { readonly [Name in keyof Value]?: ChangedMembers<Value[Name]> }
    : Value

/** The members of a given value that differ from what is shown. The others stay as they are stored, whatever they are. */
export function changedMembers<Value extends object>(given: Value, shown: StoredMembers): ChangedMembers<Value> {
  const changed = Object.entries(given).flatMap(([name, value]: [string, unknown]) => {
    const present = Object.hasOwn(shown, name) ? shown[name] : undefined
    if (value === undefined || isDeepStrictEqual(value, present)) return []
    return [[name, isMembers(value) && isMembers(present) ? changedMembers(value, present) : value]]
  })
  return Object.fromEntries(changed) as ChangedMembers<Value>
}

const wrong = (path: readonly string[], message: string): ApiError => mistakenInput([{ path, message }])

/** Settings of users, as they are given. */
export interface GivenUserSettings {
  readonly allow_register: boolean
  readonly email_confirmation: boolean
  readonly unique_email: boolean
  readonly default_role: string
  readonly email_reset_password: string | null
  readonly email_confirmation_redirection: string | null
}

/** The new settings of users. @throws ApiError 400 for a role that is not there, and for what is no address of a page */
export async function changedUsers(
  stored: StoredMembers,
  changes: ChangedMembers<GivenUserSettings>,
  database: RowReader,
): Promise<StoredMembers> {
  for (const name of ['email_reset_password', 'email_confirmation_redirection'] as const) {
    const page = changes[name] ?? null
    if (page !== null && httpUrl(page) === null) throw wrong([name], 'This is not an address that begins with https:// or http://')
  }
  const { default_role: role } = changes
  if (role !== undefined && (role === 'public' || (await roleByType(database, role)) === null))
    throw wrong(['default_role'], `There is no role ${role} that users may have`)
  return { ...stored, ...changes }
}

/** The names that templates of e-mails have values for, in Strapi too. */
const names = ['URL', 'ADMIN_URL', 'SERVER_URL', 'CODE', 'TOKEN', 'USER', 'USER.username', 'USER.email']

/** True for a text that names values and has no code in it: Strapi runs templates. */
function isTemplate(text: string): boolean {
  const rest = text.replaceAll(/<%=\s*([\w.]{1,50})\s*%>/g, (whole, name: string) => (names.includes(name) ? '' : whole))
  return !rest.includes('<%') && !rest.includes('${')
}

/** An e-mail, as it is given. */
export interface GivenEmail {
  readonly from: { readonly name: string; readonly email: string }
  readonly response_email: string
  readonly object: string
  readonly message: string
}

/** The new e-mails; each keeps how Strapi's panel shows it. @throws ApiError 400 for what is no address, and for a template with code */
export function changedEmails(stored: StoredMembers, changes: ChangedMembers<Readonly<Record<string, GivenEmail>>>): StoredMembers {
  const mistakes = Object.entries(changes).flatMap(([kind, email = {}]) => mistakesOf(kind, email))
  if (mistakes.length > 0) throw mistakenInput(mistakes)
  const emails = Object.entries(changes).map(([kind, email]) => {
    const former = membersOf(stored[kind])
    const options = membersOf(former.options)
    return [kind, { ...former, options: { ...options, ...email, from: { ...membersOf(options.from), ...email?.from } } }]
  })
  return { ...stored, ...Object.fromEntries(emails) }
}

function mistakesOf(kind: string, { from, response_email, object, message }: ChangedMembers<GivenEmail>): readonly InputMistake[] {
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

/** A service that users may sign in by, as it is given; the secret stays where it is absent. */
export interface GivenProvider {
  readonly enabled: boolean
  readonly key: string
  readonly secret?: string | undefined
  /** Shown, and never changed by itself. */
  readonly hasSecret?: boolean | undefined
  /** Null: none. */
  readonly callback?: string | null | undefined
  readonly scope?: readonly string[] | undefined
  readonly subdomain?: string | null | undefined
}

/** Services that have more or fewer settings than the others. */
const withoutSecret: readonly string[] = ['email']

/**
 * The subdomain says where a service is, and so who is sent the secret, which is shown to nobody.
 * @throws ApiError 400 if a secret would go elsewhere that the change does not give
 */
function refuseSecretElsewhere(name: string, former: StoredMembers, value: StoredMembers, given: string | undefined): void {
  const hasSecret = (former.secret ?? '') !== '' && given === undefined
  if (!hasSecret || (value.subdomain ?? '') === '' || value.subdomain === former.subdomain) return
  throw wrong(['providers', name, 'secret'], 'The subdomain is another one: give the secret again, or remove it with an empty text')
}

/** The new services; those that are not named stay. @throws ApiError 400 for one that is not there, and for one that is on without a key */
export function changedProviders(stored: StoredMembers, changes: ChangedMembers<Readonly<Record<string, GivenProvider>>>): StoredMembers {
  const changed = Object.entries(changes).map(([name, given = {}]) => {
    if (!Object.hasOwn(stored, name)) throw wrong(['providers', name], `There is no service ${name}`)
    const former = membersOf(stored[name])
    const { callback, subdomain, hasSecret, ...members } = given
    if (hasSecret !== undefined) throw wrong(['providers', name, 'hasSecret'], 'Whether there is a secret is only shown; give the secret')
    if (withoutSecret.includes(name)) return [name, { ...former, enabled: given.enabled ?? former.enabled }]
    // Strapi calls it by two names.
    const place = 'callbackUrl' in former ? 'callbackUrl' : 'callback'
    const value: StoredMembers = {
      ...former,
      ...members,
      ...(callback === undefined ? {} : { [place]: callback ?? '' }),
      ...(subdomain === undefined ? {} : { subdomain: subdomain ?? '' }),
    }
    refuseSecretElsewhere(name, former, value, given.secret)
    if (value.enabled === true && (value.key ?? '') === '') throw wrong(['providers', name, 'key'], 'A service that is on has a key')
    return [name, value]
  })
  return { ...stored, ...Object.fromEntries(changed) }
}
