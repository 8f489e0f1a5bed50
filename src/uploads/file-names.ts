// Names of files: what a caller may call one, and what it is called on disk. The stored name is always ours.
import { randomBytes } from 'node:crypto'
import slugify from '@sindresorhus/slugify'
import { ApiError, validationError } from '../errors/errors.js'

/** Characters of a name that is shown; the column holds no more. */
const longestName = 255
/** Characters of the readable part of a stored name: with the longest prefix and extension it stays below 255 bytes. */
const longestSlug = 205
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what a name must not have
const forbiddenCharacters = /[<>:"/\\|?*\u0000-\u001f\u007f]/
const reservedNames = /^(con|prn|aux|nul|com\d|lpt\d)$/i
const storedExtension = /^\.[A-Za-z0-9]{1,16}$/

/**
 * The name of a part of a form, without the folders that some browsers send before a backslash.
 * @throws ApiError 400 for a name that could mean something to a file system.
 */
export function fileNameOf(sent: string): string {
  const name = sent.slice(sent.lastIndexOf('\\') + 1).replace(/%(22|0D|0A)/g, (code) => decodeURIComponent(code))
  if (name === '') return 'unnamed'
  if (name.length > longestName || forbiddenCharacters.test(name) || reservedNames.test(name) || /^\.+$/.test(name))
    throw new ApiError('ApplicationError', 'File name contains invalid characters')
  return name
}

/** The extension with its dot, if it is one that a stored file may have; else an empty text. */
export function extensionOf(name: string): string {
  const dot = name.lastIndexOf('.')
  const extension = dot <= 0 ? '' : name.slice(dot)
  return storedExtension.test(extension) ? extension : ''
}

/** A new key for a file that is called `name`: readable, and impossible to guess or to meet twice. */
export function newHash(name: string): string {
  const base = name.slice(name.lastIndexOf('/') + 1)
  const dot = base.lastIndexOf('.')
  const slug = slugify(dot <= 0 ? base : base.slice(0, dot), { separator: '_', lowercase: false, decamelize: true })
  return `${slug.slice(0, longestSlug)}_${randomBytes(5).toString('hex')}`
}

/** @throws ApiError 400 for a shown name that is too long. */
export function checkShownName(name: string): string {
  if (name.length > longestName) throw validationError(`fileInfo.name must be at most ${longestName} characters`)
  return name
}
