// Creates a backup of a running project: a snapshot of the database, the files that its rows reference, its schemas, and a manifest.
import { randomUUID } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join, relative, resolve, sep } from 'node:path'
import { type KeptFiles, openKeptFiles } from '../../content/media/hardlink-snapshot.js'
import { openStorages } from '../../content/media/storage/open.js'
import type { Storage } from '../../content/media/storage/storage.js'
import { getDriver } from '../../database/open.js'
import type { Config } from '../../foundation/config/config.js'
import { ConfigError } from '../../foundation/errors/errors.js'
import { syncToDisk } from '../../foundation/runtime/file-operations.js'
import { stoppableWork } from '../../foundation/runtime/shutdown.js'
import type { Model } from '../../model/schema/types.js'
import type { SchemaTexts } from '../../project/model-changes/change-log.js'
import type { CheckResult } from '../doctor/checks.js'
import { examine } from '../doctor/examine.js'
import { type ConsistentSnapshot, takeSnapshot } from './consistent-snapshot.js'
import { beginPartialBackup, copyIntoFile, countRows, explainSystemError, refusePresent } from './copy-database.js'
import type { BackupFile, BackupManifest } from './manifest.js'
import {
  databaseName,
  isBackupPath,
  manifestName,
  manifestText,
  modelOf,
  objectsName,
  projectName,
  schemasOfDatabase,
  schemasOnDisk,
  uploadsName,
} from './manifest.js'
import { copyFile, type ReferencedFile, readBytes, referencedFiles, writeStream } from './referenced-files.js'

/** Progress of a backup or restore. */
export interface BackupReport {
  readonly what: string
  readonly done: number
  readonly total: number
}

interface BackupOptions {
  /** Path of the backup. */
  readonly to: string
  readonly version: string
  /** Accepts missing files of the media library. */
  readonly allowsMissing: boolean
  report(progress: BackupReport): void
  /** Receives the cleanup function before anything is written. */
  begun(abandon: () => Promise<void>): void
}

export interface MadeBackup {
  readonly path: string
  readonly manifest: BackupManifest
  /** Findings of `octavo doctor` in the copy. */
  readonly findings: readonly CheckResult[]
}

/**
 * Creates a backup. A failure removes its files.
 * @throws ConfigError with a sentence if its path exists, or the database is damaged
 */
export async function makeBackup(config: Config, options: BackupOptions): Promise<MadeBackup> {
  const to = resolve(options.to)
  refusePresent(to)
  refuseInside(config.uploadsFolder, to)
  const partial = await beginPartialBackup(to)
  const kept = await openKeptFiles(config.uploadsFolder)
  const work = stoppableWork(async () => {
    await kept.close()
    await partial.abandon()
  })
  options.begun(work.stop)
  const report = (progress: BackupReport): void => {
    work.look()
    options.report(progress)
  }
  try {
    return await work.run(async () => {
      const { manifest, findings } = await fill(partial.folder, config, kept, { ...options, report })
      work.look()
      await partial.finish()
      await kept.close()
      return { path: to, manifest, findings }
    })
  } catch (error) {
    throw explainSystemError(error, (message) => `The backup at ${to} cannot be written: ${message}. Nothing is left of it`)
  }
}

/** @throws ConfigError if the backup would be in the uploads folder, which is served */
function refuseInside(uploads: string, to: string): void {
  const path = relative(uploads, to)
  if (path !== '..' && !path.startsWith(`..${sep}`))
    throw new ConfigError(`${to} is in the uploads folder, whose files are served. Choose another path with --to`)
}

type Filled = Omit<MadeBackup, 'path'>

async function fill(folder: string, config: Config, kept: KeptFiles, options: BackupOptions): Promise<Filled> {
  const onDisk = await schemasOnDisk(config)
  const model = await modelOf(config, onDisk, onDisk)
  const snapshot = await takeSnapshot(config, model, kept)
  const report = (what: string, done: number, total: number): void => options.report({ what, done, total })
  const to = join(folder, databaseName)
  // An open snapshot delays cleanup by the database, so it is closed before files are copied.
  const left = await copyIntoFile(config, snapshot, { to, model, report }).finally(() => snapshot.rows.close())
  await syncToDisk(to)
  const files = await copyFiles(folder, config, kept, { snapshot, options })
  const schemas = await writeSchemas(folder, config, onDisk)
  const manifest: BackupManifest = {
    ...{ format: 1, id: randomUUID(), octavo: options.version },
    ...{ snapshotAt: snapshot.takenAt.toISOString(), finishedAt: new Date().toISOString(), database: config.database.client },
    rows: (await countRows(config, to)).map(([table, rows]) => [table, rows]),
    files: [{ path: databaseName, ...(await readBytes(to)) }, ...files.written, ...schemas.written],
    ...{ missing: files.missing, uncertain: files.uncertain, left: [...left] },
  }
  const path = join(folder, manifestName)
  await writeFile(path, manifestText(manifest), { mode: 0o600, flag: 'wx' })
  await syncToDisk(path)
  return { manifest, findings: await findingsOf(config, folder, schemas.model) }
}

/** The project's configuration with the database of a backup. */
export const onCopy = (config: Config, folder: string): Config => ({
  ...config,
  database: { ...config.database, client: 'sqlite', server: null, filename: join(folder, databaseName) },
})

