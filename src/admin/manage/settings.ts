// Settings shared with Strapi's panel: uploads, the view of the media library, users, their e-mails, and sign-in providers. Operations of
// the administration.
import { createHmac } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import * as z from 'zod'
import { storedSetting, writeSetting } from '../../content/documents/store/settings.js'
import { uploadSettings } from '../../content/media/rows.js'
import type { RowReader, Transaction } from '../../database/database.js'
import { ApiError, invalidAt, mistakenInput } from '../../foundation/errors/errors.js'
import type { InputMistake } from '../../foundation/errors/issues.js'
import { httpUrl } from '../../identity/access/account-settings.js'
import { isEmailAddress } from '../../identity/accounts/input.js'
import { roleByType } from '../../identity/accounts/users.js'
import { isObject } from '../../query/request.js'
import { act, type Operation, operation, type RequestChangeContext, type RequestOperationContext } from './operation.js'

type StoredMembers = Readonly<Record<string, unknown>>

/** The members of an object; none of other values. */
const membersOf = (value: unknown): StoredMembers => (isObject(value) ? value : {})

/** A part of the settings. */
interface Part<Given extends z.ZodType, Shown extends z.ZodType> {
  /** Its key in `strapi_core_store_settings`. */
  readonly key: string
  readonly what: string
  /** The actions that allow to read and to replace it; `update` is `read` by default. */
  readonly read: string
  readonly update?: string
  readonly isStrong?: boolean
  readonly given: Given
  readonly shown: Shown
  show(stored: StoredMembers): z.input<Shown>
  /** The new value, including stored members that the change does not name; by default those with the changes. */
  change?(stored: StoredMembers, changes: ChangedMembers<z.output<Given>>, transaction: Transaction): Promise<StoredMembers> | StoredMembers
}

/** The operations on a part. */
function partOperations<Given extends z.ZodObject, Shown extends z.ZodType>(name: string, part: Part<Given, Shown>): readonly Operation[] {
  const { key, what, read, update = read, isStrong = false, given, shown, show, change } = part
  const output = z.strictObject({ data: z.strictObject({ revision: z.string(), settings: shown }) })
  const readPart = async ({ administration }: RequestOperationContext, database: RowReader) => {
    const stored = membersOf(await storedSetting(database, key))
    // Keyed, because the value may contain secrets.
    const revision = createHmac('sha256', administration.keys.marks)
      .update(`settings ${name} ${JSON.stringify(stored)}`)
      .digest('base64url')
      .slice(0, 27)
    return { stored, revision }
  }
  const respond = async (context: RequestOperationContext) => {
    const { stored, revision } = await readPart(context, context.database)
    return { data: { revision, settings: show(stored) } } as never
  }
  return [
    operation({ route: `GET /settings/${name}`, summary: `Read the settings of ${what}`, rights: { action: read }, output, respond }),
    operation({
      route: `PUT /settings/${name}`,
      summary: `Replace the settings of ${what}`,
      rights: { action: update },
      isStrong,
      state: { of: 'the settings', read },
      input: given,
      output,
      audit: { action: 'update', subject: 'settings' },
      run: (context: RequestChangeContext, body) =>
        act(context, async (transaction) => {
          const { stored, revision } = await readPart(context, transaction)
          if (!context.revisions.includes(revision))
            throw new ApiError('PreconditionFailedError', 'The settings have changed since they were read')
          const changes = changedMembers<z.output<Given>>(body as never, show(stored) as StoredMembers)
          const value = (await change?.(stored, changes, transaction)) ?? { ...stored, ...changes }
          await writeSetting(transaction, key, value)
          const fields = Object.keys(value).filter((field) => JSON.stringify(value[field]) !== JSON.stringify(stored[field]))
          return { id: name, fields }
        }),
      respond,
    }),
  ]
}

/** A partial value, at every depth. */
type ChangedMembers<Value> = Value extends readonly unknown[]
  ? Value
  : Value extends object
    ? { readonly [Name in keyof Value]?: ChangedMembers<Value[Name]> }
    : Value

/** The members of `given` that differ from `shown`. Only these are written. */
function changedMembers<Value extends object>(given: Value, shown: StoredMembers): ChangedMembers<Value> {
  const changed = Object.entries(given).flatMap(([name, value]: [string, unknown]) => {
    const present = Object.hasOwn(shown, name) ? shown[name] : undefined
    if (value === undefined || isDeepStrictEqual(value, present)) return []
    return [[name, isObject(value) && isObject(present) ? changedMembers(value, present) : value]]
  })
  return Object.fromEntries(changed) as ChangedMembers<Value>
}

const isTrue = (value: unknown, otherwise = false): boolean => (typeof value === 'boolean' ? value : otherwise)
const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')
const textOrNull = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null)

const upload = z.strictObject({ sizeOptimization: z.boolean(), responsiveDimensions: z.boolean(), autoOrientation: z.boolean() })

