// Files on their way into a backup or out of it: copied with their checksums, and on the disk before anything says so.
import { createHash } from 'node:crypto'
import { constants } from 'node:fs'
import { type FileHandle, lstat, mkdir, open, readdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Readable } from 'node:stream'
import { ConfigError } from '../../foundation/errors/errors.js'
import { syncToDisk } from '../../foundation/runtime/sync-to-disk.js'
import type { BackupFile } from './manifest.js'
import { type FileAccess, ownerOnly } from './ownership.js'

/** A file that was read: its size in bytes, and its SHA-256 in hexadecimal. */
export interface FileSum {
  readonly bytes: number
  readonly sha256: string
}

/** The same of folders as `ownerOnly` of files. */
const ownersFolder = 0o700

const readOnly = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0)

/** Syncs a folder and all folders below it. */
export async function syncFolders(folder: string): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true })) if (entry.isDirectory()) await syncFolders(join(folder, entry.name))
  await syncToDisk(folder)
}

/** Creates a folder with those above it. */
export const makeFolder = async (folder: string): Promise<void> => void (await mkdir(folder, { recursive: true, mode: ownersFolder }))

/** Writes what a stream has into a new file, syncs it, and returns what was written. */
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

/** Copies a file into a new one, by default for its owner only. Links are not followed. */
export const copyFile = (from: string, to: string, access?: FileAccess): Promise<FileSum> =>
  onFile(from, (handle) => writeStream(chunksOf(handle), to, access))

/** Reads a stream to its end. */
export const readStream = (stream: Readable): Promise<FileSum> => eachChunk(stream, async () => {})

/** Reads a file. Links are not followed. */
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
 * The path of a file of a backup. Folders on the way may not be links.
 * @throws ConfigError that names the file if it, or a folder above it, is a link or missing
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

/** @throws ConfigError that names the file if it is not what the manifest says */
export function expectSame({ path, bytes, sha256 }: BackupFile, found: FileSum): void {
  if (found.bytes === bytes && found.sha256 === sha256) return
  const how = found.bytes === bytes ? 'its checksum differs' : `it has ${found.bytes} bytes instead of ${bytes}`
  throw new ConfigError(`The backup is damaged: ${path} is not the file that was written (${how})`)
}
