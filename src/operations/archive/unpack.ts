// Unpacks an archive into a folder of its own, within bounds: files of lines, uploads, and whether all of them are what the archive says.
import { createHash } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { ConfigError } from '../../foundation/errors/errors.js'
import { type ArchiveEntry, type ArchiveForm, entriesOf } from './entry-source.js'
import { entryKind, type LineKind, type Manifest, type ManifestFile, manifestName, metadataName } from './format.js'
import type { ArchiveLineFile } from './lines.js'

/** The bounds of an archive. */
export interface ArchiveLimits {
  readonly archiveFiles: number
  readonly archiveBytes: number
  readonly archiveRatio: number
  readonly archiveLineBytes: number
}

/** An unpacked upload. */
export interface UnpackedUpload {
  readonly path: string
  readonly bytes: number
  /** Hexadecimal. */
  readonly sha256: string
  /** Its media type, as the archive says. */
  readonly mime: string
}

/** An archive whose files lie in a folder. */
export interface UnpackedArchive {
  /** Which version of Strapi made it, or could have. */
  readonly strapiVersion: string
  readonly createdAt: string | null
  /** Checksums and the scope of the export; null: the archive is not Octavo's. */
  readonly manifest: Manifest | null
  readonly lines: Readonly<Record<LineKind, readonly ArchiveLineFile[]>>
  /** By their names in the storage. */
  readonly uploads: ReadonlyMap<string, UnpackedUpload>
}

/** Bytes of an archive that are unpacked whatever their ratio is. */
const unquestioned = 1_000_000_000

/** Bytes of the metadata of an archive or of an upload, and of the list of all files. */
const [aboutBytes, manifestBytes] = [16_000_000, 500_000_000]

/** Lines may have secrets; uploads get the mode that the process gives its files, as others have it. */
const [ownersFile, uploadsFile] = [0o600, 0o666]

/** Names of uploads as storages have them. */
const uploadForm = /^[^.][^\\/]*$/

/**
 * Unpacks an archive.
 * @throws ConfigError with a sentence if it is incomplete, damaged, beyond a limit, or not of this format
 */
export async function unpackArchive(
  path: string,
  form: ArchiveForm,
  password: string | null,
  { folder, limits, report }: { readonly folder: string; readonly limits: ArchiveLimits; report(files: number): void },
): Promise<UnpackedArchive> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const unpacking = openUnpacking(folder, form, limits)
  let files = 0
  for await (const entry of entriesOf(path, form, password)) {
    if (++files > limits.archiveFiles)
      throw new ConfigError(`The archive has more than ${limits.archiveFiles} files (limits.archiveFiles). Nothing was changed`)
    await unpacking.take(entry)
    report(files)
  }
  return unpacking.finish()
}

interface Unpacking {
  take(entry: ArchiveEntry): Promise<void>
  finish(): Promise<UnpackedArchive>
}

/** A file that was written: where it lies, and what is known of it. */
interface WrittenFile {
  readonly path: string
  readonly known: ManifestFile & { readonly sha256: string }
}

/** Writes a file of an archive; `bound`: bytes at most. */
type WriteFile = (entry: ArchiveEntry, bound?: number, mode?: number) => Promise<WrittenFile>

/** Writes files under numbers, and counts their bytes and lines. */
function openFileWriter(folder: string, form: ArchiveForm, limits: ArchiveLimits): WriteFile {
  const { archiveBytes, archiveRatio } = limits
  const most = form.isCompressed ? Math.min(archiveBytes, Math.max(unquestioned, form.bytes * archiveRatio)) : archiveBytes
  let [total, number] = [0, 0]
  return async (entry, bound = Number.POSITIVE_INFINITY, mode = ownersFile) => {
    const path = join(folder, String(++number))
    const hash = createHash('sha256')
    let [bytes, feeds] = [0, 0]
    const counted = new Transform({
      transform: (chunk: Buffer, _, done) => {
        bytes += chunk.length
        total += chunk.length
        hash.update(chunk)
        for (let at = chunk.indexOf(0x0a); at !== -1; at = chunk.indexOf(0x0a, at + 1)) feeds++
        done(bytes > bound ? tooLarge(entry.name, bound) : total > most ? tooMuch(most) : null, chunk)
      },
    })
    await pipeline(entry.content, counted, createWriteStream(path, { flags: 'wx', mode }))
    const isLines = entryKind(entry.name)?.kind === 'lines'
    return { path, known: { bytes, sha256: hash.digest('hex'), ...(isLines && { lines: bytes === 0 ? 0 : feeds + 1 }) } }
  }
}

