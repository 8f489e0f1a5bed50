// /settings: settings that Strapi's panel shares.

import * as z from 'zod'
import {
  type ChangedMembers,
  changedMembers,
  changeEmailSettings,
  changeProviderSettings,
  changeSettings,
  changeUserSettings,
  membersOf,
  readSettings,
  type SettingsChange,
  type SettingsPart,
  type StoredMembers,
} from '../../../admin/manage/settings.js'
import { type Resource, type ResourceRequest, resource, respond } from '../resource.js'
import { orCurrent } from '../revisions.js'

/** A part of the settings: its rights, response and input. */
interface Part<Given extends z.ZodType, Shown extends z.ZodType> {
  readonly name: SettingsPart
  readonly what: string
  readonly read: string
  readonly update: string
  readonly isStrong: boolean
  readonly given: Given
  readonly shown: Shown
  show(stored: StoredMembers): z.input<Shown>
  /** The new value. */
  change(
    stored: StoredMembers,
    changes: ChangedMembers<z.output<Given>>,
    transaction: Parameters<SettingsChange['change']>[1],
  ): ReturnType<SettingsChange['change']>
}

/** The two resources of a part. */
function partResources<Given extends z.ZodType, Shown extends z.ZodType>(part: Part<Given, Shown>): readonly Resource[] {
  const { name, what, read, update, isStrong, given, shown, show, change } = part
  const path = `/settings/${name}`
  const one = z.strictObject({ data: z.strictObject({ revision: z.string(), settings: shown }) })
  const respondPart = async ({ administration }: ResourceRequest) => {
    const { stored, revision } = await readSettings(administration, administration.database, name)
    return respond({ data: { revision, settings: show(stored) } }, { etag: `"${revision}"` })
  }
  const changing =
    (body: z.output<Given>): SettingsChange['change'] =>
    (stored, transaction) =>
      change(stored, changedMembers(body as object, show(stored) as StoredMembers) as ChangedMembers<z.output<Given>>, transaction)
  return [
    resource({
      method: 'GET',
      path,
      summary: `Read the settings of ${what}`,
      who: { action: read },
      response: one,
      handle: async (context) => (await respondPart(context)) as never,
    }),
    resource({
      method: 'PUT',
      path,
      summary: `Replace the settings of ${what}`,
      who: { action: update },
      isStrong,
      headers: { state: { of: 'the settings' } },
      body: given,
      response: one,
      handle: async (context) => {
        const { administration, administrator, actor, body, expected } = context
        const wanted = { part: name, revisions: expected, change: changing(body as z.output<Given>) }
        return (await orCurrent(
          administrator.may(read),
          () => changeSettings(administration, actor, wanted),
          () => respondPart(context),
        )) as never
      },
    }),
  ]
}

const isTrue = (value: unknown, otherwise = false): boolean => (typeof value === 'boolean' ? value : otherwise)
const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')
const textOrNull = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null)

const upload = z.strictObject({ sizeOptimization: z.boolean(), responsiveDimensions: z.boolean(), autoOrientation: z.boolean() })

const uploads = partResources({
  name: 'uploads',
  what: 'uploads',
  isStrong: false,
  given: upload,
  shown: upload,
  read: 'plugin::upload.settings.read',
  update: 'plugin::upload.settings.read',
  show: (stored) => ({
    sizeOptimization: isTrue(stored.sizeOptimization, true),
    responsiveDimensions: isTrue(stored.responsiveDimensions, true),
    autoOrientation: isTrue(stored.autoOrientation),
  }),
  change: (stored, changes) => ({ ...stored, ...changes }),
})

const sorts = ['createdAt:DESC', 'createdAt:ASC', 'name:ASC', 'name:DESC', 'updatedAt:DESC', 'updatedAt:ASC'] as const
const mediaView = z.strictObject({ pageSize: z.int().min(1).max(200), sort: z.enum(sorts) })

const mediaViews = partResources({
  name: 'media-view',
  what: 'the page of the media library',
  isStrong: false,
  given: mediaView,
  shown: mediaView,
  read: 'plugin::upload.configure-view',
  update: 'plugin::upload.configure-view',
  show: (stored) => {
    const checked = mediaView.safeParse({ pageSize: stored.pageSize, sort: stored.sort })
    return checked.success ? checked.data : ({ pageSize: 10, sort: 'createdAt:DESC' } as const)
  },
  change: (stored, changes) => ({ ...stored, ...changes }),
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

const users = partResources({
  name: 'users',
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

const emails = partResources({
  name: 'emails',
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

const providers = partResources({
  name: 'providers',
  what: 'sign-in by other services',
  isStrong: true,
  read: 'plugin::users-permissions.providers.read',
  update: 'plugin::users-permissions.providers.update',
  given: z.strictObject({ providers: z.record(z.string().max(100), provider) }),
  shown: z.strictObject({ providers: z.record(z.string(), shownProvider) }),
  show: (stored) => ({ providers: Object.fromEntries(Object.entries(stored).map(([name, one]) => [name, showProvider(one)])) }),
  change: (stored, { providers: changes = {} }) => changeProviderSettings(stored, changes),
})

/** The resources of settings. */
export const settingsResources: readonly Resource[] = [...uploads, ...mediaViews, ...users, ...emails, ...providers]
