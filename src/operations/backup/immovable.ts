// What cannot be put aside by a rename: mount points, and folders that belong to somebody else. A restore refuses them before it changes
// anything.
import { constants } from 'node:fs'
import { access, lstat, readFile, realpath } from 'node:fs/promises'
import { dirname } from 'node:path'
import { ConfigError } from '../../foundation/errors/errors.js'

/** @throws ConfigError that names the first of these paths that cannot be renamed. Paths that do not exist are passed over. */
export async function refuseImmovable(paths: readonly string[]): Promise<void> {
  const mounted = await mountPoints()
  for (const path of paths) {
    const stats = await lstat(path).catch(() => null)
    if (stats === null || stats.isSymbolicLink()) continue
    const real = await realpath(path)
    const isMounted = mounted === null ? stats.dev !== (await lstat(dirname(real))).dev : mounted.has(real)
    if (isMounted) throw new ConfigError(`${path} is mounted there, so it cannot be put aside. ${advice}`)
    if (stats.isDirectory() && !(await isWritable(path)))
      throw new ConfigError(`${path} cannot be put aside, because this user may not write to it. ${advice}`)
  }
}

const advice = 'Move it away or unmount it, and restore again. Nothing was changed'

/** A folder is only renamed into another one by who may write to it. */
const isWritable = (path: string): Promise<boolean> =>
  access(path, constants.W_OK).then(
    () => true,
    () => false,
  )

/** The paths of all mounts; null where the system does not list them. */
async function mountPoints(): Promise<ReadonlySet<string> | null> {
  const text = await readFile('/proc/self/mountinfo', 'utf8').catch(() => null)
  if (text === null) return null
  const escaped = text.split('\n').flatMap((line) => line.split(' ')[4] ?? [])
  return new Set(escaped.map((path) => path.replace(/\\(\d{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)))))
}
