// Watches the inputs of a project, with events of the file system or by polling, and reports which of them changed.
import { basename, dirname, join, sep } from 'node:path'
import { watch as watchFiles } from 'chokidar'
import { changedInputs, inputFolders, mayBeInput, type ProjectInputs, readInputs } from './project-inputs.js'

/** Options of the watcher. */
export interface WatchOptions {
  /** Milliseconds between two looks at the files; null: the file system reports changes. */
  readonly poll: number | null
  /** Called with the paths that changed, relative to the project. */
  changed(paths: readonly string[]): void
  /** Called when files cannot be watched. */
  failed(error: NodeJS.ErrnoException): void
}

/** Milliseconds without a further event after which changes are reported: editors write a file in several steps. */
const quietTime = 60
/** Milliseconds until the files are looked at once more: what is created in a new folder before it is watched causes no event. */
const secondLook = 1_000

/** Starts to watch the project in `root`. Files that are written without a change, and files that the service writes, are not reported. */
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
    // A file that no event has reported is not watched yet; for others this changes nothing.
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
  // The first scan reports nothing, so what changed meanwhile is found by looking.
  watcher.once('ready', compare)
}

/** True for what has to be watched: the folders of inputs, the folders above them, and the files beside the imported ones. */
function isWatched(root: string, { importFolders }: ProjectInputs, path: string, isFolder: boolean | undefined): boolean {
  const folders = inputFolders.map((folder) => join(root, folder))
  if (folders.some((folder) => isBelow(folder, path))) return basename(path) !== 'node_modules' && !basename(path).startsWith('.')
  const flat = [root, ...importFolders]
  if ([...folders, ...flat].some((folder) => isBelow(path, folder))) return true
  return isFolder !== true && flat.includes(dirname(path))
}

const isBelow = (folder: string, path: string): boolean => path === folder || path.startsWith(folder + sep)