/** Findings of `octavo doctor` in a backup. */
export async function findingsOf(config: Config, folder: string, model: Model): Promise<readonly CheckResult[]> {
  const copy = onCopy(config, folder)
  const view = await (await getDriver(copy)).openSnapshot(copy)
  try {
    return await examine({ database: view, model }, join(folder, uploadsName))
  } finally {
    await view.close()
  }
}

interface WrittenSchemas {
  readonly written: readonly BackupFile[]
  readonly model: Model
}

/** Writes the schema files of the copied database's model; those of the project if the database does not store them. */
async function writeSchemas(folder: string, config: Config, onDisk: SchemaTexts): Promise<WrittenSchemas> {
  const copy = onCopy(config, folder)
  const view = await (await getDriver(copy)).openView(copy)
  const texts = (await schemasOfDatabase(view).finally(() => view.close())) ?? onDisk
  const written: BackupFile[] = []
  for (const [path, text] of texts) {
    const name = `${projectName}/${path}`
    written.push({ path: name, ...(await writeStream(chunkOf(Buffer.from(text)), join(folder, name))) })
  }
  return { written, model: await modelOf(config, texts, onDisk) }
}

async function* chunkOf(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes
}

interface CopiedFiles {
  readonly written: BackupFile[]
  readonly missing: string[]
  readonly uncertain: string[]
}

interface FilesToCopy {
  readonly snapshot: ConsistentSnapshot
  readonly options: BackupOptions
}

/** Copies all files that rows reference. */
async function copyFiles(folder: string, config: Config, kept: KeptFiles, { snapshot, options }: FilesToCopy): Promise<CopiedFiles> {
  const copied: CopiedFiles = { written: [], missing: [], uncertain: [] }
  const seen = new Set<string>()
  const { referenced } = snapshot
  const remote = referenced.filter(({ provider }) => provider !== 'local')
  const storages = remote.length === 0 ? null : await openStorages(config.uploadsFolder, config.storage, config.limits, () => {})
  try {
    for (const [index, file] of referenced.entries()) {
      options.report({ what: 'files', done: index, total: referenced.length })
      if (file.provider === 'local') await copyLocal(folder, kept, { file, seen, snapshot, copied })
      else await copyObject(folder, storages!.of.get(file.provider) ?? null, { file, seen, copied })
    }
  } finally {
    for (const storage of storages?.of.values() ?? []) storage.close()
  }
  if (!options.allowsMissing && referenced.length > 0 && copied.missing.length === referenced.length)
    throw new ConfigError(
      `none of the ${referenced.length} files of the media library can be found. Is the uploads folder mounted, and is the storage the one that they were stored in? To back up without them: --allow-missing-files`,
    )
  if (remote.length > 0) copied.uncertain.push(...(await replacedObjects(config, remote)))
  return copied
}

interface FileCopy {
  readonly file: ReferencedFile
  readonly seen: Set<string>
  readonly copied: CopiedFiles
}

interface LocalCopy extends FileCopy {
  readonly snapshot: ConsistentSnapshot
}

async function copyLocal(folder: string, kept: KeptFiles, { file, seen, snapshot, copied }: LocalCopy): Promise<void> {
  let isThere = false
  for (const name of file.names) {
    const path = `${uploadsName}/${name}`
    if (seen.has(path)) {
      isThere = true
      continue
    }
    const found = isBackupPath(path) ? kept.find(name) : null
    if (found === null) continue
    const read = await copyFile(found.path, join(folder, path)).catch(ifGone)
    if (read === null) continue
    seen.add(path)
    isThere = true
    copied.written.push({ path, ...read })
    if (snapshot.uncertain.has(name) || !found.isUnchanged()) copied.uncertain.push(name)
  }
  if (!isThere) copied.missing.push(file.names[0] ?? file.url)
}

function ifGone(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT') return null
  throw error
}

/**
 * Copies an object by name from the configured storage, never from the URL in its row, which might lead to internal addresses. Null: the
 * project does not use this storage.
 */
async function copyObject(folder: string, storage: Storage | null, { file, seen, copied }: FileCopy): Promise<void> {
  const { provider, url, mime } = file
  const name = file.names[0] ?? ''
  const path = `${objectsName}/${name}`
  if (seen.has(path)) return
  if (storage === null) {
    copied.missing.push(`${name || url} (in the storage "${provider}", which this project does not use)`)
    return
  }
  const found = isBackupPath(path) ? await storage.read(name) : null
  if (found === null) {
    copied.missing.push(name || url)
    return
  }
  seen.add(path)
  copied.written.push({ path, ...(await writeStream(found, join(folder, path))), object: { provider, mime, url } })
}

/** Names of objects whose rows have changed since the snapshot: they may have been replaced before they were fetched. */
async function replacedObjects(config: Config, remote: readonly ReferencedFile[]): Promise<readonly string[]> {
  const rows = await (await getDriver(config)).rows(config)
  try {
    const now = new Map((await referencedFiles(rows)).map(({ url, row }) => [url, row]))
    return remote.filter(({ url, row }) => now.has(url) && now.get(url) !== row).map(({ names, url }) => names[0] ?? url)
  } finally {
    await rows.close()
  }
}
