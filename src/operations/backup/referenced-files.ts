// The files that rows of a database reference: those of the media library, with their formats.

import { createHash } from 'node:crypto'
import { constants } from 'node:fs'
import { chmod, chown, type FileHandle, lstat, mkdir, open, readdir, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { Readable } from 'node:stream'
import { decodedUrl } from '../../content/media/storage/s3-address.js'
import { readBatches } from '../../database/transfer/row-batches.js'
import type { CopiedRow, RowSource, RowTable } from '../../database/transfer/rows.js'
import { ConfigError } from '../../foundation/errors/errors.js'
import { syncToDisk } from '../../foundation/runtime/file-operations.js'
import type { BackupFile } from './manifest.js'

/** A file referenced by a row. */
export interface ReferencedFile {
  /** Possible names in its storage, likeliest first. */
  readonly names: readonly string[]
  /** The storage, as in the column. */
  readonly provider: string
  readonly url: string
  readonly mime: string
  /** The row as text, to detect later changes. */
  readonly row: string
}

interface FileData {
  readonly hash?: unknown
  readonly ext?: unknown
  readonly url?: unknown
  readonly mime?: unknown
}

/** All files of the media library and their formats, in row order. */
export async function referencedFiles(rows: RowSource): Promise<readonly ReferencedFile[]> {
  const table = (await rows.tables()).find(({ name }) => name === 'files')
  if (table === undefined) return []
  const found: ReferencedFile[] = []
  for await (const batch of readBatches(rows, table)) for (const row of batch) found.push(...filesOf(table, row))
  return found
}

/** Ids of replacements that are committed but not finished. */
export async function committedSwaps(rows: RowSource): Promise<ReadonlySet<string>> {
  const table = (await rows.tables()).find(({ name }) => name === 'octavo_file_swaps')
  const ids = new Set<string>()
  if (table === undefined) return ids
  for await (const batch of readBatches(rows, table)) for (const row of batch) ids.add(String(row[0]))
  return ids
}

function filesOf({ columns }: RowTable, row: CopiedRow): readonly ReferencedFile[] {
  const value = (name: string): unknown => row[columns.findIndex((column) => column.name === name)] ?? null
  const main: FileData = { hash: value('hash'), ext: value('ext'), url: value('url'), mime: value('mime') }
  const text = JSON.stringify(row, (_, each) => (typeof each === 'bigint' ? String(each) : each))
  return [main, ...formatsOf(value('formats'))].map((data) => ({
    names: namesOf(data),
    provider: String(value('provider')),
    url: String(data.url ?? ''),
    mime: String(data.mime ?? 'application/octet-stream'),
    row: text,
  }))
}

function namesOf({ hash, ext, url }: FileData): readonly string[] {
  const names = [basename(decodedUrl(String(url ?? '')).split('?')[0]!), `${hash ?? ''}${ext ?? ''}`]
  return [...new Set(names.filter((name) => name !== ''))]
}

function formatsOf(json: unknown): readonly FileData[] {
  try {
    const formats: unknown = typeof json === 'string' ? JSON.parse(json) : null
    if (typeof formats !== 'object' || formats === null) return []
    return Object.values(formats).filter((each): each is FileData => typeof each === 'object' && each !== null)
  } catch {
    // Invalid JSON references no files.
    return []
  }
}

interface FileSum {
  readonly bytes: number
  readonly sha256: string
}

/** The mode of folders that matches `ownerOnly`. */
const ownersFolder = 0o700

const readOnly = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0)

/** Syncs a folder recursively. */
export async function syncFolders(folder: string): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true })) if (entry.isDirectory()) await syncFolders(join(folder, entry.name))
  await syncToDisk(folder)
}

/** Creates a folder and its parents. */
export const makeFolder = async (folder: string): Promise<void> => void (await mkdir(folder, { recursive: true, mode: ownersFolder }))

/** Writes a stream to a new file, syncs it, and returns its size and checksum. */
export async function writeStream(stream: Readable | AsyncIterable<Buffer>, to: string, access: FileAccess = ownerOnly): Promise<FileSum> {
  await makeFolder(dirname(to))
  const handle = await open(to, 'wx', ownerOnly.mode)
  try {
    const read = await eachChunk(stream, async (chunk) => void (await handle.writeFile(chunk)))
    if (access.owner !== null) await handle.chown(access.owner.uid, access.owner.gid)
    if (access.mode !== ownerOnly.mode) await handle.chmod(access.mode)
    await handle.sync()
    return read
  } finally {
    await handle.close()
  }
}

/** Copies a file to a new one, by default for its owner only. Does not follow links. */
export const copyFile = (from: string, to: string, access?: FileAccess): Promise<FileSum> =>
  onFile(from, (handle) => writeStream(chunksOf(handle), to, access))

