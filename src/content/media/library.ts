// Writes of the media library. Files are received, checked and moved to the storage before they get a row.
import { randomUUID } from 'node:crypto'
import type { MainConnection, Transaction, WriteDatabase } from '../../database/database.js'
import { notFound, validationError } from '../../foundation/errors/errors.js'
import type { MediaEventName } from '../../foundation/public/events.js'
import { openQueue, openSerialQueues, type Queue } from '../../foundation/runtime/queues.js'
import type { Model } from '../../model/schema/types.js'
import { markOwnerModified } from '../documents/store/owning-document.js'
import { type CropParts, withCropped } from './crop.js'
import type { FileInfo } from './file-info.js'
import { newHash } from './file-names.js'
import type { FolderPlace } from './folders.js'
import type { CropBox } from './images/protocol.js'
import type { Journal, JournalEntry } from './journal.js'
import { checkMediaType, checkReplacement, type MediaType, mediaTypeOf, type TypeRules } from './media-types.js'
import { type PreparedFile, prepareFile } from './prepare.js'
import { asApiError, type Received, type Receiver, tooManyUploads } from './receive.js'
import type { FileRow, InfoColumns, MediaLink, NewFile } from './rows.js'
import {
  apiFolder,
  commitSwap,
  deleteFile,
  insertFile,
  linkedRowExists,
  linkedRows,
  linkFiles,
  readFile,
  readFiles,
  storedNames,
  updateContent,
  updateInfo,
} from './rows.js'
import type { Storages } from './storage/open.js'

export interface Library {
  readonly limits: FormLimits
  readonly receive: Receiver['receive']
  readonly discard: Receiver['discard']
  /** Limits the number of upload forms parsed concurrently. */
  readonly inTurn: Queue['run']
  /** Stores files and returns their ids in the same order. @throws ApiError 400 for files that are not permitted */
  add(files: readonly Received[], infos: readonly FileInfo[], link: MediaLink | null, scope: LibraryScope): Promise<readonly number[]>
  /** Changes the metadata of a file. @throws ApiError 404 */
  change(id: number, info: FileInfo, scope: LibraryScope): Promise<void>
  /** Replaces the content of a file, which keeps its URL. @throws ApiError 404 */
  replace(id: number, file: Received, info: FileInfo, scope: LibraryScope): Promise<void>
  /**
   * Crops a picture to an additional file or in place. Returns the id of the resulting file.
   * @throws ApiError 404; 400 if the picture cannot be cropped
   */
  crop(id: number, part: CropBox, place: 'beside' | 'instead', scope: LibraryScope): Promise<number>
  /** Deletes a file. @throws ApiError 404 */
  remove(id: number, scope: LibraryScope): Promise<void>
  /** Deletes files in one transaction. @throws ApiError 404 if one of them does not exist */
  removeAll(ids: readonly number[], scope: LibraryScope): Promise<void>
}

interface FormLimits {
  readonly uploadBytes: number
}

/** Maximum number of forms parsed concurrently; others are delayed by milliseconds per chunk. */
const uploadConcurrency = 8

/** Origin of a change. */
export interface LibraryScope {
  readonly model: Model
  /** Null if no events are recorded. */
  readonly watch: FileWatch | null
  /** Absent: a caller of the content API, or code of the project. */
  readonly author?: FileAuthor
  /** Unique name of a caller of the content API. */
  readonly caller?: string
}

/** An administrator who changes the library. */
export interface FileAuthor {
  /** Row id in admin_users. */
  readonly id: number
  /**
   * Called in the transaction before any write, with no ids for new files. Resolves to the folder of new files; null: the root. @throws to
   * refuse
   */
  before(transaction: Transaction, ids: readonly number[]): Promise<FolderPlace | null>
  /** Called in the transaction after all writes. */
  after(transaction: Transaction, files: readonly NamedRow[]): Promise<void>
}

export interface NamedRow {
  readonly id: number
  readonly name: string
}

interface LibraryParts extends CropParts {
  readonly database: MainConnection
  readonly writer: WriteDatabase
  readonly storages: Storages
  readonly journal: Journal
  readonly rules: TypeRules
  readonly limits: FormLimits
  newDocumentId(): string
}

/** Observes changes of files. */
export interface FileWatch {
  /** Called in the transaction, after a file is written or before it is deleted. */
  happened(transaction: Transaction, event: MediaEventName, id: number): Promise<void>
  /** Called after each commit. */
  committed(): void
}

