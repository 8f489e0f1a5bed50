// Detects the media type of a file: from its bytes, else its extension, else the declared type.
import mime from 'mime'
import { ApiError } from '../../foundation/errors/errors.js'
import { extensionOf } from './file-names.js'
import { markupType } from './svg.js'

/** Bytes at the start of a file that suffice for detection. */
export const headBytes = 4_100

export interface MediaType {
  readonly mime: string
  /** Extension with its dot: from the name, else the usual one of the type. */
  readonly ext: string
  /** Type detected from the bytes; null if unknown. */
  readonly detected: string | null
}

interface ReceivedFile {
  readonly path: string
  readonly head: Uint8Array
  readonly name: string
  readonly declared: string
}

/** Container formats, distinguished by the extension (a docx is a zip). */
const containers = new Set([
  'application/zip',
  'application/xml',
  'application/gzip',
  'application/x-cfb',
  'application/octet-stream',
  'application/ogg',
])

const declaredForm = /^[a-z0-9][\w.+-]{0,63}\/[a-z0-9][\w.+-]{0,126}$/

/** Detects the type of the file at `path`, whose first bytes are `head`. */
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
  // A file truncated in its header has no known type. For a PNG with broken first chunks, the signature suffices.
  const found = await fileTypeFromFile(path).catch(() => undefined)
  if (found === undefined && pngSignature.equals(head.subarray(0, pngSignature.length))) return 'image/png'
  if (found === undefined || (text !== null && startLikeText.has(found.mime))) return null
  return found.mime
}

const pngSignature = Buffer.from('89504e470d0a1a0a', 'hex')

/** Formats with a two-letter signature, which may also be the start of a text. */
const startLikeText = new Set(['image/bmp', 'application/x-msdownload'])

/** Decodes UTF-8, possibly with an incomplete last character; null for other bytes. */
function asText(head: Uint8Array): string | null {
  if (head.includes(0)) return null
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(head, { stream: true })
  } catch {
    return null
  }
}

/** Types that browsers display without running code. Excludes SVG, which may contain scripts. */
export const isSafeInBrowsers = (type: string): boolean =>
  type !== 'image/svg+xml' && /^(?:image|audio|video|font)\/|^application\/pdf$|^text\/plain$/.test(type)

/** Types that are always detectable from the bytes. */
const alwaysDetected = /^(?:image|video|audio|font)\//

const matches = (type: string, patterns: readonly string[]): boolean =>
  patterns.some((pattern) => (pattern.endsWith('/*') ? type.startsWith(pattern.slice(0, -1)) : type === pattern))

/** Types that may be stored. An empty `allowed` permits all but the denied ones. */
export interface TypeRules {
  readonly allowed: readonly string[]
  readonly denied: readonly string[]
}

/**
 * Checks both the detected type and the type of the extension.
 * @throws ApiError 400 for a type that is not allowed
 */
export function checkMediaType({ mime: type, ext, detected }: MediaType, { allowed, denied }: TypeRules): void {
  const named = (ext === '' ? null : mime.getType(ext)) ?? type
  const actual = detected ?? (alwaysDetected.test(type) ? 'application/octet-stream' : type)
  const refused = matches(actual, denied) || matches(named, denied)
  const missing = allowed.length > 0 && !(matches(actual, allowed) && matches(named, allowed))
  if (refused || missing)
    throw new ApiError('ValidationError', `Files of the type ${actual === named ? named : `${actual} named ${ext}`} are not allowed`)
}

/** Types that a browser detects by content, regardless of the extension in the URL. */
const interchangeable = /^(?:image\/(?!svg)|text\/|audio\/|video\/)/

/** A file whose content is replaced. */
interface ReplacedFile {
  readonly ext: string
  readonly mime: string
}

/** @throws ApiError 400 if the extension in the URL, which does not change, does not match the new content */
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
