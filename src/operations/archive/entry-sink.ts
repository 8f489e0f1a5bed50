// Where the files of an archive go, one after the other: into a tar file, compressed and encrypted on the way, or into a folder. Both have
// a temporary name until they are complete.
import { randomBytes } from 'node:crypto'
import { createWriteStream, existsSync } from 'node:fs'
import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { Readable, Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { pack } from 'tar-stream'
import { ConfigError } from '../../foundation/errors/errors.js'
import { syncToDisk } from '../../foundation/runtime/sync-to-disk.js'
import { encryption } from './cipher.js'
import { metadataName } from './format.js'

/** How an archive is written. */
export interface ContainerOptions {
  readonly format: 'tar' | 'dir'
  readonly compress: boolean
  /** Null: not encrypted. */
  readonly password: string | null
  /** Replaces an archive of the same name. */
  readonly overwrite: boolean
}

/** The place of the files of one archive. */
export interface EntrySink {
  /** A file or folder beside the archive for what is being written; gone after `finish` and `abandon`. */
  readonly workFolder: string
  /** Adds a file. `bytes`: its size, which is known before. */
  add(name: string, bytes: number, content: Readable): Promise<void>
  /** Completes the archive under its name. Returns its path and size. */
  finish(): Promise<{ readonly path: string; readonly bytes: number }>
  /** Removes everything that was written. */
  abandon(): Promise<void>
}

/** `export.tar.gz.enc`, or the name itself for a folder. */
export const archivePath = (base: string, { format, compress, password }: ContainerOptions): string =>
  format === 'dir' ? base : `${base}.tar${compress ? '.gz' : ''}${password === null ? '' : '.enc'}`

/**
 * Begins an archive.
 * @throws ConfigError if there is one of this name that may not be replaced
 */
export async function openSink(base: string, options: ContainerOptions): Promise<EntrySink> {
  const path = archivePath(base, options)
  if (existsSync(path) && options.overwrite && !(await isReplaceable(path, options)))
    throw new ConfigError(`${path} is not an archive, and is not replaced. Choose another name with -f`)
  if (existsSync(path) && !options.overwrite)
    throw new ConfigError(`${path} exists. Choose another name with -f, or replace it with --overwrite`)
  const workFolder = join(dirname(path), `.${basename(path)}.${randomBytes(6).toString('hex')}.part`)
  await mkdir(dirname(path), { recursive: true })
  await mkdir(workFolder, { mode: 0o700 })
  return options.format === 'dir' ? folderSink(path, workFolder) : tarSink(path, workFolder, options)
}

/** Whether what is there is an archive of the same form, or an empty folder. */
async function isReplaceable(path: string, { format }: ContainerOptions): Promise<boolean> {
  const stats = await stat(path)
  if (format === 'tar') return stats.isFile()
  if (!stats.isDirectory()) return false
  const names = await readdir(path)
  return names.length === 0 || names.includes(metadataName)
}

const ownersFile = 0o600

function folderSink(path: string, workFolder: string): EntrySink {
  const content = join(workFolder, 'content')
  let bytes = 0
  return {
    workFolder,
    add: async (name, size, stream) => {
      const file = join(content, name)
      await mkdir(dirname(file), { recursive: true })
      await pipeline(stream, createWriteStream(file, { flags: 'wx', mode: ownersFile }))
      bytes += size
    },
    finish: async () => {
      // A folder cannot be renamed onto one that has files.
      const replaced = join(workFolder, 'replaced')
      if (existsSync(path)) await rename(path, replaced)
      await rename(content, path)
      await syncToDisk(dirname(path))
      await rm(workFolder, { recursive: true, force: true })
      return { path, bytes }
    },
    abandon: () => rm(workFolder, { recursive: true, force: true }),
  }
}

function tarSink(path: string, workFolder: string, { compress, password }: ContainerOptions): EntrySink {
  const partial = join(workFolder, 'archive')
  const tar = pack()
  const mtime = new Date()
  const stages = [
    ...(compress ? [createGzip()] : []),
    ...(password === null ? [] : [encryption(password)]),
    createWriteStream(partial, { flags: 'wx', mode: ownersFile }),
  ]
  let failure: Error | null = null
  let fail: (error: Error) => void = () => {}
  const written = pipeline([tar as unknown as Readable, ...(stages as Transform[])]).catch((error: Error) => {
    failure = error
    fail(error)
  })

  async function add(name: string, size: number, content: Readable): Promise<void> {
    if (failure !== null) throw failure
    await new Promise<void>((resolve, reject) => {
      fail = reject
      // What does not end with `size` bytes fails here.
      const entry = tar.entry({ name, size, mtime, mode: 0o644, uid: 0, gid: 0 }, (error) => (error ? reject(error) : resolve()))
      pipeline(content, entry as unknown as NodeJS.WritableStream).catch(reject)
    })
  }

  return {
    workFolder,
    add,
    finish: async () => {
      tar.finalize()
      await written
      if (failure !== null) throw failure
      await syncToDisk(partial)
      await rename(partial, path)
      await syncToDisk(dirname(path))
      await rm(workFolder, { recursive: true, force: true })
      return { path, bytes: (await stat(path)).size }
    },
    abandon: async () => {
      tar.destroy()
      await written
      await rm(workFolder, { recursive: true, force: true })
    },
  }
}
