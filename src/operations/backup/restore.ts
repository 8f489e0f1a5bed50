// Restores a backup: verifies it, stages its files next to those of the project, and renames them into place once all are on disk.

import { constants, existsSync } from 'node:fs'
import { access, lstat, mkdir, readFile, realpath, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { hasRunningOwner } from '../../content/media/staging.js'
import { openStorages } from '../../content/media/storage/open.js'
import { checkpointIfExclusive, lockFile } from '../../database/sqlite/file/exclusive-access.js'
import { copyDatabase } from '../../database/transfer/copy.js'
import { openRowSource, openRowTarget } from '../../database/transfer/open-rows.js'
import type { Config } from '../../foundation/config/config.js'
import { onUploadsFolder } from '../../foundation/config/storage.js'
import { ConfigError } from '../../foundation/errors/errors.js'
import { syncToDisk } from '../../foundation/runtime/file-operations.js'
import { stoppableWork } from '../../foundation/runtime/shutdown.js'
import { type BackupReport, onCopy } from './backup.js'
import { explainSystemError, rowsOptionsOf } from './copy-database.js'
import {
  type BackupFile,
  databaseName,
  differencesBetween,
  modelOf,
  projectName,
  readManifest,
  type SchemaDifferences,
  schemasOfBackup,
  schemasOnDisk,
  uploadsName,
} from './manifest.js'
import {
  accessAt,
  accessIn,
  copyFile,
  expectSame,
  type FileAccess,
  makeFolderAlike,
  pathInBackup,
  readStream,
  syncFolders,
} from './referenced-files.js'
import {
  carryOutRestore,
  clearStaged,
  placesOf,
  type RestoreNote,
  readNote,
  removeNote,
  replacedPaths,
  storageOf,
  uploadsIn,
  writeNote,
} from './restore-steps.js'
import { type CheckedBackup, checkBackup } from './verify.js'

/** Which schema files to use if they differ; null: the restore is refused. */
type SchemaDecision = 'backup' | 'project' | null

interface RestoreOptions {
  /** Path of the backup. */
  readonly from: string
  /** Renames existing files of the project to preserve them. */
  readonly replace: boolean
  readonly schemas: SchemaDecision
  readonly now: Date
  report(progress: BackupReport): void
  /** Receives the cleanup function before anything is written. */
  begun(abandon: () => Promise<void>): void
  /** Called before the project changes: from then on, a restore can only continue. */
  changing(): void
}

export interface Restored {
  readonly note: RestoreNote
  /** True if an interrupted restore was continued. */
  readonly isContinued: boolean
  /** New paths of former files. */
  readonly aside: readonly string[]
  /** Tables and columns with rows that the database cannot store. */
  readonly left: readonly string[]
}

/**
 * Restores a backup into a project, or continues an interrupted restore.
 * @throws ConfigError with a sentence if the backup is invalid, the project is in use or not empty, or schemas differ
 */
export async function restoreBackup(config: Config, options: RestoreOptions): Promise<Restored> {
  await onUploadsFolder(config.uploadsFolder, () => makeFolderAlike(config.uploadsFolder))
  const lockPath = join(config.uploadsFolder, '.octavo-restore.lock')
  const lock = lockFile(lockPath)
  if (lock === null) throw new ConfigError('Another restore of this project is under way. Nothing was changed')
  try {
    return await restore(config, options)
  } finally {
    await rm(lockPath, { force: true })
    lock.release()
  }
}

async function restore(config: Config, options: RestoreOptions): Promise<Restored> {
  try {
    const begun = await readNote(config.uploadsFolder)
    if (begun === null) return await commit(config, await prepare(config, options), options)
    options.changing()
    await refuseRunning(config)
    await refuseOther(begun, options.from)
    return await change(config, begun, { options, isContinued: true })
  } catch (error) {
    if ((await readNote(config.uploadsFolder)) !== null) throw explainSystemError(error, begunSentence)
    await clearStaged(config)
    throw explainSystemError(error, (message) => `The backup cannot be restored: ${message}. Nothing was changed`)
  }
}

/** Checks the backup and the project, and stages all files. */
async function prepare(config: Config, given: RestoreOptions): Promise<RestoreNote> {
  await clearStaged(config)
  const work = stoppableWork(() => clearStaged(config))
  given.begun(work.stop)
  const report = (progress: BackupReport): void => {
    work.look()
    given.report(progress)
  }
  const options = { ...given, report }
  return work.run(async () => {
    const backup = await checkBackup(config, options.from, report)
    await refuseRunning(config)
    await refusePresent(config, options.replace)
    await refuseImmovable(await replacedPaths(config))
    const schemas = await decideSchemas(config, backup, options.schemas)
    const stamp = options.now.toISOString().replace(/[-:.]/g, '')
    const objects = await stage(config, backup, { stamp, schemas, options })
    work.look()
    return noteOf(config, backup, { stamp, schemas, objects })
  })
}

/** Writes the note; from here on the project changes. */
async function commit(config: Config, note: RestoreNote, options: RestoreOptions): Promise<Restored> {
  options.changing()
  await writeNote(config.uploadsFolder, note)
  // A service started from here on finds the note.
  await refuseRunning(config).catch(async (error) => {
    await removeNote(config.uploadsFolder)
    throw error
  })
  return change(config, note, { options, isContinued: false })
}

const begunSentence = (message: string): string =>
  `The restore has begun and cannot go on: ${message}. Once that is fixed, run the same command again to finish it`

/** @throws ConfigError unless the backup is the one of the interrupted restore */
async function refuseOther({ backup }: RestoreNote, from: string): Promise<void> {
  const { id } = await readManifest(from)
  if (id !== backup.id)
    throw new ConfigError(
      `The restore of ${backup.path} (made ${backup.snapshotAt}) was begun and has not ended. Finish it first, by restoring the same backup; then this one with --replace`,
    )
}

/** @throws ConfigError while a service or another program uses the project */
async function refuseRunning({ uploadsFolder, database }: Config): Promise<void> {
  if (await hasRunningOwner(uploadsFolder)) throw new ConfigError('Octavo is running on this project; stop it first. Nothing was changed')
  if (database.server === null && !checkpointIfExclusive(database.filename))
    throw new ConfigError(`The database ${database.filename} is in use. Stop the programs that have it open. Nothing was changed`)
}

/** @throws ConfigError if the project has a database or files that may not be replaced */
async function refusePresent(config: Config, mayReplace: boolean): Promise<void> {
  const { database, uploadsFolder } = config
  if (database.server !== null) await refuseRows(config)
  if (mayReplace) return
  const found = [
    ...(database.server === null && existsSync(database.filename) ? [`the database ${database.filename}`] : []),
    ...((await uploadsIn(uploadsFolder)).length > 0 ? [`files in ${uploadsFolder}`] : []),
  ]
  if (found.length > 0)
    throw new ConfigError(
      `The project has ${found.join(' and ')}. To put them aside, under names with the date: --replace. Nothing was changed`,
    )
}

/** @throws ConfigError if a server's database has tables */
async function refuseRows(config: Config): Promise<void> {
  const source = await openRowSource(addressOf(config), rowsOptionsOf(config))
  try {
    const tables = await source.tables()
    if (tables.length > 0)
      throw new ConfigError(
        `${source.name} is not empty: it has the table ${tables[0]!.name}. A backup is restored into an empty database: create one, and let DATABASE_URL name it. The other one stays as it is. Nothing was changed`,
      )
  } finally {
    await source.close()
  }
}

/** File or URL of the project's database. */
function addressOf({ database: { client, filename, server } }: Config): string {
  if (server === null) return filename
  const { url, user, password, host, port, name } = server
  return url ?? `${client}://${encodeURIComponent(user)}:${encodeURIComponent(password)}@${host}:${port}/${encodeURIComponent(name)}`
}

const none: SchemaDifferences = { written: [], removed: [] }

/** @throws ConfigError that lists the differing schema files if no choice was made */
async function decideSchemas(config: Config, backup: CheckedBackup, decision: SchemaDecision): Promise<SchemaDifferences> {
  const theirs = await schemasOfBackup(backup.folder, backup.manifest)
  const found = differencesBetween(decision === 'backup' ? await readable(config) : await schemasOnDisk(config), theirs)
  if (decision === 'backup') return found
  if (decision === 'project' || found.written.length + found.removed.length === 0) return none
  throw new ConfigError(
    [
      'The schemas of the project are not those that the backup was made with:',
      ...found.written.map((path) => `  ${path}: ${existsSync(join(config.folder, path)) ? 'differs' : 'only in the backup'}`),
      ...found.removed.map((path) => `  ${path}: only in the project`),
      'To restore those of the backup, and put these aside: --schemas. To keep these, and let the next start change the database: --keep-schemas. Nothing was changed',
    ].join('\n'),
  )
}

/** Schemas to be replaced may be invalid. */
const readable = (config: Config) => schemasOnDisk(config).catch(() => new Map<string, string>())

interface Staging {
  readonly stamp: string
  readonly schemas: SchemaDifferences
  readonly options: RestoreOptions
}

/** Stages the files of a backup. Returns the objects that the remote storage lacks, or has with other content. */
async function stage(config: Config, { folder, manifest }: CheckedBackup, { stamp, schemas, options }: Staging): Promise<BackupFile[]> {
  const { staged, stagedDatabase } = placesOf(config, stamp)
  const copy = async (file: BackupFile, to: string, access?: FileAccess): Promise<void> =>
    expectSame(file, await copyFile(await pathInBackup(folder, file), to, access))
  const served = await accessIn(config.uploadsFolder)
  const objects = await missingObjects(config, manifest.files, options.replace)
  await mkdir(staged, { recursive: true, mode: 0o700 })
  if (config.database.server === null) await makeFolderAlike(dirname(stagedDatabase), 0o700)
  for (const [index, file] of manifest.files.entries()) {
    options.report({ what: 'files', done: index, total: manifest.files.length })
    const { path } = file
    if (path === databaseName) {
      if (config.database.server === null) await copy(file, stagedDatabase, await accessAt(config.database.filename, true))
    } else if (path.startsWith(`${uploadsName}/`)) await copy(file, join(staged, path), served)
    else if (objects.includes(file)) await copy(file, join(staged, path))
    else if (schemas.written.includes(path.slice(projectName.length + 1))) await copy(file, join(staged, path))
  }
  await syncFolders(staged)
  if (config.database.server === null) await syncToDisk(dirname(stagedDatabase))
  return objects
}

/**
 * Finds objects that the storage lacks, or has with other content.
 * @throws ConfigError if the project does not use their storage, or other content may not be replaced
 */
async function missingObjects(config: Config, files: readonly BackupFile[], mayReplace: boolean): Promise<BackupFile[]> {
  const objects = files.filter(({ object }) => object !== undefined)
  if (objects.length === 0) return []
  const storages = await openStorages(config.uploadsFolder, config.storage, config.limits, () => {})
  const missing: BackupFile[] = []
  try {
    for (const file of objects) {
      const found = await storageOf(storages.of, file.object!.provider).read(basename(file.path))
      const isSame = found !== null && (await readStream(found)).sha256 === file.sha256
      if (isSame) continue
      if (found !== null && !mayReplace)
        throw new ConfigError(
          `The object ${basename(file.path)} is not that of the backup. To put it aside: --replace. Nothing was changed`,
        )
      missing.push(file)
    }
    return missing
  } finally {
    for (const storage of storages.of.values()) storage.close()
  }
}

function noteOf(
  config: Config,
  { folder, manifest }: CheckedBackup,
  { stamp, schemas, objects }: { readonly stamp: string; readonly schemas: SchemaDifferences; readonly objects: readonly BackupFile[] },
): RestoreNote {
  const rows = manifest.rows.reduce((sum, [, count]) => sum + count, 0)
  const files = manifest.files.filter(({ path }) => path !== databaseName && !path.startsWith(`${projectName}/`)).length
  return {
    backup: { path: folder, id: manifest.id, snapshotAt: manifest.snapshotAt, rows, files },
    stamp,
    phase: config.database.server === null ? 'aside' : 'rows',
    schemas,
    objects: objects.map(({ path, object }) => ({ path, provider: object!.provider, mime: object!.mime })),
  }
}

/** Changes the project. After an interruption, the same steps continue it. */
async function change(
  config: Config,
  note: RestoreNote,
  { options, isContinued }: { readonly options: RestoreOptions; readonly isContinued: boolean },
): Promise<Restored> {
  let [reached, left]: [RestoreNote, readonly string[]] = [note, []]
  if (note.phase === 'rows') {
    left = await writeRows(config, options)
    reached = { ...note, phase: 'aside' }
    await writeNote(config.uploadsFolder, reached)
  }
  return { note, isContinued, left, aside: await carryOutRestore(config, reached) }
}

/** Copies rows to a server in batches, and continues after an interruption. Returns the tables and columns that the server lacks. */
async function writeRows(config: Config, { from, report }: RestoreOptions): Promise<readonly string[]> {
  const { folder, manifest } = await checkBackup(config, from, report)
  const texts = await schemasOfBackup(folder, manifest)
  const model = await modelOf(config, texts, await readable(config), onCopy(config, folder))
  const source = await openRowSource(join(folder, databaseName), rowsOptionsOf(config))
  try {
    const target = await openRowTarget(addressOf(config), model, rowsOptionsOf(config))
    try {
      const { omitted: left } = await copyDatabase(source, target, {
        ...{ onAdapted: null, overwrite: false },
        report: ({ phase, table, done, total }) => report({ what: `rows of ${table} (${phase})`, done, total }),
      })
      return left
    } finally {
      await target.close()
    }
  } finally {
    await source.close()
  }
}

/** @throws ConfigError for the first existing path that cannot be renamed */
async function refuseImmovable(paths: readonly string[]): Promise<void> {
  const mounted = await mountPoints()
  for (const path of paths) {
    const stats = await lstat(path).catch(() => null)
    if (stats === null || stats.isSymbolicLink()) continue
    const real = await realpath(path)
    const isMounted = mounted === null ? stats.dev !== (await lstat(dirname(real))).dev : mounted.has(real)
    if (isMounted) throw new ConfigError(`${path} is mounted there, so it cannot be put aside. ${advice}`)
    if (stats.isDirectory() && !(await isWritable(path)))
      throw new ConfigError(`${path} cannot be put aside, because this user may not write to it. ${advice}`)
  }
}

const advice = 'Move it away or unmount it, and restore again. Nothing was changed'

/** Renaming a folder requires write permission to it. */
const isWritable = (path: string): Promise<boolean> =>
  access(path, constants.W_OK).then(
    () => true,
    () => false,
  )

/** All mount points; null if the system does not list them. */
async function mountPoints(): Promise<ReadonlySet<string> | null> {
  const text = await readFile('/proc/self/mountinfo', 'utf8').catch(() => null)
  if (text === null) return null
  const escaped = text.split('\n').flatMap((line) => line.split(' ')[4] ?? [])
  return new Set(escaped.map((path) => path.replace(/\\(\d{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)))))
}
