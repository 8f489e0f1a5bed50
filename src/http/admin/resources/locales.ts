// /locales: the locales of the installation.
import * as z from 'zod'
import { addManagedLocale, changeManagedLocale, managedLocale, managedLocales, removeManagedLocale } from '../../../admin/manage/locales.js'
import { answer, nothing, type Resource, type ResourceRequest, resource } from '../resource.js'

const shownLocale = z.strictObject({ code: z.string(), name: z.string().nullable(), isDefault: z.boolean() })
const one = z.strictObject({ data: shownLocale })
const byCode = z.strictObject({ code: z.string().max(35) })
const name = z.string().max(50)
const action = (what: string) => ({ action: `plugin::i18n.locale.${what}` })

async function respondLocale({ administration }: ResourceRequest, code: string) {
  return answer({ data: await managedLocale(administration.database, code) })
}

/** The resources of locales. */
export const localeResources: readonly Resource[] = [
  resource({
    ...{ method: 'GET', path: '/locales', summary: 'List the locales', who: 'administrator' },
    answer: z.strictObject({ data: z.array(shownLocale) }),
    handle: async ({ administration }) => answer({ data: [...(await managedLocales(administration.database))] }),
  }),
  resource({
    ...{ method: 'POST', path: '/locales', summary: 'Add a locale', who: action('create'), status: 201 },
    body: z.strictObject({ code: z.string().max(35), name: name.optional() }),
    answer: one,
    handle: async (asked) => {
      await addManagedLocale(asked.administration, asked.actor, asked.body)
      return respondLocale(asked, asked.body.code)
    },
    again: (asked) => respondLocale(asked, asked.body.code),
  }),
  resource({
    ...{ method: 'PATCH', path: '/locales/:code', summary: 'Rename a locale, or make it the default one', who: action('update') },
    params: byCode,
    body: z.strictObject({ name: name.optional(), isDefault: z.literal(true).optional() }),
    answer: one,
    handle: async (asked) => {
      const { administration, actor, params, body } = asked
      await changeManagedLocale(administration, actor, params.code, body)
      return respondLocale(asked, params.code)
    },
  }),
  resource({
    ...{ method: 'DELETE', path: '/locales/:code', summary: 'Remove a locale that no document uses', who: action('delete') },
    params: byCode,
    answer: null,
    handle: async ({ administration, installation, actor, params }) => {
      await removeManagedLocale(administration, actor, installation.model, params.code)
      return nothing()
    },
  }),
]
