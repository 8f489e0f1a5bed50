// `octavo config [folder]`: prints the effective settings, with the source of each.
import { effectiveSettings } from '../../foundation/config/effective.js'
import { orExplain } from './explain-error.js'
import { type ListOptions, printJson, printTable } from './output.js'
import { checkProject } from './project.js'

interface Options extends ListOptions {
  /** Only settings that differ from their defaults. */
  readonly changed?: boolean
}

/** Secrets are masked. */
export const configCommand = orExplain(async (folder: string, { json = false, changed = false }: Options) => {
  checkProject(folder)
  const settings = (await effectiveSettings(folder)).filter(({ source }) => !changed || source !== 'default')
  if (json) return printJson(settings)
  const text = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value))
  printTable(
    ['setting', 'value', 'source'],
    settings.map(({ name, value, source }) => [name, text(value), source]),
  )
})