export function openLibrary(parts: LibraryParts): Library {
  const { limits, receiver } = parts
  const replacements = openSerialQueues()
  return {
    limits,
    receive: receiver.receive,
    discard: receiver.discard,
    inTurn: openQueue(uploadConcurrency, Number.POSITIVE_INFINITY, tooManyUploads).run,
    add: (files, infos, link, scope) => addFiles(parts, files, infos, link, scope),
    change: (id, info, scope) => changeFile(parts, id, info, scope),
    replace: (id, file, info, scope) => replacements.inLine(id, () => replaceFile(parts, id, file, info, scope)),
    crop: (id, part, place, scope) => replacements.inLine(id, () => cropFile(parts, id, part, place, scope)),
    remove: (id, scope) => replacements.inLine(id, () => removeFiles(parts, [id], scope)),
    removeAll: (ids, scope) => {
      const sorted = [...new Set(ids)].sort((one, other) => one - other)
      // In ascending order, to avoid deadlocks.
      return sorted.reduceRight(
        (work, id) => () => replacements.inLine(id, work),
        () => removeFiles(parts, sorted, scope),
      )()
    },
  }
}

/** The key for fair queueing. */
const callerOf = ({ author, caller }: LibraryScope): string =>
  author === undefined ? (caller ?? 'the project') : `administrator ${author.id}`

async function addFiles(
  parts: LibraryParts,
  files: readonly Received[],
  infos: readonly FileInfo[],
  link: MediaLink | null,
  scope: LibraryScope,
): Promise<readonly number[]> {
  const { database, newDocumentId } = parts
  const storage = parts.storages.current
  if (link !== null && !(await linkedRowExists(database, link))) throw validationError('No entry with this refId')
  const types = await Promise.all(files.map((file) => checkedType(parts, file)))
  const rows: NewFile[] = []
  const puts: PreparedFile['puts'][number][] = []
  const entries: JournalEntry[] = []
  for (const [index, file] of files.entries()) {
    const info = infos[index]!
    const type = types[index]!
    const name = info.name || file.name
    const hash = newHash(name, file.name)
    const prepared = await prepareFile(parts, file, type, { name, hash, ext: type.ext }, callerOf(scope))
    const { alternativeText = null, caption = null, focalPoint = null } = info
    rows.push({
      ...prepared.content,
      name,
      alternativeText,
      caption,
      focalPoint,
      hash,
      ext: type.ext,
      documentId: newDocumentId(),
      url: storage.url(hash + type.ext),
      provider: storage.provider,
    })
    puts.push(...prepared.puts)
    entries.push({ provider: storage.provider, hash, names: prepared.puts.map((put) => put.name) })
  }
  return changeStorage(parts, entries, puts, () =>
    transaction(parts, scope, async (tx) => {
      const now = Date.now()
      const { author } = scope
      const folder = author === undefined ? await apiFolder(tx, scope.model, newDocumentId, now) : await author.before(tx, [])
      const ids: number[] = []
      for (const row of rows) ids.push(await insertFile(tx, row, { model: scope.model, folder, createdBy: author?.id ?? null, now }))
      if (link !== null) {
        for (const row of await linkedRows(tx, scope.model, link)) {
          await linkFiles(tx, ids, { ...link, id: row })
          await markOwnerModified(tx, scope.model, { ...link, id: row })
        }
      }
      for (const id of ids) await scope.watch?.happened(tx, 'media.create', id)
      await author?.after(
        tx,
        rows.map(({ name }, index) => ({ id: ids[index]!, name })),
      )
      return ids
    }),
  )
}

async function changeFile(parts: LibraryParts, id: number, info: FileInfo, scope: LibraryScope): Promise<void> {
  const newInfo = changedInfo(await existing(parts, id), info)
  await transaction(parts, scope, async (tx) => {
    if (!(await updateInfo(tx, id, newInfo, Date.now()))) throw notFound('Entity not found')
    await scope.watch?.happened(tx, 'media.update', id)
  })
}

/**
 * Replaces the content of a file. New files are stored next to the old ones and replace them after the commit. A file in another storage
 * moves to the current one.
 */
async function replaceFile(parts: LibraryParts, id: number, file: Received, info: FileInfo, scope: LibraryScope): Promise<void> {
  const storage = parts.storages.current
  const row = await existing(parts, id)
  const type = await checkedType(parts, file)
  checkReplacement(row, type)
  const newInfo = replacedInfo(row, file, info)
  const { hash, ext, provider } = row
  const { content, puts } = await prepareFile(parts, file, type, { name: newInfo.name, hash, ext }, callerOf(scope))
  const moved = provider !== storage.provider
  // As in Strapi, an empty object if there are no formats.
  const location = { url: moved ? storage.url(hash + ext) : row.url, provider: storage.provider }
  const stored = { ...content, formats: content.formats ?? {}, ...location }
  const swap = { id: randomUUID(), moves: moved ? [] : puts.map(({ name }) => [`.${randomUUID()}`, name] as const) }
  const staged = new Map(swap.moves.map(([from, to]) => [to, from]))
  const names = [...new Set([...(moved ? [] : storedNames(row)), ...puts.map(({ name }) => name), ...staged.values()])]
  const entries = [{ provider: storage.provider, hash, names, ...(moved ? {} : { swap }) }, ...(moved ? deletionOf(parts, [row]) : [])]
  const stagedPuts = puts.map((put) => ({ ...put, name: staged.get(put.name) ?? put.name }))
  await changeStorage(parts, entries, stagedPuts, () =>
    transaction(parts, scope, async (tx) => {
      await scope.author?.before(tx, [id])
      if (!(await updateInfo(tx, id, newInfo, Date.now()))) throw notFound('Entity not found')
      await updateContent(tx, id, stored)
      if (!moved) await commitSwap(tx, swap.id)
      await scope.watch?.happened(tx, 'media.update', id)
      await scope.author?.after(tx, [{ id, name: newInfo.name }])
    }),
  )
}

