// Projects that are backed up and restored, and their content.
import { cpSync, existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { contentOf } from '../archive/content.js'
import { newContent, schemas, settled } from '../archive/harbour.js'
import { type Environment, emptyFolder, type Project, run } from '../archive/projects.js'

/** A small project with rows, files and schemas. */
export const small = (): Promise<Project> => settled({ ...schemas(), ...newContent })

/** A copy of a project on SQLite. */
export function copyOf({ folder: from }: Project): Project {
  const folder = join(emptyFolder(), 'project')
  cpSync(from, folder, { recursive: true })
  // The marker file names its folder.
  rmSync(join(folder, '.tmp', 'data.db.octavo'), { force: true })
  return { folder, database: join(folder, '.tmp', 'data.db') }
}

/** Backs up a project, and returns the path of the backup. */
export async function backedUp({ folder }: Project, environment: Environment = {}): Promise<string> {
  const path = join(emptyFolder(), 'backup')
  const { status, out, err } = await run(['backup', folder, '--to', path], environment)
  expect({ status, err }, out).toMatchObject({ status: 0 })
  return path
}

/** Rows that are left out of a backup. */
const isLeftOut = (table: string): boolean =>
  /^(?:sqlite_|octavo_(?:leases|rate_limits|file_swaps|one_time_tokens|write_|server_epoch|commits|copy_progress|preparation)|strapi_sessions)/.test(
    table,
  )

/** Every row of a database, with its ids. */
export const everythingIn = (database: string) => contentOf(database, isLeftOut, () => false)

/** The files in a folder by their paths, but those that are hidden. */
export function filesIn(folder: string): Readonly<Record<string, string>> {
  const entries = existsSync(folder) ? readdirSync(folder, { withFileTypes: true, recursive: true }) : []
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
  return Object.fromEntries(
    paths
      .filter((path) => !path.split('/').some((part) => part.startsWith('.')))
      .sort()
      .map((path) => [path, readFileSync(join(folder, path)).toString('base64')]),
  )
}

/** Expects that `octavo doctor` finds nothing. */
export async function expectSound({ folder }: Project, environment: Environment = {}): Promise<void> {
  const { out } = await run(['doctor', folder], environment)
  expect(out).toMatch(/No problems found\.\n$/)
}

/** The environment in which a command kills itself after its step `at` on the files in `folder`. */
export const killedAt = (folder: string, at: number): Environment => ({
  NODE_OPTIONS: `--import ${join(import.meta.dirname, '..', 'faults', 'start-failpoints.mjs')}`,
  ...{ KILL_IN: folder, KILL_COUNT: `${folder}.steps`, KILL_AT: String(at) },
})

/** The number of steps of a command that was not killed. */
export const stepsIn = (folder: string): number => Number(readFileSync(`${folder}.steps`, 'utf8'))
