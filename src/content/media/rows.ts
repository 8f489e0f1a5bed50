// Statements on `files`, their links to documents, and the folder for uploads through the API.
import { sql } from 'kysely'
import type { MainConnection, RowReader, Transaction, WriteDatabase } from '../../database/database.js'
import { andSameLocale, bindTimestamp, isSame, notBefore } from '../../database/portable-sql.js'
import { componentHolders } from '../../model/schema/graph.js'
import { fileType } from '../../model/schema/link.js'
import type { Component, ContentType, Media, Model, Schema } from '../../model/schema/types.js'
import { defaultColumns } from '../documents/input/attributes.js'
import { insertRow, newEntry } from '../documents/store/rows.js'
import { storedSetting, writeSetting } from '../documents/store/settings.js'
import { type FolderPlace, insertFolder, putIntoFolder, readFolder, rootPath } from './folders.js'
import type { ImageSettings } from './images/protocol.js'

/** A smaller format of an image, as stored in the column. */
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

export interface ContentColumns {
  readonly width: number | null
  readonly height: number | null
  readonly formats: Readonly<Record<string, StoredFormat>> | null
  readonly mime: string
  readonly size: number
}

export interface InfoColumns {
  readonly name: string
  readonly alternativeText: string | null
  readonly caption: string | null
  readonly focalPoint: unknown
}

export interface NewFile extends ContentColumns, InfoColumns, LocationColumns {
  readonly documentId: string
  readonly hash: string
  readonly ext: string
}

interface LocationColumns {
  readonly url: string
  readonly provider: string
}

export interface FileRow extends InfoColumns, LocationColumns {
  readonly id: number
  readonly hash: string
  readonly ext: string
  readonly mime: string
  readonly width: number | null
  readonly height: number | null
  readonly formats: Readonly<Record<string, Pick<StoredFormat, 'hash' | 'ext'>>> | null
}

/** A media attribute of a row, to which uploaded files are linked. */
export interface MediaLink {
  readonly shape: Schema
  readonly id: number
  readonly attribute: Media
  /** True: the files are linked to the other versions of the document too. */
  readonly everyVersion: boolean
}

const json = (value: unknown): string | null => (value === null || value === undefined ? null : JSON.stringify(value))

/** Stored names of all files and formats of a provider, according to their rows; with a hash, only that file's. */
export async function namesInUse(database: MainConnection, provider: string, hash: string | null): Promise<ReadonlySet<string>> {
  const wanted = hash === null ? sql`` : sql` and hash = ${hash}`
  const rows = await database.rows<{ hash: string; ext: string | null; formats: string | null }>(
    sql`select hash, ext, formats from files where provider = ${provider}${wanted}`,
  )
  return new Set(
    rows.flatMap((row) => storedNames({ hash: row.hash, ext: row.ext ?? '', formats: parsed(row.formats) as FileRow['formats'] })),
  )
}

/** Stored names of a file and its formats. */
export function storedNames({ hash, ext, formats }: Pick<FileRow, 'hash' | 'ext' | 'formats'>): readonly string[] {
  return [hash + ext, ...Object.values(formats ?? {}).map((format) => format.hash + format.ext)]
}

const parsed = (text: string | null): unknown => (text === null ? null : JSON.parse(text))

export async function readFile(database: RowReader, id: number): Promise<FileRow | null> {
  return (await readFiles(database, [id]))[0] ?? null
}

/** Maximum number of ids per statement. */
const idsAtOnce = 500

/** Reads the rows of existing files, by id. */
export async function readFiles(database: RowReader, ids: readonly number[]): Promise<readonly FileRow[]> {
  const found: FileRow[] = []
  for (let from = 0; from < ids.length; from += idsAtOnce) {
    const rows = await database.rows<Record<string, string | number | null>>(
      sql`select id, name, alternative_text, caption, focal_point, hash, ext, mime, width, height, formats, url, provider
        from files where id in (${sql.join(ids.slice(from, from + idsAtOnce))}) order by id`,
    )
    found.push(...rows.map(fileOf))
  }
  return found
}

