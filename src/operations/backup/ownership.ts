// Who owns what a restore puts into a project: its files get the owner and the rights of their surroundings, also where root restores them.
import { chmod, chown, mkdir, stat } from 'node:fs/promises'
import { dirname } from 'node:path'

/** The rights of a file. `owner`: null where it stays with the user of this process. */
export interface FileAccess {
  readonly mode: number
  readonly owner: { readonly uid: number; readonly gid: number } | null
}

/** What a database and users' files have is for their owner only. */
export const ownerOnly: FileAccess = { mode: 0o600, owner: null }

/** Bits of a folder's mode that its files may have. */
const [sharedFile, privateFile] = [0o664, 0o660]

const isRoot = (): boolean => process.getuid?.() === 0

/** The access that a new file in `folder` has. `isPrivate`: not for everybody, whatever the folder's mode is. */
export async function accessIn(folder: string, isPrivate = false): Promise<FileAccess> {
  const { uid, gid, mode } = await stat(await nearest(folder))
  return { mode: (mode & (isPrivate ? privateFile : sharedFile)) | 0o600, owner: isRoot() ? { uid, gid } : null }
}

/** The access of the file at `path`, or that of a new file in its folder where there is none. */
export async function accessAt(path: string, isPrivate = false): Promise<FileAccess> {
  const found = await stat(path).catch(() => null)
  if (found === null) return accessIn(dirname(path), isPrivate)
  return { mode: found.mode & 0o777, owner: isRoot() ? { uid: found.uid, gid: found.gid } : null }
}

/** Gives a file this access. */
export async function giveAccess(path: string, { mode, owner }: FileAccess): Promise<void> {
  if (owner !== null) await chown(path, owner.uid, owner.gid)
  await chmod(path, mode)
}

/** Creates a folder with those above it. They belong to the owner of the folder that was there; `mode` is not narrowed by the process. */
export async function makeFolderAlike(folder: string, mode?: number): Promise<void> {
  const above = await nearest(folder)
  if (above === folder) return
  const { uid, gid } = await stat(above)
  await makeFolderAlike(dirname(folder), mode)
  await mkdir(folder, { mode }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error
  })
  if (isRoot()) await chown(folder, uid, gid)
}

/** The folder, or the lowest one above it that exists. */
async function nearest(folder: string): Promise<string> {
  const isThere = await stat(folder).then(
    () => true,
    () => false,
  )
  return isThere || dirname(folder) === folder ? folder : nearest(dirname(folder))
}
