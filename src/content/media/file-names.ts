// Names of files: validates the names that clients send, and generates the names used in the storage.
import { randomBytes } from 'node:crypto'
import slugify from '@sindresorhus/slugify'
import { ApiError, validationError } from '../../foundation/errors/errors.js'

/** The most characters of a display name, as in the column. */
const longestName = 255
/** The most characters of the readable part of a stored name; with prefix and extension it stays below 255 bytes. */
const longestSlug = 205
// biome-ignore lint/suspicious/noControlCharactersInRegex: a name must not contain control characters
const forbiddenCharacters = /[<>:"/\\|?*\u0000-\u001f\u007f]/
const reservedNames = /^(con|prn|aux|nul|com\d|lpt\d)$/i
const storedExtension = /^\.[A-Za-z0-9]{1,16}$/

/**
 * Returns the file name of a form part, without the folders that some browsers send before a backslash.
 * @throws ApiError 400 for a name that has a special meaning for a file system.
 */
export function fileNameOf(sent: string): string {
  const name = sent.slice(sent.lastIndexOf('\\') + 1).replace(/%(22|0D|0A)/g, (code) => decodeURIComponent(code))
  if (name === '') return 'unnamed'
  if (isTooLong(name) || forbiddenCharacters.test(name) || reservedNames.test(name) || /^\.+$/.test(name))
    throw new ApiError('ApplicationError', 'File name contains invalid characters')
  return name
}

/** Returns the extension with its dot, or an empty text if it is not allowed for a stored file. */
export function extensionOf(name: string): string {
  const dot = name.lastIndexOf('.')
  const extension = dot <= 0 ? '' : name.slice(dot)
  return storedExtension.test(extension) ? extension : ''
}

/** Counted as columns count: a character beyond 16 bits is one. */
const isTooLong = (name: string): boolean => name.length > longestName && [...name].length > longestName

/** Generates a unique key for a file called `name`: readable, but impossible to guess. As in Strapi, without the extension of `sent`. */
export function newHash(name: string, sent: string): string {
  const base = name.slice(name.lastIndexOf('/') + 1)
  const dot = sent.lastIndexOf('.')
  const stem = dot > 0 && base.endsWith(sent.slice(dot)) ? base.slice(0, base.length - (sent.length - dot)) : base
  const slug = slugify(stem, { separator: '_', lowercase: false, decamelize: true })
  return `${slug.slice(0, longestSlug)}_${randomBytes(5).toString('hex')}`
}

/** Returns the display name. @throws ApiError 400 if it is too long. */
export function checkDisplayName(name: string): string {
  if (isTooLong(name)) throw validationError(`fileInfo.name must be at most ${longestName} characters`)
  return name
}
