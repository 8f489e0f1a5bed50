// The uploaded files of the local disk, below /uploads/. A file is opened once: its length, tag and bytes belong together
// also while it is replaced. What a browser could run is never run as a page of this origin.
import { constants } from 'node:fs'
import { type FileHandle, open, readlink, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import mime from 'mime'
import { forbidden, notFound } from '../errors/errors.js'
import { isSafeInBrowsers } from '../uploads/media-types.js'
import type { CheckAddress } from '../uploads/signing.js'

/** Nothing runs, nothing is loaded from elsewhere; what a browser shows of the file itself is styled by the browser. */
const still = "default-src 'none'; style-src 'unsafe-inline'"
const sandbox = `${still}; sandbox`
/**
 * For what browsers show with a viewer of their own. Chrome's for PDF does not start in a sandbox, and counts as an object of
 * the file; the document of a video or a sound loads the file itself.
 */
const viewer = `${still}; object-src 'self'; media-src 'self'; base-uri 'none'; form-action 'none'`
const withViewer = /^(?:application\/pdf|video\/.+|audio\/.+)$/

/** Serves a folder. `check` refuses addresses that are not signed; null: everyone may read. */
export function addStaticFiles(app: FastifyInstance, folder: string, check: CheckAddress | null): void {
  app.route({
    method: ['GET', 'HEAD'],
    url: '/uploads/*',
    handler: async (request, reply) => {
      const path = pathOf((request.params as { '*': string })['*'])
      const cacheable = check === null || path === null ? 'public, max-age=0' : privately(check, path, request)
      const handle = path === null ? null : await openFile(folder, path)
      if (handle === null) throw notFound()
      try {
        return await answer(request, reply.header('cache-control', cacheable), path!, handle)
      } catch (error) {
        await handle.close()
        throw error
      }
    },
  })
}

/** Who keeps a private file may use it as long as its address holds. @throws ApiError 403 */
function privately(check: CheckAddress, path: string, request: FastifyRequest): string {
  const [, query = ''] = (request.raw.url ?? '').split('?', 2)
  const left = check(path, query)
  if (left === null) throw forbidden()
  return `private, max-age=${left}`
}

/** The path below the folder; null for what names no file there: dots in front, empty parts, other separators. */
function pathOf(asked: string): string | null {
  const parts = asked.split('/')
  return parts.every((part) => part !== '' && !part.startsWith('.') && !/[\\\0]/.test(part)) ? join(...parts) : null
}

/** Not through a link, and without waiting for whoever would write into a pipe. */
const flags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0)
const noFile = new Set(['ENOENT', 'ENOTDIR', 'EISDIR', 'ENAMETOOLONG', 'EACCES', 'ELOOP', 'ENXIO'])

/** Opens a file below the folder; null where there is none, or where a link is on the way to it. The folder itself may be one. */
async function openFile(folder: string, path: string): Promise<FileHandle | null> {
  let handle: FileHandle | null = null
  try {
    handle = await open(join(folder, path), flags)
    if (!/[/\\]/.test(path) || (await placeOf(handle, join(folder, path))) === join(await realpath(folder), path)) return handle
    await handle.close()
    return null
  } catch (error) {
    await handle?.close()
    if (noFile.has((error as NodeJS.ErrnoException).code ?? '')) return null
    throw error
  }
}

/** Where an open file lies: Linux tells of the very file; elsewhere the path is looked at again. */
const placeOf = (handle: FileHandle, path: string): Promise<string> =>
  process.platform === 'linux' ? readlink(`/proc/self/fd/${handle.fd}`).catch(() => realpath(path)) : realpath(path)

async function answer(request: FastifyRequest, reply: FastifyReply, path: string, handle: FileHandle): Promise<FastifyReply> {
  const about = await handle.stat()
  if (!about.isFile()) throw notFound()
  const type = mime.getType(path) ?? 'application/octet-stream'
  const tag = `"${about.ino.toString(36)}-${Math.round(about.mtimeMs).toString(36)}-${about.size.toString(36)}"`
  const changed = new Date(Math.floor(about.mtimeMs / 1000) * 1000)
  reply.headers({
    'content-type': type.startsWith('text/') ? `${type}; charset=utf-8` : type,
    'accept-ranges': 'bytes',
    etag: tag,
    'last-modified': changed.toUTCString(),
  })
  const drawing = type === 'image/svg+xml'
  const shown = isSafeInBrowsers(type)
  // A drawing is shown in a sandbox, what is not shown is downloaded.
  reply.header('content-security-policy', shown && withViewer.test(type) ? viewer : sandbox)
  if (!shown && !drawing) reply.header('content-disposition', 'attachment')
  if (isKnown(request, tag, changed)) {
    await handle.close()
    return reply.removeHeader('content-type').status(304).send()
  }
  const range = holds(request, tag, changed) ? rangeOf(request.headers.range, about.size) : 'whole'
  if (range === 'none') {
    await handle.close()
    return reply.removeHeader('content-type').status(416).header('content-range', `bytes */${about.size}`).send()
  }
  const { start, end } = range === 'whole' ? { start: 0, end: about.size - 1 } : range
  if (range !== 'whole') reply.status(206).header('content-range', `bytes ${start}-${end}/${about.size}`)
  reply.header('content-length', end - start + 1)
  if (request.method === 'HEAD' || about.size === 0) {
    await handle.close()
    return reply.send(request.method === 'HEAD' ? null : '')
  }
  return reply.send(handle.createReadStream({ start, end }))
}

/** True if the client has this very file already. */
function isKnown({ headers }: FastifyRequest, tag: string, changed: Date): boolean {
  const tags = headers['if-none-match']
  if (tags !== undefined) return tags === '*' || tags.split(',').some((one) => one.trim().replace(/^W\//, '') === tag)
  const since = Date.parse(headers['if-modified-since'] ?? '')
  return changed.getTime() <= since
}

/** True if a range, if one is asked for, is meant of this very file. */
function holds({ headers }: FastifyRequest, tag: string, changed: Date): boolean {
  const condition = headers['if-range']
  return condition === undefined || condition === tag || Date.parse(String(condition)) === changed.getTime()
}

/** One range of bytes. Several at once are answered as the whole file, which the standard allows. */
function rangeOf(asked: string | undefined, size: number): 'whole' | 'none' | { readonly start: number; readonly end: number } {
  const [, first, last] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(asked ?? '') ?? []
  if (first === undefined || last === undefined || (first === '' && last === '')) return 'whole'
  const start = first === '' ? Math.max(0, size - Number(last)) : Number(first)
  const end = first === '' || last === '' ? size - 1 : Math.min(Number(last), size - 1)
  if (last !== '' && first !== '' && Number(last) < start) return 'whole'
  return start >= size || (first === '' && Number(last) === 0) ? 'none' : { start, end }
}
