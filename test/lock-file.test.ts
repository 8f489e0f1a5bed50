// Keeps package-lock.json complete: npm leaves out the packages of other platforms when it updates the file with installed packages, and
// `npm ci` then refuses the file on every machine.
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

type LockedPackage = {
  readonly dependencies?: Record<string, string>
  readonly optionalDependencies?: Record<string, string>
  readonly integrity?: string
  readonly dev?: boolean
  readonly link?: boolean
}

const { packages } = JSON.parse(readFileSync(new URL('../package-lock.json', import.meta.url), 'utf8')) as {
  packages: Record<string, LockedPackage>
}

/** True if Node.js finds `dependency` of the package at `path`: in the package's folder or in one above. */
function isLocked(path: string, dependency: string): boolean {
  if (packages[path === '' ? `node_modules/${dependency}` : `${path}/node_modules/${dependency}`]) return true
  return path !== '' && isLocked(path.includes('/node_modules/') ? path.slice(0, path.lastIndexOf('/node_modules/')) : '', dependency)
}

test('the lock file names every dependency of every package, those for other platforms included', () => {
  const missing = Object.entries(packages).flatMap(([path, found]) =>
    Object.keys({ ...found.dependencies, ...found.optionalDependencies })
      .filter((dependency) => !isLocked(path, dependency))
      .map((dependency) => `${path} needs ${dependency}`),
  )
  expect(missing, 'repair: remove node_modules, then npm install --package-lock-only').toEqual([])
})

test('S144: every package that is installed with the product is pinned by its content, those for other platforms included', () => {
  const workspaces = new Set(['', 'test/tools'])
  const loose = Object.entries(packages)
    .filter(([path, found]) => !workspaces.has(path) && found.dev !== true && found.link !== true && found.integrity === undefined)
    .map(([path]) => path)
  expect(loose, 'repair: choose a version that the registry has for every platform').toEqual([])
})