const uploads = partOperations('uploads', {
  key: uploadSettings,
  what: 'uploads',
  given: upload,
  shown: upload,
  read: 'plugin::upload.settings.read',
  show: (stored) => ({
    sizeOptimization: isTrue(stored.sizeOptimization, true),
    responsiveDimensions: isTrue(stored.responsiveDimensions, true),
    autoOrientation: isTrue(stored.autoOrientation),
  }),
})

const sorts = ['createdAt:DESC', 'createdAt:ASC', 'name:ASC', 'name:DESC', 'updatedAt:DESC', 'updatedAt:ASC'] as const
const mediaView = z.strictObject({ pageSize: z.int().min(1).max(200), sort: z.enum(sorts) })

const mediaViews = partOperations('media-view', {
  key: 'plugin_upload_view_configuration',
  what: 'the page of the media library',
  given: mediaView,
  shown: mediaView,
  read: 'plugin::upload.configure-view',
  show: (stored) => {
    const checked = mediaView.safeParse({ pageSize: stored.pageSize, sort: stored.sort })
    return checked.success ? checked.data : ({ pageSize: 10, sort: 'createdAt:DESC' } as const)
  },
})

const address = z.string().max(2_000).nullable()
const user = z.strictObject({
  allow_register: z.boolean(),
  email_confirmation: z.boolean(),
  unique_email: z.boolean(),
  default_role: z.string().min(1).max(255),
  email_reset_password: address,
  email_confirmation_redirection: address,
})

/** Applies changes to the settings of users. @throws ApiError 400 for an unknown role, and for an invalid URL */
async function changeUserSettings(
  stored: StoredMembers,
  changes: ChangedMembers<z.output<typeof user>>,
  database: RowReader,
): Promise<StoredMembers> {
  for (const name of ['email_reset_password', 'email_confirmation_redirection'] as const) {
    const page = changes[name] ?? null
    if (page !== null && httpUrl(page) === null)
      throw invalidAt([name], 'This is not an address that begins with https:// or http://', 'format', { expected: 'url' })
  }
  const { default_role: role } = changes
  if (role !== undefined && (role === 'public' || (await roleByType(database, role)) === null))
    throw invalidAt(['default_role'], `There is no role ${role} that users may have`, 'notFound')
  return { ...stored, ...changes }
}

const users = partOperations('users', {
  key: 'plugin_users-permissions_advanced',
  what: 'users of the content API',
  isStrong: true,
  given: user,
  shown: user,
  read: 'plugin::users-permissions.advanced-settings.read',
  update: 'plugin::users-permissions.advanced-settings.update',
  show: (stored) => ({
    allow_register: isTrue(stored.allow_register),
    email_confirmation: isTrue(stored.email_confirmation),
    unique_email: stored.unique_email !== false,
    default_role: textOf(stored.default_role) || 'authenticated',
    email_reset_password: textOrNull(stored.email_reset_password),
    email_confirmation_redirection: textOrNull(stored.email_confirmation_redirection),
  }),
  change: changeUserSettings,
})

const line = z.string().max(255)
const email = z.strictObject({
  from: z.strictObject({ name: line, email: line }),
  response_email: line,
  object: z.string().max(1_000),
  message: z.string().max(100_000),
})
const shownEmail = z.strictObject({
  from: z.strictObject({ name: z.string(), email: z.string() }),
  response_email: z.string(),
  object: z.string(),
  message: z.string(),
})

const showEmail = (stored: unknown): z.input<typeof shownEmail> => {
  const { from, response_email, object, message } = membersOf(membersOf(stored).options)
  const { name, email: sender } = membersOf(from)
  return {
    from: { name: textOf(name), email: textOf(sender) },
    response_email: textOf(response_email),
    object: textOf(object),
    message: textOf(message),
  }
}

/** Values that Strapi also provides to templates. */
const templateNames = ['URL', 'ADMIN_URL', 'SERVER_URL', 'CODE', 'TOKEN', 'USER', 'USER.username', 'USER.email']

/** True if a template contains only known values: Strapi would run code in it. */
function isTemplate(text: string): boolean {
  const rest = text.replaceAll(/<%=\s*([\w.]{1,50})\s*%>/g, (whole, name: string) => (templateNames.includes(name) ? '' : whole))
  return !rest.includes('<%') && !rest.includes('${')
}

/**
 * Applies changes to e-mails. Members for Strapi's panel are retained.
 * @throws ApiError 400 for an invalid address, and for a template with code
 */
function changeEmailSettings(
  stored: StoredMembers,
  changes: ChangedMembers<Readonly<Record<string, z.output<typeof email>>>>,
): StoredMembers {
  const mistakes = Object.entries(changes).flatMap(([kind, email = {}]) => findErrors(kind, email))
  if (mistakes.length > 0) throw mistakenInput(mistakes)
  const emails = Object.entries(changes).map(([kind, email]) => {
    const former = membersOf(stored[kind])
    const options = membersOf(former.options)
    return [kind, { ...former, options: { ...options, ...email, from: { ...membersOf(options.from), ...email?.from } } }]
  })
  return { ...stored, ...Object.fromEntries(emails) }
}

