// The built command as a process, on projects of a test's own in temporary folders.
import { type SpawnOptions, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { patience } from '../support/until.js'

export const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..')
const folders: string[] = []
/** For `afterAll`. */
export const removeProjects = (): void => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
}

/** A project in a temporary folder: files by their path in it, JSON values are written as JSON. */
export function project(files: Readonly<Record<string, unknown>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'octavo-start-'))
  folders.push(folder)
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), typeof content === 'string' ? content : JSON.stringify(content))
  }
  return folder
}

export interface Ended {
  readonly status: number | null
  readonly out: string
  readonly err: string
}

/** Runs the command to its end; a process that serves is stopped as soon as it says so. `options`: another user or folder. */
export function octavo(
  words: readonly string[],
  environment: Readonly<Record<string, string>> = {},
  options: Pick<SpawnOptions, 'uid' | 'gid' | 'cwd'> = {},
): Promise<Ended> {
  const child = spawn(process.execPath, [join(root, 'dist', 'main.js'), ...words], {
    env: {
      PATH: process.env.PATH,
      NODE_ENV: 'production',
      HOST: '127.0.0.1',
      PORT: '0',
      OCTAVO_DATABASE_READER_THREADS: '1',
      ...environment,
    },
    cwd: tmpdir(),
    timeout: patience.timeout,
    killSignal: 'SIGKILL',
    ...options,
  })
  let [out, err] = ['', '']
  child.stderr.on('data', (bytes) => {
    err += bytes
  })
  child.stdout.on('data', (bytes) => {
    const serving = out.includes('Octavo serves')
    out += bytes
    // Once only: a second signal would not wait.
    if (!serving && out.includes('Octavo serves')) child.kill('SIGTERM')
  })
  return new Promise((resolve) => child.on('close', (status) => resolve({ status, out, err })))
}
