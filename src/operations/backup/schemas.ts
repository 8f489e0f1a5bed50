// The schema files of a backup: those of the model that the copied database has, and how they differ from those of a project.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { DatabaseView } from '../../database/database.js'
import type { Config } from '../../foundation/config/config.js'
import { loadFormerModel, loadModel } from '../../model/schema/load.js'
import { filesOnDisk, filesWithChanges, noting, parseSchemaFile } from '../../model/schema/schema-files.js'
import type { Model } from '../../model/schema/types.js'
import { openFields } from '../../project/fields.js'
import { type SchemaTexts, storedSchemas } from '../../project/model-changes/stored-schemas.js'
import { type BackupManifest, isSchemaPath, projectName } from './manifest.js'

/** Those of a project. @throws Error with a sentence if they cannot be loaded */
export async function schemasOnDisk(config: Config): Promise<SchemaTexts> {
  const files = noting(config.folder, filesOnDisk)
  await loadModel(config, files)
  return new Map([...files.texts].filter(([path]) => isSchemaPath(path)))
}

/** Those of the model that a database has; null: it does not know. */
export async function schemasOfDatabase(view: DatabaseView): Promise<SchemaTexts | null> {
  const tables = await view.tables()
  if (!tables.has('octavo_schemas') || !tables.has('octavo_model_history')) return null
  const texts = await storedSchemas(view.main)
  return texts === null ? null : new Map([...texts].filter(([path]) => isSchemaPath(path)))
}

/**
 * The model of these schema files, with the private attributes of a project. `onDisk`: the files that they take the places of; `database`: the
 * configuration of the database whose columns say what custom fields are.
 */
export const modelOf = (config: Config, texts: SchemaTexts, onDisk: SchemaTexts, database: Config = config): Promise<Model> => {
  const removed = [...onDisk.keys()].filter((path) => !texts.has(path)).map((path) => [path, null] as const)
  return loadFormerModel(
    config,
    filesWithChanges(config.folder, new Map<string, string | null>([...removed, ...texts])),
    openFields(config, { database }),
  )
}

/** The schema files of a backup in `folder`. */
export async function schemasOfBackup(folder: string, { files }: Pick<BackupManifest, 'files'>): Promise<SchemaTexts> {
  const texts = new Map<string, string>()
  for (const { path } of files)
    if (path.startsWith(`${projectName}/`)) texts.set(path.slice(projectName.length + 1), await readFile(join(folder, path), 'utf8'))
  return texts
}

/** Files by which schemas differ. */
export interface SchemaDifferences {
  /** In the backup, and not in the project or with other content. */
  readonly written: readonly string[]
  /** In the project only. */
  readonly removed: readonly string[]
}

/** How the schemas of a project differ from those of a backup, apart from white space. */
export const differencesBetween = (project: SchemaTexts, backup: SchemaTexts): SchemaDifferences => ({
  written: [...backup].filter(([path, text]) => meaningOf(project.get(path)) !== meaningOf(text)).map(([path]) => path),
  removed: [...project.keys()].filter((path) => !backup.has(path)),
})

function meaningOf(text: string | undefined): string | null {
  if (text === undefined) return null
  try {
    return JSON.stringify(parseSchemaFile(text))
  } catch {
    return text
  }
}
