// Locales managed by administrators, with entries in the log of activity.

import { addLocale, readLocaleList, removeLocale, renameLocale, setDefaultLocale } from '../../content/locales.js'
import type { RowReader } from '../../database/database.js'
import { notFound } from '../../foundation/errors/errors.js'
import type { Model } from '../../model/schema/types.js'
import { type ActingAdministrator, doAction } from '../activity.js'
import type { Administration } from '../context.js'

/** A locale. */
interface ManagedLocale {
  readonly code: string
  readonly name: string | null
  readonly isDefault: boolean
}

/** Returns all locales in the order of creation. */
export const managedLocales = (database: RowReader): Promise<readonly ManagedLocale[]> => readLocaleList(database)

/** Returns a locale. @throws ApiError 404 */
export async function managedLocale(database: RowReader, code: string): Promise<ManagedLocale> {
  const found = (await readLocaleList(database)).find((locale) => locale.code === code)
  if (found === undefined) throw notFound('Locale not found')
  return found
}

/** Adds a locale. @throws ApiError 400 */
export const addManagedLocale = (
  administration: Administration,
  actor: ActingAdministrator,
  { code, name }: { readonly code: string; readonly name?: string | undefined },
): Promise<void> =>
  doAction(administration, actor, async (transaction, now) => {
    const given = await addLocale(transaction, code, name, now)
    return [{ action: 'create', subject: 'locale', id: code, name: given }, undefined]
  })

/** Renames a locale, or makes it the default one. @throws ApiError 400, 404 */
export const changeManagedLocale = (
  administration: Administration,
  actor: ActingAdministrator,
  code: string,
  { name, isDefault }: { readonly name?: string | undefined; readonly isDefault?: true | undefined },
): Promise<void> =>
  doAction(administration, actor, async (transaction, now) => {
    const before = await managedLocale(transaction, code)
    if (name !== undefined) await renameLocale(transaction, code, name, now)
    if (isDefault === true) await setDefaultLocale(transaction, code)
    const fields = [...(name === undefined ? [] : ['name']), ...(isDefault === true ? ['isDefault'] : [])]
    return [{ action: 'update', subject: 'locale', id: code, name: before.name ?? code, fields }, undefined]
  })

/** Removes a locale. @throws ApiError 404; 400 for the default locale and for one that documents use */
export const removeManagedLocale = (
  administration: Administration,
  actor: ActingAdministrator,
  model: Model,
  code: string,
): Promise<void> =>
  doAction(administration, actor, async (transaction) => {
    const { name } = await managedLocale(transaction, code)
    await removeLocale(transaction, model, code)
    return [{ action: 'delete', subject: 'locale', id: code, name: name ?? code }, undefined]
  })
