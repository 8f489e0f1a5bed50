// Reads a project's schema files (src/api, src/components, src/extensions) into schema sources. The only async part of the model.

import { basename, join, relative, sep } from 'node:path'
import toKebabCase from 'lodash/kebabCase.js'
import * as z from 'zod'
import { plainMessage } from '../../foundation/config/checks.js'
import { signOfStrapi } from '../../foundation/config/files.js'
import { boundedText, ConfigError } from '../../foundation/errors/errors.js'
import { inSteps } from '../../foundation/runtime/event-loop.js'
import { builtinSchemas } from './builtin.js'
import { checkSchemas, type SchemaFile } from './check.js'
import { type FindFields, fieldsIn, unknownFields, withFieldTypes } from './custom-fields.js'
import { type ExtensionFile, extendBuiltin } from './extensions.js'
import { linkModel } from './link.js'
import { type Engine, findDangerousPatterns, needsEngine, preparePatterns } from './patterns.js'
import { filesOnDisk, parseSchemaFile, type SchemaFiles } from './schema-files.js'
import { kebabCase } from './schema-format.js'
import type { AttributeSource, Model, SchemaSource } from './types.js'

/** An attribute; a custom field may have `customField` without `type`. */
const attribute = z.preprocess(
  (value) => (typeof value === 'object' && value !== null && 'customField' in value ? { type: 'customField', ...value } : value),
  z.looseObject({ type: z.string() }),
)
/** Indexes of Strapi's database layer. */
export const schemaIndexes = z.array(
  z.looseObject({ name: z.string(), columns: z.array(z.string()).min(1), type: z.string().nullable().optional() }),
)
/** Parts without which a schema is unusable; everything else is checked once all schemas are read. */
const schemaFile = z.looseObject({
  kind: z.string().optional(),
  collectionName: z.string().optional(),
  info: z.looseObject({
    singularName: z.string().optional(),
    pluralName: z.string().optional(),
    displayName: z.string().optional(),
  }),
  options: z.custom<SchemaSource['options']>().optional(),
  pluginOptions: z.custom<SchemaSource['pluginOptions']>().optional(),
  indexes: schemaIndexes.optional(),
  attributes: z.record(z.string(), attribute).default({}),
})

/** An extension has only changed keys. */
const extensionFile = schemaFile.extend({
  info: schemaFile.shape.info.optional(),
  attributes: z.record(z.string(), attribute).optional(),
})

const loadTimes = new WeakMap<Model, number>()

/** The seconds that loading a model took. */
export const secondsToLoad = (model: Model): number => loadTimes.get(model) ?? 0

/** A project whose model is loaded: its configuration, or its folder alone. */
interface ModelProject {
  readonly folder: string
  /** Attributes that are private in every type. */
  readonly privateAttributes?: readonly string[]
  /** The contract `strapi` accepts schema errors with which Strapi starts, as does a folder with signs of Strapi. */
  readonly contract?: string
}

/**
 * Loads the model of a project, from the disk unless `files` says otherwise. `findFields`: finds the types of custom fields.
 * @throws ConfigError with a sentence that names the file if a schema cannot be read, is invalid or contradicts another one.
 */
export async function loadModel(
  project: ModelProject,
  files: SchemaFiles = filesOnDisk,
  findFields: FindFields = unknownFields,
): Promise<Model> {
  const started = performance.now()
  const model = await load(project, { files, findFields, wereInForce: false })
  loadTimes.set(model, (performance.now() - started) / 1000)
  return model
}

/** For the files of the current model: they may have errors that earlier versions or Strapi did not check. */
export const loadFormerModel: typeof loadModel = (project, files = filesOnDisk, findFields = unknownFields) =>
  loadModel(project, files, findFields).catch(() => load(project, { files, findFields, wereInForce: true }))

interface Loading {
  readonly files: SchemaFiles
  readonly findFields: FindFields
  readonly wereInForce: boolean
}

