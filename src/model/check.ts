// Checks the schemas of a project before the model is built. Each error names its path in the file and, if possible, a correction.
import { closest } from '../errors/did-you-mean.js'
import { checkAttribute, checkColumns, type Finding, unlikely, wrong } from './check-attributes.js'
import type { SchemaSource } from './types.js'

/** A schema of the project with its file. */
export interface SchemaFile {
  readonly file: string
  readonly schema: SchemaSource
}

/** Attributes of every document, whose names a schema cannot use. */
const reserved = ['id', 'documentId', 'createdAt', 'updatedAt', 'publishedAt', 'createdBy', 'updatedBy', 'localizations']
const reservedInComponents = ['id', '__component']
/** Names that Strapi accepts in a schema but ignores. */
const ignoredNames = ['locale']

const keys = [
  'kind',
  'collectionName',
  'info',
  'options',
  'pluginOptions',
  'attributes',
  'indexes',
  'config',
  'uid',
  'modelType',
  'modelName',
  'globalId',
]
const optionNames = [
  ...[
    'draftAndPublish',
    'populateCreatorFields',
    'privateAttributes',
    'timestamps',
    'comment',
    'increments',
    'version',
    'noStageNotification',
  ],
  ...['reviewWorkflows', 'noSetStages'],
]
const kebab = /^[a-z0-9]+(?:-[a-z0-9]+)*$/
/** The most errors in one message. */
const maxShown = 3

/**
 * Checks the project's own schemas; `all` also contains the built-in ones.
 * @returns warnings about likely mistakes, as sentences
 * @throws Error with a sentence that names the first errors, each with its file and path
 */
export function checkSchemas(files: readonly SchemaFile[], all: readonly SchemaSource[]): readonly string[] {
  const sources = new Map(all.map((schema) => [schema.uid, schema]))
  const found = files.flatMap(({ file, schema }) =>
    findings(schema, sources).map(({ path, message, isWarning }) => ({ isWarning, sentence: `${file}: ${path} ${message}` })),
  )
  const mistakes = found.filter(({ isWarning }) => !isWarning).map(({ sentence }) => sentence)
  if (mistakes.length > 0) {
    const more = mistakes.length > maxShown ? ` (and ${mistakes.length - maxShown} more)` : ''
    throw new Error(`${mistakes.slice(0, maxShown).join('; ')}${more}`)
  }
  return found.map(({ sentence }) => sentence)
}

function findings(schema: SchemaSource, sources: ReadonlyMap<string, SchemaSource>): readonly Finding[] {
  const attributes = Object.entries(schema.attributes)
  return [
    ...unknownKeys('', Object.keys(schema), keys),
    ...checkNames(schema),
    ...checkOptions(schema),
    ...attributes.flatMap(([name]) => checkName(schema, name)),
    ...checkColumns(schema),
    ...attributes.flatMap(([name, source]) => checkAttribute(schema, name, source, sources)),
  ]
}

const unknownKeys = (where: string, given: readonly string[], known: readonly string[]): readonly Finding[] =>
  given.flatMap((key) => {
    if (known.includes(key)) return []
    const meant = closest(key, known)
    return [unlikely(`${where}${key}`, `is not a known key${meant === null ? '' : `; did you mean "${meant}"?`}`)]
  })

function checkNames({ kind, info }: SchemaSource): readonly Finding[] {
  if (kind === 'component') return []
  return (['singularName', 'pluralName'] as const).flatMap((key) => {
    const name = info[key]
    if (name === undefined || kebab.test(name)) return []
    const meant = name
      .replaceAll(/([a-z0-9])([A-Z])/g, '$1-$2')
      .toLowerCase()
      .replaceAll(/[^a-z0-9]+/g, '-')
      .replaceAll(/^-|-$/g, '')
    return [wrong(`info.${key}`, `is "${name}"; it must be in kebab-case${kebab.test(meant) ? `, like "${meant}"` : ''}`)]
  })
}

/** An option that resembles a known one is an error; other unknown options may belong to plugins. */
function checkOptions({ options = {}, pluginOptions }: SchemaSource): readonly Finding[] {
  const localized = pluginOptions?.i18n?.localized
  return [
    ...Object.keys(options).flatMap((name) => {
      if (optionNames.includes(name)) return []
      const meant = closest(name, optionNames)
      return [
        meant === null
          ? unlikely(`options.${name}`, 'is not a known option')
          : wrong(`options.${name}`, `is not an option; did you mean "${meant}"?`),
      ]
    }),
    ...(localized === undefined || typeof localized === 'boolean'
      ? []
      : [wrong('pluginOptions.i18n.localized', `is ${JSON.stringify(localized)}; it must be true or false`)]),
  ]
}

function checkName({ kind, uid }: SchemaSource, name: string): readonly Finding[] {
  const isComponent = kind === 'component'
  const plain = (one: string) => one.replaceAll('_', '').toLowerCase()
  const taken = (isComponent ? reservedInComponents : reserved).find((one) => one === name || (!isComponent && plain(one) === plain(name)))
  if (taken !== undefined)
    return [wrong(`attributes.${name}`, `is not allowed: ${isComponent ? 'every component' : 'every document'} already has "${taken}"`)]
  if (!isComponent && uid.startsWith('api::') && ignoredNames.includes(name))
    return [unlikely(`attributes.${name}`, 'is ignored: documents have their own locale')]
  return /^[A-Za-z_]/.test(name) ? [] : [unlikely(`attributes.${name}`, 'should begin with a letter')]
}
