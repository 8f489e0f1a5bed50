// The format of Strapi's archives: names of files, and the content of their lines.

import { createCipheriv, createDecipheriv, scryptSync } from 'node:crypto'
import { createReadStream } from 'node:fs'
import type { Transform } from 'node:stream'
import { didYouMean } from '../../foundation/errors/did-you-mean.js'
import { ConfigError } from '../../foundation/errors/errors.js'
import { fileType } from '../../model/schema/link.js'

/** Folders with files of JSON lines, in the order of writing. */
export type LineKind = 'schemas' | 'entities' | 'links' | 'configuration' | 'octavo'

const lineKinds: readonly LineKind[] = ['schemas', 'entities', 'links', 'configuration', 'octavo']

/** Characters of one file of lines, after which the next file begins. */
export const lineFileCharacters = 256_000_000

/** Bytes of one line. */
export const maxLineBytes = ({ archiveBytes }: { readonly archiveBytes: number }): number =>
  Math.min(256_000_000, Math.ceil(archiveBytes / 4))

/** `entities/entities_00001.jsonl`. */
export const lineFileName = (kind: LineKind, number: number): string => `${kind}/${kind}_${String(number).padStart(5, '0')}.jsonl`

/** Time and version of the export; the last file that Strapi reads. */
export const metadataName = 'metadata.json'

/** Checksums and counts of all files: Octavo's addition, which Strapi ignores. */
export const manifestName = 'octavo.json'

/** The version of Strapi that defines the format. */
export const strapiVersion = '5.54.0'

export const uploadName = (file: string): string => `assets/uploads/${file}`
export const uploadMetadataName = (file: string): string => `assets/metadata/${file}.json`

/** Kind of a file: lines, an upload, or the metadata of one; null for any other file. */
type EntryKind =
  | { readonly kind: 'lines'; readonly lines: LineKind }
  | { readonly kind: 'upload'; readonly file: string }
  | { readonly kind: 'uploadMetadata'; readonly file: string }
  | { readonly kind: 'metadata' }
  | { readonly kind: 'manifest' }

/** Classifies a file by its name; null if the format has no such file. */
export function entryKind(name: string): EntryKind | null {
  if (name === metadataName) return { kind: 'metadata' }
  if (name === manifestName) return { kind: 'manifest' }
  const [, folder] = /^(\w+)\/\1_\d{1,10}\.jsonl$/.exec(name) ?? []
  const lines = lineKinds.find((kind) => kind === folder)
  if (lines !== undefined) return { kind: 'lines', lines }
  const [, upload] = /^assets\/uploads\/([^/]+)$/.exec(name) ?? []
  if (upload !== undefined) return { kind: 'upload', file: upload }
  const [, metadata] = /^assets\/metadata\/([^/]+)\.json$/.exec(name) ?? []
  return metadata === undefined ? null : { kind: 'uploadMetadata', file: metadata }
}

/** A line of `links/`: owner and attribute, and target. `pos`: value of an order column. */
export interface LinkLine {
  readonly kind: 'relation.basic' | 'relation.circular' | 'relation.morph'
  readonly relation: string
  readonly left: { readonly type: string; readonly field: string; readonly ref: number; readonly pos?: number }
  readonly right: { readonly type: string; readonly field?: string; readonly ref: number | string; readonly pos?: number }
}

export interface ManifestFile {
  readonly bytes: number
  readonly sha256: string
  /** Number of lines in a file of lines. */
  readonly lines?: number
}

/** Scope of an export. `types`: exported content-types. */
export interface ManifestScope {
  readonly content: boolean
  readonly files: boolean
  readonly configuration: boolean
  readonly types: readonly string[]
}

/** Content of `octavo.json`. */
export interface Manifest {
  readonly octavo: string
  readonly format: 1
  /** Requested scope, which limits what an import replaces. */
  readonly scope: ManifestScope
  readonly files: Readonly<Record<string, ManifestFile>>
}

/** A line with its location: `entities/entities_00001.jsonl, line 12`. */
export interface ArchiveLine {
  readonly text: string
  readonly where: string
}

export interface ArchiveLineFile {
  readonly name: string
  readonly path: string
}

const lineFeed = 0x0a

/**
 * Reads the lines of files, except empty ones.
 * @throws ConfigError for a line longer than `longest` bytes, or not in UTF-8
 */
export async function* linesOf(files: readonly ArchiveLineFile[], longest: number): AsyncGenerator<ArchiveLine> {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false })
  for (const { name, path } of files) {
    let number = 0
    let pieces: Buffer[] = []
    let bytes = 0
    const whole = (last: Buffer): ArchiveLine => {
      const where = `${name}, line ${++number}`
      try {
        return { text: decoder.decode(pieces.length === 0 ? last : Buffer.concat([...pieces, last])), where }
      } catch {
        throw new ConfigError(`${where} is not UTF-8. Nothing was changed`)
      } finally {
        pieces = []
        bytes = 0
      }
    }
    for await (const chunk of createReadStream(path, { highWaterMark: 1_000_000 }) as AsyncIterable<Buffer>) {
      let start = 0
      for (let end = chunk.indexOf(lineFeed); end !== -1; end = chunk.indexOf(lineFeed, start)) {
        const line = whole(chunk.subarray(start, end))
        if (line.text !== '') yield line
        start = end + 1
      }
      const rest = chunk.subarray(start)
      bytes += rest.length
      if (bytes > longest)
        throw new ConfigError(
          `${name}, line ${number + 1} has more than ${longest} bytes (a quarter of limits.archiveBytes, or 256 MB). Nothing was changed`,
        )
      if (rest.length > 0) pieces.push(rest)
    }
    const line = whole(Buffer.alloc(0))
    if (line.text !== '') yield line
  }
}

