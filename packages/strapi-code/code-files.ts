// Finds, classifies and parses the files of a Strapi project that contain code.
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join, posix } from 'node:path'
import type { Program } from 'acorn'
import { parse } from './syntax.js'

export type CodeKind =
  | 'policy'
  | 'middleware'
  | 'routes'
  | 'controller'
  | 'service'
  | 'lifecycle'
  | 'start'
  | 'extension'
  | 'plugin'
  | 'cron'

/** A file of code. */
export interface CodeFile {
  /** Below the project's folder, with slashes. */
  readonly path: string
  readonly kind: CodeKind
  /** The folder of `src/api` that it is in; null for others. */
  readonly api: string | null
}

/** More files than this are not looked at. */
const maxFiles = 5_000

const folders: readonly (readonly [string, CodeKind])[] = [
  ['policies', 'policy'],
  ['middlewares', 'middleware'],
  ['routes', 'routes'],
  ['controllers', 'controller'],
  ['services', 'service'],
  ['content-types', 'lifecycle'],
]

const others: readonly (readonly [string, CodeKind])[] = [
  ['src/index', 'start'],
  ['src/extensions', 'extension'],
  ['src/plugins', 'plugin'],
  ['config/cron-tasks', 'cron'],
  ['config/server', 'cron'],
]

const isCode = (name: string): boolean => /\.[cm]?[jt]s$/.test(name) && !name.endsWith('.d.ts')

/** Lists the files of code of a project. */
export function findCodeFiles(folder: string): readonly CodeFile[] {
  const apis = entries(folder, 'src/api')
  const below = (root: string, api: string | null): readonly CodeFile[] =>
    folders.flatMap(([name, kind]) => filesAt(folder, `${root}/${name}`).map((path) => ({ path, kind, api })))
  return [
    ...below('src', null),
    ...apis.flatMap((api) => below(`src/api/${api}`, api)),
    ...others.flatMap(([place, kind]) => filesAt(folder, place).map((path) => ({ path, kind, api: null }))),
  ].slice(0, maxFiles)
}

/** Files with code below a folder, or with this name. */
function filesAt(folder: string, path: string): readonly string[] {
  const parent = posix.dirname(path)
  const named = entries(folder, parent)
    .filter((name) => isCode(name) && `${parent}/${name.replace(/\.\w+$/, '')}` === path)
    .map((name) => `${parent}/${name}`)
  const whole = join(folder, path)
  const inside = existsSync(whole) && statSync(whole).isDirectory() ? readdirSync(whole, { recursive: true, encoding: 'utf8' }) : []
  const isOwn = (name: string): boolean => isCode(name) && !/(?:^|[\\/])(?:node_modules|admin|dist|build)[\\/]/.test(name)
  return [...named, ...inside.filter(isOwn).map((name) => `${path}/${name.replaceAll('\\', '/')}`)].sort()
}

function entries(folder: string, path: string): readonly string[] {
  const whole = join(folder, path)
  return existsSync(whole) && statSync(whole).isDirectory() ? readdirSync(whole).sort() : []
}

/** Files beyond this size are bundles, and are not read; bytes. */
const maxFileBytes = 1_000_000

const extensions = ['js', 'ts', 'cjs', 'mjs', 'cts', 'mts']

/** Parses files of a project, each once. */
export interface ModuleReader {
  /** Null for a file that cannot be read or is not valid. */
  read(path: string): Program | null
  /** The file that an import of another file names; null for packages and missing files. */
  find(from: string, source: string): string | null
}

/** Creates a reader of the project in `folder`. */
export function createModuleReader(folder: string): ModuleReader {
  const known = new Map<string, Program | null>()
  const parseFile = (path: string): Program | null => {
    try {
      const file = join(folder, path)
      return statSync(file).size > maxFileBytes ? null : parse(path, readFileSync(file, 'utf8'))
    } catch {
      return null
    }
  }
  return {
    read(path) {
      if (!known.has(path)) known.set(path, parseFile(path))
      return known.get(path)!
    },
    find(from, source) {
      const path = posix.join(posix.dirname(from), source)
      if (!source.startsWith('.') || path.startsWith('..')) return null
      // Imports of TypeScript may name the file that it is compiled to.
      const names = [path, path.replace(/\.js$/, '.ts'), ...extensions.flatMap((each) => [`${path}.${each}`, `${path}/index.${each}`])]
      return names.find((name) => isCode(name) && existsSync(join(folder, name))) ?? null
    },
  }
}
