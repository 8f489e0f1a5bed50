// `octavo locales`: lists, adds and removes locales, and sets the default one.
import { addLocale, listLocales, removeLocale, setDefaultLocale } from '../../content/locales.js'
import { orExplain } from './explain-error.js'
import { type ListOptions, print, printJson, printTable } from './output.js'
import { lookIntoProject, withProject } from './project.js'

/** Prints the locales of a project. */
export const listLocalesCommand = orExplain(async (folder: string, { json = false }: ListOptions) => {
  const locales = await lookIntoProject(folder, ({ database, model }) => listLocales(database, model))
  if (json) return printJson(locales)
  printTable(
    ['code', 'name', 'documents', ''],
    locales.map(({ code, name, documents, isDefault }) => [code, name ?? '-', String(documents), isDefault ? 'default' : '']),
  )
})

/** Adds a locale. */
export const addLocaleCommand = orExplain(async (code: string, folder: string, options: { readonly name?: string }) => {
  const name = await withProject(folder, ({ writer }) =>
    writer.transaction((transaction) => addLocale(transaction, code, options.name, Date.now())),
  )
  print(`Added locale ${code}: ${name}.`)
})

/** Removes a locale. */
export const removeLocaleCommand = orExplain(async (code: string, folder: string) => {
  await withProject(folder, ({ model, writer }) => writer.transaction((transaction) => removeLocale(transaction, model, code)))
  print(`Removed locale ${code}.`)
})

/** Sets the default locale. */
export const defaultLocaleCommand = orExplain(async (code: string, folder: string) => {
  await withProject(folder, ({ writer }) => writer.transaction((transaction) => setDefaultLocale(transaction, code)))
  print(`The default locale is now ${code}.`)
})
