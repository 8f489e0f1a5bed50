// The media library's writes: files come in, are looked at, are put in place, and only then have a row.
import { randomUUID } from 'node:crypto'
import type { MainConnection, Transaction, WriteDatabase } from '../database/database.js'
import { markOwnerModified } from '../documents/store/owning-document.js'
import { notFound, validationError } from '../errors/errors.js'
import type { Model } from '../model/types.js'
import type { MediaEventName } from '../public/events.js'
import { openLines, openQueue, type Queue } from '../runtime/queue.js'
import type { FileInfo } from './file-info.js'
import { newHash } from './file-names.js'
import type { Images } from './images/pool.js'
import type { SourceImage } from './images/protocol.js'
import type { Journal, JournalEntry } from './journal.js'
import type { MediaType, TypeRules } from './media-types.js'
import { checkMediaType, mediaTypeOf } from './media-types.js'
import type { Received, Receiver } from './receive.js'
import { asApiError, tooManyUploads } from './receive.js'
import type { ContentColumns, FileRow, InfoColumns, Link, NewFile, StoredFormat } from './rows.js'
import {
  apiFolder,
  commitSwap,
  deleteFile,
  insertFile,
  linkedRowIsThere,
  linkFiles,
  readFile,
  readImageSettings,
  storedNames,
  updateContent,
  updateInfo,
} from './rows.js'
import type { Storages } from './storage/open.js'
import { svgSize } from './svg.js'

export interface Library {
  readonly limits: FormLimits
  readonly receive: Receiver['receive']
  readonly discard: Receiver['discard']
  /** Lets a few of all forms that come in go on at once. */
  readonly inTurn: Queue['run']
  /** Stores files and gives their ids, in the order of the files. @throws ApiError 400 for what may not be stored. */
  add(files: readonly Received[], infos: readonly FileInfo[], link: Link | null, scope: LibraryScope): Promise<readonly number[]>
  /** Changes what is said about a file. @throws ApiError 404 */
  change(id: number, info: FileInfo, scope: LibraryScope): Promise<void>
  /** Gives a file new content under the same address. @throws ApiError 404 */
  replace(id: number, file: Received, info: FileInfo, scope: LibraryScope): Promise<void>
  /** Removes a file. @throws ApiError 404 */
  remove(id: number, scope: LibraryScope): Promise<void>
}

/** Bounds of a form that brings files. */
export interface FormLimits {
  readonly uploadFiles: number
  readonly uploadFields: number
  readonly uploadFieldBytes: number
  readonly uploadBytes: number
  /** Forms that are read at the same moment; the others wait a few milliseconds for each piece. */
  readonly uploadConcurrency: number
}

/** What a write to the library belongs to. */
export interface LibraryScope {
  readonly model: Model
  /** Null: nobody listens. */
  readonly watch: FileWatch | null
}

export interface LibraryParts {
  readonly database: MainConnection
  readonly writer: WriteDatabase
  readonly storages: Storages
  readonly incoming: Receiver
  readonly pending: Journal
  readonly images: Images
  readonly rules: TypeRules
  readonly limits: FormLimits
  newDocumentId(): string
}

/** Whoever is told of files. */
export interface FileWatch {
  /** Called inside the transaction: after a file was written, before it is removed. */
  happened(transaction: Transaction, event: MediaEventName, id: number): Promise<void>
  /** Called after each commit. */
  committed(): void
}

/** A file ready to be put in place: what its row will say, and which files of the disk become which names. */
interface Ready {
  readonly content: ContentColumns
  readonly puts: readonly { readonly path: string; readonly name: string; readonly mime: string }[]
}