async function load(
  { folder, privateAttributes = [], contract }: ModelProject,
  { files, findFields, wereInForce }: Loading,
): Promise<Model> {
  const [types, components, extensions] = await Promise.all([
    loadTypes(files, join(folder, 'src', 'api')),
    loadComponents(files, join(folder, 'src', 'components')),
    loadExtensions(files, join(folder, 'src', 'extensions')),
  ])
  const extended = extendBuiltin([...extensions.values()], wereInForce)
  const builtin = builtinSchemas.map((schema) => extended.find(({ schema: { uid } }) => uid === schema.uid)?.schema ?? schema)
  const own = [...types, ...components]
  const read = [...builtin, ...own.map(({ schema }) => schema)]
  const isStrapis = wereInForce || contract === 'strapi' || signOfStrapi(folder) !== null
  const ending = wereInForce ? [] : isStrapis ? (['wrong'] as const) : (['wrong', 'careless'] as const)
  const unsaid = isStrapis ? [] : (['unstartable'] as const)
  const found = [...checkSchemas([...own, ...extended], read, ending, unsaid), ...extended.flatMap(({ warnings }) => warnings)]
  const known = new Set([...own, ...extended].map(({ file }) => file))
  const ofCode = await findCodeSchemas(files, folder, known)
  const ofPlaces = await findMisplacedSchemas(files, join(folder, 'src', 'api'))
  const warnings = [...found, ...ofCode, ...ofPlaces].map((warning) => warning.replace(`${folder}/`, ''))
  const untyped = isStrapis && found.length > 0 ? allCorrected(read) : read
  const hasFields = fieldsIn(untyped).length > 0
  const { schemas, warnings: ofFields } = hasFields ? withFieldTypes(untyped, await findFields()) : { schemas: untyped, warnings: [] }
  const sources = regexes(schemas).map(({ regex }) => regex)
  await inSteps(preparePatterns(sources, needsEngine(sources) ? await linearEngine() : null))
  const dangerous = await inSteps(findDangerousPatterns(sources, () => performance.now()))
  const dangers = regexes(schemas)
    .filter(({ regex }) => dangerous.has(regex))
    .map(
      ({ where, regex }) =>
        `${where}: the regex ${boundedText(regex, 200)} takes very long for some texts; Octavo limits its time, but other programs may not`,
    )
  return linkModel(
    schemas.map((schema) => withPrivate(schema, privateAttributes)),
    [...warnings, ...ofFields, ...dangers],
  )
}

/** The paths of the schema files of a project by uid, relative to its folder, with `/`. */
export async function findSchemaFiles(folder: string, files: SchemaFiles): Promise<ReadonlyMap<string, string>> {
  const [types, components, extensions] = await Promise.all([
    loadTypes(files, join(folder, 'src', 'api')),
    loadComponents(files, join(folder, 'src', 'components')),
    loadExtensions(files, join(folder, 'src', 'extensions')),
  ])
  return new Map(
    [...types, ...components, ...extensions.values()].map(({ file, schema }) => [schema.uid, relative(folder, file).split(sep).join('/')]),
  )
}

function allCorrected(schemas: readonly SchemaSource[]): readonly SchemaSource[] {
  const sources = new Map(schemas.map((schema) => [schema.uid, schema]))
  return schemas.map((schema) => correctSchema(schema, sources))
}

/** Loads RE2 in JavaScript, which runs every supported pattern in linear time. */
export async function linearEngine(): Promise<Engine> {
  const { RE2JS } = await import('re2js')
  return (source) => {
    const compiled = RE2JS.compile(source)
    return (value) => compiled.matcher(value).find()
  }
}

/** Returns the regular expressions of all attributes. */
const regexes = (schemas: readonly SchemaSource[]): readonly { readonly where: string; readonly regex: string }[] =>
  schemas.flatMap(({ uid, attributes }) =>
    Object.entries(attributes).flatMap(([name, { regex }]) => (typeof regex === 'string' ? [{ where: `${uid}.${name}`, regex }] : [])),
  )

function withPrivate(schema: SchemaSource, names: readonly string[]): SchemaSource {
  if (names.length === 0) return schema
  return { ...schema, options: { ...schema.options, privateAttributes: [...(schema.options?.privateAttributes ?? []), ...names] } }
}

