// Keeps the documents together: links lead to files and headings that exist, and so do names of sources.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')

/** The documents of the folders that have some, without those of projects that tests and benches create. */
const documents = ['.', 'bench', 'docs', 'examples'].flatMap((folder) =>
  readdirSync(join(root, folder), { withFileTypes: true, recursive: folder === 'docs' || folder === 'examples' })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.md') && !entry.parentPath.includes('node_modules'))
    .map((entry) => join(entry.parentPath, entry.name)),
)

/** A document without its blocks of code. */
const textOf = (file: string): string => readFileSync(file, 'utf8').replaceAll(/^```.*?^```/gms, '')

/** The anchors of the headings of a document, as on GitHub. */
const anchorsOf = (file: string): ReadonlySet<string> =>
  new Set(
    [...textOf(file).matchAll(/^#+ (.*)$/gm)].map(([, heading]) =>
      heading!
        .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}_ -]/gu, '')
        .replaceAll(' ', '-'),
    ),
  )

test('links between documents lead to files and headings that exist', () => {
  expect(documents.length).toBeGreaterThan(80)
  const broken = documents.flatMap((file) =>
    [...textOf(file).matchAll(/\]\(([^)\s]+)\)/g)]
      .map(([, link]) => link!)
      .filter((link) => !/^(?:https?|mailto):/.test(link))
      .filter((link) => {
        const [path, anchor] = link.split('#')
        const target = path === '' ? file : resolve(dirname(file), path!)
        if (!existsSync(target)) return true
        return anchor !== undefined && target.endsWith('.md') && !anchorsOf(target).has(anchor)
      })
      .map((link) => `${relative(root, file)}: ${link}`),
  )
  expect(broken).toEqual([])
})

test('the sources that contributors are sent to exist', () => {
  const named = documents
    .filter((file) => /CONTRIBUTING|ARCHITECTURE|GLOSSARY|decisions/.test(relative(root, file)))
    .flatMap((file) =>
      [...readFileSync(file, 'utf8').matchAll(/`((?:src|test|packages|scripts|bench|deploy)\/[\w./-]*)`/g)].map(
        ([, path]) => `${relative(root, file)}: ${path}`,
      ),
    )
  expect(named.length).toBeGreaterThan(100)
  expect(named.filter((each) => !existsSync(join(root, each.slice(each.indexOf(': ') + 2))))).toEqual([])
})
