// Statements on `files`, their links to documents, and the media-library folder for uploads through the API.
import { sql } from 'kysely'
import type { MainConnection, RowReader, Transaction, WriteDatabase } from '../database/database.js'
import { notBefore } from '../database/fragments.js'
import type { Media, Schema } from '../model/types.js'
import type { ImageSettings } from './images/protocol.js'

/** One of the smaller formats of an image, as stored in the column. */
export interface StoredFormat {
  readonly name: string
  readonly hash: string
  readonly ext: string
  readonly mime: string
  readonly path: null
  readonly width: number
  readonly height: number
  /** Kilobytes with two decimals. */
  readonly size: number
  readonly sizeInBytes: number
  readonly url: string
}

/** Columns that depend on a file's content. */
export interface ContentColumns {
  readonly width: number | null
  readonly height: number | null
  readonly formats: Readonly<Record<string, StoredFormat>> | null
  readonly mime: string
  readonly size: number
}

/** Columns with information about a file. */
export interface InfoColumns {
  readonly name: string
  readonly alternativeText: string | null
  readonly caption: string | null
  readonly focalPoint: unknown
}

/** A row of `files` to insert. */
export interface NewFile extends ContentColumns, InfoColumns, LocationColumns {
  readonly documentId: string
  readonly hash: string
  readonly ext: string
}

/** Columns with the location of a file. */
export interface LocationColumns {
  readonly url: string
  readonly provider: string
}

/** An existing row of `files`. */
export interface FileRow extends InfoColumns, LocationColumns {
  readonly id: number
  readonly hash: string
  readonly ext: string
  readonly width: number | null
  readonly height: number | null
  readonly formats: Readonly<Record<string, Pick<StoredFormat, 'hash' | 'ext'>>> | null
}

/** The media attribute of a row that uploaded files are linked to. */
export interface MediaLink {
  readonly shape: Schema
  readonly id: number
  readonly attribute: Media
}

const json = (value: unknown): string | null => (value === null || value === undefined ? null : JSON.stringify(value))

/** Returns the stored names of the files at a provider, according to their rows; only those with a hash, unless it is null. */
export async function namesInUse(database: MainConnection, provider: string, hash: string | null): Promise<ReadonlySet<string>> {
  const wanted = hash === null ? sql`` : sql` and hash = ${hash}`
  const rows = await database.rows<{ hash: string; ext: string | null; formats: string | null }>(
    sql`select hash, ext, formats from files where provider = ${provider}${wanted}`,
  )
  return new Set(
    rows.flatMap((row) => storedNames({ hash: row.hash, ext: row.ext ?? '', formats: parsed(row.formats) as FileRow['formats'] })),
  )
}

/** Returns the stored names of a file and its formats. */
export function storedNames({ hash, ext, formats }: Pick<FileRow, 'hash' | 'ext' | 'formats'>): readonly string[] {
  return [hash + ext, ...Object.values(formats ?? {}).map((format) => format.hash + format.ext)]
}

const parsed = (text: string | null): unknown => (text === null ? null : JSON.parse(text))

/** Reads a file's row, or null. */
export async function readFile(database: MainConnection, id: number): Promise<FileRow | null> {
  const [row] = await database.rows<Record<string, string | number | null>>(
    sql`select id, name, alternative_text, caption, focal_point, hash, ext, width, height, formats, url, provider
      from files where id = ${id}`,
  )
  if (row === undefined) return null
  const { alternative_text: alternativeText, focal_point, formats, ...rest } = row
  return {
    ...rest,
    alternativeText,
    ext: row.ext ?? '',
    focalPoint: parsed(focal_point as string),
    formats: parsed(formats as string),
  } as FileRow
}

const defaultSettings: ImageSettings = { sizeOptimization: true, responsiveDimensions: true, autoOrientation: false }

/** Reads the media library's settings, which Strapi's admin panel stores. */
export async function readImageSettings(database: MainConnection): Promise<ImageSettings> {
  const value = await readSetting(database, 'plugin_upload_settings')
  return { ...defaultSettings, ...(value as Partial<ImageSettings> | null) }
}

async function readSetting(database: RowReader, key: string): Promise<unknown> {
  const [row] = await database.rows<{ value: string }>(sql`select value from strapi_core_store_settings where ${sql.ref('key')} = ${key}`)
  return row === undefined ? null : parsed(row.value)
}

/** True if the row of a link exists. */
export async function linkedRowExists(database: MainConnection, { shape: { table }, id }: MediaLink): Promise<boolean> {
  return (await database.rows(sql`select 1 from ${sql.table(table)} where id = ${id}`)).length > 0
}

