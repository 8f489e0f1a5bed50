// Reads the files of an archive one after the other, from a tar file, encrypted and compressed or not, or from a folder. What is no plain
// file with a harmless name ends the reading.
import { constants, createReadStream } from 'node:fs'
import { lstat, open, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { extract, type Header } from 'tar-stream'
import { ConfigError } from '../../foundation/errors/errors.js'
import { decryption } from './cipher.js'

/** A file of an archive. Its content is read before the next file. */
export interface ArchiveEntry {
  readonly name: string
  readonly content: Readable
}

/** What an archive is, by its name. */
export interface ArchiveForm {
  readonly kind: 'tar' | 'dir'
  readonly isEncrypted: boolean
  readonly isCompressed: boolean
  /** Bytes of the file; 0 for a folder. */
  readonly bytes: number
}

/** Recognizes an archive by its endings, as Strapi does. @throws ConfigError for anything else */
export async function formOf(path: string): Promise<ArchiveForm> {
  const stats = await stat(path).catch(() => null)
  if (stats === null) throw new ConfigError(`There is no archive at ${path}`)
  if (stats.isDirectory()) return { kind: 'dir', isEncrypted: false, isCompressed: false, bytes: 0 }
  const [, compressed, encrypted] = /\.tar(\.gz)?(\.enc)?$/.exec(path) ?? []
  if (!/\.tar(\.gz)?(\.enc)?$/.test(path))
    throw new ConfigError(
      `${path} is no archive of Strapi: its name does not end in .tar, .tar.gz, .tar.enc or .tar.gz.enc, and it is no folder`,
    )
  return { kind: 'tar', isEncrypted: encrypted !== undefined, isCompressed: compressed !== undefined, bytes: stats.size }
}

/**
 * The files of an archive.
 * @throws ConfigError if it cannot be read with this password, is damaged, or has links or files with paths that lead elsewhere
 */
export const entriesOf = (path: string, form: ArchiveForm, password: string | null): AsyncGenerator<ArchiveEntry> =>
  form.kind === 'dir' ? folderEntries(path, '') : tarEntries(path, form, password)

/** @throws ConfigError for a name that is no path below the archive */
function checkName(name: string): void {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: names must not have control characters
  const isHarmless = name.length <= 1024 && !/[\u0000-\u001f\u007f\\]/.test(name) && !name.startsWith('/')
  if (!isHarmless || name.split('/').some((part) => part === '..' || part === '.' || part === ''))
    throw new ConfigError(
      `The archive has a file with the name ${JSON.stringify(name.slice(0, 200))}, which is not allowed. Nothing was changed`,
    )
}

const folders: readonly string[] = [
  'schemas',
  'entities',
  'links',
  'configuration',
  'octavo',
  'assets',
  'assets/uploads',
  'assets/metadata',
]

async function* folderEntries(root: string, below: string): AsyncGenerator<ArchiveEntry> {
  for (const entry of (await readdir(join(root, below), { withFileTypes: true })).sort((one, other) => (one.name < other.name ? -1 : 1))) {
    const name = below === '' ? entry.name : `${below}/${entry.name}`
    if (entry.isDirectory()) {
      // Other folders are not part of the format.
      if (folders.includes(name)) yield* folderEntries(root, name)
      continue
    }
    checkName(name)
    if (!(await lstat(join(root, name))).isFile()) throw new ConfigError(`${join(root, name)} is a link or a device, not a file`)
    const handle = await open(join(root, name), constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0))
    try {
      yield { name, content: handle.createReadStream({ autoClose: false }) }
    } finally {
      await handle.close()
    }
  }
}

async function* tarEntries(
  path: string,
  { isEncrypted, isCompressed }: ArchiveForm,
  password: string | null,
): AsyncGenerator<ArchiveEntry> {
  const tar = extract()
  const file = createReadStream(path)
  const stages = [...(isEncrypted ? [decryption(password ?? '')] : []), ...(isCompressed ? [createGunzip()] : [])]
  const stream = stages.reduce<Readable>((from, to) => {
    from.on('error', (error) => to.destroy(error))
    return from.pipe(to)
  }, file)
  stream.on('error', (error) => tar.destroy(error))
  stream.pipe(tar as unknown as NodeJS.WritableStream)
  let entries = 0
  try {
    for await (const source of tar) {
      const { name, type } = source.header
      checkName(type === 'directory' ? name.replace(/\/$/, '') : name)
      entries++
      if (isPlainFile(source.header)) yield { name, content: source as unknown as Readable }
      else if (type !== 'directory')
        throw new ConfigError(`The archive has a ${type} with the name ${name}, which is not allowed. Nothing was changed`)
      source.resume()
    }
  } catch (error) {
    throw error instanceof ConfigError || isOfFile(error) ? error : unreadable(path, isEncrypted, error as Error)
  } finally {
    tar.destroy()
    for (const each of [file, ...stages]) each.destroy()
  }
  if (entries === 0) throw unreadable(path, isEncrypted, new Error('it has no files'))
}

const isPlainFile = ({ type }: Header): boolean => type === 'file' || type === 'contiguous-file'

/** Whether the disk, and not the content, is what failed. */
const isOfFile = (error: unknown): boolean => typeof (error as NodeJS.ErrnoException).syscall === 'string'

function unreadable(path: string, isEncrypted: boolean, { message }: Error): ConfigError {
  return new ConfigError(
    isEncrypted
      ? `The key is wrong, or ${path} is damaged (${message}). Nothing was changed`
      : `${path} is not an archive of Strapi, or is damaged (${message}). Nothing was changed`,
  )
}
