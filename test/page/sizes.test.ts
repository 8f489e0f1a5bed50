// Sizes of the built page, compressed: what a browser loads for a screen, with the English texts.
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const built = join(import.meta.dirname, '..', '..', 'dist', 'admin')

interface Chunk {
  readonly file: string
  readonly imports?: readonly string[]
  readonly dynamicImports?: readonly string[]
  readonly css?: readonly string[]
}

const manifest = JSON.parse(readFileSync(join(built, '.vite', 'manifest.json'), 'utf8')) as Readonly<Record<string, Chunk>>

/** The files of chunks and of everything that they import statically. */
function filesOf(...roots: readonly string[]): ReadonlySet<string> {
  const seen = new Set<string>()
  const files = new Set<string>()
  const visit = (name: string): void => {
    if (seen.has(name)) return
    seen.add(name)
    const chunk = manifest[name]
    if (chunk === undefined) throw new Error(`The build has no ${name}`)
    for (const file of [chunk.file, ...(chunk.css ?? [])]) files.add(file)
    chunk.imports?.forEach(visit)
  }
  roots.forEach(visit)
  return files
}

/** Kilobytes of files with an ending, as they are sent with gzip. */
const kilobytes = (files: ReadonlySet<string>, ending: string): number =>
  [...files].filter((file) => file.endsWith(ending)).reduce((sum, file) => sum + statSync(join(built, `${file}.gz`)).size, 0) / 1_000

const base = ['index.html', 'style.css', 'words/en.ts']
const shell = [...base, 'screens/shell/shell.tsx']
const editor = [...shell, 'screens/editor/editor-screen.tsx']

/** Screens with their chunks, limits in kilobytes, and numbers of files; rich text is loaded with its first field. */
const screens = {
  'sign-in': { chunks: [...base, 'screens/sign-in/sign-in-screen.tsx'], limit: 140, most: 13 },
  home: { chunks: [...shell, 'screens/home/home-screen.tsx'], limit: 185, most: 13 },
  list: { chunks: [...shell, 'screens/list/list-screen.tsx'], limit: 185, most: 13 },
  editor: { chunks: editor, limit: 220, most: 13 },
  'editor with blocks': { chunks: [...editor, 'blocks/editor.tsx'], limit: 290, most: 15 },
  'editor with Markdown': { chunks: [...editor, 'markdown/editor.tsx'], limit: 325, most: 15 },
} as const

for (const [name, { chunks, limit, most }] of Object.entries(screens))
  test(`${name} loads at most ${limit} kB of scripts and 25 kB of styles, in at most ${most} files`, () => {
    const files = filesOf(...chunks)
    const sizes = { scripts: kilobytes(files, '.js'), styles: kilobytes(files, '.css') }
    expect(sizes.scripts, JSON.stringify(sizes)).toBeGreaterThan(60)
    expect(sizes.scripts, [...files].join(' ')).toBeLessThanOrEqual(limit)
    expect(sizes.styles, [...files].join(' ')).toBeLessThanOrEqual(25)
    expect(files.size, [...files].join(' ')).toBeLessThanOrEqual(most)
  })

test('a language is loaded when it is read, and the editors of rich text with their first field', () => {
  const files = [...filesOf(...shell, 'screens/list/list-screen.tsx')].join(' ')
  const { file: german } = manifest['words/de.ts']!
  expect(files).not.toContain(german)
  const scripts = [...filesOf(...editor)].filter((file) => file.endsWith('.js'))
  const libraries = scripts.map((file) => readFileSync(join(built, file), 'utf8'))
  expect(libraries.filter((text) => /ProseMirror-selectednode|cm-scroller/.test(text))).toEqual([])
})
