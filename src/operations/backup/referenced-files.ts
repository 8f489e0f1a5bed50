// The files that the rows of a database refer to: those of the media library, with their formats.
import { basename } from 'node:path'
import { decodedUrl } from '../../content/media/storage/s3-address.js'
import { batchesOf } from '../../database/transfer/row-batches.js'
import type { CopiedRow, RowSource, RowTable } from '../../database/transfer/rows.js'

/** A file as its row refers to it. */
export interface ReferencedFile {
  /** Names that it may have in its storage, the likeliest first. */
  readonly names: readonly string[]
  /** The storage, as in the column. */
  readonly provider: string
  readonly url: string
  readonly mime: string
  /** The text of its row, by which a later state is told apart. */
  readonly row: string
}

interface FileData {
  readonly hash?: unknown
  readonly ext?: unknown
  readonly url?: unknown
  readonly mime?: unknown
}

/** All files of the media library, and their formats, in the order of their rows. */
export async function referencedFiles(rows: RowSource): Promise<readonly ReferencedFile[]> {
  const table = (await rows.tables()).find(({ name }) => name === 'files')
  if (table === undefined) return []
  const found: ReferencedFile[] = []
  for await (const batch of batchesOf(rows, table)) for (const row of batch) found.push(...filesOf(table, row))
  return found
}

/** The ids of replacements that are committed and not finished. */
export async function committedSwaps(rows: RowSource): Promise<ReadonlySet<string>> {
  const table = (await rows.tables()).find(({ name }) => name === 'octavo_file_swaps')
  const ids = new Set<string>()
  if (table === undefined) return ids
  for await (const batch of batchesOf(rows, table)) for (const row of batch) ids.add(String(row[0]))
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
    // Formats that are not valid JSON refer to no files.
    return []
  }
}
