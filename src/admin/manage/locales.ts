// Locales: operations of the administration.

import * as z from 'zod'
import { addLocale, readLocaleList, removeLocale, renameLocale, setDefaultLocale } from '../../content/locales.js'
import type { RowReader } from '../../database/database.js'
import { notFound } from '../../foundation/errors/errors.js'
import { act, operation } from './operation.js'

const shownLocale = z.strictObject({ code: z.string(), name: z.string().nullable(), isDefault: z.boolean() })
const localeResponse = z.strictObject({ data: shownLocale })
const name = z.string().max(50)
const right = (action: string) => ({ action: `plugin::i18n.locale.${action}` })
const audited = (action: string) => ({ action, subject: 'locale' })

/** @throws ApiError 404 */
async function readLocale(database: RowReader, code: string): Promise<z.input<typeof shownLocale>> {
  const found = (await readLocaleList(database)).find((locale) => locale.code === code)
  if (found === undefined) throw notFound('Locale not found')
  return found
}

/** The operations on locales. */
export const locales = {
  list: operation({
    route: 'GET /locales',
    summary: 'List the locales',
    rights: 'administrator',
    output: z.strictObject({ data: z.array(shownLocale) }),
    respond: async ({ database }) => ({ data: await readLocaleList(database) }),
  }),
  add: operation({
    route: 'POST /locales',
    summary: 'Add a locale',
    rights: right('create'),
    input: z.strictObject({ code: z.string().max(35), name: name.optional() }),
    output: localeResponse,
    audit: audited('create'),
    run: (context, { code, name: given }) =>
      act(context, async (transaction, now) => ({ id: code, name: await addLocale(transaction, code, given, now) })),
    respond: async ({ database }, { code }) => ({ data: await readLocale(database, code) }),
  }),
  update: operation({
    route: 'PATCH /locales/:code',
    summary: 'Rename a locale, or make it the default one',
    rights: right('update'),
    input: z.strictObject({ name: name.optional(), isDefault: z.literal(true).optional() }),
    output: localeResponse,
    audit: audited('update'),
    run: (context, { code, ...values }) =>
      act(context, async (transaction, now) => {
        const before = await readLocale(transaction, code)
        if (values.name !== undefined) await renameLocale(transaction, code, values.name, now)
        if (values.isDefault) await setDefaultLocale(transaction, code)
        return { id: code, name: before.name ?? code, fields: Object.keys(values) }
      }),
    respond: async ({ database }, { code }) => ({ data: await readLocale(database, code) }),
  }),
  remove: operation({
    route: 'DELETE /locales/:code',
    summary: 'Remove a locale that no document uses',
    rights: right('delete'),
    output: null,
    audit: audited('delete'),
    run: (context, { code }) =>
      act(context, async (transaction) => {
        const { name } = await readLocale(transaction, code)
        await removeLocale(transaction, context.model, code)
        return { id: code, name: name ?? code }
      }),
  }),
}