/** Loads the types in src/api. As in Strapi, the uid contains the API's folder in kebab-case. */
async function loadTypes(files: SchemaFiles, folder: string): Promise<SchemaFile[]> {
  const found: SchemaFile[] = []
  for (const api of await subfolders(files, folder)) {
    for (const type of await subfolders(files, join(folder, api, 'content-types'))) {
      const file = join(folder, api, 'content-types', type, 'schema.json')
      const schema = await readSchema(files, file)
      if (schema !== null) {
        const singularName = schema.info.singularName ?? type
        const kind = kindOf(schema)
        found.push({
          file,
          schema: { ...schema, uid: `api::${apiName(api)}.${singularName}`, kind, info: { ...schema.info, singularName } },
        })
      }
    }
  }
  return found
}

/** The name of an API as uids have it: that of its folder, in kebab-case. As in Strapi, `web3` is in kebab-case, and `3d` is not. */
const apiName = (folder: string): string => (/^[a-z]/.test(folder) && kebabCase.test(folder) ? folder : toKebabCase(folder))

/** The kind as the file has it; the checks report an unknown one. */
const kindOf = ({ kind = 'collectionType' }: { readonly kind?: string | undefined }) => kind as SchemaSource['kind']

async function loadComponents(files: SchemaFiles, folder: string): Promise<SchemaFile[]> {
  const found: SchemaFile[] = []
  for (const category of await subfolders(files, folder)) {
    for (const name of await jsonFiles(files, join(folder, category))) {
      const file = join(folder, category, name)
      const schema = await readSchema(files, file)
      if (schema !== null)
        found.push({ file, schema: { ...schema, uid: `${category}.${basename(name, '.json')}`.toLowerCase(), kind: 'component' } })
    }
  }
  return found
}

async function loadExtensions(files: SchemaFiles, folder: string): Promise<Map<string, ExtensionFile>> {
  const found = new Map<string, ExtensionFile>()
  for (const plugin of await subfolders(files, folder)) {
    for (const type of await subfolders(files, join(folder, plugin, 'content-types'))) {
      const file = join(folder, plugin, 'content-types', type, 'schema.json')
      const schema = await readSchema(files, file, extensionFile)
      const uid = `plugin::${plugin}.${type}`
      if (schema !== null) found.set(uid, { file, schema: { ...schema, uid } })
    }
  }
  return found
}

async function readSchema(files: SchemaFiles, file: string): Promise<z.infer<typeof schemaFile> | null>
async function readSchema(files: SchemaFiles, file: string, form: typeof extensionFile): Promise<z.infer<typeof extensionFile> | null>
async function readSchema(files: SchemaFiles, file: string, form: z.ZodType = schemaFile): Promise<unknown> {
  const text = await files.read(file)
  if (text === null) return null
  let json: unknown
  try {
    json = parseSchemaFile(text)
  } catch (error) {
    throw new ConfigError(`${file} is not valid JSON: ${(error as Error).message}`)
  }
  const parsed = form.safeParse(json)
  if (!parsed.success) {
    const { path, message } = parsed.error.issues[0]!
    throw new ConfigError(`${file} is not a content-type or component: ${path.join('.') || 'the file'}: ${plainMessage(message)}`)
  }
  return parsed.data
}

/** Warns of schemas in a folder of an API where no content-type is looked for. */
async function findMisplacedSchemas(files: SchemaFiles, folder: string): Promise<readonly string[]> {
  const found: string[] = []
  for (const api of await subfolders(files, folder))
    for (const place of [join(folder, api), join(folder, api, 'content-types')])
      if ((await jsonFiles(files, place)).includes('schema.json'))
        found.push(`${join(place, 'schema.json')} is not read: a content-type is at src/api/${api}/content-types/<name>/schema.json`)
  return found
}

/** The names of files that are code. */
const code = /\.[cm]?[jt]s$/

