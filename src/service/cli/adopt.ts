// `octavo adopt`: writes the defaults that the code of a Strapi project sets for reads into octavo.config. It runs none of that code.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type CodeLine, notConfigured } from '../../../packages/strapi-code/code-report.js'
import { readProjectCode } from '../../../packages/strapi-code/read-project-code.js'
import type { Config } from '../../foundation/config/config.js'
import { merged, readOctavoConfig } from '../../foundation/config/files.js'
import { ConfigError } from '../../foundation/errors/errors.js'
import type { QueryDefaults } from '../../foundation/public/type-settings.js'
import { replaceFile } from '../../foundation/runtime/file-operations.js'
import type { Model } from '../../model/schema/types.js'
import { checkInstallable } from '../../project/installation.js'
import { orExplain } from './explain-error.js'
import { print, printList } from './output.js'
import { anyDatabase, loadWithoutSecrets, readProjectFolder } from './project.js'
import { attributesOf, hasCode } from './project-code.js'

interface Options {
  /** Print what would be added. */
  readonly dryRun?: boolean
}

type DefaultsByType = Readonly<Record<string, { readonly defaults: Readonly<Record<string, unknown>> }>>

/** Adds the defaults of the project in `folder` to its octavo.config; settings that exist remain. */
export const adoptCommand = orExplain(async (given: string, { dryRun = false }: Options) => {
  const { config, model } = await readProjectFolder(given, anyDatabase, loadWithoutSecrets)
  const { folder } = config
  if (!hasCode(folder))
    throw new ConfigError(
      `${folder} has no code of Strapi: no package.json that depends on @strapi/strapi, and no middleware, controller or route in src.`,
    )
  const { lines, suggestions } = await readProjectCode({ folder, attributes: attributesOf(model), configured: notConfigured })
  const { types, kept, refused, partial } = sortDefaults(suggestions, config, model)
  const { config: present, source } = await readOctavoConfig(folder)
  const file = source === 'octavo.config' ? 'octavo.config.json' : source
  const added = Object.entries(types)
  const isCode = !file.endsWith('.json')
  if (added.length === 0) print('The code sets no constant defaults that octavo.config lacks.')
  else if (isCode || dryRun) print(`To add to ${file}:\n${JSON.stringify({ types }, null, 2)}`)
  else {
    const path = join(folder, file)
    replaceFile(path, textOf(merged(present, { types }), path, source === file), { isPrivate: false })
    printList(
      maxLines,
      `Added to ${file}:`,
      added.map(([uid, { defaults }]) => describe(uid, defaults)),
    )
  }
  const adopted = new Set(suggestions.flatMap(({ paths }) => paths))
  const filtered = added.flatMap(([uid, { defaults }]) => ('filters' in defaults ? [uid] : []))
  printList(maxLines, 'Filters that clients can replace; if they protect something, set types.<uid>.scope:', filtered)
  printList(maxLines, `Not changed in ${file}:`, kept)
  printList(maxLines, 'Not possible as defaults:', refused)
  printList(maxLines, 'Not adopted; see docs/guide/from-strapi.md for the settings that replace this code:', [
    ...partial,
    ...lines.flatMap((line) => describeRest(line, adopted)),
  ])
  if (isCode && added.length > 0 && !dryRun)
    throw new ConfigError(`${file} is code, which this command does not change. Add the printed settings to it.`)
})

const maxLines = 200

interface SortedDefaults {
  readonly types: DefaultsByType
  /** Those that octavo.config has with other values, as sentences. */
  readonly kept: readonly string[]
  /** Those that the service would refuse. */
  readonly refused: readonly string[]
  /** Those that only `find` or only `findOne` sets, although the type has both. */
  readonly partial: readonly string[]
}

function sortDefaults(
  suggestions: Awaited<ReturnType<typeof readProjectCode>>['suggestions'],
  config: Config,
  model: Model,
): SortedDefaults {
  const types: Record<string, { readonly defaults: Readonly<Record<string, unknown>> }> = {}
  const kept: string[] = []
  const refused: string[] = []
  const partial: string[] = []
  for (const { uid, defaults, paths, onlyIn } of suggestions) {
    const present = (config.types[uid]?.defaults ?? {}) as Readonly<Record<string, unknown>>
    const isSingle = model.types.get(uid)?.singleType === true
    const isPartial = (name: string): boolean => onlyIn[name] !== undefined && !(isSingle && onlyIn[name] === 'find')
    const absent = Object.entries(defaults).filter(([name]) => !(name in present))
    const missing = Object.fromEntries(absent.filter(([name]) => !isPartial(name)))
    for (const [name, value] of absent.filter(([name]) => isPartial(name)))
      partial.push(
        `${describe(uid, { [name]: value })} in ${paths.join(', ')}: only ${onlyIn[name]} sets it; defaults apply to ${onlyIn[name] === 'find' ? 'single documents' : 'lists'} too`,
      )
    const others = Object.fromEntries(
      Object.entries(defaults).filter(([name, value]) => name in present && JSON.stringify(present[name]) !== JSON.stringify(value)),
    )
    if (Object.keys(others).length > 0) kept.push(`${describe(uid, others)} in ${paths.join(', ')}`)
    if (Object.keys(missing).length === 0) continue
    const problem = getProblem(uid, missing, config, model)
    if (problem === null) types[uid] = { defaults: missing }
    else refused.push(`${describe(uid, missing)} in ${paths.join(', ')}: ${problem}`)
  }
  return { types, kept, refused, partial }
}

function getProblem(uid: string, defaults: QueryDefaults, config: Config, model: Model): string | null {
  if (!model.types.has(uid)) return 'the project has no such content-type'
  try {
    checkInstallable({ ...config, types: { [uid]: { defaults } } }, model)
    return null
  } catch (error) {
    return (error as Error).message
  }
}

const describe = (uid: string, defaults: Readonly<Record<string, unknown>>): string =>
  `types["${uid}"].defaults = ${JSON.stringify(defaults)}`

/** Changes of queries that are computed, depend on a condition, or are on other routes than reads; code that cannot be followed. */
function describeRest({ path, on = [], does = [], isSettled }: CodeLine, adopted: ReadonlySet<string>): readonly string[] {
  const rest = does.filter(
    (phrase) =>
      /^(?:(?:sets|adds to|removes) (?!the )|cannot be followed$)/.test(phrase) &&
      !(adopted.has(path) && /^sets \w+(?: where a request has none)?$/.test(phrase)),
  )
  return isSettled || rest.length === 0 ? [] : [`${path}${on.length === 0 ? '' : ` (${on.join(', ')})`}: ${rest.join(', ')}`]
}

/** JSON with the indentation of the present file. */
function textOf(value: unknown, path: string, exists: boolean): string {
  const [, indentation = '  '] = (exists && /^([ \t]+)"/m.exec(readFileSync(path, 'utf8'))) || []
  return `${JSON.stringify(value, null, indentation)}\n`
}
