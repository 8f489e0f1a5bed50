// The commands of Octavo as a person types them in the working folder of this process.
import { existsSync } from 'node:fs'
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'

/**
 * Returns the line that runs a command of Octavo, such as `roles list`, on the project in `folder`, which every command takes last. It
 * works in the working folder of this process, and leaves the project's folder out where that is the same. `folder` null: the
 * command is about no project, or its words name it.
 */
export function commandLine(words: string, folder: string | null): string {
  const place = folder === null ? '' : relative('', folder)
  const shown = place.startsWith('..') ? resolve(folder!) : place
  return `${start()} ${words}${shown === '' ? '' : ` ${quotedWord(shown)}`}`
}

/** npx finds a package that is installed or linked, and in a clone the package itself; elsewhere Node runs the script of the clone. */
function start(): string {
  const home = packageFolder()
  const isFound = isBelow(home, resolve()) || isLinked(resolve()) || home.split(sep).includes('_npx') || isBelow(globalFolder(), home)
  return isFound ? 'npx octavo' : `node ${quotedWord(join(home, 'dist', 'main.js'))}`
}

const isBelow = (folder: string, path: string): boolean => {
  const way = relative(folder, path)
  return !way.startsWith('..') && !isAbsolute(way)
}

/** The folder of globally installed npm packages. */
const globalFolder = (): string => resolve(dirname(process.execPath), '..', 'lib', 'node_modules')

/** True if a folder or one above it has the command among its installed ones. */
const isLinked = (folder: string): boolean =>
  existsSync(join(folder, 'node_modules', '.bin', 'octavo')) || (dirname(folder) !== folder && isLinked(dirname(folder)))

/** The folder of this package: the sources and the build are at different depths. */
function packageFolder(): string {
  let folder = dirname(fileURLToPath(import.meta.url))
  while (!existsSync(join(folder, 'package.json')) && dirname(folder) !== folder) folder = dirname(folder)
  return folder
}

/** A word that a shell takes as one. */
export const quotedWord = (word: string): string => (/^[\w./:@%+,=\\-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)

/** Control characters, including those that change the text direction. */
const controls = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu
const escaped = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`

/** A text without characters that a terminal would act on. */
export const terminalText = (text: string): string => text.replace(controls, escaped)

/** The same of a text with lines, which stay lines. */
export const terminalLines = (text: string): string =>
  text.replace(controls, (character) => (character === '\n' || character === '\t' ? character : escaped(character)))
