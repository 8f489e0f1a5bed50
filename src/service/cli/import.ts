// `octavo import [folder]`: replaces content, files and settings of a project by those of an archive from Strapi or `octavo export`.
import { join, resolve } from 'node:path'
import { type LibrarySwaps, openLibrarySwaps } from '../../content/media/library-swap.js'
import { getDriver } from '../../database/open.js'
import { type Config, loadConfig } from '../../foundation/config/config.js'
import { ConfigError } from '../../foundation/errors/errors.js'
import type { Model } from '../../model/schema/types.js'
import { maxLineBytes, type PartOptions, scopeOf } from '../../operations/archive/format.js'
import { carryOutImport, type ImportPreview, previewImport } from '../../operations/archive/import.js'
import type { ImportReport } from '../../operations/archive/import-check.js'
import { formOf, type UnpackedArchive, unpackArchive } from '../../operations/archive/unpack.js'
import { seedLoader } from '../../operations/seed/loader.js'
import { onDatabase, orExplain } from './explain-error.js'
import { createProgress, pluralize, print, printList, printTable } from './output.js'
import { readProjectFolder, refuseLost } from './project.js'
import { archiveKey, confirm, isInteractive } from './prompt.js'

interface Options extends PartOptions {
  readonly file: string
  readonly key?: string
  readonly force?: boolean
  readonly yes?: boolean
  readonly adapt?: boolean
  readonly new?: boolean
}

/** @throws ConfigError with a sentence; then nothing was changed */
export const importCommand = orExplain(async (folder: string, options: Options) => {
  const load = async () => ({ ...(await loadConfig(folder)), allowsNewDatabase: options.new === true })
  const { config, model } = await readProjectFolder(folder, refuseLost, load)
  const path = resolve(options.file)
  const form = await formOf(path)
  const password = form.isEncrypted ? await archiveKey(options.key) : null
  const report = interruptible(createProgress(formatProgress))
  const library = await openLibrarySwaps(config)
  try {
    const archive = await unpackArchive(path, form, password, {
      folder: join(library.folder, 'archive'),
      limits: config.limits,
      report: (files) => report({ phase: 'unpack', what: 'files', done: files, total: null }),
    })
    await onDatabase(config, () => importInto(config, model, { archive, library, options, report }))
  } finally {
    await library.close()
  }
})

type Report = (progress: ImportReport) => void

/** Cancels the import on a signal and rolls everything back. */
function interruptible(report: Report): Report {
  let isInterrupted = false
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(signal, () => {
      isInterrupted = true
    })
  return (progress) => {
    if (isInterrupted) throw new ConfigError('Interrupted; nothing was changed')
    report(progress)
  }
}

interface Import {
  readonly archive: UnpackedArchive
  readonly library: LibrarySwaps
  readonly options: Options
  readonly report: Report
}

async function importInto(config: Config, model: Model, { archive, library, options, report }: Import): Promise<void> {
  const driver = await getDriver(config)
  const isNew = await isWithoutDatabase(config)
  const scope = scopeOf(options, model.types.keys())
  // The project's seed would be replaced immediately.
  const fill = isNew && scope.isWhole ? async () => {} : seedLoader(config, model, driver.getName(config))
  const command = await driver.openForCommand(config, model, fill)
  try {
    if (isNew) process.stderr.write(`Created the tables of ${driver.getName(config)}.\n`)
    await library.recover(command)
    const database = await driver.replacement(config, model, fill)
    try {
      const preview = await previewImport(archive, model, database, { scope, longestLine: maxLineBytes(config.limits) }, report)
      show(preview, driver.getName(config))
      await consent(preview, isNew, options)
      await carryOutImport(preview, { library, command, report })
      print(`Imported ${sentenceOf(preview)}.`)
    } finally {
      await database.close()
    }
  } finally {
    await command.close()
  }
}

async function isWithoutDatabase(config: Config): Promise<boolean> {
  const driver = await getDriver(config)
  if (!driver.exists(config)) return true
  const view = await driver.openView(config)
  return view.isEmpty().finally(() => view.close())
}

const verbs: Readonly<Record<ImportReport['phase'], string>> = {
  unpack: 'unpacking',
  check: 'checking',
  remove: 'removing rows of',
  write: 'writing',
  files: 'storing',
}

/** Maximum number of lines per list. */
const shown = 30

const formatProgress = ({ phase, what, done, total }: ImportReport): string =>
  `${verbs[phase]} ${what}: ${done}${total === null ? '' : ` of ${total}`}`

/** Prints the effects of an import. */
function show({ context, checked, removed }: ImportPreview, name: string): void {
  const { archive } = context
  const { entities, settings, losses, differences, unowned, outside, missing } = checked
  const made = archive.createdAt === null ? '' : `, made ${archive.createdAt}`
  print(
    `The archive${archive.manifest === null ? ` of Strapi ${archive.strapiVersion}` : ` of Octavo ${archive.manifest.octavo}`}${made}, for ${name}:`,
  )
  const imported = new Map([...entities, ...(settings === 0 ? [] : [['settings', settings] as const])])
  const names = [...new Set([...removed.keys(), ...imported.keys()])]
  printTable(
    ['', 'deleted', 'imported'],
    names.map((each) => [each, String(removed.get(each) ?? 0), String(imported.get(each) ?? 0)]),
  )
  printList(shown, 'The schemas of the archive and the project differ:', differences)
  if (unowned > 0) print(`Not imported: ${pluralize(unowned, 'relation')} that belong to no entity, as Strapi leaves them.`)
  if (outside > 0) print(`Not imported: ${pluralize(outside, 'relation')} from or to content-types that are left out.`)
  printList(shown, `The archive has the rows of ${pluralize(missing.length, 'file')}, but not their bytes:`, missing)
  printList(
    shown,
    'The project cannot hold:',
    losses.map(({ what, count, examples }) => `${count} × ${what}${examples.length === 0 ? '' : ` (${examples.join('; ')})`}`),
  )
}

/** @throws ConfigError unless all deletions and losses are permitted */
async function consent({ checked, removed }: ImportPreview, isNew: boolean, { force, yes, adapt }: Options): Promise<void> {
  const lost = checked.losses.reduce((sum, { count }) => sum + count, 0)
  if (lost > 0 && adapt !== true) {
    if (!isInteractive())
      throw new ConfigError(
        `The project cannot hold ${lost} values, rows or relations of the archive. Change its schemas, or leave them out with --adapt. Nothing was changed`,
      )
    if (!(await confirm(`Leave out ${lost} values, rows or relations?`))) throw new ConfigError('Nothing was changed')
  }
  const rows = [...removed.values()].reduce((sum, count) => sum + count, 0)
  if (isNew || rows === 0 || force === true || yes === true) return
  if (!isInteractive()) throw new ConfigError(`The import deletes ${pluralize(rows, 'row')}. To agree: --force. Nothing was changed`)
  if (!(await confirm(`Delete ${pluralize(rows, 'row')}?`))) throw new ConfigError('Nothing was changed')
}

function sentenceOf({ context: { archive, scope }, checked }: ImportPreview): string {
  const entities = [...checked.entities.values()].reduce((sum, count) => sum + count, 0)
  const files = [...archive.uploads.keys()].filter((name) => checked.named.has(name)).length
  return [
    ...(scope.content ? [pluralize(entities, 'entity', 'entities'), pluralize(checked.links, 'relation')] : []),
    ...(scope.files ? [pluralize(files, 'file')] : []),
    ...(scope.configuration ? [pluralize(checked.settings, 'setting')] : []),
  ].join(', ')
}