async function cropFile(parts: LibraryParts, id: number, part: CropBox, place: 'beside' | 'instead', scope: LibraryScope): Promise<number> {
  const row = await existing(parts, id)
  const { name, alternativeText, caption } = row
  return withCropped(parts, row, { part, caller: callerOf(scope) }, async (file) => {
    if (place === 'beside') return (await addFiles(parts, [file], [{ name, alternativeText, caption }], null, scope))[0]!
    await replaceFile(parts, id, file, { name }, scope)
    return id
  })
}

async function removeFiles(parts: LibraryParts, ids: readonly number[], scope: LibraryScope): Promise<void> {
  const rows = await readFiles(parts.database, ids)
  if (rows.length < ids.length) throw notFound('file.notFound')
  await changeStorage(parts, deletionOf(parts, rows), [], () =>
    transaction(parts, scope, async (tx) => {
      await scope.author?.before(tx, ids)
      for (const { id } of rows) {
        await scope.watch?.happened(tx, 'media.delete', id)
        if (!(await deleteFile(tx, id))) throw notFound('file.notFound')
      }
      await scope.author?.after(tx, rows)
    }),
  )
}

async function existing({ database }: LibraryParts, id: number): Promise<FileRow> {
  const row = await readFile(database, id)
  if (row === null) throw notFound('Entity not found')
  return row
}

async function checkedType({ rules }: LibraryParts, file: Received): Promise<MediaType> {
  const type = await mediaTypeOf(file)
  checkMediaType(type, rules)
  return type
}

/** Journal entries for deleting files, one per storage; none for a storage that is not configured. */
function deletionOf({ storages }: LibraryParts, rows: readonly FileRow[]): readonly JournalEntry[] {
  return [...new Set(rows.map(({ provider }) => provider))]
    .filter((provider) => storages.of.has(provider))
    .map((provider) => {
      const files = rows.filter((row) => row.provider === provider)
      return { provider, hash: files.length === 1 ? files[0]!.hash : null, names: files.flatMap(storedNames) }
    })
}

/** Moves files to the storage and writes rows. On failure, files without a row are deleted. */
async function changeStorage<Result>(
  { storages, journal }: LibraryParts,
  entries: readonly JournalEntry[],
  puts: PreparedFile['puts'],
  writeRows: () => Promise<Result>,
): Promise<Result> {
  const storage = storages.current
  const resolvers: (() => Promise<void>)[] = []
  let isWritten = false
  try {
    for (const entry of entries) resolvers.push(await journal.add(entry))
    for (const { path, name, mime } of puts) await storage.put(path, name, mime)
    await storage.flush()
    const result = await writeRows()
    isWritten = true
    return result
  } catch (error) {
    throw asApiError(error)
  } finally {
    const resolved = Promise.all(resolvers.map((resolve) => resolve()))
    // If a remote storage rejected an upload, deletions may fail too, so the response does not wait for them.
    if (isWritten || !storage.remote) await resolved
  }
}

async function transaction<Result>(
  { writer }: LibraryParts,
  { watch }: LibraryScope,
  work: (tx: Transaction) => Promise<Result>,
): Promise<Result> {
  const result = await writer.transaction(work)
  watch?.committed()
  return result
}

/** Merges changed metadata; missing and null values leave a value unchanged, as in Strapi. */
function changedInfo(row: InfoColumns, info: FileInfo): InfoColumns {
  return {
    name: info.name ?? row.name,
    alternativeText: info.alternativeText ?? row.alternativeText,
    caption: info.caption ?? row.caption,
    focalPoint: info.focalPoint ?? row.focalPoint,
  }
}

/** Merges the metadata of a replaced file: it gets the new name, keeps its texts, and loses its focal point. */
function replacedInfo(row: InfoColumns, file: Received, info: FileInfo): InfoColumns {
  return {
    name: info.name || file.name,
    alternativeText: info.alternativeText === undefined ? row.alternativeText : info.alternativeText,
    caption: info.caption === undefined ? row.caption : info.caption,
    focalPoint: info.focalPoint ?? null,
  }
}
