// Projects between which archives go, on the database that the suite runs on, and the commands as processes.
import { spawn } from 'node:child_process'
import { cpSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { vi } from 'vitest'
import { createDatabase, isOnServer, nameDatabase } from '../support/databases.js'
import { copyGoldenTo, goldenProject, removeProject } from '../support/serve.js'

// A test runs several commands as separate processes, which take their time on a busy machine.
vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 })

const command = join(import.meta.dirname, '..', '..', 'dist', 'main.js')
const made: string[] = []

/** A project and its database: a file, or a URL. */
export interface Project {
  readonly folder: string
  readonly database: string
}

/** For `afterAll`. */
export async function removeAll(): Promise<void> {
  for (const folder of made.splice(0)) await removeProject(folder)
}

/** An empty folder that is removed afterwards. */
export function emptyFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'octavo-archive-'))
  made.push(folder)
  return folder
}

/** The golden project with its content and files. */
export async function golden(): Promise<Project> {
  const folder = emptyFolder()
  return { folder, database: await copyGoldenTo(folder) }
}

/** The golden project without a database, or with an empty one on a server, and without files. */
export async function fresh(): Promise<Project> {
  const folder = emptyFolder()
  cpSync(goldenProject, folder, { recursive: true, filter: (path) => !path.endsWith('uploads') && !path.endsWith('.gz') })
  const database = isOnServer ? await createDatabase(false) : {}
  nameDatabase(folder, database)
  return { folder, database: database.DATABASE_URL ?? join(folder, '.tmp', 'data.db') }
}

export interface Ended {
  readonly status: number | null
  readonly out: string
  /** Standard error without lines about progress. */
  readonly err: string
}

const progress = /^(?:exporting|unpacking|checking|removing|writing|storing|backing up|verifying|restoring) .*\n/gm

export type Environment = Readonly<Record<string, string>>

/** Starts a command. Its folder for files is `uploads`. `under`: a program that starts it. */
export function begin(words: readonly string[], environment: Environment = {}, under: readonly string[] = []) {
  const [program, ...given] = [...under, process.execPath, command, ...words]
  const child = spawn(program!, given, {
    env: { PATH: process.env.PATH, NODE_ENV: 'production', UPLOADS_DIR: 'uploads', ...environment },
    cwd: tmpdir(),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let [out, err] = ['', '']
  child.stdout.on('data', (bytes) => {
    out += bytes
  })
  child.stderr.on('data', (bytes) => {
    err += bytes
  })
  const ended = new Promise<Ended>((resolve) => {
    child.on('close', (status) => resolve({ status, out, err: err.replaceAll(progress, '') }))
  })
  return { child, ended }
}

/** Runs a command to its end. */
export const run = (words: readonly string[], environment: Environment = {}, under: readonly string[] = []): Promise<Ended> =>
  begin(words, environment, under).ended

/** Exports a project into a plain archive, and returns its path. */
export async function exported({ folder }: Project, ...options: readonly string[]): Promise<string> {
  const base = join(emptyFolder(), 'archive')
  const { status, err } = await run(['export', folder, '-f', base, '--no-encrypt', ...options])
  if (status !== 0) throw new Error(err)
  return options.includes('dir') ? base : `${base}.tar${options.includes('--no-compress') ? '' : '.gz'}`
}
