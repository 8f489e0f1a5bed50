// Reads a project's schema files (src/api, src/components, src/extensions) into schema sources. The only async part of the model.
import { readdir, readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import kebabCase from 'lodash/kebabCase.js'
import * as z from 'zod'
import { builtinSchemas } from './builtin.js'
import { linkModel } from './link.js'
import type { Model, SchemaSource } from './types.js'

/** A plugin's custom field may be told by `customField` alone. */
const attribute = z.preprocess(
  (value) => (typeof value === 'object' && value !== null && 'customField' in value ? { type: 'customField', ...value } : value),
  z.looseObject({ type: z.string() }),
)
const schemaFile = z.looseObject({
  kind: z.enum(['collectionType', 'singleType']).optional(),
  collectionName: z.string().optional(),
  info: z.looseObject({
    singularName: z.string().optional(),
    pluralName: z.string().optional(),
    displayName: z.string().optional(),
  }),
  options: z.looseObject({ draftAndPublish: z.boolean().optional(), privateAttributes: z.array(z.string()).optional() }).optional(),
  pluginOptions: z.looseObject({}).optional(),
  attributes: z.record(z.string(), attribute).default({}),
})

/**
 * Loads the model of the project in `folder`. Attributes named by `privateAttributes` are private wherever they stand.
 * @throws Error with a sentence that names the file when a schema cannot be read or contradicts another one.
 */
export async function loadModel(folder: string, privateAttributes: readonly string[] = []): Promise<Model> {
  const [types, components, extensions] = await Promise.all([
    loadTypes(join(folder, 'src', 'api')),
    loadComponents(join(folder, 'src', 'components')),
    loadExtensions(join(folder, 'src', 'extensions')),
  ])
  const builtin = builtinSchemas.map((schema) => {
    const extension = extensions.get(schema.uid)
    return extension === undefined ? schema : extend(schema, extension)
  })
  return linkModel([...builtin, ...types, ...components].map((schema) => withPrivate(schema, privateAttributes)))
}

function withPrivate(schema: SchemaSource, names: readonly string[]): SchemaSource {
  if (names.length === 0) return schema
  return { ...schema, options: { ...schema.options, privateAttributes: [...(schema.options?.privateAttributes ?? []), ...names] } }
}

/** An extension's file replaces the built-in schema, attributes and their order included; the table keeps its name. */
function extend(schema: SchemaSource, extension: SchemaSource): SchemaSource {
  return { ...schema, ...extension, collectionName: schema.collectionName! }
}

/** An API is named after its folder in kebab-case, a component after its folder and file in lower case, as in Strapi. */
async function loadTypes(folder: string): Promise<SchemaSource[]> {
  const found: SchemaSource[] = []
  for (const api of await subfolders(folder)) {
    for (const type of await subfolders(join(folder, api, 'content-types'))) {
      const file = join(folder, api, 'content-types', type, 'schema.json')
      const schema = await readSchema(file)
      if (schema !== null) {
        const singularName = schema.info.singularName ?? type
        found.push({
          ...schema,
          uid: `api::${kebabCase(api)}.${singularName}`,
          kind: schema.kind ?? 'collectionType',
          info: { ...schema.info, singularName },
        })
      }
    }
  }
  return found
}

async function loadComponents(folder: string): Promise<SchemaSource[]> {
  const found: SchemaSource[] = []
  for (const category of await subfolders(folder)) {
    for (const file of await jsonFiles(join(folder, category))) {
      const schema = await readSchema(join(folder, category, file))
      if (schema !== null) found.push({ ...schema, uid: `${category}.${basename(file, '.json')}`.toLowerCase(), kind: 'component' })
    }
  }
  return found
}

async function loadExtensions(folder: string): Promise<Map<string, SchemaSource>> {
  const found = new Map<string, SchemaSource>()
  for (const plugin of await subfolders(folder)) {
    for (const type of await subfolders(join(folder, plugin, 'content-types'))) {
      const schema = await readSchema(join(folder, plugin, 'content-types', type, 'schema.json'))
      const uid = `plugin::${plugin}.${type}`
      if (schema !== null) found.set(uid, { ...schema, uid, kind: schema.kind ?? 'collectionType' })
    }
  }
  return found
}

async function readSchema(file: string): Promise<z.infer<typeof schemaFile> | null> {
  let text: string
  try {
    text = await readFile(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch (error) {
    throw new Error(`${file} is not valid JSON: ${(error as Error).message}`)
  }
  const parsed = schemaFile.safeParse(json)
  if (!parsed.success) {
    const { path, message } = parsed.error.issues[0]!
    throw new Error(`${file} is not a content-type or component: ${path.join('.') || 'the file'}: ${message}`)
  }
  return parsed.data
}

async function entries(folder: string) {
  try {
    return (await readdir(folder, { withFileTypes: true })).sort((a, b) => (a.name < b.name ? -1 : 1))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}

const subfolders = async (folder: string): Promise<string[]> =>
  (await entries(folder)).filter((entry) => entry.isDirectory() && !entry.name.startsWith('.')).map((entry) => entry.name)

const jsonFiles = async (folder: string): Promise<string[]> =>
  (await entries(folder)).filter((entry) => entry.isFile() && entry.name.endsWith('.json')).map((entry) => entry.name)
