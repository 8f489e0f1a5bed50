// Prepares a received file for storing: its columns, and its files on disk, including the smaller formats of an image.
import type { MainConnection } from '../../database/database.js'
import type { Images } from './images/pool.js'
import type { SourceImage } from './images/protocol.js'
import type { MediaType } from './media-types.js'
import type { Received } from './receive.js'
import { type ContentColumns, readImageSettings, type StoredFormat } from './rows.js'
import type { Storages } from './storage/open.js'
import { svgSize } from './svg.js'

/** Columns of a row, and files on disk with their names in the storage. */
export interface PreparedFile {
  readonly content: ContentColumns
  readonly puts: readonly { readonly path: string; readonly name: string; readonly mime: string }[]
}

interface PrepareParts {
  readonly database: MainConnection
  readonly images: Images
  readonly storages: Storages
}

/** Display name, and the parts of the name in the storage. */
interface FileNames {
  readonly name: string
  readonly hash: string
  readonly ext: string
}

/** Measures a file and creates the formats of an image. `caller`: key for fair queueing. */
export async function prepareFile(
  { database, images, storages }: PrepareParts,
  file: Received,
  type: MediaType,
  names: FileNames,
  caller: string,
): Promise<PreparedFile> {
  const image = await images.make({ ...file, mime: type.detected }, await readImageSettings(database), caller)
  const size = image ?? (type.detected === 'image/svg+xml' ? svgSize(file.head) : null)
  const main = image?.encoded ?? file
  const formats = [...(image?.formats ?? [])]
  return {
    content: {
      width: size?.width ?? null,
      height: size?.height ?? null,
      formats: image === null ? null : storedFormats(image, names, type.mime, storages.current.url),
      mime: type.mime,
      size: kilobytes(main.bytes),
    },
    puts: [
      { path: main.path, name: names.hash + names.ext, mime: type.mime },
      ...formats.map(([format, { path }]) => ({ path, name: formatHash(format, names) + names.ext, mime: type.mime })),
    ],
  }
}

const formatHash = (format: string, { hash }: FileNames): string => `${format}_${hash}`

function storedFormats(
  { formats }: SourceImage,
  names: FileNames,
  mime: string,
  url: (name: string) => string,
): Readonly<Record<string, StoredFormat>> | null {
  if (formats.size === 0) return null
  const { ext } = names
  const entries = [...formats].map(([format, { width, height, bytes }]) => {
    const name = `${format}_${names.name}`
    const hash = formatHash(format, names)
    const size = kilobytes(bytes)
    return [format, { name, hash, ext, mime, path: null, width, height, size, sizeInBytes: bytes, url: url(hash + ext) }] as const
  })
  return Object.fromEntries(entries)
}

const kilobytes = (bytes: number): number => Math.round(bytes / 10) / 100
