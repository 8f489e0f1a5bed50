// Reads and parses files of a project, and finds those that others import.
import { existsSync, readFileSync, statSync } from 'node:fs'
import { join, posix } from 'node:path'
import { isCode } from './code-files.js'
import { type FindModule, type Module, moduleOf } from './modules.js'
import { parse } from './parse.js'

/** Files beyond this size are bundles, and are not read; bytes. */
const largestFile = 1_000_000

/** Reads and parses files of a project, each once; null for a file that cannot be read or is not valid. */
export interface ModuleReader {
  readonly read: (path: string) => Module | null
  readonly find: FindModule
}

/** Opens a reader. */
export function openModules(folder: string): ModuleReader {
  const known = new Map<string, Module | null>()
  const read = (path: string): Module | null => {
    const found = known.get(path)
    if (found !== undefined) return found
    const program = parsed(join(folder, path), path)
    const module = program === null ? null : moduleOf(path, program)
    known.set(path, module)
    return module
  }
  return {
    read,
    find(from, source) {
      if (!source.startsWith('.')) return null
      const place = posix.join(posix.dirname(from.path), source)
      if (place.startsWith('..')) return null
      // Imports of TypeScript may name the file that it is compiled to.
      const candidates = [
        place,
        place.replace(/\.js$/, '.ts'),
        ...extensions.flatMap((each) => [`${place}.${each}`, `${place}/index.${each}`]),
      ]
      const file = candidates.find((path) => isCode(path) && existsSync(join(folder, path)))
      return file === undefined ? null : read(file)
    },
  }
}

const extensions = ['js', 'ts', 'cjs', 'mjs', 'cts', 'mts']

function parsed(file: string, path: string) {
  try {
    return statSync(file).size > largestFile ? null : parse(path, readFileSync(file, 'utf8'))
  } catch {
    return null
  }
}
