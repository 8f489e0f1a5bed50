// Where this package was installed from: what a new project names as its dependency, so that it gets the same one.
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The folder of this package. All of its code is one level below. */
export const packageFolder = (): string => dirname(dirname(fileURLToPath(import.meta.url)))

/**
 * Returns the dependency for the package.json of a project in `folder`: the version if this package came from a registry, otherwise the
 * path of the tarball or checkout, relative to the project.
 */
export function dependencyFor(folder: string): string {
  const own = packageFolder()
  const { version } = JSON.parse(readFileSync(join(own, 'package.json'), 'utf8')) as { readonly version: string }
  const modules = dirname(own)
  if (!modules.endsWith(`${sep}node_modules`)) return fileSpecifier(folder, own)
  const tarball = tarballOf(modules)
  return tarball === null ? `^${version}` : fileSpecifier(folder, tarball)
}

/** Returns the packages by which a project's code is compiled, in the versions that this package is tested with. */
export function compilerDependencies(): Readonly<Record<string, string>> {
  const { devDependencies } = JSON.parse(readFileSync(join(packageFolder(), 'package.json'), 'utf8')) as {
    readonly devDependencies: Readonly<Record<string, string>>
  }
  return Object.fromEntries(['@types/node', 'typescript'].map((name) => [name, devDependencies[name]!]))
}

const fileSpecifier = (folder: string, path: string): string => `file:${relative(folder, path).split(sep).join('/')}`

/** Returns the path of the local tarball that this package was installed from, or null: npm notes it in its lock file. */
function tarballOf(modules: string): string | null {
  const lock = join(modules, '.package-lock.json')
  if (!existsSync(lock)) return null
  const { packages = {} } = JSON.parse(readFileSync(lock, 'utf8')) as {
    readonly packages?: Readonly<Record<string, { readonly resolved?: string }>>
  }
  const { resolved = '' } = packages['node_modules/octavo'] ?? {}
  return resolved.startsWith('file:') ? resolve(dirname(modules), resolved.slice('file:'.length)) : null
}
