// Snapshots the uploads folder with hard links, which preserve content because files are never modified in place, and detects changes.
import { randomUUID } from 'node:crypto'
import { type Dirent, linkSync, lstatSync, readdirSync, readFileSync, rmSync, type Stats } from 'node:fs'
import { join } from 'node:path'
import { openStagingFolder } from './staging.js'

/** A file of the snapshot. */
interface KeptFile {
  readonly path: string
  /** False if the file could not be linked and has been replaced since. */
  isUnchanged(): boolean
}

/** The current state of the folder, compared with the snapshot. */
interface LaterFiles {
  /** Those of these names whose files were added, deleted or replaced since the snapshot. */
  changed(names: Iterable<string>): readonly string[]
  /** Adds the new files of pending replacements with these ids to the snapshot, under their final names. */
  keepReplacements(ids: ReadonlySet<string>): void
}

/** A snapshot of the uploads folder. */
export interface KeptFiles {
  /** Replaces the snapshot by the current files of the folder, except hidden ones. */
  keepAll(): void
  /** Updates these files in the snapshot; missing ones are removed from it. */
  keep(names: Iterable<string>): void
  /** Reads the current state of the folder. */
  look(): LaterFiles
  /** Null if the snapshot lacks the name. */
  find(name: string): KeptFile | null
  close(): Promise<void>
}

interface Kept {
  readonly path: string
  readonly identity: string
}

/** Replaced files have another inode; in-place writes change time and size. */
const identityOf = ({ dev, ino, mtimeMs, size }: Stats): string => `${dev}:${ino}:${mtimeMs}:${size}`

/** Null unless the path is a regular file. */
function identityAt(path: string): string | null {
  const stats = lstatSync(path, { throwIfNoEntry: false })
  return stats?.isFile() === true ? identityOf(stats) : null
}

/** Opens an empty snapshot. Without support for hard links, files are read in place. */
export async function openKeptFiles(uploads: string): Promise<KeptFiles> {
  const staging = await openStagingFolder(uploads).catch(() => null)
  const kept = new Map<string, Kept>()

  /** Adds the file at `from` to the snapshot under a name. */
  function keepAt(name: string, from: string): void {
    const identity = identityAt(from)
    if (identity !== null && kept.get(name)?.identity === identity) return
    const former = kept.get(name)
    if (former !== undefined && former.path !== join(uploads, name)) rmSync(former.path, { force: true })
    kept.delete(name)
    if (identity === null) return
    const link = linkedFrom(from)
    // The file may have been replaced before it was linked.
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
  // Replacements are read before names: one that is finished in between then appears among the names.
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
        // Without hard links, the new file may have been moved to its final name.
        if (ids.has(id)) keepAt(to, identityAt(path) === null ? join(uploads, to) : path)
      }
    },
  }
}

/** Names of all files in a folder, except hidden ones. */
const namesIn = (folder: string): readonly string[] =>
  entriesOf(folder)
    .filter((entry) => entry.isFile() && !entry.name.startsWith('.'))
    .map(({ name }) => name)

/** Content of a folder that may be missing. */
function entriesOf(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}

/** Pending replacements from the journals of all processes. */
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

/** Folders and notes may be deleted concurrently. */
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
