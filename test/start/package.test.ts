// What is published works with what it names: dist/ asks for nothing but its dependencies, and tells the licences of what it contains.
import { readdirSync, readFileSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')
const filesOf = (folder: string, ending: string) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith(ending))
    .map((file) => join(folder, file))
const packageOf = (name: string) => /^(?:@[^/]+\/)?[^/]+/.exec(name)![0]
const importsOf = (text: string) =>
  [...text.matchAll(/(?:\bfrom|\bimport|\bimport\()\s*["']([@a-z][\w./@-]*)["']/g)]
    .map(([, name]) => name!)
    .filter((name) => !name.startsWith('node:') && !builtinModules.includes(packageOf(name)))
    .map(packageOf)
    // What `octavo types` writes imports this package.
    .filter((name) => name !== 'octavo')

const { dependencies } = JSON.parse(read('package.json')) as { readonly dependencies: Readonly<Record<string, string>> }

test('the published files import only their dependencies', () => {
  const imported = new Set([...filesOf('dist', '.js'), ...filesOf('dist', '.d.ts')].flatMap((file) => importsOf(read(file))))
  expect([...imported].sort()).toEqual(Object.keys(dependencies).sort())
})

test('the bundle contains the licence of every bundled library', () => {
  const told = new Set([...read('dist/THIRD-PARTY-LICENSES.txt').matchAll(/(?:^|-\n\n)(\S+) \d+\.\d+\.\d+\S*\n/g)].map(([, name]) => name))
  const used = new Set([...filesOf('src', '.ts'), ...filesOf('packages', '.ts')].flatMap((file) => importsOf(read(file))))
  const bundled = [...used].filter((name) => !Object.hasOwn(dependencies, name))
  expect(bundled.length).toBeGreaterThan(10)
  expect(bundled.filter((name) => !told.has(name))).toEqual([])
})
