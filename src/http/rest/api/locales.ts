// The route /api/i18n/locales: the locales of the installation, without envelope.
import { readLocales } from '../../../content/documents/read/locales.js'
import type { Route } from '../../request-context.js'
import { ok } from '../../request-context.js'

/** The routes of /api/i18n. */
export const localeRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/i18n/locales',
    action: 'plugin::i18n.locales.listLocales',
    isContentless: true,
    handle: async ({ documents, access }) =>
      ok((await readLocales(documents)).map((locale) => ({ ...locale, isDefault: locale.code === access.defaultLocale }))),
  },
]
