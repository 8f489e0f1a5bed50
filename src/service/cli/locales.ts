// `octavo locales`: lists, adds and removes locales, and sets the default one.
import { locales } from '../../admin/manage/locales.js'
import { checkLocaleExists, listLocales } from '../../content/locales.js'
import { runOperation } from './changes.js'
import { orExplain } from './explain-error.js'
import { type ListOptions, print, printJson, printTable } from './output.js'
import { lookIntoProject, withProject } from './project.js'

export const listLocalesCommand = orExplain(async (folder: string, { json = false }: ListOptions) => {
  const listed = await lookIntoProject(folder, ({ database, model }) => listLocales(database, model))
  if (json) return printJson(listed)
  printTable(
    ['code', 'name', 'documents', ''],
    listed.map(({ code, name, documents, isDefault }) => [code, name ?? '-', String(documents), isDefault ? 'default' : '']),
  )
})

export const addLocaleCommand = orExplain(async (code: string, folder: string, options: { readonly name?: string }) => {
  const { name } = await withProject(folder, (project) => runOperation(locales.add, project, { code, ...options }))
  print(`Added locale ${code}: ${name}.`)
})

export const removeLocaleCommand = orExplain(async (code: string, folder: string) => {
  await withProject(folder, async (project) => {
    await checkLocaleExists(project.database, code)
    await runOperation(locales.remove, project, { code })
  })
  print(`Removed locale ${code}.`)
})

export const defaultLocaleCommand = orExplain(async (code: string, folder: string) => {
  await withProject(folder, async (project) => {
    await checkLocaleExists(project.database, code)
    await runOperation(locales.update, project, { code, isDefault: true })
  })
  print(`The default locale is now ${code}.`)
})
