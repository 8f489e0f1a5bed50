// Finds the files that code imports by relative paths, in JavaScript and TypeScript, without running it.
import { readFileSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'

/** The relative paths in imports, exports, dynamic imports and calls of require; those in comments too. */
const specifiers = /(?:\bfrom|\bimport|\brequire)\s*\(?\s*(['"`])(\.{1,2}(?:\/[^'"`\n$]*)?)\1/g

const extensions = ['.ts', '.mts', '.cts', '.js', '.mjs', '.cjs', '.json']

/** The most files that are followed. */
const mostFiles = 1_000

/** The files that a project's code imports, and those that it names but which do not exist. */
export interface Imports {
  /** Existing files, including the given ones, by absolute path with their text. */
  readonly files: ReadonlyMap<string, string>
  /** Paths without a file, as the code names them. */
  readonly missing: ReadonlySet<string>
}

/** Follows the relative imports of `entries`, except into `node_modules`. */
export function followImports(entries: readonly string[]): Imports {
  const files = new Map<string, string>()
  const missing = new Set<string>()
  const waiting = [...entries]
  for (let path = waiting.pop(); path !== undefined && files.size < mostFiles; path = waiting.pop()) {
    const text = files.has(path) || /[\\/]node_modules[\\/]/.test(path) ? null : textOf(path)
    if (text === null) continue
    files.set(path, text)
    if (path.endsWith('.json')) continue
    for (const [, , named] of text.matchAll(specifiers)) {
      const place = resolve(dirname(path), named!)
      const found = fileAt(place)
      if (found === null) missing.add(place)
      else waiting.push(found)
    }
  }
  return { files, missing }
}

/** Returns the file that an import of `place` means: the extension may be missing, or be `.js` for a TypeScript file. */
function fileAt(place: string): string | null {
  const written = /\.([cm]?)js$/.exec(place)
  const candidates = [
    place,
    ...(written === null ? [] : [`${place.slice(0, written.index)}.${written[1]}ts`]),
    ...extensions.map((extension) => place + extension),
    ...extensions.map((extension) => resolve(place, `index${extension}`)),
  ]
  return candidates.find((path) => statSync(path, { throwIfNoEntry: false })?.isFile() === true) ?? null
}

function textOf(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return null
  }
}
