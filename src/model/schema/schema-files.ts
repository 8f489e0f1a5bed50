// Reads schema files from the disk, with or without unwritten changes.
import { readdir, readFile } from 'node:fs/promises'
import { dirname, join, relative, sep } from 'node:path'
import { withoutMark } from '../../foundation/runtime/file-operations.js'

/** A name in a folder. */
interface FolderEntry {
  readonly name: string
  readonly isFolder: boolean
}

/** Parses the text of a schema file, which may begin with a byte order mark. @throws SyntaxError */
export const parseSchemaFile = (text: string): unknown => JSON.parse(withoutMark(text))

/** Reads folders and files by absolute paths. */
export interface SchemaFiles {
  /** Sorted by name; empty if the folder does not exist. */
  list(folder: string): Promise<readonly FolderEntry[]>
  /** Null if the file does not exist. */
  read(file: string): Promise<string | null>
}

/** Texts of files by their paths relative to the project's folder, with `/`; null: the file is deleted. */
export type FileChanges = ReadonlyMap<string, string | null>

interface RecordedFiles extends SchemaFiles {
  /** The texts that were read, by their paths relative to the project's folder, with `/`. */
  readonly texts: ReadonlyMap<string, string>
}

/** Records the files that are read. */
export function recordReads(projectFolder: string, files: SchemaFiles): RecordedFiles {
  const texts = new Map<string, string>()
  return {
    texts,
    list: files.list,
    read: async (file) => {
      const text = await files.read(file)
      if (text !== null) texts.set(relative(projectFolder, file).split(sep).join('/'), text)
      return text
    },
  }
}

const byName = (a: FolderEntry, b: FolderEntry): number => (a.name < b.name ? -1 : 1)

async function unlessMissing<Result>(reading: Promise<Result>, otherwise: Result): Promise<Result> {
  try {
    return await reading
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return otherwise
    throw error
  }
}

export const filesOnDisk: SchemaFiles = {
  list: async (folder) =>
    (await unlessMissing(readdir(folder, { withFileTypes: true }), []))
      .map((entry) => ({ name: entry.name, isFolder: entry.isDirectory() }))
      .sort(byName),
  read: (file) => unlessMissing<string | null>(readFile(file, 'utf8'), null),
}

/** The files on disk as they will be once the changes are written. A folder that the changes empty is still listed. */
export function filesWithChanges(projectFolder: string, changes: FileChanges): SchemaFiles {
  const texts = new Map([...changes].map(([path, text]) => [join(projectFolder, path), text]))
  const added = new Map<string, Map<string, FolderEntry>>()
  for (const [file, text] of texts) {
    if (text === null) continue
    let below = file
    let isFolder = false
    while (below !== projectFolder && below.startsWith(projectFolder + sep)) {
      const folder = dirname(below)
      const name = below.slice(folder.length + 1)
      const entries = added.get(folder) ?? new Map<string, FolderEntry>()
      added.set(folder, entries.set(name, { name, isFolder }))
      ;[below, isFolder] = [folder, true]
    }
  }
  return {
    list: async (folder) => {
      const present = await filesOnDisk.list(folder)
      const entries = new Map([...present, ...(added.get(folder)?.values() ?? [])].map((entry) => [entry.name, entry]))
      return [...entries.values()].sort(byName)
    },
    read: async (file) => {
      const text = texts.get(file)
      return text === undefined ? filesOnDisk.read(file) : text
    },
  }
}
