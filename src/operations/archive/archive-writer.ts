// Writes an archive: lines into numbered files, uploads, and at the end what is known of all files.
import { createHash, type Hash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { type FileHandle, open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable, Transform } from 'node:stream'
import type { EntrySink } from './entry-sink.js'
import {
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

/** Writes the files of an archive in their order. */
export interface ArchiveWriter {
  /** Adds a JSON text without line breaks. All lines of a kind follow each other. */
  line(kind: LineKind, text: string): Promise<void>
  /** Adds a file of `bytes` bytes. */
  file(name: string, bytes: number, content: Readable): Promise<void>
  /** Adds a small file. */
  text(name: string, content: Buffer): Promise<void>
  /** Removes everything that was written. */
  abandon(): Promise<void>
  /** Adds metadata and checksums, and completes the archive. */
  finish(about: ArchiveOrigin): Promise<WrittenArchive>
}

/** Which version of Octavo made an archive, when, and of what. */
export interface ArchiveOrigin {
  readonly version: string
  readonly now: Date
  readonly scope: ManifestScope
}

/** A complete archive. */
export interface WrittenArchive {
  readonly path: string
  readonly bytes: number
}

/** A file of lines that is being written. */
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

/** Characters that are collected before they are written. */
const collected = 1_000_000

/** A file that is complete, and what is known of it. */
interface CompleteFile extends ManifestFile {
  readonly name: string
  readonly path: string
}

/** Writes lines into files of a bounded size, one file at a time. */
interface LineFiles {
  /** Adds a line. Returns the file that it has completed, if it began another one. */
  add(kind: LineKind, json: string): Promise<CompleteFile | null>
  /** Completes the file that is being written. */
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

/** Begins an archive in a place. */
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
