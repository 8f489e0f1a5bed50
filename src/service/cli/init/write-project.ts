// Writes a new project into an empty folder, whole or not at all.
import { mkdirSync, readdirSync, rmdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { ConfigError } from '../../../foundation/errors/errors.js'

/** What a new project may find in its folder. */
const harmless = new Set(['.git', '.DS_Store'])
/** The most entries that a message names. */
const mostNamed = 5

/** Says why a project cannot be created in a folder; null if it can. */
export function folderProblem(folder: string): string | null {
  const stats = statSync(folder, { throwIfNoEntry: false })
  if (stats === undefined) return null
  if (!stats.isDirectory()) return `${folder} is a file.`
  const others = readdirSync(folder)
    .filter((name) => !harmless.has(name))
    .sort()
  if (others.length === 0) return null
  const more = others.length > mostNamed ? ` and ${others.length - mostNamed} more` : ''
  return `${folder} is not empty: it has ${others.slice(0, mostNamed).join(', ')}${more}. A new project needs an empty folder.`
}

/** A file of the project. */
export interface ProjectFile {
  readonly path: string
  readonly content: string | Uint8Array
  readonly isSecret?: boolean
}

const privateFile = 0o600

/**
 * Writes the files; none replaces another one. If one cannot be written, everything that was made is removed again.
 * @throws ConfigError that names the file
 */
export function writeProject(folder: string, files: readonly ProjectFile[]): void {
  const made: string[] = []
  for (const { path, content, isSecret } of files) {
    const file = join(folder, path)
    try {
      makeFolder(dirname(file), made)
      writeFileSync(file, content, { flag: 'wx', ...(isSecret === true ? { mode: privateFile } : {}) })
      made.push(file)
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException
      // A file that existed is not ours; what was written of another one is.
      for (const one of [...made, ...(code === 'EEXIST' ? [] : [file])].reverse()) remove(one)
      throw new ConfigError(`${file} cannot be written (${message}). Nothing was created.`)
    }
  }
}

function makeFolder(folder: string, made: string[]): void {
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true) return
  makeFolder(dirname(folder), made)
  mkdirSync(folder)
  made.push(folder)
}

/** Removes a file, or a folder that is empty. */
function remove(path: string): void {
  try {
    if (statSync(path).isDirectory()) rmdirSync(path)
    else rmSync(path)
  } catch {
    // Somebody else has put something into the folder, or removed it.
  }
}
