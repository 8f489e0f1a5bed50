// Writes the files of a change into the project's folder: first beside their places, so that a full disk or a missing permission is found
// before anything is changed, then into their places.
import { mkdir, open, readFile, rename, rm, rmdir } from 'node:fs/promises'
import { dirname, join, relative, sep } from 'node:path'
import type { FileChanges } from '../model/schema-files.js'

/** Files that lie beside their places. */
export interface StagedFiles {
  /** Puts the files into their places and deletes what is to be deleted; may be called again after a failure. */
  place(): Promise<void>
  /** Removes the files beside their places. */
  discard(): Promise<void>
}

const suffix = '.octavo-new'

/** Writes the texts beside their places. Files that have their text already are left alone. @throws if the disk refuses them */
export async function stageFiles(folder: string, changes: FileChanges): Promise<StagedFiles> {
  const staged: string[] = []
  const discard = async (): Promise<void> => {
    for (const file of staged) await rm(file + suffix, { force: true })
  }
  try {
    for (const [path, text] of changes) {
      const file = join(folder, path)
      if (text === null || (await textOf(file)) === text) continue
      await mkdir(dirname(file), { recursive: true })
      staged.push(file)
      await writeThrough(file + suffix, text)
    }
  } catch (error) {
    await discard().catch(() => {})
    throw error
  }
  return {
    place: async () => {
      for (const file of staged) await renameUnlessDone(file + suffix, file)
      for (const [path, text] of changes) if (text === null) await remove(folder, join(folder, path))
      for (const parent of new Set(staged.map(dirname))) await sync(parent)
    },
    discard,
  }
}

/** The texts that files have before they are written; null where there is no file. */
export async function formerTexts(folder: string, changes: FileChanges): Promise<FileChanges> {
  const former = new Map<string, string | null>()
  for (const path of changes.keys()) former.set(path, await textOf(join(folder, path)))
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

async function renameUnlessDone(from: string, to: string): Promise<void> {
  try {
    await rename(from, to)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || (await textOf(to)) === null) throw error
  }
}

/** Makes the names in a folder last; some file systems cannot. */
async function sync(folder: string): Promise<void> {
  const handle = await open(folder, 'r').catch(() => null)
  await handle?.sync().catch(() => {})
  await handle?.close()
}

/** Deletes a file, and the folders that it leaves empty, up to `src`. */
async function remove(project: string, file: string): Promise<void> {
  await rm(file, { force: true })
  let folder = dirname(file)
  while (relative(project, folder).split(sep).length > 2) {
    try {
      await rmdir(folder)
    } catch {
      return
    }
    folder = dirname(folder)
  }
}
