// All routes of the API except those of content-types, which depend on the model, and those of the project.
import { readLocales } from '../../content/documents/read/service-reads.js'
import { readEmail } from '../../identity/accounts/email.js'
import { typeWithRoute } from '../../model/schema/type-routes.js'
import type { Model } from '../../model/schema/types.js'
import { getTurnName, ok, type Route } from '../request-context.js'
import { authenticationRoutes } from './authentication.js'
import { contentTypeBuilderRoutes } from './content-type-builder.js'
import { fileRoutes } from './files.js'
import { oauthRoutes } from './oauth.js'
import { usersAndRolesRoutes } from './users-and-roles.js'

const emailRoutes: readonly Route[] = [
  {
    method: 'POST',
    path: '/email',
    action: 'plugin::email.email.send',
    isContentless: true,
    handle: async (context) => {
      const { accounts, body } = context
      await accounts.mail.send(readEmail(await body()), getTurnName(context))
      return ok({})
    },
  },
]

const localeRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/i18n/locales',
    action: 'plugin::i18n.locales.listLocales',
    isContentless: true,
    handle: async ({ documents, access }) =>
      ok((await readLocales(documents)).map((locale) => ({ ...locale, isDefault: locale.code === access.defaultLocale }))),
  },
]

/** All routes of the API except those of content-types, which depend on the model, and those of the project. */
export const routes: readonly Route[] = [
  ...usersAndRolesRoutes,
  ...authenticationRoutes,
  ...oauthRoutes,
  ...emailRoutes,
  ...fileRoutes,
  ...localeRoutes,
  ...contentTypeBuilderRoutes,
]

/** One sentence for each content-type whose routes come before routes of the service. */
export function sharedPaths(model: Model, prefix: string): readonly string[] {
  const taken = new Map<string, string[]>()
  for (const { method, path } of routes) {
    const type = typeWithRoute(model, method, path)
    if (type !== null) taken.set(type.uid, [...(taken.get(type.uid) ?? []), `${method} ${prefix}${path}`])
  }
  return [...taken].map(
    ([uid, names]) =>
      `${uid} has the path of routes of the service; as in Strapi, the content-type comes first, with its own permissions. Not reached: ${names.join(', ')}`,
  )
}
