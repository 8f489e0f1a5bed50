// The route /api/i18n/locales: the locales of the installation, without envelope.
import type { Route } from '../request-context.js'
import { ok } from '../request-context.js'

const localeType = 'plugin::i18n.locale'

/** The routes of /api/i18n. */
export const localeRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/i18n/locales',
    action: 'plugin::i18n.locales.listLocales',
    isContentless: true,
    handle: async ({ documents, access }) => {
      const type = documents.context.model.types.get(localeType)!
      const locales = (await documents.findAsService({ type, mode: 'many', paged: false, query: '', envelope: 'bare' })) as readonly {
        code: string
      }[]
      return ok(locales.map((locale) => ({ ...locale, isDefault: locale.code === access.defaultLocale })))
    },
  },
]