export const readStream = (stream: Readable): Promise<FileSum> => eachChunk(stream, async () => {})

/** Does not follow links. */
export const readBytes = (path: string): Promise<FileSum> => onFile(path, (handle) => eachChunk(chunksOf(handle), async () => {}))

async function onFile<Result>(path: string, work: (handle: FileHandle) => Promise<Result>): Promise<Result> {
  const handle = await open(path, readOnly)
  try {
    return await work(handle)
  } finally {
    await handle.close()
  }
}

async function* chunksOf(handle: FileHandle): AsyncGenerator<Buffer> {
  const buffer = Buffer.allocUnsafe(1 << 18)
  for (;;) {
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, null)
    if (bytesRead === 0) return
    yield buffer.subarray(0, bytesRead)
  }
}

async function eachChunk(chunks: Readable | AsyncIterable<Buffer>, take: (chunk: Buffer) => Promise<void>): Promise<FileSum> {
  const sum = createHash('sha256')
  let bytes = 0
  for await (const chunk of chunks as AsyncIterable<Buffer>) {
    sum.update(chunk)
    bytes += chunk.length
    await take(chunk)
  }
  return { bytes, sha256: sum.digest('hex') }
}

/**
 * Returns the path of a file in a backup, in which no folder may be a link.
 * @throws ConfigError that names the file if it, or one of its folders, is missing or a link
 */
export async function pathInBackup(folder: string, { path }: Pick<BackupFile, 'path'>): Promise<string> {
  const parts = path.split('/')
  for (const depth of parts.keys()) {
    const stats = await lstat(join(folder, ...parts.slice(0, depth + 1))).catch(() => null)
    if (stats === null) throw new ConfigError(`The backup is damaged: ${path} is missing`)
    const isRight = depth === parts.length - 1 ? stats.isFile() : stats.isDirectory()
    if (!isRight) throw new ConfigError(`The backup is refused: ${path} is a link, or not a file`)
  }
  return join(folder, ...parts)
}

/** @throws ConfigError that names the file if it differs from the manifest */
export function expectSame({ path, bytes, sha256 }: BackupFile, found: FileSum): void {
  if (found.bytes === bytes && found.sha256 === sha256) return
  const how = found.bytes === bytes ? 'its checksum differs' : `it has ${found.bytes} bytes instead of ${bytes}`
  throw new ConfigError(`The backup is damaged: ${path} is not the file that was written (${how})`)
}

/** Permissions of a file. `owner`: null for the user of this process. */
export interface FileAccess {
  readonly mode: number
  readonly owner: { readonly uid: number; readonly gid: number } | null
}

/** For databases and files of users. */
export const ownerOnly: FileAccess = { mode: 0o600, owner: null }

/** Masks from a folder's mode to the mode of its files. */
const [sharedFile, privateFile] = [0o664, 0o660]

const isRoot = (): boolean => process.getuid?.() === 0

/** Permissions of a new file in `folder`. `isPrivate`: not readable by others, even if the folder is. */
export async function accessIn(folder: string, isPrivate = false): Promise<FileAccess> {
  const { uid, gid, mode } = await stat(await nearest(folder))
  return { mode: (mode & (isPrivate ? privateFile : sharedFile)) | 0o600, owner: isRoot() ? { uid, gid } : null }
}

/** Permissions of the file at `path` or, if it is missing, of a new file in its folder. */
export async function accessAt(path: string, isPrivate = false): Promise<FileAccess> {
  const found = await stat(path).catch(() => null)
  if (found === null) return accessIn(dirname(path), isPrivate)
  return { mode: found.mode & 0o777, owner: isRoot() ? { uid: found.uid, gid: found.gid } : null }
}

export async function giveAccess(path: string, { mode, owner }: FileAccess): Promise<void> {
  if (owner !== null) await chown(path, owner.uid, owner.gid)
  await chmod(path, mode)
}

/** Creates a folder and its parents, with the owner of the nearest existing one; `mode` ignores the umask. */
export async function makeFolderAlike(folder: string, mode?: number): Promise<void> {
  const above = await nearest(folder)
  if (above === folder) return
  const { uid, gid } = await stat(above)
  await makeFolderAlike(dirname(folder), mode)
  await mkdir(folder, { mode }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error
  })
  if (isRoot()) await chown(folder, uid, gid)
}

/** The folder, or its nearest existing parent. */
async function nearest(folder: string): Promise<string> {
  const isThere = await stat(folder).then(
    () => true,
    () => false,
  )
  return isThere || dirname(folder) === folder ? folder : nearest(dirname(folder))
}
