// The names of the files of an archive in Strapi's format, and what a line of each holds.

/** The folders whose files have one JSON document a line, in the order in which they are written. */
export type LineKind = 'schemas' | 'entities' | 'links' | 'configuration' | 'octavo'

export const lineKinds: readonly LineKind[] = ['schemas', 'entities', 'links', 'configuration', 'octavo']

/** Characters of one file of lines; the next line begins another one. */
export const lineFileCharacters = 256_000_000

/** `entities/entities_00001.jsonl`. */
export const lineFileName = (kind: LineKind, number: number): string => `${kind}/${kind}_${String(number).padStart(5, '0')}.jsonl`

/** When the archive was made, and by which version; the last file that Strapi knows. */
export const metadataName = 'metadata.json'

/** Checksums and counts of all files: Octavo's own addition, which Strapi ignores. */
export const manifestName = 'octavo.json'

/** The version of Strapi whose format this is. */
export const strapiVersion = '5.54.0'

export const uploadName = (file: string): string => `assets/uploads/${file}`
export const uploadMetadataName = (file: string): string => `assets/metadata/${file}.json`

/** What the files of a name are: lines of a kind, the bytes of an upload, what is known of one; null for anything else. */
export type EntryKind =
  | { readonly kind: 'lines'; readonly lines: LineKind }
  | { readonly kind: 'upload'; readonly file: string }
  | { readonly kind: 'uploadMetadata'; readonly file: string }
  | { readonly kind: 'metadata' }
  | { readonly kind: 'manifest' }

/** Reads the name of a file in an archive; null: the format has no such file. */
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

/** A row of `links/`: the owner and its attribute, and the row that it leads to. `pos`: the value of an order column. */
export interface LinkLine {
  readonly kind: 'relation.basic' | 'relation.circular' | 'relation.morph'
  readonly relation: string
  readonly left: { readonly type: string; readonly field: string; readonly ref: number; readonly pos?: number }
  readonly right: { readonly type: string; readonly field?: string; readonly ref: number | string; readonly pos?: number }
}

/** One file of an archive. */
export interface ManifestFile {
  readonly bytes: number
  /** Hexadecimal. */
  readonly sha256: string
  /** Lines of a file of lines. */
  readonly lines?: number
}

/** The scope of an export. `types`: the content-types whose entities belong to it. */
export interface ManifestScope {
  readonly content: boolean
  readonly files: boolean
  readonly configuration: boolean
  readonly types: readonly string[]
}

/** The contents of `octavo.json`. */
export interface Manifest {
  readonly octavo: string
  readonly format: 1
  /** What the export was asked for: an import replaces no more. */
  readonly scope: ManifestScope
  readonly files: Readonly<Record<string, ManifestFile>>
}