function openUnpacking(folder: string, form: ArchiveForm, limits: ArchiveLimits): Unpacking {
  const lines: Record<LineKind, ArchiveLineFile[]> = { schemas: [], entities: [], links: [], configuration: [], octavo: [] }
  const uploads = new Map<string, Omit<UnpackedUpload, 'mime'>>()
  const mimes = new Map<string, string>()
  const found = new Map<string, ManifestFile>()
  const about = new Map<string, string>()
  const writeFile = openFileWriter(folder, form, limits)
  const write: WriteFile = async (entry, bound, mode) => {
    const written = await writeFile(entry, bound, mode)
    found.set(entry.name, written.known)
    return written
  }
  const textOf = async (entry: ArchiveEntry, bound: number): Promise<string> => readFile((await write(entry, bound)).path, 'utf8')

  async function take(entry: ArchiveEntry): Promise<void> {
    const { name } = entry
    if (found.has(name)) throw new ConfigError(`The archive has two files with the name ${name}. Nothing was changed`)
    const kind = entryKind(name)
    switch (kind?.kind) {
      case undefined:
        // Strapi ignores such files, too.
        await write(entry)
        break
      case 'lines':
        lines[kind.lines].push({ name, path: (await write(entry)).path })
        break
      case 'upload': {
        checkUploadName(kind.file)
        const { path, known } = await write(entry, undefined, uploadsFile)
        uploads.set(kind.file, { path, bytes: known.bytes, sha256: known.sha256 })
        break
      }
      case 'uploadMetadata':
        mimes.set(kind.file, mimeIn(name, await textOf(entry, aboutBytes)))
        break
      case 'metadata':
        about.set(name, await textOf(entry, aboutBytes))
        break
      case 'manifest':
        about.set(name, await textOf(entry, manifestBytes))
        break
    }
  }

  return {
    take,
    finish: async () => {
      const manifest = manifestIn(about.get(manifestName))
      if (manifest !== null) checkFiles(manifest, found)
      checkDescribed([...uploads.keys()].filter((name) => !mimes.has(name)))
      for (const files of Object.values(lines)) files.sort((one, other) => numberOf(one.name) - numberOf(other.name))
      const complete = new Map([...uploads].map(([name, upload]) => [name, { ...upload, mime: mimes.get(name)! }]))
      return { ...metadataIn(about.get(metadataName)), manifest, lines, uploads: complete }
    },
  }
}

function checkUploadName(file: string): void {
  if (!uploadForm.test(file) || Buffer.byteLength(file) > 255)
    throw new ConfigError(`The archive has an upload with the name ${JSON.stringify(file)}, which is not allowed. Nothing was changed`)
}

function checkDescribed(undescribed: readonly string[]): void {
  if (undescribed.length === 0) return
  const others = undescribed.length > 5 ? ', …' : ''
  throw new ConfigError(`The archive has uploads without metadata: ${undescribed.slice(0, 5).join(', ')}${others}. Nothing was changed`)
}

const tooLarge = (name: string, bound: number): ConfigError => new ConfigError(`${name} has more than ${bound} bytes. Nothing was changed`)

const tooMuch = (most: number): ConfigError =>
  new ConfigError(
    `The archive has more than ${most} bytes when unpacked (limits.archiveBytes, limits.archiveRatio). Nothing was changed; raise the limit if you trust the archive`,
  )

const numberOf = (name: string): number => Number(/_(\d+)\.jsonl$/.exec(name)?.[1] ?? 0)

function parsed(name: string, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new ConfigError(`${name} is not JSON: ${(error as Error).message}. Nothing was changed`)
  }
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The media type in the metadata of an upload. */
function mimeIn(name: string, text: string): string {
  const metadata = parsed(name, text)
  const mime = isObject(metadata) ? metadata.mime : undefined
  return typeof mime === 'string' && /^[\w.+-]{1,100}\/[\w.+-]{1,100}$/.test(mime) ? mime : 'application/octet-stream'
}

/** @throws ConfigError for an archive of another major version, which has another model */
function metadataIn(text: string | undefined): Pick<UnpackedArchive, 'strapiVersion' | 'createdAt'> {
  if (text === undefined)
    throw new ConfigError(`The archive has no ${metadataName}: it is incomplete, or none of Strapi. Nothing was changed`)
  const metadata = parsed(metadataName, text)
  const strapi = isObject(metadata) ? metadata.strapi : undefined
  const version = isObject(strapi) && typeof strapi.version === 'string' ? strapi.version : ''
  if (!/^5\./.test(version))
    throw new ConfigError(
      `The archive was made by Strapi ${version === '' ? 'of an unknown version' : version.slice(0, 50)}; only archives of Strapi 5 can be imported. Nothing was changed`,
    )
  const { createdAt } = metadata as Readonly<Record<string, unknown>>
  return { strapiVersion: version, createdAt: typeof createdAt === 'string' ? createdAt : null }
}

function manifestIn(text: string | undefined): Manifest | null {
  if (text === undefined) return null
  const manifest = parsed(manifestName, text)
  if (!isObject(manifest) || !isObject(manifest.files) || !isObject(manifest.scope))
    throw new ConfigError(`${manifestName} of the archive is not as Octavo writes it. Nothing was changed`)
  if (manifest.format !== 1)
    throw new ConfigError('The archive was made by a later version of Octavo, which this one cannot read. Nothing was changed')
  return manifest as unknown as Manifest
}

/** @throws ConfigError that names the files that are not as they were written */
function checkFiles({ files }: Manifest, found: ReadonlyMap<string, ManifestFile>): void {
  const isSame = (name: string, { bytes, sha256, lines }: ManifestFile): boolean => {
    const there = found.get(name)
    return there !== undefined && there.bytes === bytes && there.sha256 === sha256 && there.lines === lines
  }
  const wrong = Object.entries(files)
    .filter(([name, file]) => !isObject(file) || !isSame(name, file))
    .map(([name]) => name)
  const extra = [...found.keys()].filter((name) => !Object.hasOwn(files, name) && name !== manifestName && entryKind(name) !== null)
  if (wrong.length + extra.length === 0) return
  const shown = [...wrong, ...extra].slice(0, 5).join(', ')
  throw new ConfigError(
    `The archive is damaged: ${wrong.length + extra.length} of its files are not as they were written (${shown}). Nothing was changed`,
  )
}
