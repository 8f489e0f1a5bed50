// The built command as a process of its own, on a copy of the golden project in a temporary folder.
import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import type { UserConfig } from '../../src/config/config.js'
import { goldenProject } from '../support/serve.js'

const command = join(import.meta.dirname, '..', '..', 'dist', 'main.js')

export interface Ended {
  /** Null where a signal ended the process. */
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  /** Milliseconds from the start, or from the last signal. */
  readonly after: number
}

export interface Child {
  readonly process: ChildProcess
  /** Where the process listens; rejects if it ends before it does. */
  readonly origin: Promise<string>
  readonly ended: Promise<Ended>
  output(): string
  errors(): string
  signal(name: NodeJS.Signals): void
}

/** A copy of the golden project with its database. */
export function copyGolden(config: UserConfig = {}): string {
  const folder = mkdtempSync(join(tmpdir(), 'octavo-fault-'))
  cpSync(goldenProject, folder, { recursive: true })
  mkdirSync(join(folder, '.tmp'))
  writeFileSync(join(folder, '.tmp', 'data.db'), gunzipSync(readFileSync(join(folder, 'content.db.gz'))))
  writeFileSync(
    join(folder, 'octavo.config.json'),
    JSON.stringify({ ...config, api: { rest: { ...config.api?.rest, contract: 'strapi' } } }),
  )
  return folder
}

export const remove = (folder: string): void => rmSync(folder, { recursive: true, force: true })

/** Starts `octavo start <folder>`. Whoever starts it ends it. */
export function start(folder: string, environment: Readonly<Record<string, string>> = {}): Child {
  const { NODE_ENV: _env, ...inherited } = process.env
  const child = spawn(process.execPath, [command, 'start', folder], {
    env: {
      ...inherited,
      HOST: '127.0.0.1',
      PORT: '0',
      NODE_ENV: 'production',
      UPLOADS_DIR: 'uploads',
      OCTAVO_DATABASE_READER_THREADS: '2',
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let [output, errors] = ['', '']
  let since = performance.now()
  const ended = new Promise<Ended>((resolve) => {
    child.on('close', (code, signal) => resolve({ code, signal, after: performance.now() - since }))
  })
  const origin = new Promise<string>((resolve, reject) => {
    child.stdout.on('data', (bytes) => {
      output += bytes
      const [, address] = /^Octavo serves .* at (http:\S+)/m.exec(output) ?? []
      if (address !== undefined) resolve(address)
    })
    child.on('close', () => reject(new Error(`the process ended before it listened: ${errors}`)))
  })
  // Tests of a start that fails look at how it ended.
  origin.catch(() => undefined)
  child.stderr.on('data', (bytes) => {
    errors += bytes
  })
  return {
    process: child,
    origin,
    ended,
    output: () => output,
    errors: () => errors,
    signal: (name) => {
      since = performance.now()
      child.kill(name)
    },
  }
}
