// Checks the schemas of a project before the model is built. Each error names its path in the file and, if possible, a correction.
import { closest } from '../errors/did-you-mean.js'
import { checkAttribute, checkColumns } from './check-attributes.js'
import { careless, type Finding, unlikely, wrong } from './finding.js'
import { snake } from './names.js'
import { componentAttributes, documentAttributes, kebabCase, replacedAttributes, schemaKeys, schemaOptions } from './schema-keys.js'
import type { SchemaSource } from './types.js'

/** A schema of the project with its file. */
export interface SchemaFile {
  readonly file: string
  readonly schema: SchemaSource
}

/** A mistake at one path of a schema: `attributes.slug.targetField`. */
export interface SchemaMistake extends Pick<Finding, 'path' | 'message'> {
  /** The file of the schema. */
  readonly file: string
}

/** The mistakes that errors of `checkSchemas` are about. */
const mistakesOfErrors = new WeakMap<object, readonly SchemaMistake[]>()

/** The mistakes that an error of `checkSchemas` is about; none for another error. */
export const mistakesOf = (error: object): readonly SchemaMistake[] => mistakesOfErrors.get(error) ?? []

/** The first mistakes as a sentence; `nameOf`: how it names their places. */
export function sentenceOf(mistakes: readonly SchemaMistake[], nameOf: (mistake: SchemaMistake) => string): string {
  const more = mistakes.length > maxShown ? ` (and ${mistakes.length - maxShown} more)` : ''
  const sentences = mistakes.slice(0, maxShown).map((mistake) => `${nameOf(mistake)} ${mistake.message}`)
  return `${sentences.join('; ')}${more}`
}

/** The place of a mistake, for whoever has the file. */
export const fileAndPath = ({ file, path }: SchemaMistake): string => `${file}: ${path}`

/** Names that Strapi accepts in a schema but ignores. */
const ignoredNames = ['locale']
/** The most errors in one message. */
const maxShown = 3

/**
 * Checks the project's own schemas; `all` also contains the built-in ones. `isStrapis`: Strapi serves the project too, so mistakes that it
 * serves are warnings.
 * @returns warnings about likely mistakes, as sentences
 * @throws Error with a sentence that names the first errors, each with its file and path
 */
export function checkSchemas(files: readonly SchemaFile[], all: readonly SchemaSource[], isStrapis: boolean): readonly string[] {
  const sources = new Map(all.map((schema) => [schema.uid, schema]))
  const found = files.flatMap(({ file, schema }) =>
    findings(schema, sources).map(({ path, message, kind }) => ({
      isError: kind === 'wrong' || (kind === 'careless' && !isStrapis),
      mistake: { file, path, message },
    })),
  )
  const mistakes = found.filter(({ isError }) => isError).map(({ mistake }) => mistake)
  if (mistakes.length > 0) {
    const error = new Error(sentenceOf(mistakes, fileAndPath))
    mistakesOfErrors.set(error, mistakes)
    throw error
  }
  return found.map(({ mistake }) => `${fileAndPath(mistake)} ${mistake.message}`)
}

function findings(schema: SchemaSource, sources: ReadonlyMap<string, SchemaSource>): readonly Finding[] {
  const attributes = Object.entries(schema.attributes)
  return [
    ...unknownKeys(Object.keys(schema), Object.keys(schemaKeys)),
    ...checkKind(schema),
    ...checkNames(schema),
    ...checkOptions(schema),
    ...attributes.flatMap(([name]) => checkName(schema, name)),
    ...checkColumns(schema),
    ...attributes.flatMap(([name, source]) => checkAttribute(schema, name, source, sources)),
  ]
}

const unknownKeys = (given: readonly string[], known: readonly string[]): readonly Finding[] =>
  given.flatMap((key) => {
    if (known.includes(key)) return []
    const meant = closest(key, known)
    return [unlikely(key, `is not a known key${meant === null ? '' : `; did you mean "${meant}"?`}`)]
  })

const kinds = ['collectionType', 'singleType']

/** Strapi takes every other kind for a collection type. */
function checkKind({ kind }: SchemaSource): readonly Finding[] {
  if (kind === 'component' || kinds.includes(kind)) return []
  const meant = closest(kind, kinds)
  return [careless('kind', `is "${kind}"; it must be collectionType or singleType${meant === null ? '' : `; did you mean "${meant}"?`}`)]
}

function checkNames({ kind, info }: SchemaSource): readonly Finding[] {
  if (kind === 'component') return []
  return (['singularName', 'pluralName'] as const).flatMap((key) => {
    const name = info[key]
    if (name === undefined || kebabCase.test(name)) return []
    const meant = name
      .replaceAll(/([a-z0-9])([A-Z])/g, '$1-$2')
      .toLowerCase()
      .replaceAll(/[^a-z0-9]+/g, '-')
      .replaceAll(/^-|-$/g, '')
    return [wrong(`info.${key}`, `is "${name}"; it must be in kebab-case${kebabCase.test(meant) ? `, like "${meant}"` : ''}`)]
  })
}

/** An option that resembles a known one is a mistake; other unknown options may belong to plugins. */
function checkOptions(schema: SchemaSource): readonly Finding[] {
  const notObjects = (['options', 'pluginOptions'] as const).filter((key) => schema[key] !== undefined && !isObject(schema[key]))
  if (notObjects.length > 0) return notObjects.map((key) => careless(key, `is ${JSON.stringify(schema[key])}; it must be an object`))
  const { options = {}, pluginOptions } = schema
  const names = Object.keys(schemaOptions)
  const { draftAndPublish, privateAttributes } = options as Readonly<Record<string, unknown>>
  const localized: unknown = pluginOptions?.i18n?.localized
  const isList = Array.isArray(privateAttributes) && privateAttributes.every((name) => typeof name === 'string')
  return [
    ...Object.keys(options).flatMap((name) => {
      if (names.includes(name)) return []
      const meant = closest(name, names)
      return [
        meant === null
          ? unlikely(`options.${name}`, 'is not a known option')
          : careless(`options.${name}`, `is not an option; did you mean "${meant}"?`),
      ]
    }),
    ...checkFlag('options.draftAndPublish', draftAndPublish),
    ...checkFlag('pluginOptions.i18n.localized', localized),
    ...(privateAttributes === undefined || isList
      ? []
      : [careless('options.privateAttributes', `is ${JSON.stringify(privateAttributes)}; it must be a list of names`)]),
  ]
}

const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null && !Array.isArray(value)

const checkFlag = (path: string, value: unknown): readonly Finding[] =>
  value === undefined || typeof value === 'boolean' ? [] : [careless(path, `is ${JSON.stringify(value)}; it must be true or false`)]

function checkName({ kind, uid }: SchemaSource, name: string): readonly Finding[] {
  const isComponent = kind === 'component'
  const reserved: readonly string[] = isComponent ? componentAttributes : documentAttributes
  const taken = reserved.find((one) => one === name || (!isComponent && snake(one) === snake(name)))
  if (taken !== undefined) {
    const report = !isComponent && replacedAttributes.includes(name) ? careless : wrong
    return [report(`attributes.${name}`, `is not allowed: ${isComponent ? 'every component' : 'every document'} already has "${taken}"`)]
  }
  if (!isComponent && uid.startsWith('api::') && ignoredNames.includes(name))
    return [unlikely(`attributes.${name}`, 'is ignored: documents have their own locale')]
  return /^[A-Za-z_]/.test(name) ? [] : [unlikely(`attributes.${name}`, 'should begin with a letter')]
}