export function openLibrary(parts: LibraryParts): Library {
  const { database, storages, incoming, pending, images } = parts
  const storage = storages.current
  const replacements = openLines()

  async function transaction<Result>({ watch }: LibraryScope, work: (tx: Transaction) => Promise<Result>): Promise<Result> {
    const result = await parts.writer.transaction(work)
    watch?.committed()
    return result
  }

  async function look(file: Received): Promise<MediaType> {
    const kind = await mediaTypeOf(file)
    checkMediaType(kind, parts.rules)
    return kind
  }

  async function prepare(file: Received, kind: MediaType, shownName: string, hash: string, ext: string): Promise<Ready> {
    const picture = await images.make({ ...file, mime: kind.shown }, await readImageSettings(database))
    const size = picture ?? (kind.shown === 'image/svg+xml' ? svgSize(file.head) : null)
    const main = picture?.encoded ?? file
    const format = (name: string) => ({ hash: `${name}_${hash}`, name: `${name}_${hash}${ext}` })
    const made = [...(picture?.formats ?? [])]
    return {
      content: {
        width: size?.width ?? null,
        height: size?.height ?? null,
        formats:
          picture === null ? null : formatsOf(picture, (name) => ({ ...format(name), name: `${name}_${shownName}` }), ext, kind.mime),
        mime: kind.mime,
        size: kilobytes(main.bytes),
      },
      puts: [
        { path: main.path, name: hash + ext, mime: kind.mime },
        ...made.map(([name, { path }]) => ({ path, name: format(name).name, mime: kind.mime })),
      ],
    }
  }

  function formatsOf(
    { formats }: SourceImage,
    named: (name: string) => { readonly hash: string; readonly name: string },
    ext: string,
    mime: string,
  ): Readonly<Record<string, StoredFormat>> | null {
    if (formats.size === 0) return null
    const entries = [...formats].map(([key, { width, height, bytes }]) => {
      const { name, hash } = named(key)
      const url = storage.url(hash + ext)
      return [key, { name, hash, ext, mime, path: null, width, height, size: kilobytes(bytes), sizeInBytes: bytes, url }] as const
    })
    return Object.fromEntries(entries)
  }

  /** Puts files in place and writes rows. Whatever fails, what no row names is removed. */
  async function write<Result>(notes: readonly JournalEntry[], puts: Ready['puts'], work: () => Promise<Result>): Promise<Result> {
    const settles: (() => Promise<void>)[] = []
    let written = false
    try {
      for (const note of notes) settles.push(await pending.note(note))
      for (const { path, name, mime } of puts) await storage.put(path, name, mime)
      await storage.settle()
      const result = await work()
      written = true
      return result
    } catch (error) {
      throw asApiError(error)
    } finally {
      const settled = Promise.all(settles.map((settle) => settle()))
      // A storage that does not take files may not give them up either: nobody waits for that.
      if (written || !storage.remote) await settled
    }
  }

  async function add(
    files: readonly Received[],
    infos: readonly FileInfo[],
    link: Link | null,
    scope: LibraryScope,
  ): Promise<readonly number[]> {
    if (link !== null && !(await linkedRowIsThere(database, link))) throw validationError('There is nothing with this refId')
    const kinds = await Promise.all(files.map(look))
    const rows: NewFile[] = []
    const puts: Ready['puts'][number][] = []
    const notes: JournalEntry[] = []
    for (const [index, file] of files.entries()) {
      const info = infos[index]!
      const kind = kinds[index]!
      const name = info.name || file.name
      const hash = newHash(name)
      const ready = await prepare(file, kind, name, hash, kind.ext)
      const { alternativeText = null, caption = null, focalPoint = null } = info
      rows.push({
        ...ready.content,
        ...{ name, alternativeText, caption, focalPoint, hash, ext: kind.ext },
        ...{ documentId: parts.newDocumentId(), url: storage.url(hash + kind.ext), provider: storage.provider },
      })
      puts.push(...ready.puts)
      notes.push({ provider: storage.provider, hash, names: ready.puts.map((put) => put.name) })
    }
    return write(notes, puts, () =>
      transaction(scope, async (tx) => {
        const now = Date.now()
        const folder = await apiFolder(tx, parts.newDocumentId, now)
        const ids: number[] = []
        for (const row of rows) ids.push(await insertFile(tx, row, folder, now))
        if (link !== null) {
          await linkFiles(tx, ids, link)
          await markOwnerModified(tx, scope.model, link)
        }
        for (const id of ids) await scope.watch?.happened(tx, 'media.create', id)
        return ids
      }),
    )
  }

  async function there(id: number) {
    const row = await readFile(database, id)
    if (row === null) throw notFound('Entity not found')
    return row
  }

  /**
   * Gives a file new content. Until that is committed the old content stays in its place; then the new one, which lies beside
   * it, is moved there. A file that lies elsewhere comes to where new files go.
   */
  async function replace(id: number, file: Received, info: FileInfo, scope: LibraryScope): Promise<void> {
    const row = await there(id)
    const kind = await look(file)
    const said = replacedInfo(row, file, info)
    const { content, puts } = await prepare(file, { ...kind, ext: row.ext }, said.name, row.hash, row.ext)
    const { hash, provider } = row
    const moved = provider !== storage.provider
    // Strapi leaves an empty object where formats could have been.
    const place = { url: moved ? storage.url(hash + row.ext) : row.url, provider: storage.provider }
    const stored = { ...content, formats: content.formats ?? {}, ...place }
    const swap = { id: randomUUID(), moves: moved ? [] : puts.map(({ name }) => [`.${randomUUID()}`, name] as const) }
    const staged = new Map(swap.moves.map(([from, to]) => [to, from]))
    const names = [...new Set([...(moved ? [] : storedNames(row)), ...puts.map(({ name }) => name), ...staged.values()])]
    const notes = [{ provider: storage.provider, hash, names, ...(moved ? {} : { swap }) }, ...(moved ? notesOf(row) : [])]
    const stagedPuts = puts.map((put) => ({ ...put, name: staged.get(put.name) ?? put.name }))
    await write(notes, stagedPuts, () =>
      transaction(scope, async (tx) => {
        if (!(await updateInfo(tx, id, said, Date.now()))) throw notFound('Entity not found')
        await updateContent(tx, id, stored)
        if (!moved) await commitSwap(tx, swap.id)
        await scope.watch?.happened(tx, 'media.update', id)
      }),
    )
  }

  /** The note of a file that goes; none where its storage is not ours. */
  function notesOf(row: FileRow): readonly JournalEntry[] {
    if (!storages.of.has(row.provider)) return []
    return [{ provider: row.provider, hash: row.hash, names: storedNames(row) }]
  }

  async function remove(id: number, scope: LibraryScope): Promise<void> {
    const row = await readFile(database, id)
    if (row === null) throw notFound('file.notFound')
    await write(notesOf(row), [], () =>
      transaction(scope, async (tx) => {
        await scope.watch?.happened(tx, 'media.delete', id)
        if (!(await deleteFile(tx, id))) throw notFound('file.notFound')
      }),
    )
  }

  return {
    limits: parts.limits,
    receive: incoming.receive,
    discard: incoming.discard,
    inTurn: openQueue(parts.limits.uploadConcurrency, Number.POSITIVE_INFINITY, tooManyUploads).run,
    add,
    change: async (id, info, scope) => {
      const said = changedInfo(await there(id), info)
      await transaction(scope, async (tx) => {
        if (!(await updateInfo(tx, id, said, Date.now()))) throw notFound('Entity not found')
        await scope.watch?.happened(tx, 'media.update', id)
      })
    },
    replace: (id, file, info, scope) => replacements.inLine(id, () => replace(id, file, info, scope)),
    remove: (id, scope) => replacements.inLine(id, () => remove(id, scope)),
  }
}

/** What is said about a file after a change: what it does not mention stays, and so does what it says nothing of with null, as in Strapi. */
function changedInfo(row: InfoColumns, info: FileInfo): InfoColumns {
  return {
    name: info.name ?? row.name,
    alternativeText: info.alternativeText ?? row.alternativeText,
    caption: info.caption ?? row.caption,
    focalPoint: info.focalPoint ?? row.focalPoint,
  }
}

/** What is said about a file with new content: the name is the new one's, texts stay, and a point of the old picture means nothing. */
function replacedInfo(row: InfoColumns, file: Received, info: FileInfo): InfoColumns {
  return {
    name: info.name || file.name,
    alternativeText: info.alternativeText === undefined ? row.alternativeText : info.alternativeText,
    caption: info.caption === undefined ? row.caption : info.caption,
    focalPoint: info.focalPoint ?? null,
  }
}

const kilobytes = (bytes: number): number => Math.round(bytes / 10) / 100