const [quote, backslash, comma, colon] = [0x22, 0x5c, 0x2c, 0x3a]
const [brace, bracket, braceEnd, bracketEnd] = [0x7b, 0x5b, 0x7d, 0x5d]

const isSpace = (code: number): boolean => code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09

/** Returns the position after the string at `start`. */
function endOfString(json: string, start: number): number {
  for (let at = start + 1; ; at++) {
    at = json.indexOf('"', at)
    let slashes = 0
    while (json.charCodeAt(at - 1 - slashes) === backslash) slashes++
    if (slashes % 2 === 0) return at + 1
  }
}

/** Returns the position after the value at `start`. */
function endOfValue(json: string, start: number): number {
  let depth = 0
  for (let at = start; at < json.length; at++) {
    const code = json.charCodeAt(at)
    if (code === quote) at = endOfString(json, at) - 1
    else if (code === brace || code === bracket) depth++
    else if (code === braceEnd || code === bracketEnd) {
      if (depth === 0) return at
      depth--
      if (depth === 0) return at + 1
    } else if (code === comma && depth === 0) return at
  }
  return json.length
}

const skipSpace = (json: string, from: number): number => {
  let at = from
  while (isSpace(json.charCodeAt(at))) at++
  return at
}

/** Members of a valid JSON object, with values as JSON; null for any other text. */
export function membersOf(json: string): ReadonlyMap<string, string> | null {
  let at = skipSpace(json, 0)
  if (json.charCodeAt(at) !== brace) return null
  const members = new Map<string, string>()
  for (at = skipSpace(json, at + 1); json.charCodeAt(at) === quote; at = skipSpace(json, at)) {
    const end = endOfString(json, at)
    const name = JSON.parse(json.slice(at, end)) as string
    at = skipSpace(json, end)
    if (json.charCodeAt(at) === colon) at = skipSpace(json, at + 1)
    const behind = endOfValue(json, at)
    members.set(name, json.slice(at, behind).trimEnd())
    at = behind
    if (json.charCodeAt(at) === comma) at = skipSpace(json, at + 1)
  }
  return members
}

/** Elements of a valid JSON array, as JSON; null for any other text. */
export function elementsOf(json: string): readonly string[] | null {
  let at = skipSpace(json, 0)
  if (json.charCodeAt(at) !== bracket) return null
  const elements: string[] = []
  for (at = skipSpace(json, at + 1); at < json.length && json.charCodeAt(at) !== bracketEnd; at = skipSpace(json, at)) {
    const behind = endOfValue(json, at)
    elements.push(json.slice(at, behind).trimEnd())
    at = behind
    if (json.charCodeAt(at) === comma) at = skipSpace(json, at + 1)
  }
  return elements
}

const algorithm = 'aes-128-ecb'
const keyBytes = 16

const keyOf = (password: string): Buffer => scryptSync(password, '', keyBytes)

export const encryption = (password: string): Transform => createCipheriv(algorithm, keyOf(password), null)

/** With a wrong password, the stream fails at the end or yields garbage. */
export const decryption = (password: string): Transform => createDecipheriv(algorithm, keyOf(password), null)

/** Options of a command: comma-separated names. */
export interface PartOptions {
  readonly only?: string
  readonly exclude?: string
  readonly onlyContentTypes?: string
  readonly excludeContentTypes?: string
}

/** Scope of an export or import. */
export interface ArchiveScope {
  /** Entities and links. */
  readonly content: boolean
  /** Uploaded files. */
  readonly files: boolean
  /** Settings and webhooks. */
  readonly configuration: boolean
  /** True if entities of this content-type are included. */
  hasType(uid: string): boolean
  readonly isWhole: boolean
}

const parts = ['content', 'files', 'config'] as const
const excludable = [...parts, 'media-library'] as const

const isMediaLibrary = (uid: string): boolean => uid.startsWith('plugin::upload.')

/** False for types of the admin panel and of releases, which are neither exported nor replaced. */
export const isExportable = (uid: string): boolean => !uid.startsWith('admin::') && !uid.startsWith('plugin::content-releases.')

/** Parses the options. `types`: the valid content-types. @throws ConfigError for an unknown name */
export function scopeOf(options: PartOptions, types: Iterable<string>): ArchiveScope {
  const known = [...types].filter(isExportable)
  const only = namesOf('--only', options.only, parts)
  const exclude = namesOf('--exclude', options.exclude, excludable)
  const onlyTypes = namesOf('--only-content-types', options.onlyContentTypes, known)
  const excludedTypes = namesOf('--exclude-content-types', options.excludeContentTypes, known)
  const has = (part: (typeof parts)[number]): boolean => (only === null || only.has(part)) && exclude?.has(part) !== true
  const hasMedia = exclude?.has('media-library') !== true
  const hasType = (uid: string): boolean =>
    isExportable(uid) &&
    (onlyTypes === null || onlyTypes.has(uid)) &&
    excludedTypes?.has(uid) !== true &&
    (hasMedia || !isMediaLibrary(uid))
  return {
    content: has('content'),
    files: has('files') && hasMedia && (!has('content') || hasType(fileType)),
    configuration: has('config'),
    hasType,
    isWhole: has('content') && known.every(hasType),
  }
}

function namesOf(option: string, text: string | undefined, known: readonly string[]): ReadonlySet<string> | null {
  if (text === undefined) return null
  const names = text.split(',').map((name) => name.trim())
  for (const name of names) {
    if (known.includes(name)) continue
    throw new ConfigError(`${option} names "${name}", which does not exist${didYouMean(name, known)}`)
  }
  return new Set(names)
}
