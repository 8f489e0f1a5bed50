// Uploads and what is known of them, in pairs: every file of the media library with its formats.

import type { Absence, NamedFile, StoredFiles } from '../../content/media/stored-files.js'
import { fileType } from '../../model/schema/link.js'
import type { ArchiveWriter } from './archive-writer.js'
import { type ExportedTables, exportedRows } from './exported-rows.js'
import { uploadMetadataName, uploadName } from './format.js'

/** A file to export: the JSON text of its metadata, and where its bytes are. */
interface Asset extends NamedFile {
  readonly metadata: string
}

interface FileData {
  readonly hash?: unknown
  readonly ext?: unknown
  readonly url?: unknown
  readonly provider?: unknown
  readonly formats?: unknown
}

async function* assetsOf(tables: ExportedTables): AsyncGenerator<Asset> {
  for await (const { id, text } of exportedRows(tables, tables.model.types.get(fileType)!)) {
    const file = JSON.parse(text) as FileData
    const provider = String(file.provider)
    yield { name: nameOf(file), url: String(file.url), provider, metadata: `{"id":${id},${text.slice(1)}` }
    for (const [type, format] of formatsOf(file)) {
      const metadata = JSON.stringify({ ...format, type, id, mainHash: file.hash })
      yield { name: nameOf(format), url: String(format.url), provider, metadata }
    }
  }
}

const nameOf = ({ hash, ext }: FileData): string => `${hash ?? ''}${ext ?? ''}`

function formatsOf({ formats }: FileData): readonly [string, FileData][] {
  if (typeof formats !== 'object' || formats === null || Array.isArray(formats)) return []
  return Object.entries(formats).filter((entry): entry is [string, FileData] => typeof entry[1] === 'object' && entry[1] !== null)
}

/** The names of a file and its formats, by the JSON text of its row. */
export function namesOfFile(data: string): readonly string[] {
  const file = JSON.parse(data) as FileData
  return [nameOf(file), ...formatsOf(file).map(([, format]) => nameOf(format))]
}

/** Keeps all files as they are now: those that are replaced or removed while the export runs would not be those of its rows. */
export async function pinAssets(tables: ExportedTables, files: StoredFiles): Promise<void> {
  for await (const asset of assetsOf(tables)) await files.pin(asset)
}

/** A file that is not in the archive. */
export interface MissingFile {
  readonly name: string
  readonly url: string
  readonly why: Absence
}

/** Writes all files. Returns how many, and those that are missing. */
export async function writeAssets(
  tables: ExportedTables,
  files: StoredFiles,
  writer: ArchiveWriter,
  report: (done: number) => void,
): Promise<{ readonly written: number; readonly missing: readonly MissingFile[] }> {
  const missing: MissingFile[] = []
  const seen = new Set<string>()
  for await (const asset of assetsOf(tables)) {
    if (seen.has(asset.name)) continue
    seen.add(asset.name)
    const file = await files.find(asset)
    if (typeof file === 'string') {
      missing.push({ name: asset.name, url: asset.url, why: file })
      continue
    }
    const metadata = Buffer.from(asset.metadata)
    await writer.text(uploadMetadataName(asset.name), metadata)
    await writer.file(uploadName(asset.name), file.bytes, file.open())
    report(seen.size - missing.length)
  }
  return { written: seen.size - missing.length, missing }
}
