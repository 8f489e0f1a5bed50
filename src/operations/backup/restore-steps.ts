// The steps of a restore: existing files are renamed with a suffix, then new ones are renamed into place. Each step is a rename or
// idempotent, so that a killed restore can continue.

import { existsSync } from 'node:fs'
import { copyFile as copyOnce, mkdir, open, readdir, readFile, rename, rm, rmdir } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import * as z from 'zod'
import { openStorages } from '../../content/media/storage/open.js'
import type { Storage } from '../../content/media/storage/storage.js'
import { restoreNoteName as noteName } from '../../content/media/unfinished-restore.js'
import type { Config } from '../../foundation/config/config.js'
import { ConfigError } from '../../foundation/errors/errors.js'
import { syncToDisk } from '../../foundation/runtime/file-operations.js'
import { isBackupPath, isSchemaPath, objectsName, projectName, uploadsName } from './manifest.js'
import { accessAt, giveAccess, makeFolderAlike } from './referenced-files.js'

/** Paths of staged files, and of former ones. */
interface RestorePlaces {
  /** A folder with uploads, objects and schemas of the backup. */
  readonly staged: string
  readonly stagedDatabase: string
  /** A folder with former uploads and schemas. */
  readonly aside: string
  readonly asideDatabase: string
}

const [stagedPrefix, asidePrefix] = ['.restoring-', '.replaced-']

/** Staged files are on the same file system as the files that they replace. */
export const placesOf = ({ uploadsFolder, database: { filename } }: Config, stamp: string): RestorePlaces => ({
  staged: join(uploadsFolder, `${stagedPrefix}${stamp}`),
  stagedDatabase: `${filename}${stagedPrefix}${stamp}`,
  aside: join(uploadsFolder, `${asidePrefix}${stamp}`),
  asideDatabase: `${filename}${asidePrefix}${stamp}`,
})

/** Names in the uploads folder that belong to restores, or to the file system if the folder is a mount point. They are not moved. */
const staysThere = (name: string): boolean =>
  name === 'lost+found' || [stagedPrefix, asidePrefix, '.octavo-restore'].some((prefix) => name.startsWith(prefix))

/** Names in a folder; empty if it is missing. */
async function namesIn(folder: string): Promise<readonly string[]> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException): string[] => {
    if (error.code === 'ENOENT') return []
    throw error
  })
  return names.sort()
}

/** Entries of the uploads folder that a restore would replace. */
export const uploadsIn = async (folder: string): Promise<readonly string[]> =>
  (await namesIn(folder)).filter((name) => !staysThere(name) && name !== '.octavo' && name !== '.gitkeep')

/** Paths that a restore renames to preserve them. */
export async function replacedPaths({ uploadsFolder, database: { server, filename } }: Config): Promise<readonly string[]> {
  const names = await uploadsIn(uploadsFolder)
  return [...(server === null ? databaseFiles.map((ending) => filename + ending) : []), ...names.map((name) => join(uploadsFolder, name))]
}

/** Suffixes of database files. The shared memory file is deleted, because there are no connections. */
const databaseFiles = ['', '-wal', '-journal']

/** Removes leftovers of restores that were killed before they changed anything. */
export async function clearStaged({ uploadsFolder, database: { filename } }: Config): Promise<void> {
  for (const [folder, prefix] of [
    [uploadsFolder, stagedPrefix],
    [dirname(filename), `${basename(filename)}${stagedPrefix}`],
  ] as const)
    for (const name of await namesIn(folder)) if (name.startsWith(prefix)) await rm(join(folder, name), { recursive: true, force: true })
}

/** Executes the steps of a note. Returns the new paths of former files. */
export async function carryOutRestore(config: Config, note: RestoreNote): Promise<readonly string[]> {
  const { uploadsFolder } = config
  const places = placesOf(config, note.stamp)
  refuseLostStaging(config, note, places)
  if (note.phase !== 'place') {
    await putAside(config, note, places)
    await writeNote(uploadsFolder, { ...note, phase: 'place' })
  }
  const objects = await putInPlace(config, note, places)
  await rm(places.staged, { recursive: true, force: true })
  await removeNote(uploadsFolder)
  return [...[places.asideDatabase, places.aside].filter((path) => existsSync(path)), ...objects]
}

/** @throws ConfigError if the staged database is missing; existing files are not changed */
function refuseLostStaging(
  { database: { server, filename } }: Config,
  { phase }: RestoreNote,
  { stagedDatabase, staged }: RestorePlaces,
): void {
  const isThere = existsSync(staged) && (server !== null || existsSync(stagedDatabase) || (phase === 'place' && existsSync(filename)))
  if (!isThere)
    throw new ConfigError(
      `${stagedDatabase} or ${staged}, which the restore had written next to the project, is gone. Nothing more was changed; what was put aside has names with ${asidePrefix}`,
    )
}

async function move(from: string, to: string): Promise<void> {
  await rename(from, to).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT' || existsSync(from)) throw error
  })
}

