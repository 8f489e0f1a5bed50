// Whether the schemas of a project can mean what they say, before a model is made of them. A mistake is told with its place in
// the file and what would be right.
import { closest } from '../errors/did-you-mean.js'
import { checkAttribute, checkColumns, type Finding, unlikely, wrong } from './check-attributes.js'
import type { SchemaSource } from './types.js'

/** A schema of the project, and the file that it comes from. */
export interface SchemaFile {
  readonly file: string
  readonly schema: SchemaSource
}

/** Attributes that every document has; a schema cannot have others of these names. */
const reserved = ['id', 'documentId', 'createdAt', 'updatedAt', 'publishedAt', 'createdBy', 'updatedBy', 'localizations']
const reservedInComponents = ['id', '__component']
/** Strapi lets a schema have these, and passes over them. */
const passedOver = ['locale']

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
/** Files whose mistakes are told at once. */
const shown = 3

/**
 * Looks at the project's own schemas; `all` are those, the built-in ones included.
 * @returns what may be a mistake, as sentences
 * @throws Error with a sentence that names the first mistakes, each with its file and path
 */
export function checkSchemas(files: readonly SchemaFile[], all: readonly SchemaSource[]): readonly string[] {
  const sources = new Map(all.map((schema) => [schema.uid, schema]))
  const found = files.flatMap(({ file, schema }) =>
    findings(schema, sources).map(({ path, message, isWarning }) => ({ isWarning, sentence: `${file}: ${path} ${message}` })),
  )
  const mistakes = found.filter(({ isWarning }) => !isWarning).map(({ sentence }) => sentence)
  if (mistakes.length > 0) {
    const more = mistakes.length > shown ? ` (and ${mistakes.length - shown} more)` : ''
    throw new Error(`${mistakes.slice(0, shown).join('; ')}${more}`)
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
    return [unlikely(`${where}${key}`, `is no key that means anything here${meant === null ? '' : `; did you mean "${meant}"?`}`)]
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

/** An option that is like one of ours was meant to be it; others may be of plugins. */
function checkOptions({ options = {}, pluginOptions }: SchemaSource): readonly Finding[] {
  const localized = pluginOptions?.i18n?.localized
  return [
    ...Object.keys(options).flatMap((name) => {
      if (optionNames.includes(name)) return []
      const meant = closest(name, optionNames)
      return [
        meant === null
          ? unlikely(`options.${name}`, 'is no option that means anything here')
          : wrong(`options.${name}`, `is no option; did you mean "${meant}"?`),
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
    return [wrong(`attributes.${name}`, `cannot be: ${isComponent ? 'every component' : 'every document'} has "${taken}" already`)]
  if (!isComponent && uid.startsWith('api::') && passedOver.includes(name))
    return [unlikely(`attributes.${name}`, 'is passed over: documents have a locale of their own')]
  return /^[A-Za-z_]/.test(name) ? [] : [unlikely(`attributes.${name}`, 'should begin with a letter')]
}
