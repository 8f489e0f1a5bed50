// The services for sign-in that Strapi's admin panel has switched on or off.

import { storedSetting } from '../../content/documents/store/settings.js'
import type { RowReader } from '../../database/database.js'
import { ApiError } from '../../foundation/errors/errors.js'
import type { SignInSettings } from './context.js'
import { hasProvider } from './oauth-providers.js'

/** A service as the panel stores it. */
export interface StoredService {
  readonly enabled?: boolean
  readonly key?: string
}

/** Reads the services that the panel has stored, by name; `email` is the sign-in with a password. */
export async function servicesOfPanel(database: RowReader): Promise<Readonly<Record<string, StoredService | undefined>>> {
  const stored = await storedSetting(database, 'plugin_users-permissions_grant')
  return typeof stored === 'object' && stored !== null ? (stored as Readonly<Record<string, StoredService>>) : {}
}

/** A sign-in by what is switched off. */
export const disabledService = (): ApiError => new ApiError('ApplicationError', 'This provider is disabled')

/** @throws ApiError 400 if the panel has switched signing in with a password off */
export async function checkPasswordService(database: RowReader): Promise<void> {
  const { email } = await servicesOfPanel(database)
  if (email !== undefined && email?.enabled !== true) throw disabledService()
}

/** The services that the panel has switched on and nobody can sign in by, as sentences for the log. */
export async function unusableServices(database: RowReader, { providers }: SignInSettings): Promise<readonly string[]> {
  const services = Object.entries(await servicesOfPanel(database))
  return services.flatMap(([name, service]) => {
    const isOn = name !== 'email' && service?.enabled === true && (service.key ?? '') !== ''
    if (!isOn || Object.hasOwn(providers, name) || hasProvider(name)) return []
    return [
      `signing in through ${name} is on in Strapi's admin panel, but nobody can: set auth.providers.${name} with the issuer of its OpenID Connect, or switch it off`,
    ]
  })
}
