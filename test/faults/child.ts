// The built command as a separate process, on a copy of the golden project in a temporary folder.
import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { UserConfig } from '../../src/foundation/config/config.js'
import { copyGoldenTo, removeProject } from '../support/serve.js'

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
  /** Origin of the process once it listens; rejects if it ends earlier. */
  readonly origin: Promise<string>
  readonly ended: Promise<Ended>
  output(): string
  errors(): string
  signal(name: NodeJS.Signals): void
}

/** A copy of the golden project with its database. */
export async function copyGolden(config: UserConfig = {}): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'octavo-fault-'))
  await copyGoldenTo(folder)
  writeFileSync(
    join(folder, 'octavo.config.json'),
    JSON.stringify({ ...config, api: { rest: { ...config.api?.rest, contract: 'strapi' } } }),
  )
  return folder
}

export const remove = removeProject

/** Starts `octavo start <folder>`. The caller ends it. */
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
      const [, address] = /Octavo serves .* at (http:[^\s"]+)/.exec(output) ?? []
      if (address !== undefined) resolve(address)
    })
    child.on('close', () => reject(new Error(`the process ended before it listened: ${errors}`)))
  })
  // Tests of a failed start check its end themselves.
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