/** Warns of schemas that are code, such as schema.ts, which Strapi runs. `known`: the schema files that were read. */
async function findCodeSchemas(files: SchemaFiles, folder: string, known: ReadonlySet<string>): Promise<readonly string[]> {
  const found: string[] = []
  const inTypes = async (parent: string, consequence: string): Promise<void> => {
    for (const owner of await subfolders(files, parent)) {
      const place = join(parent, owner, 'content-types')
      for (const type of await subfolders(files, place)) {
        if (known.has(join(place, type, 'schema.json'))) continue
        for (const { name } of await files.list(join(place, type)))
          if (name.startsWith('schema.') && code.test(name) && !name.endsWith('.d.ts'))
            found.push(`${join(place, type, name)} is not read, and ${consequence}: write it as schema.json`)
      }
    }
  }
  await inTypes(join(folder, 'src', 'api'), 'its content-type is not there')
  await inTypes(join(folder, 'src', 'extensions'), 'the type is as its plugin has it')
  const components = join(folder, 'src', 'components')
  for (const category of await subfolders(files, components)) {
    const names = new Set((await files.list(join(components, category))).map(({ name }) => name))
    for (const name of names)
      if (code.test(name) && !name.endsWith('.d.ts') && !name.startsWith('index.') && !names.has(name.replace(code, '.json')))
        found.push(
          `${join(components, category, name)} is not read, and its component is not there: write it as ${name.replace(code, '.json')}`,
        )
  }
  return found
}

const subfolders = async (files: SchemaFiles, folder: string): Promise<string[]> =>
  (await files.list(folder)).filter(({ name, isFolder }) => isFolder && !name.startsWith('.')).map(({ name }) => name)

const jsonFiles = async (files: SchemaFiles, folder: string): Promise<string[]> =>
  (await files.list(folder)).filter(({ name, isFolder }) => !isFolder && name.endsWith('.json')).map(({ name }) => name)

type Sources = ReadonlyMap<string, SchemaSource>

/** A schema with everything that it says. */
type Unchecked = Readonly<Record<keyof SchemaSource, unknown>>

/**
 * Returns a schema without what Strapi passes over: relations to components, zone entries without
 * component, and values of a wrong form. The checks report each of them.
 */
function correctSchema(schema: SchemaSource, sources: Sources): SchemaSource {
  const { options, pluginOptions } = schema as Unchecked
  const attributes = Object.entries(schema.attributes)
    .filter(([, source]) => hasOtherSide(source, sources))
    .map(([name, source]) => [name, withForms(withComponents(source, sources))])
  return {
    ...schema,
    kind: schema.kind === 'component' || schema.kind === 'singleType' ? schema.kind : 'collectionType',
    options: withPrivateNames(isObject(options) ? options : {}),
    pluginOptions: isObject(pluginOptions) ? pluginOptions : {},
    attributes: Object.fromEntries(attributes),
  }
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function withPrivateNames({ privateAttributes, ...options }: Readonly<Record<string, unknown>>): NonNullable<SchemaSource['options']> {
  return Array.isArray(privateAttributes) ? { ...options, privateAttributes: privateAttributes.map(String) } : options
}

/** False for a relation to a component, and for one that is morphed by no polymorphic relation. */
function hasOtherSide({ type, target, morphBy }: AttributeSource, sources: Sources): boolean {
  if (type !== 'relation' || typeof target !== 'string') return true
  const there = sources.get(target)
  if (there?.kind === 'component') return false
  if (there === undefined) return true
  return typeof morphBy !== 'string' || String(there.attributes[morphBy]?.relation).startsWith('morphTo')
}

function withComponents(source: AttributeSource, sources: Sources): AttributeSource {
  if (source.type !== 'dynamiczone') return source
  const { components } = source
  return {
    ...source,
    components: Array.isArray(components) ? components.filter((uid) => sources.get(String(uid))?.kind === 'component') : [],
  }
}

/** Strapi takes any value for true here, and digits for numbers. */
function withForms(source: AttributeSource): AttributeSource {
  const { required, repeatable, min, max } = source
  const isDigits = (value: unknown): value is string => typeof value === 'string' && /^-?\d+(?:\.\d+)?$/.test(value)
  return {
    ...source,
    ...(required === undefined ? {} : { required: Boolean(required) }),
    ...(repeatable === undefined ? {} : { repeatable: Boolean(repeatable) }),
    ...(isDigits(min) && source.type !== 'biginteger' ? { min: Number(min) } : {}),
    ...(isDigits(max) && source.type !== 'biginteger' ? { max: Number(max) } : {}),
  }
}