/** Inserts a file into the API's folder and returns its id. */
export async function insertFile(tx: Transaction, file: NewFile, folder: ApiFolder, now: number): Promise<number> {
  const id = await tx.insert(sql`
    insert into files (document_id, name, alternative_text, caption, focal_point, width, height, formats, hash, ext, mime, size, url, provider,
      folder_path, created_at, updated_at, published_at)
    values (${file.documentId}, ${file.name}, ${file.alternativeText}, ${file.caption}, ${json(file.focalPoint)}, ${file.width}, ${file.height},
      ${json(file.formats)}, ${file.hash}, ${file.ext}, ${file.mime}, ${file.size}, ${file.url}, ${file.provider}, ${folder.path}, ${now}, ${now}, ${now})`)
  await tx.run(sql`
    insert into files_folder_lnk (file_id, folder_id, file_ord)
    select ${id}, ${folder.id}, coalesce(max(file_ord), 0) + 1 from files_folder_lnk where folder_id = ${folder.id}`)
  return id
}

/** Updates the information about a file; false if it does not exist. */
export async function updateInfo(tx: Transaction, id: number, info: InfoColumns, now: number): Promise<boolean> {
  const { rows } = await tx.run(sql`
    update files set name = ${info.name}, alternative_text = ${info.alternativeText}, caption = ${info.caption},
      focal_point = ${json(info.focalPoint)}, updated_at = ${notBefore(sql`updated_at`, now)} where id = ${id}`)
  return rows > 0
}

/** Updates the columns for a file's new content and location. */
export async function updateContent(tx: Transaction, id: number, content: ContentColumns & LocationColumns): Promise<void> {
  await tx.run(sql`
    update files set width = ${content.width}, height = ${content.height}, formats = ${json(content.formats)}, mime = ${content.mime},
      size = ${content.size}, url = ${content.url}, provider = ${content.provider} where id = ${id}`)
}

/** Records in the transaction that the files of a swap replace the old ones. */
export async function commitSwap(tx: Transaction, id: string): Promise<void> {
  await tx.run(sql`insert into octavo_file_swaps (id) values (${id})`)
}

/** True if the transaction of a swap was committed. */
export async function swapIsCommitted(database: MainConnection, id: string): Promise<boolean> {
  return (await database.rows(sql`select 1 from octavo_file_swaps where id = ${id}`)).length > 0
}

/** Deletes the record of a finished swap. */
export async function forgetSwap(database: MainConnection, writer: WriteDatabase, id: string): Promise<void> {
  if (await swapIsCommitted(database, id)) await writer.run(sql`delete from octavo_file_swaps where id = ${id}`)
}

/** Deletes a file's row and its links; false if it does not exist. */
export async function deleteFile(tx: Transaction, id: number): Promise<boolean> {
  return (await tx.run(sql`delete from files where id = ${id}`)).rows > 0
}

/** Links files in their order: appends them to a list, or replaces the file of a single media attribute. */
export async function linkFiles(tx: Transaction, files: readonly number[], { shape, id, attribute }: MediaLink): Promise<void> {
  const here = sql`related_id = ${id} and related_type = ${shape.uid} and field = ${attribute.name}`
  const linked = attribute.many ? files : files.slice(-1)
  if (!attribute.many) await tx.run(sql`delete from files_related_mph where ${here}`)
  const order = sql.ref('order')
  for (const file of linked) {
    await tx.run(sql`
      insert into files_related_mph (file_id, related_id, related_type, field, ${order})
      select ${file}, ${id}, ${shape.uid}, ${attribute.name}, coalesce(max(${order}), 0) + 1 from files_related_mph where ${here}`)
  }
}

/** The media-library folder for uploads through the API. */
export interface ApiFolder {
  readonly id: number
  readonly path: string
}

const folderKey = 'plugin_upload_api-folder'

/** Finds or creates the API's folder. */
export async function apiFolder(tx: Transaction, newDocumentId: () => string, now: number): Promise<ApiFolder> {
  const setting = (await readSetting(tx, folderKey)) as { readonly id?: number } | null
  if (typeof setting?.id === 'number') {
    const [folder] = await tx.rows<ApiFolder>(sql`select id, path from upload_folders where id = ${setting.id}`)
    if (folder !== undefined) return folder
  }
  const [next] = await tx.rows<{ number: number }>(sql`select coalesce(max(path_id), 0) + 1 as number from upload_folders`)
  const path = `/${next!.number}`
  const id = await tx.insert(sql`
    insert into upload_folders (document_id, name, path_id, path, created_at, updated_at, published_at)
    values (${newDocumentId()}, 'API Uploads', ${next!.number}, ${path}, ${now}, ${now}, ${now})`)
  const key = sql.ref('key')
  const value = JSON.stringify({ id })
  if (setting === null)
    await tx.run(sql`insert into strapi_core_store_settings (${key}, value, type) values (${folderKey}, ${value}, 'object')`)
  else await tx.run(sql`update strapi_core_store_settings set value = ${value} where ${key} = ${folderKey}`)
  return { id, path }
}
