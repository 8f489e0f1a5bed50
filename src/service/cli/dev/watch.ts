// Watches the inputs of a project: schemas, configuration, the code that it imports, and .env.
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { basename, dirname, join, relative, resolve, sep } from 'node:path'
import { parseEnv } from 'node:util'
import { watch as watchFiles } from 'chokidar'
import { withoutMark } from '../../../foundation/runtime/file-operations.js'

/** Relative paths in imports, exports, dynamic imports and calls of require, including those in comments. */
const specifiers = /(?:\bfrom|\bimport|\brequire)\s*\(?\s*(['"`])(\.{1,2}(?:\/[^'"`\n$]*)?)\1/g

const extensions = ['.ts', '.mts', '.cts', '.js', '.mjs', '.cjs', '.json']

const maxFiles = 1_000

/** The files that a project's code imports, and imported paths that do not exist. */
export interface Imports {
  /** Text of existing files, including the entries, by absolute path. */
  readonly files: ReadonlyMap<string, string>
  /** Paths without a file, as written in the code. */
  readonly missing: ReadonlySet<string>
}

/** Follows relative imports, except into `node_modules`. */
function followImports(entries: readonly string[]): Imports {
  const files = new Map<string, string>()
  const missing = new Set<string>()
  const waiting = [...entries]
  for (let path = waiting.pop(); path !== undefined && files.size < maxFiles; path = waiting.pop()) {
    const text = files.has(path) || /[\\/]node_modules[\\/]/.test(path) ? null : readText(path)
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

/** Resolves an import: the extension may be missing, or `.js` for a TypeScript file. */
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

/** A snapshot of the inputs of a project. */
interface ProjectInputs {
  /** Text by path, relative to the project; without .env. */
  readonly files: ReadonlyMap<string, string>
  readonly variables: Readonly<Record<string, string | undefined>>
  /** Absolute paths of other folders with imported files, existing or not. */
  readonly importFolders: ReadonlySet<string>
}

/** Folders with schema files, and with Strapi's configuration. */
const schemaFolders = ['src/api', 'src/components', 'src/extensions']
const inputFolders: readonly string[] = [...schemaFolders, 'config']

const configuration =
  /^(?:octavo\.config|config[/\\](?:env[/\\]development[/\\])?(?:admin|api|database|middlewares|plugins|server))\.(?:json|[cm]?js|ts)$/

const mayBeInput = (name: string): boolean => name === '.env' || /\.(?:json|[cm]?[jt]s)$/.test(name)

/** Unreadable files count as absent. */
function readInputs(root: string): ProjectInputs {
  const path = (file: string): string => relative(root, file)
  const schemas = schemaFolders.flatMap((folder) => filesBelow(join(root, folder))).filter((file) => file.endsWith('.json'))
  const own = [...filesIn(root), ...filesBelow(join(root, 'config'))].filter((file) => configuration.test(path(file)))
  const { files, missing } = followImports(own)
  const texts = [...[...schemas, join(root, 'package.json')].map((file) => [file, readText(file)] as const), ...files]
  return {
    files: new Map(texts.flatMap(([file, text]) => (text === null ? [] : [[path(file), text]]))),
    variables: parseEnv(withoutMark(readText(join(root, '.env')) ?? '')),
    importFolders: new Set([...files.keys(), ...missing].map((file) => dirname(file))),
  }
}

/** Secrets that the service itself adds to .env on its first start. */
const generatedSecrets = ['API_TOKEN_SALT', 'JWT_SECRET']

/** Returns the paths that differ between two snapshots. Secrets added to .env are ignored. */
function changedInputs(before: ProjectInputs, after: ProjectInputs): readonly string[] {
  const paths = new Set([...before.files.keys(), ...after.files.keys()])
  const changed = [...paths].filter((path) => before.files.get(path) !== after.files.get(path))
  const names = new Set([...Object.keys(before.variables), ...Object.keys(after.variables)])
  const differs = [...names].some(
    (name) =>
      before.variables[name] !== after.variables[name] && !(generatedSecrets.includes(name) && before.variables[name] === undefined),
  )
  return [...changed.map((path) => path.split(sep).join('/')).sort(), ...(differs ? ['.env'] : [])]
}

function filesBelow(folder: string): readonly string[] {
  return readEntries(folder).flatMap((entry) => {
    if (entry.name === 'node_modules' || entry.name.startsWith('.')) return []
    const path = join(folder, entry.name)
    return entry.isDirectory() ? filesBelow(path) : [path]
  })
}

const filesIn = (folder: string): readonly string[] =>
  readEntries(folder).flatMap((entry) => (entry.isDirectory() ? [] : [join(folder, entry.name)]))

function readEntries(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch {
    return []
  }
}

function readText(file: string): string | null {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return null
  }
}

interface WatchOptions {
  /** Poll interval in milliseconds; null: uses file system events. */
  readonly poll: number | null
  /** Called with changed paths, relative to the project. */
  changed(paths: readonly string[]): void
  /** Called when files cannot be watched. */
  failed(error: NodeJS.ErrnoException): void
}

/** Debounce time in milliseconds: editors write a file in several steps. */
const quietTime = 60
/** Milliseconds before a second scan: files created in a new folder before it is watched cause no event. */
const secondLook = 1_000

/** Starts to watch a project. Files rewritten without a change, and files written by the service, are not reported. */
export function watchProject(root: string, { poll, changed, failed }: WatchOptions): void {
  let inputs = readInputs(root)
  let timer: NodeJS.Timeout | undefined
  const watcher = watchFiles(root, {
    ignored: (path, stats) => !isWatched(root, inputs, path, stats?.isDirectory()),
    ignoreInitial: true,
    ...(poll === null ? {} : { usePolling: true, interval: poll }),
  })
  const compare = (): void => {
    const before = inputs
    inputs = readInputs(root)
    watcher.add([...inputs.importFolders].filter((folder) => !before.importFolders.has(folder)))
    // Imported files may not be watched yet; for others this has no effect.
    watcher.add([...inputs.files.keys()].filter((file) => !before.files.has(file)).map((file) => join(root, file)))
    const paths = changedInputs(before, inputs)
    if (paths.length > 0) changed(paths)
  }
  watcher.add([...inputs.importFolders])
  watcher.on('all', (event, path) => {
    if (!event.endsWith('Dir') && !mayBeInput(basename(path))) return
    clearTimeout(timer)
    timer = setTimeout(() => {
      compare()
      timer = setTimeout(compare, secondLook)
    }, quietTime)
  })
  watcher.on('error', (error) => failed(error as NodeJS.ErrnoException))
  // The first scan reports nothing, so another one finds concurrent changes.
  watcher.once('ready', compare)
}

/** True for watched paths: input folders, their parents, and folders of imported files. */
function isWatched(root: string, { importFolders }: ProjectInputs, path: string, isFolder: boolean | undefined): boolean {
  const folders = inputFolders.map((folder) => join(root, folder))
  if (folders.some((folder) => isBelow(folder, path))) return basename(path) !== 'node_modules' && !basename(path).startsWith('.')
  const flat = [root, ...importFolders]
  if ([...folders, ...flat].some((folder) => isBelow(path, folder))) return true
  return isFolder !== true && flat.includes(dirname(path))
}

const isBelow = (folder: string, path: string): boolean => path === folder || path.startsWith(folder + sep)
