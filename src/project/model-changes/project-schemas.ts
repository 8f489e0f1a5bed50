// The schemas of a project's folder, for the content-type builder.
import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import { ApiError } from '../../foundation/errors/errors.js'
import { builtinTypes } from '../../model/builder/builtin-types.js'
import type { ProjectSchema, ProjectSchemas, SchemaContent } from '../../model/builder/project-schemas.js'
import { knownPluginFields } from '../../model/schema/custom-fields.js'
import { findSchemaFiles } from '../../model/schema/load.js'
import { type FileChanges, filesWithChanges, parseSchemaFile } from '../../model/schema/schema-files.js'
import type { ChangeableModel } from './change.js'
import { plain } from './refusals.js'

/** The folder of a project, and current texts that are not on disk. */
interface FilesInForce {
  readonly folder: string
  readonly unwritten: FileChanges
}

/** Reads the schema files of a project, and other dependencies of a request. */
export async function readProjectSchemas(folder: string, inForce: ChangeableModel, body: unknown): Promise<ProjectSchemas> {
  const { unwritten, isStrapis } = inForce
  const project = { folder, unwritten }
  const schemas = new Map<string, ProjectSchema>(builtinTypes().map((schema) => [schema.uid, schema]))
  for (const [uid, path] of await schemaPlaces(project)) {
    const content = await contentOf(project, path, schemas.get(uid)?.content)
    schemas.set(uid, { uid, path, content })
  }
  const entries = await readdir(join(folder, 'src'), { withFileTypes: true, recursive: true }).catch(() => [])
  return {
    schemas,
    isTypeScript: existsSync(join(folder, 'tsconfig.json')),
    isStrapis,
    files: [
      ...entries
        .filter((entry) => entry.isFile())
        .map((entry) => relative(folder, join(entry.parentPath, entry.name)).split(sep).join('/'))
        .filter((path) => !unwritten.has(path)),
      ...[...unwritten].filter(([, text]) => text !== null).map(([path]) => path),
    ],
    customFields: await customFieldsFor(body, schemas, inForce),
  }
}

/** Paths of schema files by uid. @throws ApiError 400 if one cannot be read */
export async function schemaPlaces({ folder, unwritten }: FilesInForce): Promise<ReadonlyMap<string, string>> {
  return findSchemaFiles(folder, filesWithChanges(folder, unwritten)).catch((error: unknown) => {
    throw new ApiError('ValidationError', plain(error, folder))
  })
}

/** The content of a schema file; `builtin`: the type that it extends, whose keys it may omit. */
async function contentOf({ folder, unwritten }: FilesInForce, path: string, builtin?: SchemaContent): Promise<SchemaContent> {
  const text = await filesWithChanges(folder, unwritten).read(join(folder, path))
  const { info = {}, attributes = {}, ...others } = { ...builtin, ...(parseSchemaFile(text!) as Partial<SchemaContent>) }
  return { ...others, info, attributes }
}

/**
 * Custom fields that a request may reference: those used by schemas, those named by octavo.config or project code and, unless Strapi must
 * start, those with a known type. Which plugins Strapi would load is unknown.
 */
export async function customFieldsFor(
  body: unknown,
  schemas: ReadonlyMap<string, ProjectSchema>,
  { findFields, isStrapis }: Pick<ChangeableModel, 'findFields' | 'isStrapis'>,
): Promise<ReadonlySet<string>> {
  const used = [...schemas.values()].flatMap(({ content }) =>
    Object.values(content.attributes).flatMap(({ customField }) => (typeof customField === 'string' ? [customField] : [])),
  )
  // Most requests reference none and skip the search.
  if (!JSON.stringify(body ?? null).includes('"customField"')) return new Set(used)
  const { configured, registered } = await findFields()
  return new Set([...used, ...Object.keys(configured), ...registered.keys(), ...(isStrapis ? [] : knownPluginFields)])
}
