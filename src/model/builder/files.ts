// The text of schema files and of generated code, and the files that a change writes and deletes.
import { isComponentUid, type ProjectSchema, type ProjectSchemas } from './project-schemas.js'

/** The keys of schema files, in Strapi's order. */
export const componentKeys = ['collectionName', 'info', 'options', 'pluginOptions', 'attributes', 'config'] as const
export const typeKeys = ['kind', ...componentKeys, 'indexes', 'foreignKeys'] as const

/** The text of a schema as a file. */
export const fileText = (schema: object): string => `${JSON.stringify(schema, null, 2)}\n`

/** The text of a schema file, as Strapi writes it. */
function schemaText({ uid, content }: ProjectSchema): string {
  const keys = isComponentUid(uid) ? componentKeys : typeKeys
  return fileText(Object.fromEntries(keys.map((key) => [key, content[key]])))
}

/** The package that the code imports, which Octavo does not. */
const strapi = '@strapi/strapi'

const parts = ['controller', 'router', 'service'] as const
const folders = { controller: 'controllers', router: 'routes', service: 'services' } as const
const factories = { controller: 'createCoreController', router: 'createCoreRouter', service: 'createCoreService' } as const

/** The controller, the routes and the service of a type of src/api, path → text. */
export function codeFiles(uid: string, singularName: string, isTypeScript: boolean): readonly (readonly [string, string])[] {
  const folder = `src/api/${uid.slice('api::'.length).split('.')[0]}`
  return parts.map((part) => {
    const comment = `/**\n * ${singularName} ${part}\n */\n\n`
    const text = isTypeScript
      ? `${comment}import { factories } from '${strapi}';\n\nexport default factories.${factories[part]}('${uid}');\n`
      : `'use strict';\n\n${comment}const { ${factories[part]} } = require('${strapi}').factories;\n\nmodule.exports = ${factories[part]}('${uid}');\n`
    return [`${folder}/${folders[part]}/${singularName}.${isTypeScript ? 'ts' : 'js'}`, text] as const
  })
}

/** The files that a change writes, path → text. Code that is there is not overwritten. */
export function writtenFiles(current: ProjectSchemas, after: ReadonlyMap<string, ProjectSchema>): ReadonlyMap<string, string> {
  const existing = new Set(current.files)
  const files = new Map<string, string>()
  for (const schema of after.values()) {
    const { uid, path, content } = schema
    if (schema === current.schemas.get(uid) || path === null) continue
    files.set(path, schemaText(schema))
    if (current.schemas.has(uid) || !uid.startsWith('api::')) continue
    for (const [file, text] of codeFiles(uid, content.info.singularName!, current.isTypeScript))
      if (!existing.has(file)) files.set(file, text)
  }
  return files
}

/** The files that a change deletes, and the folders that this empties. */
export function deletedFiles(
  current: ProjectSchemas,
  after: ReadonlyMap<string, ProjectSchema>,
  written: ReadonlyMap<string, string>,
): string[] {
  const files = new Set<string>()
  for (const { uid, path, content } of current.schemas.values()) {
    if (path === null || after.get(uid)?.path === path || written.has(path)) continue
    files.add(path)
    if (uid.startsWith('api::')) for (const file of filesOfType(current.files, path, content.info.singularName!)) files.add(file)
  }
  const left = [...written.keys(), ...current.files.filter((file) => !files.has(file))]
  const emptied = [...files].flatMap(foldersOf).filter((folder) => !left.some((file) => file.startsWith(folder)))
  return [...new Set([...files, ...emptied])].sort()
}

/** The files of a type: those with its name in the folders of its API, and all in the folder of its schema. */
function filesOfType(files: readonly string[], path: string, singularName: string): string[] {
  const api = path.slice(0, path.indexOf('/content-types/') + 1)
  const own = path.slice(0, path.lastIndexOf('/') + 1)
  return files.filter((file) => {
    const name = file.slice(file.lastIndexOf('/') + 1)
    return file.startsWith(own) || (file.startsWith(api) && !file.startsWith(`${api}content-types/`) && name.startsWith(`${singularName}.`))
  })
}

/** The folders of a file below src/api, src/components or src/extensions, outermost first. */
function foldersOf(file: string): string[] {
  const names = file.split('/').slice(0, -1)
  return names.map((_, index) => `${names.slice(0, index + 1).join('/')}/`).slice(2)
}
