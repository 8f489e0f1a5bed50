// Writes the files of a change to the project's folder: stages them first, so that a full disk or missing permissions are detected before
// anything is changed, then renames them into place.
import { createHash } from 'node:crypto'
import { access, mkdir, open, readdir, readFile, rename, rm, rmdir } from 'node:fs/promises'
import { dirname, join, relative, sep } from 'node:path'
import type { FileChanges } from '../../model/schema/schema-files.js'

export interface StagedFiles {
  /** Renames the files into place and deletes removed ones; may be repeated after a failure. */
  place(): Promise<void>
  discard(): Promise<void>
}

const suffix = '.octavo-new'
/** Maximum bytes of a file name on most file systems. */
const longestName = 255

/** The folders of `src` with schema files. Others may be large. */
const schemaFolders = ['api', 'components', 'extensions']

interface StagedFile {
  readonly file: string
  readonly beside: string
  readonly text: string
  /** The former text; null: a new file. */
  readonly former: string | null
}

/** Stages the texts, except unchanged ones. @throws on disk errors */
export async function stageFiles(folder: string, changes: FileChanges): Promise<StagedFiles> {
  const staged: StagedFile[] = []
  const discard = async (): Promise<void> => {
    for (const { beside } of staged) await rm(beside, { force: true })
  }
  try {
    for (const [path, text] of changes) {
      const file = join(folder, path)
      const former = await textOf(file)
      if (text === null || former === text) continue
      const beside = await besideOf(file)
      staged.push({ file, beside, text, former })
      await writeThrough(beside, text)
    }
  } catch (error) {
    await discard().catch(() => {})
    throw error
  }
  return {
    place: async () => {
      for (const each of staged) await placeFile(each)
      for (const [path, text] of changes) if (text === null) await remove(folder, join(folder, path))
      for (const parent of new Set(staged.map(({ file }) => dirname(file)))) await sync(parent)
    },
    discard,
  }
}

/** Removes staged files of processes that ended before placing them. */
export async function discardLeftovers(folder: string): Promise<void> {
  const source = join(folder, 'src')
  for (const [parent, recursive] of [
    [folder, false] as const,
    [source, false] as const,
    ...schemaFolders.map((name) => [join(source, name), true] as const),
  ]) {
    const paths = await readdir(parent, { recursive }).catch(() => [])
    // A remaining staged file is harmless, because it is never read.
    for (const path of paths) if (path.endsWith(suffix)) await rm(join(parent, path), { force: true }).catch(() => {})
  }
}

/** A path in the nearest existing folder: Strapi does not start with a type's folder without a schema. */
async function besideOf(file: string): Promise<string> {
  let folder = dirname(file)
  while (!(await isThere(folder))) folder = dirname(folder)
  const name = relative(folder, file).replaceAll(sep, '~')
  return join(folder, (Buffer.byteLength(name + suffix) > longestName ? digest(name) : name) + suffix)
}

const digest = (text: string): string => createHash('sha256').update(text).digest('hex')

/** Current texts of files, including those not on disk; null for missing files. */
export async function formerTexts(folder: string, changes: FileChanges, unwritten: FileChanges): Promise<FileChanges> {
  const former = new Map<string, string | null>()
  for (const path of changes.keys()) {
    const text = unwritten.get(path)
    former.set(path, text === undefined ? await textOf(join(folder, path)) : text)
  }
  return former
}

async function textOf(file: string): Promise<string | null> {
  return readFile(file, 'utf8').catch(() => null)
}

async function writeThrough(file: string, text: string): Promise<void> {
  const handle = await open(file, 'w')
  try {
    await handle.writeFile(text)
    await handle.sync()
  } finally {
    await handle.close()
  }
}

const isThere = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  )

async function placeFile({ file, beside, text, former }: StagedFile): Promise<void> {
  await mkdir(dirname(file), { recursive: true })
  try {
    await rename(beside, file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    // Another process has placed it, or removed it on start as a leftover.
    if ((await textOf(file)) !== former) return
    await writeThrough(beside, text)
    await rename(beside, file)
  }
}

/** Syncs a folder, if the file system supports that. */
async function sync(folder: string): Promise<void> {
  const handle = await open(folder, 'r').catch(() => null)
  await handle?.sync().catch(() => {})
  await handle?.close()
}

/** Deletes a file, and folders that become empty, up to `src`. */
async function remove(project: string, file: string): Promise<void> {
  await rm(file, { force: true })
  let folder = dirname(file)
  while (relative(project, folder).split(sep).length > 2) {
    try {
      await rmdir(folder)
    } catch (error) {
      // An interrupted process has already removed some of them.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') return
    }
    folder = dirname(folder)
  }
}
