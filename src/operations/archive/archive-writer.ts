// Writes an archive: lines into numbered files, uploads, and finally the manifest.

import { createHash, type Hash, randomBytes } from 'node:crypto'
import { createReadStream, createWriteStream, existsSync } from 'node:fs'
import { type FileHandle, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { Readable, Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { pack } from 'tar-stream'
import { ConfigError } from '../../foundation/errors/errors.js'
import { syncToDisk } from '../../foundation/runtime/file-operations.js'
import {
  encryption,
  type LineKind,
  lineFileCharacters,
  lineFileName,
  type Manifest,
  type ManifestFile,
  type ManifestScope,
  manifestName,
  metadataName,
  strapiVersion,
} from './format.js'

export interface ArchiveWriter {
  /** Adds a JSON text without line breaks. All lines of one kind must be consecutive. */
  line(kind: LineKind, text: string): Promise<void>
  file(name: string, bytes: number, content: Readable): Promise<void>
  text(name: string, content: Buffer): Promise<void>
  /** Removes all written files. */
  abandon(): Promise<void>
  /** Adds metadata and checksums, and completes the archive. */
  finish(about: ArchiveOrigin): Promise<WrittenArchive>
}

interface ArchiveOrigin {
  readonly version: string
  readonly now: Date
  readonly scope: ManifestScope
}

export interface WrittenArchive {
  readonly path: string
  readonly bytes: number
}

interface OpenLineFile {
  readonly kind: LineKind
  readonly number: number
  readonly path: string
  readonly handle: FileHandle
  readonly hash: Hash
  characters: number
  bytes: number
  lines: number
}

/** Size of the write buffer, in characters. */
const collected = 1_000_000

interface CompleteFile extends ManifestFile {
  readonly name: string
  readonly path: string
}

/** Writes lines into files of a bounded size, one at a time. */
interface LineFiles {
  /** Adds a line. Returns the previous file if that is complete now. */
  add(kind: LineKind, json: string): Promise<CompleteFile | null>
  /** Completes the current file. */
  complete(): Promise<CompleteFile | null>
  abandon(): Promise<void>
}

function openLineFiles(folder: string): LineFiles {
  let current: OpenLineFile | null = null
  let texts: string[] = []
  let waiting = 0

  async function flush(file: OpenLineFile): Promise<void> {
    const bytes = Buffer.from(texts.join(''))
    texts = []
    waiting = 0
    file.hash.update(bytes)
    file.bytes += bytes.length
    await file.handle.writeFile(bytes)
  }

  async function begin(kind: LineKind, number: number): Promise<OpenLineFile> {
    const path = join(folder, `${kind}-${number}`)
    const handle = await open(path, 'wx', 0o600)
    return { kind, number, path, handle, hash: createHash('sha256'), characters: 0, bytes: 0, lines: 0 }
  }

  async function complete(): Promise<CompleteFile | null> {
    if (current === null) return null
    const file = current
    current = null
    await flush(file)
    await file.handle.close()
    const { kind, number, path, bytes, hash, lines } = file
    return { name: lineFileName(kind, number), path, bytes, sha256: hash.digest('hex'), lines }
  }

  return {
    add: async (kind, json) => {
      const before = current
      const isSame = before?.kind === kind
      const isFull = isSame && before.characters + json.length + 1 > lineFileCharacters
      const done = isSame && !isFull ? null : await complete()
      current ??= await begin(kind, isFull ? before.number + 1 : 1)
      const separated = current.lines === 0 ? json : `\n${json}`
      texts.push(separated)
      waiting += separated.length
      current.characters += separated.length
      current.lines++
      if (waiting >= collected) await flush(current)
      return done
    },
    complete,
    abandon: async () => {
      await current?.handle.close().catch(() => {})
      current = null
    },
  }
}

export function openArchiveWriter(sink: EntrySink): ArchiveWriter {
  const files: Record<string, ManifestFile> = {}
  const lines = openLineFiles(sink.workFolder)

  async function addLines(file: CompleteFile | null): Promise<void> {
    if (file === null) return
    const { name, path, ...known } = file
    files[name] = known
    await sink.add(name, known.bytes, createReadStream(path))
    await rm(path)
  }

  async function add(name: string, bytes: number, content: Readable): Promise<void> {
    await addLines(await lines.complete())
    const hash = createHash('sha256')
    const hashed = new Transform({
      transform: (chunk: Buffer, _, done) => {
        hash.update(chunk)
        done(null, chunk)
      },
    })
    content.on('error', (error) => hashed.destroy(error))
    await sink.add(name, bytes, content.pipe(hashed))
    files[name] = { bytes, sha256: hash.digest('hex') }
  }

  const text = (name: string, content: Buffer): Promise<void> => add(name, content.length, Readable.from([content]))

  return {
    line: async (kind, json) => addLines(await lines.add(kind, json)),
    file: add,
    text,
    abandon: async () => {
      await lines.abandon()
      await sink.abandon()
    },
    finish: async ({ version, now, scope }) => {
      const metadata = { createdAt: now.toISOString(), strapi: { version: strapiVersion } }
      await text(metadataName, Buffer.from(JSON.stringify(metadata, null, 2)))
      const manifest: Manifest = { octavo: version, format: 1, scope, files }
      await text(manifestName, Buffer.from(JSON.stringify(manifest, null, 2)))
      return sink.finish()
    },
  }
}

export interface ContainerOptions {
  readonly format: 'tar' | 'dir'
  readonly compress: boolean
  /** Null: not encrypted. */
  readonly password: string | null
  /** Replaces an archive with the same name. */
  readonly overwrite: boolean
}

/** Destination of the files of one archive. */
interface EntrySink {
  /** A temporary file or folder next to the archive; removed by `finish` and `abandon`. */
  readonly workFolder: string
  /** Adds a file of exactly `bytes` bytes. */
  add(name: string, bytes: number, content: Readable): Promise<void>
  /** Moves the archive to its final name. Returns its path and size. */
  finish(): Promise<{ readonly path: string; readonly bytes: number }>
  /** Removes all written files. */
  abandon(): Promise<void>
}

/** `export.tar.gz.enc`; the unchanged name for a folder. */
const archivePath = (base: string, { format, compress, password }: ContainerOptions): string =>
  format === 'dir' ? base : `${base}.tar${compress ? '.gz' : ''}${password === null ? '' : '.enc'}`

/**
 * Starts an archive.
 * @throws ConfigError if one with this name exists and may not be replaced
 */
export async function openSink(base: string, options: ContainerOptions): Promise<EntrySink> {
  const path = archivePath(base, options)
  if (existsSync(path) && options.overwrite && !(await isReplaceable(path, options)))
    throw new ConfigError(`${path} is not an archive, and is not replaced. Choose another name with -f`)
  if (existsSync(path) && !options.overwrite)
    throw new ConfigError(`${path} exists. Choose another name with -f, or replace it with --overwrite`)
  const workFolder = join(dirname(path), `.${basename(path)}.${randomBytes(6).toString('hex')}.part`)
  await mkdir(dirname(path), { recursive: true })
  await mkdir(workFolder, { mode: 0o700 })
  return options.format === 'dir' ? folderSink(path, workFolder) : tarSink(path, workFolder, options)
}

/** True for an archive of the same form, or an empty folder. */
async function isReplaceable(path: string, { format }: ContainerOptions): Promise<boolean> {
  const stats = await stat(path)
  if (format === 'tar') return stats.isFile()
  if (!stats.isDirectory()) return false
  const names = await readdir(path)
  return names.length === 0 || names.includes(metadataName)
}

const ownersFile = 0o600

function folderSink(path: string, workFolder: string): EntrySink {
  const content = join(workFolder, 'content')
  let bytes = 0
  return {
    workFolder,
    add: async (name, size, stream) => {
      const file = join(content, name)
      await mkdir(dirname(file), { recursive: true })
      await pipeline(stream, createWriteStream(file, { flags: 'wx', mode: ownersFile }))
      bytes += size
    },
    finish: async () => {
      // A folder cannot be renamed onto one that is not empty.
      const replaced = join(workFolder, 'replaced')
      if (existsSync(path)) await rename(path, replaced)
      await rename(content, path)
      await syncToDisk(dirname(path))
      await rm(workFolder, { recursive: true, force: true })
      return { path, bytes }
    },
    abandon: () => rm(workFolder, { recursive: true, force: true }),
  }
}

function tarSink(path: string, workFolder: string, { compress, password }: ContainerOptions): EntrySink {
  const partial = join(workFolder, 'archive')
  const tar = pack()
  const mtime = new Date()
  const stages = [
    ...(compress ? [createGzip()] : []),
    ...(password === null ? [] : [encryption(password)]),
    createWriteStream(partial, { flags: 'wx', mode: ownersFile }),
  ]
  let failure: Error | null = null
  let fail: (error: Error) => void = () => {}
  const written = pipeline([tar as unknown as Readable, ...(stages as Transform[])]).catch((error: Error) => {
    failure = error
    fail(error)
  })

  async function add(name: string, size: number, content: Readable): Promise<void> {
    if (failure !== null) throw failure
    await new Promise<void>((resolve, reject) => {
      fail = reject
      // Fails unless the content has `size` bytes.
      const entry = tar.entry({ name, size, mtime, mode: 0o644, uid: 0, gid: 0 }, (error) => (error ? reject(error) : resolve()))
      pipeline(content, entry as unknown as NodeJS.WritableStream).catch(reject)
    })
  }

  return {
    workFolder,
    add,
    finish: async () => {
      tar.finalize()
      await written
      if (failure !== null) throw failure
      await syncToDisk(partial)
      await rename(partial, path)
      await syncToDisk(dirname(path))
      await rm(workFolder, { recursive: true, force: true })
      return { path, bytes: (await stat(path)).size }
    },
    abandon: async () => {
      tar.destroy()
      await written
      await rm(workFolder, { recursive: true, force: true })
    },
  }
}
