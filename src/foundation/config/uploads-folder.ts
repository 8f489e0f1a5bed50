// The uploads folder: how it is created, and a sentence for the operator where it cannot be used.
import { lstat, mkdir, readlink, stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { ConfigError } from '../errors/errors.js'

/** Everybody whom the process does not exclude. */
const usualMode = 0o777

/**
 * Creates the uploads folder if it is missing, with the folders above it. Each level is created by itself: Node 20's recursive `mkdir`
 * never ends in a file system that refuses new folders as missing, such as `/proc`. `mode` is that of the folder itself; those above it are created as usual.
 * @throws ConfigError that names the setting and the reason
 */
export const makeUploadsFolder = (folder: string, mode = usualMode): Promise<void> =>
  onUploadsFolder(folder, () => makeFolder(folder, mode))

/** Runs `work` in the uploads folder. @throws ConfigError that names the setting and the reason, if the system refuses it */
export async function onUploadsFolder<Result>(folder: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    if (!isOfSystem(error)) throw error
    throw new ConfigError(`The uploads folder ${folder} (uploads.folder or UPLOADS_DIR) cannot be used: ${await reasonOf(folder, error)}.`)
  }
}

const isOfSystem = (error: unknown): error is NodeJS.ErrnoException => error instanceof Error && 'syscall' in error

async function makeFolder(folder: string, mode: number): Promise<void> {
  if (await isFolder(folder)) return
  if (dirname(folder) !== folder) await makeFolder(dirname(folder), usualMode)
  await mkdir(folder, { mode }).catch(async (error: NodeJS.ErrnoException) => {
    // Another process may have created it meanwhile.
    if (error.code !== 'EEXIST' || !(await isFolder(folder))) throw error
  })
}

/** False where there is nothing, or a link to nothing. */
const isFolder = (path: string): Promise<boolean> =>
  stat(path).then(
    (found) => found.isDirectory(),
    (error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error
      return false
    },
  )

async function reasonOf(folder: string, error: NodeJS.ErrnoException): Promise<string> {
  const path = error.path ?? folder
  const inside = error.syscall === 'mkdir' || error.syscall === 'open' ? dirname(path) : path
  switch (error.code) {
    case 'EACCES':
    case 'EPERM':
      return error.syscall === 'stat' ? `${path} cannot be reached by ${thisUser()}` : `${inside} cannot be written to by ${thisUser()}`
    case 'EROFS':
      return `${inside} is on a file system that is read-only`
    case 'EEXIST':
    case 'ENOENT':
    case 'ENOTDIR':
    case 'ELOOP':
      return (await obstacle(folder)) ?? `${path} cannot be created (${error.code})`
    default:
      return error.message
  }
}

const thisUser = (): string => (process.getuid === undefined ? 'this user' : `this user (uid ${process.getuid()})`)

/** The first part of the path that is no folder, as a clause; null if all that are there are folders. */
async function obstacle(folder: string): Promise<string | null> {
  const above = dirname(folder) === folder ? null : await obstacle(dirname(folder))
  if (above !== null) return above
  const [entry, target] = [await lstat(folder).catch(() => null), await stat(folder).catch((error: NodeJS.ErrnoException) => error)]
  if (entry === null) return null
  if (!(target instanceof Error)) return target.isDirectory() ? null : `${folder} is not a folder`
  if (!entry.isSymbolicLink()) return null
  const to = resolve(dirname(folder), await readlink(folder))
  return `${folder} is a link to ${to}, which ${target.code === 'ENOENT' ? 'does not exist' : `cannot be followed (${target.code})`}`
}