async function putAside(config: Config, { schemas }: RestoreNote, { aside, asideDatabase }: RestorePlaces): Promise<void> {
  const { uploadsFolder, folder, database } = config
  if (database.server === null) {
    for (const ending of databaseFiles) await move(`${database.filename}${ending}`, `${asideDatabase}${ending}`)
    await rm(`${database.filename}-shm`, { force: true })
  }
  // Empty, unless a service was killed.
  await rmdir(join(uploadsFolder, '.octavo')).catch(() => {})
  const names = (await namesIn(uploadsFolder)).filter((name) => !staysThere(name))
  if (names.length > 0) await makeFolderAlike(join(aside, uploadsName), 0o700)
  else if (schemas.written.length + schemas.removed.length > 0) await makeFolderAlike(aside, 0o700)
  for (const name of names) await move(join(uploadsFolder, name), join(aside, uploadsName, name))
  for (const path of [...schemas.written, ...schemas.removed]) {
    const [from, to] = [join(folder, path), join(aside, projectName, path)]
    if (existsSync(from) && !existsSync(to)) await replaceBy(from, to)
  }
  for (const path of schemas.removed) await rm(join(folder, path), { force: true })
  await syncAll([uploadsFolder, join(aside, uploadsName), ...(database.server === null ? [dirname(database.filename)] : [])])
}

/** Atomically copies a file onto another file system. */
async function replaceBy(from: string, to: string): Promise<void> {
  await makeFolderAlike(dirname(to))
  const part = join(dirname(to), `.${basename(to)}.restoring`)
  await copyOnce(from, part)
  await giveAccess(part, await accessAt(to))
  await syncToDisk(part)
  await rename(part, to)
  await syncToDisk(dirname(to))
}

/** Returns the new names of former objects. */
async function putInPlace(config: Config, note: RestoreNote, { staged, stagedDatabase }: RestorePlaces): Promise<readonly string[]> {
  const { uploadsFolder, folder, database } = config
  if (database.server === null) {
    await move(stagedDatabase, database.filename)
    await syncToDisk(dirname(database.filename))
  }
  for (const name of await namesIn(join(staged, uploadsName))) await move(join(staged, uploadsName, name), join(uploadsFolder, name))
  await syncToDisk(uploadsFolder)
  for (const path of note.schemas.written) await replaceBy(join(staged, projectName, path), join(folder, path))
  return note.objects.length === 0 ? [] : placeObjects(config, note, join(staged, objectsName))
}

async function syncAll(folders: readonly string[]): Promise<void> {
  for (const folder of folders) if (existsSync(folder)) await syncToDisk(folder)
}

/** The new name of a former object. */
const asideName = (stamp: string, name: string): string => `replaced-${stamp}-${name}`

async function placeObjects(config: Config, { objects, stamp }: RestoreNote, staged: string): Promise<readonly string[]> {
  const { of } = await openStorages(config.uploadsFolder, config.storage, config.limits, () => {})
  const replaced: string[] = []
  try {
    for (const { path, provider, mime } of objects) {
      const [storage, name] = [storageOf(of, provider), basename(path)]
      const [from, aside] = [join(staged, name), asideName(stamp, name)]
      if (!(await storage.has(aside)) && existsSync(from) && (await storage.has(name))) await storage.move(name, aside)
      if (existsSync(from)) await storage.put(from, name, mime)
      await rm(from, { force: true })
      if (await storage.has(aside)) replaced.push(aside)
    }
    return replaced
  } finally {
    for (const storage of of.values()) storage.close()
  }
}

/** @throws ConfigError if the project does not use this storage */
export function storageOf(storages: ReadonlyMap<string, Storage>, provider: string): Storage {
  const storage = storages.get(provider)
  if (storage === undefined)
    throw new ConfigError(`The backup has files of the storage "${provider}", which this project does not use (uploads.storage)`)
  return storage
}

const schemaPath = z.string().refine(isSchemaPath)

const note = z.strictObject({
  /** The backup: path, id, time, row count and file count. */
  backup: z.strictObject({ path: z.string(), id: z.uuid(), snapshotAt: z.string(), rows: z.int(), files: z.int() }),
  /** Suffix of the new paths of former files. */
  stamp: z.string().regex(/^\d{8}T\d{9}Z$/),
  /** Current phase: copying rows to a server, renaming former files, or moving new ones into place. */
  phase: z.enum(['rows', 'aside', 'place']),
  schemas: z.strictObject({ written: z.array(schemaPath).readonly(), removed: z.array(schemaPath).readonly() }),
  /** Objects for a remote storage. */
  objects: z.array(z.strictObject({ path: z.string().refine(isBackupPath), provider: z.string(), mime: z.string() })).readonly(),
})

/** A restore that has started to change a project. */
export type RestoreNote = z.output<typeof note>

/** Reads the note; null if no restore is in progress. @throws ConfigError if it is invalid */
export async function readNote(uploads: string): Promise<RestoreNote | null> {
  const path = join(uploads, noteName)
  if (!existsSync(path)) return null
  const read = note.safeParse(JSON.parse(await readFile(path, 'utf8')))
  if (!read.success) throw new ConfigError(`${path} is not the note of a restore of this version of Octavo`)
  return read.data
}

/** Atomically writes the note and syncs it to disk. */
export async function writeNote(uploads: string, given: RestoreNote): Promise<void> {
  await mkdir(uploads, { recursive: true })
  const part = join(uploads, `${noteName}.part`)
  const handle = await open(part, 'w', 0o600)
  try {
    await handle.writeFile(JSON.stringify(given))
    await handle.sync()
  } finally {
    await handle.close()
  }
  await rename(part, join(uploads, noteName))
  await syncToDisk(uploads)
}

/** Removes the note at the end of a restore. */
export async function removeNote(uploads: string): Promise<void> {
  await rm(join(uploads, noteName), { force: true })
  await syncToDisk(uploads)
}
