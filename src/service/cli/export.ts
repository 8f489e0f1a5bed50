// `octavo export [folder]`: exports content, files and settings to an archive in Strapi's format, even while a service runs.
import { createRequire } from 'node:module'
import { resolve } from 'node:path'
import { openStoredFiles } from '../../content/media/stored-files.js'
import { getDriver } from '../../database/open.js'
import type { Config } from '../../foundation/config/config.js'
import { ConfigError } from '../../foundation/errors/errors.js'
import type { Model } from '../../model/schema/types.js'
import type { ContainerOptions } from '../../operations/archive/archive-writer.js'
import { type ExportedArchive, type ExportReport, exportArchive } from '../../operations/archive/export.js'
import { type PartOptions, scopeOf } from '../../operations/archive/format.js'
import { onDatabase, orExplain } from './explain-error.js'
import { createProgress, formatSize, pluralize, print } from './output.js'
import { checkDatabase, checkPrepared, readProjectFolder } from './project.js'
import { newArchiveKey } from './prompt.js'
import { watchInterruption } from './signals.js'

interface Options extends PartOptions {
  readonly file?: string
  readonly encrypt: boolean
  readonly compress: boolean
  readonly key?: string
  readonly format: string
  readonly overwrite?: boolean
}

/** @throws ConfigError with a sentence for invalid options */
export const exportCommand = orExplain(async (folder: string, options: Options) => {
  const { config, model } = await readProjectFolder(folder, checkDatabase)
  const scope = scopeOf(options, model.types.keys())
  const container = await getContainer(options)
  await onDatabase(config, async () => {
    const driver = await getDriver(config)
    const view = await driver.openView(config)
    await checkPrepared(view, config, folder).finally(() => view.close())
    const base = resolve(options.file ?? `export_${formatFileTime(new Date())}`)
    show(await exportProject(config, model, { scope, container, base }))
  })
})

type ArchivePlace = Pick<Parameters<typeof exportArchive>[2], 'scope' | 'container' | 'base'>

async function exportProject(config: Config, model: Model, place: ArchivePlace): Promise<ExportedArchive> {
  const { version } = createRequire(import.meta.url)('../package.json') as { readonly version: string }
  const interruption = watchInterruption()
  const files = place.scope.files ? await openStoredFiles(config) : null
  const driver = await getDriver(config)
  const source = await driver.rows(config, model)
  try {
    return await exportArchive(source, model, {
      ...place,
      files,
      version,
      now: new Date(),
      report: createProgress(formatProgress),
      begun: (abandon) =>
        interruption.undoes(async () => {
          await abandon()
          await files?.close()
        }),
    })
  } finally {
    interruption.end()
    await source.close()
    await files?.close()
  }
}

async function getContainer({ encrypt, compress, key, format, overwrite = false }: Options): Promise<ContainerOptions> {
  if (format !== 'tar' && format !== 'dir') throw new ConfigError(`--format is "${format}"; it is tar or dir`)
  if (format === 'dir') {
    if (key !== undefined) throw new ConfigError('A folder is not encrypted: leave out -k, or use --format tar')
    return { format, compress: false, password: null, overwrite }
  }
  return { format, compress, password: encrypt ? await newArchiveKey(key) : null, overwrite }
}

/** `20261123081500`, as in the names of Strapi's archives. */
const formatFileTime = (now: Date): string => now.toISOString().replace(/\D/g, '').slice(0, 14)

const formatProgress = ({ what, done, total }: ExportReport): string => `exporting ${what}: ${done}${total === null ? '' : ` of ${total}`}`

/** Maximum number of files listed per reason. */
const named = 10

function showMissing(missing: ExportedArchive['missing']): void {
  const list = (names: readonly string[], why: string): void => {
    if (names.length === 0) return
    print(`The archive does not have ${pluralize(names.length, 'file')}, because ${why}:`)
    for (const name of names.slice(0, named)) print(`  ${name}`)
    if (names.length > named) print(`  … and ${names.length - named} more`)
  }
  const of = (wanted: string) => missing.filter(({ why }) => why === wanted)
  list(
    of('absent').map(({ name }) => name),
    'they are not where their rows say',
  )
  list(
    of('elsewhere').map(({ name, url }) => `${name} (${getHost(url)})`),
    "they are not in the project's storage, and files are not fetched from other addresses",
  )
}

const getHost = (url: string): string => (URL.canParse(url) && new URL(url).host) || 'no address'

function show({ path, bytes, entities, assets, links, configuration, missing, dangling, unknown }: ExportedArchive): void {
  showMissing(missing)
  if (dangling > 0) print(`Left out: ${pluralize(dangling, 'relation')} of rows that do not exist, or belong to nothing.`)
  if (unknown.length > 0) {
    print('Not exported, because the project has no such type:')
    for (const table of unknown) print(`  ${table}`)
  }
  const what = [
    pluralize(entities, 'entity', 'entities'),
    pluralize(assets, 'file'),
    pluralize(links, 'relation'),
    pluralize(configuration, 'setting'),
  ]
  print(`Exported ${what.join(', ')} to ${path} (${formatSize(bytes)}).`)
}
