// The manifest of a backup: its origin, and all its files with sizes and checksums. A backup without one is incomplete.

import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as z from 'zod'
import { isStoredName } from '../../content/media/storage/local.js'
import type { DatabaseView } from '../../database/database.js'
import type { Config } from '../../foundation/config/config.js'
import { ConfigError } from '../../foundation/errors/errors.js'
import { loadFormerModel, loadModel } from '../../model/schema/load.js'
import { filesOnDisk, filesWithChanges, parseSchemaFile, recordReads } from '../../model/schema/schema-files.js'
import type { Model } from '../../model/schema/types.js'
import { openFields } from '../../project/fields.js'
import { type SchemaTexts, storedSchemas } from '../../project/model-changes/change-log.js'

export const manifestName = 'octavo-backup.json'

/** The copy of the database, and folders of the backup. */
export const databaseName = 'database.db'
export const uploadsName = 'uploads'
export const objectsName = 'objects'
export const projectName = 'project'

const sha256 = z.string().regex(/^[0-9a-f]{64}$/)
const text = z.string()

const file = z.strictObject({
  /** Path in the backup, with `/`. */
  path: text,
  bytes: z.int().min(0),
  sha256,
  /** For objects of a remote storage: column `provider`, media type, and URL in the row. */
  object: z.strictObject({ provider: text, mime: text, url: text }).optional(),
})

const manifest = z.strictObject({
  format: z.literal(1),
  id: z.uuid(),
  /** The version of Octavo that created it. */
  octavo: text,
  /** Times of the snapshot and of the completion, in ISO 8601. */
  snapshotAt: text,
  finishedAt: text,
  /** Kind of the copied database. */
  database: z.enum(['sqlite', 'postgres', 'mysql']),
  /** Row count of each table. */
  rows: z.array(z.tuple([text, z.int().min(0)])).readonly(),
  files: z.array(file).readonly(),
  /** Referenced files that are missing from the backup; files whose contents may not match their rows. */
  missing: z.array(text).readonly(),
  uncertain: z.array(text).readonly(),
  /** Tables and columns of a server that the copy cannot store. */
  left: z.array(text).readonly(),
})

const envelope = z.strictObject({ sha256, manifest: z.unknown() })

export type BackupManifest = z.output<typeof manifest>

export type BackupFile = BackupManifest['files'][number]

const checksumOf = (json: string): string => createHash('sha256').update(json).digest('hex')

/** Serializes a manifest, with its own checksum. */
export const manifestText = (given: BackupManifest): string =>
  `${JSON.stringify({ sha256: checksumOf(JSON.stringify(given)), manifest: given }, null, 1)}\n`

/**
 * Reads the manifest of the backup in `folder`.
 * @throws ConfigError with a sentence if it is missing, damaged, or contains an invalid path
 */
export async function readManifest(folder: string): Promise<BackupManifest> {
  const content = await readFile(join(folder, manifestName), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR')
      throw new ConfigError(`${folder} is not a complete backup: it has no ${manifestName}`)
    throw error
  })
  const read = manifestOf(content)
  if (read === null) throw new ConfigError(`The backup is damaged: ${join(folder, manifestName)} is not what was written`)
  const wrong = read.files.find(({ path }) => !isBackupPath(path))
  if (wrong !== undefined) throw new ConfigError(`The backup is refused: a backup has no file ${JSON.stringify(wrong.path)}`)
  const paths = new Set(read.files.map(({ path }) => path))
  if (paths.size < read.files.length || !paths.has(databaseName))
    throw new ConfigError(`The backup is refused: ${manifestName} names a file twice, or no database`)
  return read
}

/** Null if the text is not a manifest, or its checksum differs. */
function manifestOf(content: string): BackupManifest | null {
  try {
    const { sha256: sum, manifest: given } = envelope.parse(JSON.parse(content))
    return checksumOf(JSON.stringify(given)) === sum ? manifest.parse(given) : null
  } catch {
    return null
  }
}

/** A plain file name that is not hidden. */
const isVisibleName = (name: string): boolean => isStoredName(name) && !name.startsWith('.')

/** Validates the paths in a manifest. */
export function isBackupPath(path: string): boolean {
  const [first, ...rest] = path.split('/')
  if (first === databaseName) return rest.length === 0
  if (first === uploadsName || first === objectsName) return rest.length === 1 && isVisibleName(rest[0]!)
  return first === projectName && isSchemaPath(rest.join('/'))
}

export function isSchemaPath(path: string): boolean {
  const parts = path.split('/')
  return parts[0] === 'src' && parts.length > 1 && parts.every(isVisibleName) && path.endsWith('.json')
}

/** Schema files of the project. @throws Error with a sentence if they cannot be loaded */
export async function schemasOnDisk(config: Config): Promise<SchemaTexts> {
  const files = recordReads(config.folder, filesOnDisk)
  await loadModel(config, files)
  return new Map([...files.texts].filter(([path]) => isSchemaPath(path)))
}

/** Schema files of the model in a database; null if it stores none. */
export async function schemasOfDatabase(view: DatabaseView): Promise<SchemaTexts | null> {
  const tables = await view.tables()
  if (!tables.has('octavo_schemas') || !tables.has('octavo_model_history')) return null
  const texts = await storedSchemas(view.main)
  return texts === null ? null : new Map([...texts].filter(([path]) => isSchemaPath(path)))
}

/**
 * Loads the model of these schema files, with the private attributes of a project. `onDisk`: the files that they replace; `database`:
 * configuration of the database whose columns determine custom fields.
 */
export const modelOf = (config: Config, texts: SchemaTexts, onDisk: SchemaTexts, database: Config = config): Promise<Model> => {
  const removed = [...onDisk.keys()].filter((path) => !texts.has(path)).map((path) => [path, null] as const)
  return loadFormerModel(
    config,
    filesWithChanges(config.folder, new Map<string, string | null>([...removed, ...texts])),
    openFields(config, { database }),
  )
}

/** Reads the schema files of a backup. */
export async function schemasOfBackup(folder: string, { files }: Pick<BackupManifest, 'files'>): Promise<SchemaTexts> {
  const texts = new Map<string, string>()
  for (const { path } of files)
    if (path.startsWith(`${projectName}/`)) texts.set(path.slice(projectName.length + 1), await readFile(join(folder, path), 'utf8'))
  return texts
}

export interface SchemaDifferences {
  /** In the backup, but missing from the project or with other content. */
  readonly written: readonly string[]
  /** Only in the project. */
  readonly removed: readonly string[]
}

/** Differences between the schemas of a project and a backup, ignoring white space. */
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
