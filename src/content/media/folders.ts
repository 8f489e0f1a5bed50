// Statements on the folders of the media library.
import { type RawBuilder, sql } from 'kysely'
import type { RowReader, Transaction } from '../../database/database.js'
import { bindTimestamp, cast, concat, linkLast } from '../../database/portable-sql.js'
import { getPluginLinks } from '../../model/schema/graph.js'
import { fileType } from '../../model/schema/link.js'
import type { Model } from '../../model/schema/types.js'
import { insertRow, newEntry, updateRow } from '../documents/store/rows.js'

/** A folder as files refer to it. */
export interface FolderPlace {
  readonly id: number
  /** Values of `path_id` from the root to this folder, such as `/1/4`. */
  readonly path: string
}

/** A row of `upload_folders`. */
export interface FolderRow extends FolderPlace {
  readonly documentId: string
  readonly name: string
  /** Null: in the root. */
  readonly parent: number | null
  /** Milliseconds since 1970. */
  readonly createdAt: number | null
  readonly updatedAt: number | null
  /** The row id of an administrator. */
  readonly createdBy: number | null
}

/** Path of files in the root. */
export const rootPath = '/'

/** Maximum length of a path, as in its column. */
const longestPath = 255

const columns = sql`f.id, f.document_id as ${sql.ref('documentId')}, f.name, f.path, l.inv_folder_id as ${sql.ref('parent')},
  f.created_at as ${sql.ref('createdAt')}, f.updated_at as ${sql.ref('updatedAt')}, f.created_by_id as ${sql.ref('createdBy')}
  from upload_folders f left join upload_folders_parent_lnk l on l.folder_id = f.id`

interface WantedFolders {
  /** Null: folders in the root; undefined: all folders. */
  readonly parent?: number | null | undefined
  /** Part of the name, case-insensitive. */
  readonly q?: string | undefined
  /** Minimum id, exclusive. */
  readonly after: number | null
  readonly limit: number
}

const all: RawBuilder<unknown> = sql`1 = 1`

/** Lists folders by id. */
export function listFolders(database: RowReader, { parent, q, after, limit }: WantedFolders): Promise<readonly FolderRow[]> {
  const inParent = parent === undefined ? all : parent === null ? sql`l.inv_folder_id is null` : sql`l.inv_folder_id = ${parent}`
  const named = q === undefined ? all : sql`lower(f.name) like ${`%${q.toLowerCase().replaceAll(/[!%_]/g, '!$&')}%`} escape '!'`
  return database.rows(sql`select ${columns} where ${inParent} and ${named} and f.id > ${after ?? 0} order by f.id limit ${limit}`)
}

/** Reads folders by id. */
export async function foldersWithIds(database: RowReader, ids: readonly number[]): Promise<readonly FolderRow[]> {
  return ids.length === 0 ? [] : database.rows(sql`select ${columns} where f.id in (${sql.join([...ids])}) order by f.id`)
}

export async function readFolder(database: RowReader, id: number): Promise<FolderRow | null> {
  return (await foldersWithIds(database, [id]))[0] ?? null
}

/** True if the folders are equal or nested. */
export const isWithin = (inner: FolderPlace, outer: FolderPlace): boolean => `${inner.path}/`.startsWith(`${outer.path}/`)

/** Matches the paths of a folder and of nested ones. Paths consist of digits and slashes, so they need no escaping. */
const below = (column: RawBuilder<unknown>, { path }: FolderPlace): RawBuilder<unknown> =>
  sql`(${column} = ${path} or ${column} like ${`${path}/%`})`

/** Ids of these folders and of all nested ones. */
export async function folderIdsBelow(database: RowReader, folders: readonly FolderPlace[]): Promise<readonly number[]> {
  if (folders.length === 0) return []
  const places = sql.join(
    folders.map((folder) => below(sql`path`, folder)),
    sql` or `,
  )
  return (await database.rows<{ id: number }>(sql`select id from upload_folders where ${places} order by id`)).map(({ id }) => id)
}

/** Ids of the files in these folders and in nested ones, at most `most`. */
export async function fileIdsBelow(database: RowReader, folders: readonly FolderPlace[], most: number): Promise<readonly number[]> {
  if (folders.length === 0) return []
  const places = sql.join(
    folders.map((folder) => below(sql`folder_path`, folder)),
    sql` or `,
  )
  return (await database.rows<{ id: number }>(sql`select id from files where ${places} order by id limit ${most}`)).map(({ id }) => id)
}

/** True if another folder in `parent` has exactly this name. */
export async function hasFolderNamed(database: RowReader, parent: number | null, name: string, except: number | null): Promise<boolean> {
  const inParent = parent === null ? sql`l.inv_folder_id is null` : sql`l.inv_folder_id = ${parent}`
  const found = await database.rows<{ id: number; name: string }>(sql`select f.id, f.name from upload_folders f
    left join upload_folders_parent_lnk l on l.folder_id = f.id where f.name = ${name} and ${inParent}`)
  // The collation of the database may ignore case and accents.
  return found.some((folder) => folder.name === name && folder.id !== except)
}

