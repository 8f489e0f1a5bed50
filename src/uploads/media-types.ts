// What a file is: its bytes decide, then its extension, then what the caller declared.
import mime from 'mime'
import { ApiError } from '../errors/errors.js'
import { extensionOf } from './file-names.js'
import { markupType } from './svg.js'

/** Bytes at the start of a file that tell its type. */
export const headBytes = 4_100

export interface MediaType {
  readonly mime: string
  /** With its dot; the name's own or, without one, the usual one of the type. */
  readonly ext: string
  /** The type that the bytes themselves show; null where they show none. */
  readonly shown: string | null
}

/** A file that has come in. */
interface Sent {
  readonly path: string
  readonly head: Uint8Array
  readonly name: string
  readonly declared: string
}

/** Formats that hold others: the extension says which (a docx is a zip). */
const containers = new Set([
  'application/zip',
  'application/xml',
  'application/gzip',
  'application/x-cfb',
  'application/octet-stream',
  'application/ogg',
])

const declaredForm = /^[a-z0-9][\w.+-]{0,63}\/[a-z0-9][\w.+-]{0,126}$/

/** The type of the file at `path`, whose first bytes are `head`. */
export async function mediaTypeOf({ path, head, name, declared }: Sent): Promise<MediaType> {
  const extension = extensionOf(name)
  const named = extension === '' ? null : mime.getType(extension)
  const shown = await shownType(path, head)
  const stated = declaredForm.test(declared) ? declared : 'application/octet-stream'
  const type = (shown !== null && containers.has(shown) ? (named ?? shown) : shown) ?? named ?? stated
  return { mime: type, ext: extension === '' ? usualExtension(type) : extension, shown }
}

function usualExtension(type: string): string {
  const extension = mime.getExtension(type)
  return extension === null ? '' : `.${extension}`
}

async function shownType(path: string, head: Uint8Array): Promise<string | null> {
  const text = asText(head)
  const markup = text === null ? null : markupType(text)
  if (markup !== null) return markup
  const { fileTypeFromFile } = await import('file-type')
  // What ends before its own header does is of no known type.
  const found = await fileTypeFromFile(path).catch(() => undefined)
  if (found === undefined || (text !== null && startLikeText.has(found.mime))) return null
  return found.mime
}

/** Formats whose first two bytes are letters: a text may begin like them, they are never text. */
const startLikeText = new Set(['image/bmp', 'application/x-msdownload'])

/** The text of bytes that are one; null for others. The last character may be cut. */
function asText(head: Uint8Array): string | null {
  if (head.includes(0)) return null
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(head, { stream: true })
  } catch {
    return null
  }
}

/** Types that a browser shows without running anything; a drawing may hold scripts. */
export const isShownByBrowsers = (type: string): boolean =>
  type !== 'image/svg+xml' && /^(?:image|audio|video|font)\/|^application\/pdf$|^text\/plain$/.test(type)

/** Families of types whose files are always recognised by their bytes. */
const alwaysShown = /^(?:image|video|audio|font)\//

const matches = (type: string, patterns: readonly string[]): boolean =>
  patterns.some((pattern) => (pattern.endsWith('/*') ? type.startsWith(pattern.slice(0, -1)) : type === pattern))

/** Which types may be stored; `allowed` empty: all but the denied. */
export interface TypeRules {
  readonly allowed: readonly string[]
  readonly denied: readonly string[]
}

/**
 * Refuses what the rules do not allow. Bytes win, and the extension must agree with them.
 * @throws ApiError 400
 */
export function checkMediaType({ mime: type, ext, shown }: MediaType, { allowed, denied }: TypeRules): void {
  const named = (ext === '' ? null : mime.getType(ext)) ?? type
  const known = shown ?? (alwaysShown.test(type) ? 'application/octet-stream' : type)
  const refused = matches(known, denied) || matches(named, denied)
  const missing = allowed.length > 0 && !(matches(known, allowed) && matches(named, allowed))
  if (refused || missing)
    throw new ApiError('ValidationError', `Files of the type ${known === named ? named : `${known} named ${ext}`} are not allowed`)
}
