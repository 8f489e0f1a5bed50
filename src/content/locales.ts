// Locales, stored as in Strapi's i18n plugin: rows of i18n_locale, and a setting. Changes take effect at the next request.

import { sql } from 'kysely'
import type { RowReader, Transaction } from '../database/database.js'
import { bindTimestamp } from '../database/portable-sql.js'
import { ApiError, inputError } from '../foundation/errors/errors.js'
import { localeName } from '../model/schema/names.js'
import type { Model } from '../model/schema/types.js'
import { insertRow, newEntry } from './documents/store/rows.js'
import { storedSetting, writeSetting } from './documents/store/settings.js'

interface ListedLocale {
  readonly code: string
  readonly name: string | null
  readonly isDefault: boolean
  /** Number of documents with a version in this locale. */
  readonly documents: number
}

const setting = 'plugin_i18n_default_locale'

/** Maximum lengths, as in Strapi's admin panel. */
const longest = { code: 35, name: 50 }

/** Lists locales in order of creation. Skips the number of documents, which is slow to count. */
export async function readLocaleList(database: RowReader): Promise<readonly Omit<ListedLocale, 'documents'>[]> {
  const rows = await database.rows<{ code: string; name: string | null }>(sql`select code, name from i18n_locale order by id`)
  const standard = await defaultLocale(database)
  return rows.map(({ code, name }) => ({ code, name, isDefault: code === standard }))
}

/** Lists locales in order of creation. */
export async function listLocales(database: RowReader, model: Model): Promise<readonly ListedLocale[]> {
  const listed: ListedLocale[] = []
  for (const locale of await readLocaleList(database))
    listed.push({ ...locale, documents: await documentsIn(database, model, locale.code) })
  return listed
}

/**
 * Adds a locale and returns its name, by default like `German (de)`. @throws ApiError 400 for an invalid code or name, and for a code that
 * exists in upper or lower case
 */
export async function addLocale(transaction: Transaction, code: string, given: string | undefined, now: number): Promise<string> {
  if (code.length > longest.code || !/^[a-z\d]+(-[a-z\d]+)*$/i.test(code)) {
    throw inputError(
      `"${code}" is not a valid locale code. Use up to ${longest.code} letters, digits and hyphens, such as de or en-GB.`,
      ['code'],
      'format',
      { expected: 'locale', max: longest.code },
    )
  }
  if (given !== undefined) checkName(given)
  const name = given ?? localeName(code)
  const [same] = await transaction.rows<{ code: string }>(sql`select code from i18n_locale where lower(code) = ${code.toLowerCase()}`)
  if (same !== undefined) {
    const message = `The locale "${same.code}" already exists.`
    throw new ApiError('ApplicationError', message).because([{ path: ['code'], message, code: 'unique' }])
  }
  await insertRow(transaction, 'i18n_locale', { ...newEntry(now), name, code })
  return name
}

function checkName(name: string): void {
  if (name.trim() === '' || name.length > longest.name)
    throw inputError(`The name of a locale must have 1 to ${longest.name} characters and not only spaces.`, ['name'], 'format', {
      expected: 'name',
      min: 1,
      max: longest.name,
    })
}

/** @throws ApiError 404; 400 for an invalid name */
export async function renameLocale(transaction: Transaction, code: string, name: string, now: number): Promise<void> {
  await checkLocaleExists(transaction, code)
  checkName(name)
  await transaction.run(sql`update i18n_locale set name = ${name}, updated_at = ${bindTimestamp(now)} where code = ${code}`)
}

/** @throws ApiError 404; 400 for the default locale, and for one with documents */
export async function removeLocale(transaction: Transaction, model: Model, code: string): Promise<void> {
  await checkLocaleExists(transaction, code)
  if (code === (await defaultLocale(transaction)))
    throw new ApiError('ApplicationError', `The locale "${code}" is the default locale. Set another default locale first.`)
  const documents = await documentsIn(transaction, model, code)
  if (documents > 0) {
    const users = documents === 1 ? '1 document uses' : `${documents} documents use`
    throw new ApiError('ApplicationError', `${users} the locale "${code}". Delete those versions first (DELETE …?locale=${code}).`)
  }
  await transaction.run(sql`delete from i18n_locale where code = ${code}`)
}

/** @throws ApiError 404 */
export async function setDefaultLocale(transaction: Transaction, code: string): Promise<void> {
  await checkLocaleExists(transaction, code)
  await writeSetting(transaction, setting, code)
}

/** @throws ApiError 404 that lists the locales */
export async function checkLocaleExists(database: RowReader, code: string): Promise<void> {
  const rows = await database.rows<{ code: string }>(sql`select code from i18n_locale order by id`)
  if (rows.some((row) => row.code === code)) return
  throw new ApiError('NotFoundError', `There is no locale "${code}". Existing locales: ${rows.map((row) => row.code).join(', ')}.`)
}

async function defaultLocale(database: RowReader): Promise<string> {
  const value = await storedSetting(database, setting)
  return typeof value === 'string' ? value : 'en'
}

async function documentsIn(database: RowReader, model: Model, code: string): Promise<number> {
  let documents = 0
  for (const { localized, table } of model.types.values()) {
    if (!localized) continue
    const [row] = await database.rows<{ count: number }>(
      sql`select count(distinct document_id) as count from ${sql.table(table)} where locale = ${code}`,
    )
    documents += row!.count
  }
  return documents
}