interface NewFolder {
  readonly documentId: string
  readonly name: string
  readonly parent: FolderPlace | null
  /** Row id of an administrator. */
  readonly createdBy: number | null
}

/** Creates a folder; null if its path would be too long. */
export async function insertFolder(
  tx: Transaction,
  model: Model,
  { documentId, name, parent, createdBy }: NewFolder,
  now: number,
): Promise<FolderPlace | null> {
  const [next] = await tx.rows<{ number: number }>(sql`select coalesce(max(path_id), 0) + 1 as number from upload_folders`)
  const path = `${parent?.path ?? ''}/${next!.number}`
  if (path.length > longestPath) return null
  const id = await insertRow(tx, 'upload_folders', {
    ...newEntry(now),
    document_id: documentId,
    name,
    path_id: next!.number,
    path,
    created_by_id: createdBy,
    updated_by_id: createdBy,
  })
  if (parent !== null) await linkToParent(tx, model, id, parent.id)
  return { id, path }
}

async function linkToParent(tx: Transaction, model: Model, id: number, parent: number): Promise<void> {
  await tx.run(linkLast(getPluginLinks(model, 'plugin::upload.folder', 'parent'), id, parent))
}

export async function renameFolder(tx: Transaction, id: number, name: string): Promise<void> {
  updateRow(tx, 'upload_folders', id, { name })
}

/** Records who changed a folder, and when. */
export async function markFolder(tx: Transaction, id: number, by: number, now: number): Promise<void> {
  updateRow(tx, 'upload_folders', id, { updated_at: bindTimestamp(now), updated_by_id: by })
}

/** Moves a folder with its content; false if a path would be too long. The caller ensures that `to` is not inside of it. */
export async function moveFolder(tx: Transaction, model: Model, folder: FolderPlace, to: FolderPlace | null): Promise<boolean> {
  const own = folder.path.slice(folder.path.lastIndexOf('/'))
  const path = `${to?.path ?? ''}${own}`
  const [longest] = await tx.rows<{ length: number }>(
    sql`select max(length(path)) as length from upload_folders where ${below(sql`path`, folder)}`,
  )
  if (longest!.length + path.length - folder.path.length > longestPath) return false
  const moved = (column: RawBuilder<unknown>) => concat(cast(path, 'text'), sql`substr(${column}, ${sql.lit(folder.path.length + 1)})`)
  await tx.run(sql`update upload_folders set path = ${moved(sql`path`)} where ${below(sql`path`, folder)}`)
  await tx.run(sql`update files set folder_path = ${moved(sql`folder_path`)} where ${below(sql`folder_path`, folder)}`)
  await tx.run(sql`delete from upload_folders_parent_lnk where folder_id = ${folder.id}`)
  if (to !== null) await linkToParent(tx, model, folder.id, to.id)
  return true
}

export async function deleteFolders(tx: Transaction, ids: readonly number[]): Promise<void> {
  if (ids.length > 0) await tx.run(sql`delete from upload_folders where id in (${sql.join([...ids])})`)
}

/** The folder of a file; null if it is in the root. */
export async function folderOfFile(database: RowReader, file: number): Promise<FolderPlace | null> {
  const [folder = null] = await database.rows<FolderPlace>(
    sql`select f.id, f.path from upload_folders f join files_folder_lnk l on l.folder_id = f.id where l.file_id = ${file}`,
  )
  return folder
}

/** Appends a file to a folder; null: leaves it in the root. */
export async function putIntoFolder(tx: Transaction, model: Model, file: number, folder: FolderPlace | null): Promise<void> {
  if (folder !== null) await tx.run(linkLast(getPluginLinks(model, fileType, 'folder'), file, folder.id))
}

/** Moves files to the end of a folder, in this order; null: to the root. */
export async function moveFiles(tx: Transaction, model: Model, ids: readonly number[], folder: FolderPlace | null): Promise<void> {
  if (ids.length === 0) return
  const listed = sql.join([...ids])
  await tx.run(sql`delete from files_folder_lnk where file_id in (${listed})`)
  await tx.run(sql`update files set folder_path = ${folder?.path ?? rootPath} where id in (${listed})`)
  for (const id of ids) await putIntoFolder(tx, model, id, folder)
}

/** Records who changed files, and when. */
export async function markFiles(tx: Transaction, ids: readonly number[], by: number, now: number): Promise<void> {
  for (const id of ids) updateRow(tx, 'files', id, { updated_at: bindTimestamp(now), updated_by_id: by })
}
