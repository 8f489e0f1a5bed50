// Verifies a backup without restoring it: the checksum of every file, the database, and its row counts.
import { resolve } from 'node:path'
import type { Config } from '../../foundation/config/config.js'
import type { CheckResult } from '../doctor/checks.js'
import { type BackupReport, findingsOf, onCopy } from './backup.js'
import { checkCopiedFile } from './copy-database.js'
import { type BackupManifest, databaseName, modelOf, readManifest, schemasOfBackup } from './manifest.js'
import { expectSame, pathInBackup, readBytes } from './referenced-files.js'

/** A verified backup. */
export interface CheckedBackup {
  /** Absolute path. */
  readonly folder: string
  readonly manifest: BackupManifest
}

/** Verifies the files and the database of a backup. @throws ConfigError that names the first invalid file */
export async function checkBackup(config: Config, folder: string, report: (progress: BackupReport) => void): Promise<CheckedBackup> {
  const root = resolve(folder)
  const manifest = await readManifest(root)
  for (const [index, file] of manifest.files.entries()) {
    report({ what: 'files of the backup', done: index, total: manifest.files.length })
    expectSame(file, await readBytes(await pathInBackup(root, file)))
  }
  await checkCopiedFile(config, await pathInBackup(root, { path: databaseName }), manifest.rows)
  return { folder: root, manifest }
}

/** Also runs the checks of `octavo doctor`. */
export async function verifyBackup(
  config: Config,
  path: string,
  report: (progress: BackupReport) => void,
): Promise<CheckedBackup & { readonly findings: readonly CheckResult[] }> {
  const checked = await checkBackup(config, path, report)
  const model = await modelOf(
    { ...config, folder: checked.folder },
    await schemasOfBackup(checked.folder, checked.manifest),
    new Map(),
    onCopy(config, checked.folder),
  )
  return { ...checked, findings: await findingsOf(config, checked.folder, model) }
}
