// The mount of the uploaded files on the local disk. A file is opened once, so its length, ETag and bytes match even while it is
// being replaced. Files never run as a page of this origin.
import { constants } from 'node:fs'
import { type FileHandle, open, readlink, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import mime from 'mime'
import { isSafeInBrowsers } from '../../content/media/media-types.js'
import type { CheckAddress } from '../../content/media/signing.js'
import { forbidden, notFound } from '../../foundation/errors/errors.js'
import { createCodingChoice, isCompressible, minCompressedBytes } from '../compression.js'
import { onceClosed } from '../connections.js'
import { variesBy } from '../headers-and-cors.js'
import type { ResponseBudget } from '../memory-budgets.js'
import { getUnchangedTag, isUnchanged, rangeApplies } from '../respond.js'
import { type Mount, readMethods } from './mount.js'

/** Nothing runs or is loaded from elsewhere; inline styles allow the browser's viewers. */
const inert = "default-src 'none'; style-src 'unsafe-inline'"
export const sandboxPolicy = `${inert}; sandbox`
/**
 * The policy for types that browsers show with a built-in viewer. Chrome's PDF viewer does not start in a sandbox and counts as an object;
 * the page for a video or audio file loads the file itself.
 */
export const viewerPolicy = `${inert}; object-src 'self'; media-src 'self'; base-uri 'none'; form-action 'none'`
const withViewer = /^(?:application\/pdf|video\/.+|audio\/.+)$/

interface FileServing {
  /** Refuses URLs that are not signed; null if the files are public. */
  readonly check: CheckAddress | null
  /** Bytes of a file that may be compressed; 0 if none is. */
  readonly compressedBytes: number
  /** The Content-Security-Policy of files by how browsers show them. */
  readonly policies: { readonly sandbox: string; readonly viewer: string }
  /** Counts files that are in memory until they are sent. */
  readonly unsent: ResponseBudget
}

/** The files of a folder. */
export function uploadsMount(folder: string, serving: FileServing): Mount {
  return {
    prefix: '/uploads',
    secret: [],
    unlogged: [],
    addTo: (app) => addTo(app, folder, serving),
    methodsAt: () => readMethods,
  }
}

function addTo(app: FastifyInstance, folder: string, { check, compressedBytes, policies, unsent }: FileServing): void {
  app.route({
    method: ['GET', 'HEAD'],
    url: '/uploads/*',
    handler: async (request, reply) => {
      const path = toSafePath((request.params as { '*': string })['*'])
      const cacheable = check === null || path === null ? 'public, max-age=0' : privateCaching(check, path, request)
      const handle = path === null ? null : await openFile(folder, path)
      if (handle === null) throw notFound()
      try {
        return await sendFile(request, reply.header('cache-control', cacheable), { path: path!, handle, compressedBytes, policies, unsent })
      } catch (error) {
        await handle.close()
        throw error
      }
    },
  })
}

/** Returns `Cache-Control` for a private file, which may be cached while its URL is valid. @throws ApiError 403 */
function privateCaching(check: CheckAddress, path: string, request: FastifyRequest): string {
  const [, query = ''] = (request.raw.url ?? '').split('?', 2)
  const left = check(path, query)
  if (left === null) throw forbidden()
  return `private, max-age=${left}`
}

/** Returns the path below the folder; null for hidden files, empty segments and other separators. */
function toSafePath(requested: string): string | null {
  const parts = requested.split('/')
  return parts.every((part) => part !== '' && !part.startsWith('.') && !/[\\\0]/.test(part)) ? join(...parts) : null
}

/** Does not follow links, and does not wait for the writer of a pipe. */
const flags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0)
const noFile = new Set(['ENOENT', 'ENOTDIR', 'EISDIR', 'ENAMETOOLONG', 'EACCES', 'ELOOP', 'ENXIO'])

/** Opens a file below the folder; null if there is none or its path contains a link. The folder itself may be a link. */
async function openFile(folder: string, path: string): Promise<FileHandle | null> {
  let handle: FileHandle | null = null
  try {
    handle = await open(join(folder, path), flags)
    if (!/[/\\]/.test(path) || (await getRealPath(handle, join(folder, path))) === join(await realpath(folder), path)) return handle
    await handle.close()
    return null
  } catch (error) {
    await handle?.close()
    if (noFile.has((error as NodeJS.ErrnoException).code ?? '')) return null
    throw error
  }
}

