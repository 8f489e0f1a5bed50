// Copies the database of a backup: the file itself, or rows of a server into a file.

import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readdir, rename, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { startTimeoutMs } from '../../database/limits.js'
import { classifyError } from '../../database/sqlite/errors.js'
import { checkDatabaseFile, finalizeCopy } from '../../database/sqlite/file/copied-database.js'
import { type FileLock, lockFile } from '../../database/sqlite/file/exclusive-access.js'
import { type CopyReport, type CopyResult, copyDatabase } from '../../database/transfer/copy.js'
import { openRowSource, openRowTarget, type RowsOptions } from '../../database/transfer/open-rows.js'
import type { RowSource } from '../../database/transfer/rows.js'
import type { Config } from '../../foundation/config/config.js'
import { ApiError, ConfigError } from '../../foundation/errors/errors.js'
import { syncToDisk } from '../../foundation/runtime/file-operations.js'
import type { Model } from '../../model/schema/types.js'
import type { ConsistentSnapshot } from './consistent-snapshot.js'
import { giveAccess, makeFolder, ownerOnly, syncFolders } from './referenced-files.js'

/**
 * Excluded tables. Leases, turns, rate limits, presence and changes for open pages belong to running processes; file swaps are completed in a backup; sessions and codes
 * revoked after the backup would become valid again.
 */
const leftOut: readonly string[] = [
  ...['octavo_leases', 'octavo_rate_limits', 'octavo_file_swaps', 'octavo_one_time_tokens', 'strapi_sessions'],
  ...['octavo_presence', 'octavo_followers', 'octavo_document_changes'],
  ...['octavo_write_turns', 'octavo_write_outcomes', 'octavo_preparation', 'octavo_copy_progress', 'octavo_server_epoch', 'octavo_commits'],
  'octavo_time_zone',
]

const isLeftOut = (name: string): boolean => leftOut.includes(name.split(/[ .]/)[0]!)

export const rowsOptionsOf = ({ database }: Config): RowsOptions => ({
  sqlite: database,
  server: database.server ?? { schema: 'public', ssl: false },
  wait: startTimeoutMs,
})

type ReportCopy = (what: string, done: number, total: number) => void

/**
 * Copies the database into a new file, without the state of running processes, and verifies it. Returns the tables and columns that the
 * file cannot store.
 * @throws ConfigError if the database is damaged, or a server has values that a file cannot store
 */
export async function copyIntoFile(
  config: Config,
  { rows, file }: ConsistentSnapshot,
  { to, model, report }: { readonly to: string; readonly model: Model; readonly report: ReportCopy },
): Promise<readonly string[]> {
  let left: readonly string[] = []
  if (file !== null) await file.copyTo(to, (done, total) => report('pages of the database', done, total))
  else left = (await copyRows(config, rows, to, model, report)).omitted.filter((name) => !isLeftOut(name))
  finalizeCopy(to, leftOut)
  // SQLite creates files by the umask, and this one may be moved out of its folder.
  await giveAccess(to, ownerOnly)
  return left
}

async function copyRows(config: Config, source: RowSource, to: string, model: Model, report: ReportCopy): Promise<CopyResult> {
  const target = await openRowTarget(to, model, rowsOptionsOf(config))
  const options = {
    onAdapted: null,
    overwrite: true,
    report: ({ phase, table, done, total }: CopyReport) => report(`rows of ${table} (${phase})`, done, total),
  }
  try {
    return await copyDatabase(source, target, options)
  } catch (error) {
    throw error instanceof ConfigError ? new ConfigError(`${error.message}\n${otherWays}`) : error
  } finally {
    await target.close()
  }
}

const otherWays =
  'A backup keeps the rows of a server in a SQLite file. For what that cannot hold, save the rows with pg_dump or mariadb-dump'

/** Counts the rows of each table of a copied file, by name. */
export async function countRows(config: Config, file: string): Promise<readonly (readonly [table: string, rows: number])[]> {
  const source = await openRowSource(file, rowsOptionsOf(config))
  try {
    const counts: (readonly [string, number])[] = []
    for (const table of await source.tables()) counts.push([table.name, await source.count(table)])
    return counts
  } finally {
    await source.close()
  }
}

/** Verifies a copied file, and its row counts. @throws ConfigError if it is damaged or its counts differ from the manifest */
export async function checkCopiedFile(config: Config, file: string, expected: readonly (readonly [string, number])[]): Promise<void> {
  checkDatabaseFile(file)
  const found = new Map(await countRows(config, file))
  const wrong = expected.filter(([table, rows]) => found.get(table) !== rows).map(([table]) => table)
  if (wrong.length > 0) throw new ConfigError(`The backup is damaged: the number of rows differs in ${wrong.join(', ')}`)
}

/** A backup in progress. */
interface PartialBackup {
  readonly folder: string
  /** Renames it to its final name. @throws ConfigError if that exists by now */
  finish(): Promise<void>
  /** Removes all written files. */
  abandon(): Promise<void>
}

const ending = '.octavo-part'
const unfinished = /^\..+\.[0-9a-f]{12}\.octavo-part(\.lock)?$/

/** @throws ConfigError if `path` exists */
export function refusePresent(path: string): void {
  if (existsSync(path)) throw new ConfigError(`${path} exists. A backup replaces nothing: choose another path with --to`)
}

/** Starts a backup that will be at `path`. @throws ConfigError if that exists */
export async function beginPartialBackup(path: string): Promise<PartialBackup> {
  refusePresent(path)
  const parent = dirname(path)
  await mkdir(parent, { recursive: true })
  await clearUnfinished(parent)
  const folder = join(parent, `.${basename(path)}.${randomBytes(6).toString('hex')}${ending}`)
  const lock = lockFile(lockOf(folder))
  const release = async (): Promise<void> => {
    await rm(lockOf(folder), { force: true })
    lock?.release()
  }
  await makeFolder(folder)
  return {
    folder,
    finish: async () => {
      await syncFolders(folder)
      refusePresent(path)
      await rename(folder, path)
      await syncToDisk(parent)
      await release()
    },
    abandon: async () => {
      await rm(folder, { recursive: true, force: true, maxRetries: 5 })
      await release()
    },
  }
}

const lockOf = (folder: string): string => `${folder}.lock`

/** Removes leftovers of killed backups. A running backup holds a lock. */
async function clearUnfinished(parent: string): Promise<void> {
  const names = (await readdir(parent)).filter((name) => unfinished.test(name)).map((name) => name.replace(/\.lock$/, ''))
  for (const name of new Set(names)) {
    const folder = join(parent, name)
    const lock = lockUnlessHeld(folder)
    if (lock === null) continue
    await rm(folder, { recursive: true, force: true })
    await rm(lockOf(folder), { force: true })
    lock.release()
  }
}

/** Null if another process has the lock, or the file system does not support locks. */
function lockUnlessHeld(folder: string): FileLock | null {
  try {
    return lockFile(lockOf(folder))
  } catch {
    return null
  }
}

/** Explains errors of disks, files and database copies in a sentence; returns other errors unchanged. */
export function explainSystemError(error: unknown, sentence: (message: string) => string): unknown {
  if (error instanceof ConfigError || error instanceof ApiError || !(error instanceof Error)) return error
  const isOfSystem = typeof (error as NodeJS.ErrnoException).syscall === 'string'
  return isOfSystem || classifyError(error) === 'storage' ? new ConfigError(sentence(error.message)) : error
}
