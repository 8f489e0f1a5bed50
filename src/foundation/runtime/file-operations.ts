// Operations on files: durable replacement, syncing, hashes, and the byte order mark of editors on Windows.
import { createHash, randomBytes } from 'node:crypto'
import {
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeSync,
} from 'node:fs'
import { open } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'

/** A text without the byte order mark, which belongs to the encoding. */
export const withoutMark = (text: string): string => (text.startsWith('\uFEFF') ? text.slice(1) : text)

/** The SHA-1 of bytes, as base64url. It distinguishes versions; it does not protect against forgery. */
export const contentHash = (bytes: Uint8Array): string => createHash('sha1').update(bytes).digest('base64url')

/** Syncs a file or folder to the disk; some file systems do not allow it for folders. */
export async function syncToDisk(path: string): Promise<void> {
  const handle = await open(path, 'r')
  try {
    await handle.sync()
  } catch (error) {
    if ((await handle.stat()).isFile()) throw error
  } finally {
    await handle.close()
  }
}

/** Masks of a mode. */
const ownerAndGroup = 0o770
const others = 0o007

/** Removes temporary files of processes that were killed before the rename to `path`. */
function removeTemporaryFiles(path: string): void {
  const [folder, name] = [dirname(path), basename(path)]
  for (const other of readdirSync(folder))
    if (other.startsWith(`${name}.`) && /^[0-9a-f]{12}$/.test(other.slice(name.length + 1))) rmSync(join(folder, other))
}

/**
 * Copies the permissions of a replaced file, for a private one except those of others. As root, preserves its owner; a new file, or a
 * private one that others could read, gets the owner of the folder, who must be able to read it.
 */
function keepRights(file: string, former: Stats | null, isPrivate: boolean): void {
  if (former !== null) chmodSync(file, former.mode & (isPrivate ? ownerAndGroup : ownerAndGroup | others))
  if (process.getuid?.() !== 0) return
  const keepsOwner = former !== null && (!isPrivate || (former.mode & others) === 0)
  const { uid, gid } = keepsOwner ? former : statSync(dirname(file))
  chownSync(file, uid, gid)
}

/** Replaces or creates a file atomically and durably; a link remains one. `isPrivate`: others may not read it. */
export function replaceFile(link: string, text: string, { isPrivate }: { readonly isPrivate: boolean }): void {
  const path = existsSync(link) ? realpathSync(link) : link
  removeTemporaryFiles(path)
  const next = `${path}.${randomBytes(6).toString('hex')}`
  try {
    const file = openSync(next, 'wx', isPrivate ? 0o600 : 0o666)
    try {
      writeSync(file, text)
      fsyncSync(file)
    } finally {
      closeSync(file)
    }
    keepRights(next, existsSync(path) ? statSync(path) : null, isPrivate)
    renameSync(next, path)
  } catch (error) {
    rmSync(next, { force: true })
    throw error
  }
  // The rename is durable only after the folder is synced; some file systems do not permit opening a folder.
  try {
    const folder = openSync(dirname(path), 'r')
    fsyncSync(folder)
    closeSync(folder)
  } catch {}
}
