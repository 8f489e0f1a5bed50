// File names: validates those sent by clients, and generates those used in the storage.
import { randomBytes } from 'node:crypto'
import slugify from '@sindresorhus/slugify'
import { ApiError, inputError } from '../../foundation/errors/errors.js'

/** Maximum length of a display name, as in the column. */
const longestName = 255
/** Maximum length of the readable part of a stored name, so that prefix and extension fit into 255 bytes. */
const longestSlug = 205
// biome-ignore lint/suspicious/noControlCharactersInRegex: a name must not contain control characters
const forbiddenCharacters = /[<>:"/\\|?*\u0000-\u001f\u007f]/
const reservedNames = /^(con|prn|aux|nul|com\d|lpt\d)$/i
const storedExtension = /^\.[A-Za-z0-9]{1,16}$/

/**
 * Returns the file name of a form part, without the path that some browsers send.
 * @throws ApiError 400 for a name with a special meaning to a file system
 */
export function fileNameOf(sent: string): string {
  const name = sent.slice(sent.lastIndexOf('\\') + 1).replace(/%(22|0D|0A)/g, (code) => decodeURIComponent(code))
  if (name === '') return 'unnamed'
  if (isTooLong(name) || forbiddenCharacters.test(name) || reservedNames.test(name) || /^\.+$/.test(name))
    throw new ApiError('ApplicationError', 'File name contains invalid characters')
  return name
}

/** Returns the extension with its dot; empty if it is not permitted in the storage. */
export function extensionOf(name: string): string {
  const dot = name.lastIndexOf('.')
  const extension = dot <= 0 ? '' : name.slice(dot)
  return storedExtension.test(extension) ? extension : ''
}

/** Counts code points, as columns do. */
const isTooLong = (name: string): boolean => name.length > longestName && [...name].length > longestName

/** Generates a unique, unguessable key from a name and, as in Strapi, drops the extension of `sent`. */
export function newHash(name: string, sent: string): string {
  const base = name.slice(name.lastIndexOf('/') + 1)
  const dot = sent.lastIndexOf('.')
  const stem = dot > 0 && base.endsWith(sent.slice(dot)) ? base.slice(0, base.length - (sent.length - dot)) : base
  const slug = slugify(stem, { separator: '_', lowercase: false, decamelize: true })
  return `${slug.slice(0, longestSlug)}_${randomBytes(5).toString('hex')}`
}

/** @throws ApiError 400 if the name is too long */
export function checkDisplayName(name: string): string {
  if (isTooLong(name))
    throw inputError(`fileInfo.name must be at most ${longestName} characters`, ['fileInfo', 'name'], 'maxLength', { max: longestName })
  return name
}
