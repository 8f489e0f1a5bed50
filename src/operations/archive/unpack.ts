// Unpacks an archive into a temporary folder, within limits: files of lines, and uploads. Verifies them by the manifest.

import { createHash } from 'node:crypto'
import { constants, createReadStream, createWriteStream } from 'node:fs'
import { lstat, mkdir, open, readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { type Readable, Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { extract, type Header } from 'tar-stream'
import { ConfigError } from '../../foundation/errors/errors.js'
import { checkStructure } from '../../foundation/runtime/json-structure.js'
import {
  type ArchiveLine,
  type ArchiveLineFile,
  decryption,
  entryKind,
  type LineKind,
  type LinkLine,
  type Manifest,
  type ManifestFile,
  manifestName,
  membersOf,
  metadataName,
} from './format.js'
import { idOf } from './imported-rows.js'

interface ArchiveLimits {
  readonly archiveFiles: number
  readonly archiveBytes: number
}

/** Unpacked bytes for each byte of a compressed archive. */
const maxRatio = 250

interface UnpackedUpload {
  readonly path: string
  readonly bytes: number
  readonly sha256: string
  /** Media type stated by the archive. */
  readonly mime: string
}

export interface UnpackedArchive {
  /** The version of Strapi, or a compatible one. */
  readonly strapiVersion: string
  readonly createdAt: string | null
  /** Checksums and scope of the export; null if Octavo did not write the archive. */
  readonly manifest: Manifest | null
  readonly lines: Readonly<Record<LineKind, readonly ArchiveLineFile[]>>
  /** By name in the storage. */
  readonly uploads: ReadonlyMap<string, UnpackedUpload>
}

/** Bytes that are unpacked regardless of the compression ratio. */
const unquestioned = 1_000_000_000

/** Maximum bytes of the metadata of an archive or upload, and of the manifest. */
const [aboutBytes, manifestBytes] = [16_000_000, 500_000_000]

/** Lines may contain secrets; uploads get the default mode of the process. */
const [ownersFile, uploadsFile] = [0o600, 0o666]

/** Valid names in a storage. */
const uploadForm = /^[^.][^\\/]*$/

/**
 * Unpacks an archive.
 * @throws ConfigError with a sentence if it is incomplete, damaged, beyond a limit, or in another format
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

interface WrittenFile {
  readonly path: string
  readonly known: ManifestFile & { readonly sha256: string }
}

/** Writes a file of an archive; `bound`: maximum bytes. */
type WriteFile = (entry: ArchiveEntry, bound?: number, mode?: number) => Promise<WrittenFile>

/** Writes files under numbers, and counts their bytes and lines. */
function openFileWriter(folder: string, form: ArchiveForm, limits: ArchiveLimits): WriteFile {
  const { archiveBytes } = limits
  const most = form.isCompressed ? Math.min(archiveBytes, Math.max(unquestioned, form.bytes * maxRatio)) : archiveBytes
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
    `The archive has more than ${most} bytes when unpacked (limits.archiveBytes, or ${maxRatio} times its compressed size). Nothing was changed; decompress it first if you trust it`,
  )

const numberOf = (name: string): number => Number(/_(\d+)\.jsonl$/.exec(name)?.[1] ?? 0)

function parsed(name: string, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new ConfigError(`${name} is not JSON: ${(error as Error).message}. Nothing was changed`)
  }
}

/** The media type in the metadata of an upload. */
function mimeIn(name: string, text: string): string {
  const metadata = parsed(name, text)
  const mime = isObject(metadata) ? metadata.mime : undefined
  return typeof mime === 'string' && /^[\w.+-]{1,100}\/[\w.+-]{1,100}$/.test(mime) ? mime : 'application/octet-stream'
}

/** @throws ConfigError for an archive of another major version, which has another model */
function metadataIn(text: string | undefined): Pick<UnpackedArchive, 'strapiVersion' | 'createdAt'> {
  if (text === undefined)
    throw new ConfigError(`The archive has no ${metadataName}: it is incomplete, or not from Strapi. Nothing was changed`)
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

/** @throws ConfigError that names damaged files */
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

/** @throws ConfigError if a line is not JSON, or nested too deeply */
function parsedLine({ text, where }: ArchiveLine): unknown {
  try {
    checkStructure(Buffer.from(text), Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY)
    return JSON.parse(text)
  } catch (error) {
    throw new ConfigError(`${where} is not JSON: ${(error as Error).message}. Nothing was changed`)
  }
}

/** An entity: its type, row id, and attributes as JSON. */
interface EntityLine {
  readonly type: string
  readonly id: number
  readonly data: string
}

/** Parses a line of `entities/`. @throws ConfigError if it is invalid */
export function entityIn(line: ArchiveLine): EntityLine {
  parsedLine(line)
  const members = membersOf(line.text)
  const type = stringIn(members?.get('type'))
  const data = members?.get('data')
  if (type === null || data === undefined) throw new ConfigError(`${line.where} is not an entity. Nothing was changed`)
  return { type, id: idOf(members?.get('id'), line.where), data }
}

const stringIn = (json: string | undefined): string | null => (json?.startsWith('"') === true ? (JSON.parse(json) as string) : null)

type Fields = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is Fields => typeof value === 'object' && value !== null && !Array.isArray(value)

const isText = (value: unknown): value is string => typeof value === 'string'
const isPlace = (value: unknown): boolean => value === undefined || (typeof value === 'number' && Number.isFinite(value))

/** Parses a line of `links/`. @throws ConfigError if it is invalid */
export function linkIn(line: ArchiveLine): LinkLine {
  const value = parsedLine(line)
  if (!isObject(value) || !isObject(value.left) || !isObject(value.right)) throw notALink(line)
  const { left, right } = value
  // Strapi writes null if the table has no such column.
  const places = [left.pos ?? undefined, right.pos ?? undefined]
  const isWhole =
    [value.kind, value.relation, left.type, left.field, right.type].every(isText) &&
    (right.field === undefined || right.field === null || isText(right.field)) &&
    [left.ref, right.ref].every((ref) => isText(ref) || Number.isSafeInteger(ref)) &&
    places.every(isPlace)
  if (!isWhole) throw notALink(line)
  return value as unknown as LinkLine
}

const notALink = ({ where }: ArchiveLine): ConfigError => new ConfigError(`${where} is not a relation. Nothing was changed`)

/** A setting, webhook, or row of Octavo's tables: its type, and members of its value as JSON. */
interface ValueLine {
  readonly type: string
  readonly value: ReadonlyMap<string, string>
}

/** Parses a line of `configuration/` or `octavo/`. @throws ConfigError if it is invalid */
export function valueIn(line: ArchiveLine): ValueLine {
  parsedLine(line)
  const members = membersOf(line.text)
  const type = stringIn(members?.get('type'))
  const value = membersOf(members?.get('value') ?? 'null')
  if (type === null || value === null) throw new ConfigError(`${line.where} is not as Strapi writes it. Nothing was changed`)
  return { type, value }
}

/** A file of an archive. Its content must be read before the next file. */
interface ArchiveEntry {
  readonly name: string
  readonly content: Readable
}

interface ArchiveForm {
  readonly kind: 'tar' | 'dir'
  readonly isEncrypted: boolean
  readonly isCompressed: boolean
  /** Size of the file; 0 for a folder. */
  readonly bytes: number
}

/** Recognizes an archive by its extensions, as Strapi does. @throws ConfigError for any other file */
export async function formOf(path: string): Promise<ArchiveForm> {
  const stats = await stat(path).catch(() => null)
  if (stats === null) throw new ConfigError(`There is no archive at ${path}`)
  if (stats.isDirectory()) return { kind: 'dir', isEncrypted: false, isCompressed: false, bytes: 0 }
  const [, compressed, encrypted] = /\.tar(\.gz)?(\.enc)?$/.exec(path) ?? []
  if (!/\.tar(\.gz)?(\.enc)?$/.test(path))
    throw new ConfigError(
      `${path} is not an archive of Strapi: its name does not end in .tar, .tar.gz, .tar.enc or .tar.gz.enc, and it is not a folder`,
    )
  return { kind: 'tar', isEncrypted: encrypted !== undefined, isCompressed: compressed !== undefined, bytes: stats.size }
}

/**
 * Reads the files of an archive.
 * @throws ConfigError for a wrong password, a damaged archive, links, or paths that lead out of it
 */
const entriesOf = (path: string, form: ArchiveForm, password: string | null): AsyncGenerator<ArchiveEntry> =>
  form.kind === 'dir' ? folderEntries(path, '') : tarEntries(path, form, password)

/** @throws ConfigError unless the name is a path in the archive */
function checkName(name: string): void {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: names must not have control characters
  const isHarmless = name.length <= 1024 && !/[\u0000-\u001f\u007f\\]/.test(name) && !name.startsWith('/')
  if (!isHarmless || name.split('/').some((part) => part === '..' || part === '.' || part === ''))
    throw new ConfigError(
      `The archive has a file with the name ${JSON.stringify(name.slice(0, 200))}, which is not allowed. Nothing was changed`,
    )
}

const folders: readonly string[] = [
  'schemas',
  'entities',
  'links',
  'configuration',
  'octavo',
  'assets',
  'assets/uploads',
  'assets/metadata',
]

async function* folderEntries(root: string, below: string): AsyncGenerator<ArchiveEntry> {
  for (const entry of (await readdir(join(root, below), { withFileTypes: true })).sort((one, other) => (one.name < other.name ? -1 : 1))) {
    const name = below === '' ? entry.name : `${below}/${entry.name}`
    if (entry.isDirectory()) {
      // Other folders are not part of the format.
      if (folders.includes(name)) yield* folderEntries(root, name)
      continue
    }
    checkName(name)
    if (!(await lstat(join(root, name))).isFile()) throw new ConfigError(`${join(root, name)} is a link or a device, not a file`)
    const handle = await open(join(root, name), constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0))
    try {
      yield { name, content: handle.createReadStream({ autoClose: false }) }
    } finally {
      await handle.close()
    }
  }
}

async function* tarEntries(
  path: string,
  { isEncrypted, isCompressed }: ArchiveForm,
  password: string | null,
): AsyncGenerator<ArchiveEntry> {
  const tar = extract()
  const file = createReadStream(path)
  const stages = [...(isEncrypted ? [decryption(password ?? '')] : []), ...(isCompressed ? [createGunzip()] : [])]
  const stream = stages.reduce<Readable>((from, to) => {
    from.on('error', (error) => to.destroy(error))
    return from.pipe(to)
  }, file)
  stream.on('error', (error) => tar.destroy(error))
  stream.pipe(tar as unknown as NodeJS.WritableStream)
  let entries = 0
  try {
    for await (const source of tar) {
      const { name, type } = source.header
      checkName(type === 'directory' ? name.replace(/\/$/, '') : name)
      entries++
      if (isPlainFile(source.header)) yield { name, content: source as unknown as Readable }
      else if (type !== 'directory')
        throw new ConfigError(`The archive has a ${type} with the name ${name}, which is not allowed. Nothing was changed`)
      source.resume()
    }
  } catch (error) {
    throw error instanceof ConfigError || isOfFile(error) ? error : unreadable(path, isEncrypted, error as Error)
  } finally {
    tar.destroy()
    for (const each of [file, ...stages]) each.destroy()
  }
  if (entries === 0) throw unreadable(path, isEncrypted, new Error('it has no files'))
}

const isPlainFile = ({ type }: Header): boolean => type === 'file' || type === 'contiguous-file'

/** True if the disk failed. */
const isOfFile = (error: unknown): boolean => typeof (error as NodeJS.ErrnoException).syscall === 'string'

function unreadable(path: string, isEncrypted: boolean, { message }: Error): ConfigError {
  return new ConfigError(
    isEncrypted
      ? `The key is wrong, or ${path} is damaged (${message}). Nothing was changed`
      : `${path} is not an archive of Strapi, or is damaged (${message}). Nothing was changed`,
  )
}
