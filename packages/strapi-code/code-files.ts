// Finds and classifies the files of a Strapi project that contain code. Every start does, so nothing here loads a parser.
import { existsSync, readdirSync, statSync } from 'node:fs'
import { join, posix } from 'node:path'

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

/** True for the name of a file with JavaScript or TypeScript. */
export const isCode = (name: string): boolean => /\.[cm]?[jt]s$/.test(name) && !name.endsWith('.d.ts')

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