function fileOf(row: Readonly<Record<string, string | number | null>>): FileRow {
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

export const uploadSettings = 'plugin_upload_settings'

/** Reads the image settings, which Strapi's admin panel writes. */
export async function readImageSettings(database: MainConnection): Promise<ImageSettings> {
  const value = await storedSetting(database, uploadSettings)
  return { ...defaultSettings, ...(value as Partial<ImageSettings> | null | undefined) }
}

export async function linkedRowExists(database: MainConnection, { shape: { table }, id }: MediaLink): Promise<boolean> {
  return (await database.rows(sql`select 1 from ${sql.table(table)} where id = ${id}`)).length > 0
}

interface NewFilePlace {
  readonly model: Model
  readonly folder: FolderPlace | null
  readonly createdBy: number | null
  readonly now: number
}

/** Returns the id. `createdBy`: row id of an administrator. */
export async function insertFile(tx: Transaction, file: NewFile, { model, folder, createdBy, now }: NewFilePlace): Promise<number> {
  const { documentId, alternativeText, focalPoint, formats, ...columns } = file
  const id = await insertRow(tx, 'files', {
    ...defaultColumns(model.types.get(fileType)!),
    ...columns,
    ...newEntry(now),
    document_id: documentId,
    alternative_text: alternativeText,
    focal_point: json(focalPoint),
    formats: json(formats),
    folder_path: folder?.path ?? rootPath,
    created_by_id: createdBy,
    updated_by_id: createdBy,
  })
  await putIntoFolder(tx, model, id, folder)
  return id
}

/** Updates metadata; false if the file does not exist. */
export async function updateInfo(tx: Transaction, id: number, info: InfoColumns, now: number): Promise<boolean> {
  const { rows } = await tx.run(sql`
    update files set name = ${info.name}, alternative_text = ${info.alternativeText}, caption = ${info.caption},
      focal_point = ${json(info.focalPoint)}, updated_at = ${notBefore(sql`updated_at`, bindTimestamp(now))} where id = ${id}`)
  return rows > 0
}

export async function updateContent(tx: Transaction, id: number, content: ContentColumns & LocationColumns): Promise<void> {
  await tx.run(sql`
    update files set width = ${content.width}, height = ${content.height}, formats = ${json(content.formats)}, mime = ${content.mime},
      size = ${content.size}, url = ${content.url}, provider = ${content.provider} where id = ${id}`)
}

/** Records that the transaction commits a swap: its files replace the old ones. */
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

/** Deletes a file's row and links; false if it does not exist. */
export async function deleteFile(tx: Transaction, id: number): Promise<boolean> {
  return (await tx.run(sql`delete from files where id = ${id}`)).rows > 0
}

/** Links files in order: appends to a list, or replaces the file of a single media attribute. */
export async function linkFiles(
  tx: Transaction,
  files: readonly number[],
  { shape, id, attribute }: Omit<MediaLink, 'everyVersion'>,
): Promise<void> {
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

const folderKey = 'plugin_upload_api-folder'

export async function apiFolder(tx: Transaction, model: Model, newDocumentId: () => string, now: number): Promise<FolderPlace> {
  const setting = (await storedSetting(tx, folderKey)) as { readonly id?: number } | null | undefined
  if (typeof setting?.id === 'number') {
    const folder = await readFolder(tx, setting.id)
    if (folder !== null) return folder
  }
  const made = (await insertFolder(tx, model, { documentId: newDocumentId(), name: 'API Uploads', parent: null, createdBy: null }, now))!
  await writeSetting(tx, folderKey, { id: made.id })
  return made
}

/** The linked row and, if requested, those of all versions of its document; in all locales if these share the attribute. */
export async function linkedRows(
  tx: Transaction,
  model: Model,
  { shape, id, attribute, everyVersion }: MediaLink,
): Promise<readonly number[]> {
  if (!everyVersion) return [id]
  return shape.kind === 'contentType' ? versionsOfRow(tx, shape, id, attribute.localized) : entriesLike(tx, model, shape, id)
}

async function versionsOfRow(tx: Transaction, type: ContentType, id: number, isLocalized: boolean): Promise<readonly number[]> {
  const inLocale = isLocalized ? andSameLocale(type, sql`v.locale`, sql`o.locale`) : sql``
  const rows = await tx.rows<{ readonly id: number }>(
    sql`select v.id from ${sql.table(type.table)} v join ${sql.table(type.table)} o on o.document_id = v.document_id${inLocale}
      where o.id = ${id} order by v.id`,
  )
  return [...new Set([id, ...rows.map((row) => row.id)])]
}

/** An entry of a component, and those at the same position with the same values in other versions. */
async function entriesLike(tx: Transaction, model: Model, component: Component, id: number): Promise<readonly number[]> {
  const order = sql.id('order')
  for (const { shape, componentTable } of componentHolders(model)) {
    const entries = sql.table(componentTable)
    const [place] = await tx.rows<{ readonly owner: number; readonly field: string; readonly place: number | null }>(
      sql`select entity_id as owner, field, ${order} as place from ${entries} where cmp_id = ${id} and component_type = ${component.uid} limit 1`,
    )
    if (place === undefined) continue
    const { owner, field, place: at } = place
    const isLocalized = shape.attributes.get(field)?.localized ?? true
    const owners =
      shape.kind === 'contentType' ? await versionsOfRow(tx, shape, owner, isLocalized) : await entriesLike(tx, model, shape, owner)
    const alike = comparedColumns(component).map((column) => sql` and ${isSame(sql.id('c', column), sql.id('o', column))}`)
    const found = await tx.rows<{ readonly id: number }>(
      sql`select c.id from ${entries} e join ${sql.table(component.table)} c on c.id = e.cmp_id join ${sql.table(component.table)} o on o.id = ${id}
        where e.entity_id in (${tx.dialect.list(owners)}) and e.component_type = ${component.uid} and e.field = ${field}
        and ${isSame(sql.id('e', 'order'), at)}${sql.join(alike, sql``)} order by c.id`,
    )
    return [...new Set([id, ...found.map((row) => row.id)])]
  }
  return [id]
}

/** Columns that every database can compare. */
const comparedColumns = ({ attributes }: Component): readonly string[] =>
  [...attributes.values()].flatMap((attribute) =>
    attribute.kind !== 'scalar' || attribute.system || attribute.type === 'json' || attribute.type === 'blocks' ? [] : [attribute.column],
  )