/** Returns the real path of an open file: on Linux from its descriptor, elsewhere by resolving the path again. */
const getRealPath = (handle: FileHandle, path: string): Promise<string> =>
  process.platform === 'linux' ? readlink(`/proc/self/fd/${handle.fd}`).catch(() => realpath(path)) : realpath(path)

interface OpenFile extends Pick<FileServing, 'compressedBytes' | 'policies' | 'unsent'> {
  readonly path: string
  readonly handle: FileHandle
}

async function sendFile(request: FastifyRequest, reply: FastifyReply, file: OpenFile): Promise<FastifyReply> {
  const { path, handle, compressedBytes, policies, unsent } = file
  const stats = await handle.stat()
  if (!stats.isFile()) throw notFound()
  const type = mime.getType(path) ?? 'application/octet-stream'
  const tag = `"${stats.ino.toString(36)}-${Math.round(stats.mtimeMs).toString(36)}-${stats.size.toString(36)}"`
  const changed = new Date(Math.floor(stats.mtimeMs / 1000) * 1000)
  reply.headers({
    'content-type': type.startsWith('text/') ? `${type}; charset=utf-8` : type,
    'accept-ranges': 'bytes',
    etag: tag,
    'last-modified': changed.toUTCString(),
  })
  if (compressedBytes > 0 && !isCompressible(type)) reply.header('vary', variesBy)
  const isSvg = type === 'image/svg+xml'
  const isShown = isSafeInBrowsers(type)
  // SVG is shown in a sandbox; types that are not shown are downloaded.
  reply.header('content-security-policy', isShown && withViewer.test(type) ? policies.viewer : policies.sandbox)
  if (!isShown && !isSvg) reply.header('content-disposition', 'attachment')
  if (isUnchanged(request.headers, { tag, changed })) {
    await handle.close()
    return reply.removeHeader('content-type').header('etag', getUnchangedTag(request.headers, tag)).status(304).send()
  }
  // Only GET has ranges (RFC 9110, section 14.2).
  const isRanged = request.method === 'GET' && rangeApplies(request.headers, { tag, changed })
  const range = isRanged ? parseRange(request.headers.range, stats.size) : 'whole'
  if (range === 'none') {
    await handle.close()
    return reply.removeHeader('content-type').status(416).header('content-range', `bytes */${stats.size}`).send()
  }
  const { start, end } = range === 'whole' ? { start: 0, end: stats.size - 1 } : range
  if (range !== 'whole') reply.status(206).header('content-range', `bytes ${start}-${end}/${stats.size}`)
  reply.header('content-length', end - start + 1)
  if (isCompressed(request, type, stats.size, compressedBytes)) {
    const bytes = await handle.readFile()
    await handle.close()
    unsent.watch(reply.raw, request.ip, bytes.length)
    return reply.send(bytes)
  }
  if (request.method === 'HEAD' || stats.size === 0) {
    await handle.close()
    return reply.send(request.method === 'HEAD' ? null : '')
  }
  const stream = handle.createReadStream({ start, end })
  onceClosed(reply.raw, () => stream.destroy())
  return reply.send(stream)
}

const chooseCoding = createCodingChoice()

/** True for a whole file that may be compressed, and is therefore read as a whole. Ranges are those of the file itself. */
function isCompressed({ method, headers }: FastifyRequest, type: string, size: number, compressedBytes: number): boolean {
  const accepted = headers['accept-encoding']
  if (accepted === undefined || (method === 'GET' && headers.range !== undefined) || size > compressedBytes) return false
  return size >= minCompressedBytes && isCompressible(type) && chooseCoding(String(accepted)) !== null
}

/** Parses one byte range. A request for several ranges gets the whole file, which the standard allows. */
function parseRange(header: string | undefined, size: number): 'whole' | 'none' | { readonly start: number; readonly end: number } {
  const [, first, last] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header ?? '') ?? []
  if (first === undefined || last === undefined || (first === '' && last === '')) return 'whole'
  const start = first === '' ? Math.max(0, size - Number(last)) : Number(first)
  const end = first === '' || last === '' ? size - 1 : Math.min(Number(last), size - 1)
  if (last !== '' && first !== '' && Number(last) < start) return 'whole'
  return start >= size || (first === '' && Number(last) === 0) ? 'none' : { start, end }
}
