// Snapshots the uploads folder with separate hard links, and finds files that have changed since.
// Replacements and deletions only change names, so a link keeps the bytes.
import { randomUUID } from 'node:crypto'
import { type Dirent, linkSync, lstatSync, readdirSync, readFileSync, rmSync, type Stats } from 'node:fs'
import { join } from 'node:path'
import { openStagingFolder } from './staging.js'

/** A file as it was kept. */
export interface KeptFile {
  readonly path: string
  /** False: the path is not one of our links, and the file has been replaced. */
  isUnchanged(): boolean
}

/** The folder as it was at a moment after its files were kept. */
export interface LaterFiles {
  /** Those of these names whose files had come, gone or been replaced since they were kept. */
  changed(names: Iterable<string>): readonly string[]
  /** Replacements with these ids that were not in their places: keeps the new files under the names that they take. */
  keepReplacements(ids: ReadonlySet<string>): void
}

/** Files that are kept. */
export interface KeptFiles {
  /** Replaces the snapshot by the current files of the folder, except hidden ones. Names without a file are left out. */
  keepAll(): void
  /** Keeps these files as they are now. */
  keep(names: Iterable<string>): void
  /** Looks at the folder as it is now. */
  look(): LaterFiles
  /** Null: the name has no file. */
  find(name: string): KeptFile | null
  close(): Promise<void>
}

interface Kept {
  readonly path: string
  readonly identity: string
}

/** Replaced files have another inode; in-place writes change the time and the size. */
const identityOf = ({ dev, ino, mtimeMs, size }: Stats): string => `${dev}:${ino}:${mtimeMs}:${size}`

/** Null: there is no file, but something else or nothing. */
function identityAt(path: string): string | null {
  const stats = lstatSync(path, { throwIfNoEntry: false })
  return stats?.isFile() === true ? identityOf(stats) : null
}

/** Opens the folder. Where it takes no links, files are read where they are. */
export async function openKeptFiles(uploads: string): Promise<KeptFiles> {
  const staging = await openStagingFolder(uploads).catch(() => null)
  const kept = new Map<string, Kept>()

  /** Keeps the file at `from` under a name. */
  function keepAt(name: string, from: string): void {
    const identity = identityAt(from)
    if (identity !== null && kept.get(name)?.identity === identity) return
    const former = kept.get(name)
    if (former !== undefined && former.path !== join(uploads, name)) rmSync(former.path, { force: true })
    kept.delete(name)
    if (identity === null) return
    const link = linkedFrom(from)
    // The file may have been replaced between the look and the link.
    const found = link === null ? identity : identityAt(link)
    if (found !== null) kept.set(name, { path: link ?? from, identity: found })
  }

  function linkedFrom(from: string): string | null {
    if (staging === null) return null
    const path = join(staging.folder, `${randomUUID()}.kept`)
    try {
      linkSync(from, path)
      return path
    } catch {
      return null
    }
  }

  function keep(those: Iterable<string>): void {
    for (const name of those) keepAt(name, join(uploads, name))
  }

  return {
    keep,
    keepAll: () => keep(new Set([...kept.keys(), ...namesIn(uploads)])),
    look: () => lookAt(uploads, kept, { linkedFrom, keepAt }),
    find: (name) => {
      const file = kept.get(name)
      return file === undefined ? null : { path: file.path, isUnchanged: () => identityAt(file.path) === file.identity }
    },
    close: async () => staging?.close(),
  }
}

interface Keeping {
  linkedFrom(path: string): string | null
  keepAt(name: string, path: string): void
}

function lookAt(uploads: string, kept: ReadonlyMap<string, Kept>, { linkedFrom, keepAt }: Keeping): LaterFiles {
  // Replacements come before names: one that takes its place in between shows in the names.
  const replacements = waiting(uploads).flatMap(({ id, moves }) =>
    moves.flatMap(([from, to]) => {
      const path = linkedFrom(join(uploads, from)) ?? join(uploads, from)
      return identityAt(path) === null ? [] : [{ id, to, path }]
    }),
  )
  const identities = new Map(namesIn(uploads).map((name) => [name, identityAt(join(uploads, name))]))
  return {
    changed: (names) => [...names].filter((name) => (identities.get(name) ?? null) !== (kept.get(name)?.identity ?? null)),
    keepReplacements: (ids) => {
      for (const { id, to, path } of replacements) {
        // If the folder does not support links, the file may have been replaced.
        if (ids.has(id)) keepAt(to, identityAt(path) === null ? join(uploads, to) : path)
      }
    },
  }
}

/** The names of all files in a folder but hidden ones. */
const namesIn = (folder: string): readonly string[] =>
  entriesOf(folder)
    .filter((entry) => entry.isFile() && !entry.name.startsWith('.'))
    .map(({ name }) => name)

/** The content of a folder, which may be missing. */
function entriesOf(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}

/** The replacements that are not in their places, from the journals of all processes. */
function waiting(uploads: string): readonly Swap[] {
  const root = join(uploads, '.octavo')
  const folders = entriesOf(root).filter((entry) => entry.isDirectory())
  return folders.flatMap(({ name }) =>
    notesIn(join(root, name)).flatMap((text) => {
      const swap = swapOf(text)
      return swap === null ? [] : [swap]
    }),
  )
}

/** Folders and notes may go at any moment. */
function notesIn(folder: string): readonly string[] {
  try {
    const names = readdirSync(folder).filter((name) => name.endsWith('.note'))
    return names.flatMap((name) => {
      try {
        return [readFileSync(join(folder, name), 'utf8')]
      } catch {
        return []
      }
    })
  } catch {
    return []
  }
}

interface Swap {
  readonly id: string
  readonly moves: readonly (readonly [from: string, to: string])[]
}

function swapOf(text: string): Swap | null {
  try {
    return (JSON.parse(text) as { readonly swap?: Swap }).swap ?? null
  } catch {
    return null
  }
}