function findErrors(
  kind: string,
  { from, response_email, object, message }: ChangedMembers<z.output<typeof email>>,
): readonly InputMistake[] {
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
      .map(({ path }) => ({ path, message: 'This is not a valid e-mail address', code: 'format' as const, params: { expected: 'email' } })),
    ...templates
      .filter(({ text = '' }) => !isTemplate(text))
      .map(({ path }) => ({
        path,
        message: 'A template has only values such as <%= URL %>, and no code',
        code: 'format' as const,
        params: { expected: 'template' },
      })),
  ]
}

const emails = partOperations('emails', {
  key: 'plugin_users-permissions_email',
  what: 'e-mails to users',
  isStrong: true,
  read: 'plugin::users-permissions.email-templates.read',
  update: 'plugin::users-permissions.email-templates.update',
  given: z.strictObject({ reset_password: email, email_confirmation: email }),
  shown: z.strictObject({ reset_password: shownEmail, email_confirmation: shownEmail }),
  show: (stored) => ({ reset_password: showEmail(stored.reset_password), email_confirmation: showEmail(stored.email_confirmation) }),
  change: changeEmailSettings,
})

const short = z.string().max(2_000)
const provider = z.strictObject({
  enabled: z.boolean(),
  key: short,
  /** It stays as it is where it is absent. */
  secret: short.optional(),
  /** Shown, and not looked at. */
  hasSecret: z.boolean().optional(),
  /** Null: none. */
  callback: short.nullish(),
  scope: z.array(z.string().max(255)).max(50).optional(),
  subdomain: short.nullish(),
})
const shownProvider = z.strictObject({
  enabled: z.boolean(),
  key: z.string(),
  /** Secrets are never shown. */
  hasSecret: z.boolean(),
  callback: z.string().nullable(),
  scope: z.array(z.string()),
  subdomain: z.string().nullable(),
})

const showProvider = (stored: unknown): z.input<typeof shownProvider> => {
  const { enabled, key, secret, callback, callbackUrl, scope, subdomain } = membersOf(stored)
  return {
    enabled: isTrue(enabled),
    key: textOf(key),
    hasSecret: textOf(secret) !== '',
    callback: textOrNull(callback) ?? textOrNull(callbackUrl),
    scope: Array.isArray(scope) ? scope.map(String) : [],
    subdomain: textOrNull(subdomain),
  }
}

const withoutSecret: readonly string[] = ['email']

/**
 * The subdomain determines the server that receives the secret, so a new subdomain requires the secret again.
 * @throws ApiError 400 if a stored secret would be sent to another server
 */
function refuseSecretElsewhere(name: string, former: StoredMembers, value: StoredMembers, given: string | undefined): void {
  const hasSecret = (former.secret ?? '') !== '' && given === undefined
  if (!hasSecret || (value.subdomain ?? '') === '' || value.subdomain === former.subdomain) return
  throw invalidAt(
    ['providers', name, 'secret'],
    'The subdomain is another one: give the secret again, or remove it with an empty text',
    'required',
  )
}

/** Applies changes to providers; others stay. @throws ApiError 400 for an unknown provider, and for an enabled one without a key */
function changeProviderSettings(
  stored: StoredMembers,
  changes: ChangedMembers<Readonly<Record<string, z.output<typeof provider>>>>,
): StoredMembers {
  const changed = Object.entries(changes).map(([name, given = {}]) => {
    if (!Object.hasOwn(stored, name)) throw invalidAt(['providers', name], `There is no service ${name}`, 'unknown', { name })
    const former = membersOf(stored[name])
    const { callback, subdomain, hasSecret, ...members } = given
    if (hasSecret !== undefined)
      throw invalidAt(['providers', name, 'hasSecret'], 'Whether there is a secret is only shown; give the secret', 'forbidden')
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
    if (value.enabled === true && (value.key ?? '') === '')
      throw invalidAt(['providers', name, 'key'], 'A service that is on has a key', 'required')
    return [name, value]
  })
  return { ...stored, ...Object.fromEntries(changed) }
}

const providers = partOperations('providers', {
  key: 'plugin_users-permissions_grant',
  what: 'sign-in by other services',
  isStrong: true,
  read: 'plugin::users-permissions.providers.read',
  update: 'plugin::users-permissions.providers.update',
  given: z.strictObject({ providers: z.record(z.string().max(100), provider) }),
  shown: z.strictObject({ providers: z.record(z.string(), shownProvider) }),
  show: (stored) => ({ providers: Object.fromEntries(Object.entries(stored).map(([name, one]) => [name, showProvider(one)])) }),
  change: (stored, { providers: changes = {} }) => changeProviderSettings(stored, changes),
})

/** The operations on settings. */
export const settings: readonly Operation[] = [...uploads, ...mediaViews, ...users, ...emails, ...providers]
