// Checks the schemas of a project before the model is built. Each error names its path in the file and, if possible, a correction.
import { closest, didYouMean } from '../../foundation/errors/did-you-mean.js'
import { ConfigError } from '../../foundation/errors/errors.js'
import { checkAttribute, checkColumns } from './check-attributes.js'
import { careless, type Finding, shown, unlikely, unstartable, wrong } from './finding.js'
import { snake } from './names.js'
import {
  componentAttributes,
  documentAttributes,
  kebabCase,
  oneNameForBoth,
  replacedAttributes,
  schemaKeys,
  schemaOptions,
} from './schema-format.js'
import type { SchemaSource } from './types.js'

/** Characters of an attribute's name and of an enumeration's value, which columns store. */
export const maxNameCharacters = 255

/** A uid followed by an action, and as the name of a file, has at most 255 characters. */
export const maxUidCharacters = 240

export interface SchemaFile {
  readonly file: string
  readonly schema: SchemaSource
}

/** An error at a path such as `attributes.slug.targetField`. */
export interface SchemaFault extends Pick<Finding, 'path' | 'message'> {
  readonly file: string
}

/** Errors of `checkSchemas` with their details. */
const faultsOfErrors = new WeakMap<object, readonly SchemaFault[]>()

/** The details of an error of `checkSchemas`; empty for others. */
export const getFaults = (error: object): readonly SchemaFault[] => faultsOfErrors.get(error) ?? []

/** The first errors as one sentence. */
export function describeFaults(mistakes: readonly SchemaFault[], nameOf: (mistake: SchemaFault) => string): string {
  const more = mistakes.length > maxShown ? ` (and ${mistakes.length - maxShown} more)` : ''
  const sentences = mistakes.slice(0, maxShown).map((mistake) => `${nameOf(mistake)} ${mistake.message}`)
  return `${sentences.join('; ')}${more}`
}

/** Location for readers who have the file. */
export const fileAndPath = ({ file, path }: SchemaFault): string => `${file}: ${path}`

/** Names that Strapi accepts in a schema but ignores. */
const ignoredNames = ['locale']
const maxShown = 3
/** Each guess compares all names of a kind. */
const maxGuessed = 20

/**
 * Checks the project's schemas; `all` also contains the built-in ones. Findings of the kinds `ending` are errors, those in `unsaid` are
 * dropped, others are warnings.
 * @returns warnings
 * @throws ConfigError that names the first errors, each with its file and path
 */
export function checkSchemas(
  files: readonly SchemaFile[],
  all: readonly SchemaSource[],
  ending: readonly Finding['kind'][],
  unsaid: readonly Finding['kind'][] = [],
): readonly string[] {
  const sources = new Map(all.map((schema) => [schema.uid, schema]))
  let guessed = 0
  const completed = ({ message, guess }: Finding): string =>
    guess === null || ++guessed > maxGuessed ? message : `${message}${didYouMean(guess.given, guess.known())}`
  const found = files.flatMap(({ file, schema }) =>
    findings(schema, sources)
      .filter(({ kind }) => !unsaid.includes(kind))
      .map((finding) => ({
        isError: ending.includes(finding.kind),
        mistake: { file, path: finding.path, message: completed(finding) },
      })),
  )
  const mistakes = found.filter(({ isError }) => isError).map(({ mistake }) => mistake)
  if (mistakes.length > 0) {
    const error = new ConfigError(describeFaults(mistakes, fileAndPath))
    faultsOfErrors.set(error, mistakes)
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
    ...checkLengths(schema),
    ...checkOptions(schema),
    ...attributes.flatMap(([name]) => checkName(schema, name)),
    ...checkColumns(schema),
    ...attributes.flatMap(([name, source]) => checkAttribute(schema, name, source, sources)),
  ]
}

/** Keys that belong further inside. */
const keyLocations: ReadonlyMap<string, string> = new Map([
  ['draftAndPublish', '"options": { "draftAndPublish": … }'],
  ['i18n', '"pluginOptions": { "i18n": { "localized": true } }'],
  ['localized', '"pluginOptions": { "i18n": { "localized": true } }'],
  ['singularName', '"info": { "singularName": … }'],
  ['pluralName', '"info": { "pluralName": … }'],
  ['displayName', '"info": { "displayName": … }'],
])

const unknownKeys = (given: readonly string[], known: readonly string[]): readonly Finding[] =>
  given.flatMap((key) => {
    if (known.includes(key)) return []
    const place = keyLocations.get(key)
    if (place !== undefined) return [unlikely(key, `is not a known key; write ${place}`)]
    return [unlikely(key, 'is not a known key', { given: key, known: () => known })]
  })

const kinds = ['collectionType', 'singleType']

/** Strapi treats every other value as collectionType. */
function checkKind({ kind }: SchemaSource): readonly Finding[] {
  if (kind === 'component' || kinds.includes(kind)) return []
  return [careless('kind', `is ${shown(kind)}; it must be collectionType or singleType`, { given: kind, known: () => kinds })]
}

function checkNames({ kind, info }: SchemaSource): readonly Finding[] {
  if (kind === 'component') return []
  const { singularName, pluralName } = info
  const isSame = singularName !== undefined && singularName === pluralName
  const wrongNames = (['singularName', 'pluralName'] as const).flatMap((key) => {
    const name = info[key]
    if (name === undefined || kebabCase.test(name)) return []
    const meant = name
      .replaceAll(/([a-z0-9])([A-Z])/g, '$1-$2')
      .toLowerCase()
      .replaceAll(/[^a-z0-9]+/g, '-')
      .replaceAll(/^-|-$/g, '')
    return [wrong(`info.${key}`, `is ${shown(name)}; it must be in kebab-case${kebabCase.test(meant) ? `, like "${meant}"` : ''}`)]
  })
  return [...wrongNames, ...(isSame ? [unstartable('info.pluralName', oneNameForBoth)] : [])]
}

/** Names that not every database can store. */
function checkLengths({ uid, attributes }: SchemaSource): readonly Finding[] {
  const long = (path: string, name: string, most: number): readonly Finding[] =>
    name.length > most ? [unlikely(path, `has ${name.length} characters, more than the ${most} that every database stores`)] : []
  return [
    ...long('uid', uid, maxUidCharacters),
    ...Object.entries(attributes).flatMap(([name, { type, enum: values }]) => [
      ...long(`attributes.${name}`, name, maxNameCharacters),
      ...(type === 'enumeration' && Array.isArray(values)
        ? values.flatMap((value) => long(`attributes.${name}.enum`, String(value), maxNameCharacters))
        : []),
    ]),
  ]
}

/** An option that resembles a known one is an error; other unknown options may belong to plugins. */
function checkOptions(schema: SchemaSource): readonly Finding[] {
  const notObjects = (['options', 'pluginOptions'] as const).filter((key) => schema[key] !== undefined && !isObject(schema[key]))
  if (notObjects.length > 0) return notObjects.map((key) => careless(key, `is ${shown(schema[key])}; it must be an object`))
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
      : [careless('options.privateAttributes', `is ${shown(privateAttributes)}; it must be a list of names`)]),
  ]
}

const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null && !Array.isArray(value)

const checkFlag = (path: string, value: unknown): readonly Finding[] =>
  value === undefined || typeof value === 'boolean' ? [] : [careless(path, `is ${shown(value)}; it must be true or false`)]

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
