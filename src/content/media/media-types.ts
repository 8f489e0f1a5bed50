// Detects the media type of a file: from its bytes, otherwise its extension, otherwise the declared type.
import mime from 'mime'
import { ApiError } from '../../foundation/errors/errors.js'
import { extensionOf } from './file-names.js'
import { markupType } from './svg.js'

/** Bytes at the start of a file used to detect its type. */
export const headBytes = 4_100

/** The media type and extension of a file. */
export interface MediaType {
  readonly mime: string
  /** The extension with its dot: that of the name, or otherwise the usual one of the type. */
  readonly ext: string
  /** The type detected from the bytes; null if unknown. */
  readonly detected: string | null
}

/** A received file. */
interface ReceivedFile {
  readonly path: string
  readonly head: Uint8Array
  readonly name: string
  readonly declared: string
}

/** Formats that contain others, distinguished by the extension (a docx is a zip). */
const containers = new Set([
  'application/zip',
  'application/xml',
  'application/gzip',
  'application/x-cfb',
  'application/octet-stream',
  'application/ogg',
])

const declaredForm = /^[a-z0-9][\w.+-]{0,63}\/[a-z0-9][\w.+-]{0,126}$/

/** Returns the type of the file at `path`, whose first bytes are `head`. */
export async function mediaTypeOf({ path, head, name, declared }: ReceivedFile): Promise<MediaType> {
  const extension = extensionOf(name)
  const named = extension === '' ? null : mime.getType(extension)
  const detected = await detectType(path, head)
  const stated = declaredForm.test(declared) ? declared : 'application/octet-stream'
  const type = (detected !== null && containers.has(detected) ? (named ?? detected) : detected) ?? named ?? stated
  return { mime: type, ext: extension === '' ? usualExtension(type) : extension, detected }
}

function usualExtension(type: string): string {
  const extension = mime.getExtension(type)
  return extension === null ? '' : `.${extension}`
}

async function detectType(path: string, head: Uint8Array): Promise<string | null> {
  const text = asText(head)
  const markup = text === null ? null : markupType(text)
  if (markup !== null) return markup
  const { fileTypeFromFile } = await import('file-type')
  // A file that ends inside its header has no known type; of a PNG whose first chunks are broken the signature says enough.
  const found = await fileTypeFromFile(path).catch(() => undefined)
  if (found === undefined && pngSignature.equals(head.subarray(0, pngSignature.length))) return 'image/png'
  if (found === undefined || (text !== null && startLikeText.has(found.mime))) return null
  return found.mime
}

const pngSignature = Buffer.from('89504e470d0a1a0a', 'hex')

/** Binary formats with a signature of two letters, which a text may also start with. */
const startLikeText = new Set(['image/bmp', 'application/x-msdownload'])

/** Decodes UTF-8 text, whose last character may be incomplete; null for other bytes. */
function asText(head: Uint8Array): string | null {
  if (head.includes(0)) return null
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(head, { stream: true })
  } catch {
    return null
  }
}

/** True for types that a browser displays without running code; SVG may contain scripts. */
export const isSafeInBrowsers = (type: string): boolean =>
  type !== 'image/svg+xml' && /^(?:image|audio|video|font)\/|^application\/pdf$|^text\/plain$/.test(type)

/** Types that are always detected from the bytes. */
const alwaysDetected = /^(?:image|video|audio|font)\//

const matches = (type: string, patterns: readonly string[]): boolean =>
  patterns.some((pattern) => (pattern.endsWith('/*') ? type.startsWith(pattern.slice(0, -1)) : type === pattern))

/** The types that may be stored; if `allowed` is empty, all but the denied ones. */
export interface TypeRules {
  readonly allowed: readonly string[]
  readonly denied: readonly string[]
}

/**
 * Refuses types that the rules do not allow, by the detected type and by the extension.
 * @throws ApiError 400
 */
export function checkMediaType({ mime: type, ext, detected }: MediaType, { allowed, denied }: TypeRules): void {
  const named = (ext === '' ? null : mime.getType(ext)) ?? type
  const actual = detected ?? (alwaysDetected.test(type) ? 'application/octet-stream' : type)
  const refused = matches(actual, denied) || matches(named, denied)
  const missing = allowed.length > 0 && !(matches(actual, allowed) && matches(named, allowed))
  if (refused || missing)
    throw new ApiError('ValidationError', `Files of the type ${actual === named ? named : `${actual} named ${ext}`} are not allowed`)
}

/** Kinds that a browser detects by content, independent of the URL's extension. */
const interchangeable = /^(?:image\/(?!svg)|text\/|audio\/|video\/)/

/** A stored file whose content is replaced. */
interface ReplacedFile {
  readonly ext: string
  readonly mime: string
}

/** @throws ApiError 400 where the address, which stays, would say another type than the new content has. */
export function checkReplacement({ ext, mime: former }: ReplacedFile, { mime: type }: MediaType): void {
  const served = mime.getType(ext) ?? 'application/octet-stream'
  if (type === served || type === former || served === 'application/octet-stream') return
  const kind = interchangeable.exec(served)?.[0]
  if (kind !== undefined && kind === interchangeable.exec(type)?.[0]) return
  throw new ApiError(
    'ApplicationError',
    `The address of the file stays and ends in ${ext}, so it can be replaced by ${served}, and not by ${type}: upload that as a new file`,
  )
}
