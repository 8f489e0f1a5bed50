// `octavo backup [folder]`: creates a complete backup of a project, even while a service runs; `--verify` verifies one.
import { createRequire } from 'node:module'
import { getDriver } from '../../database/open.js'
import type { Config } from '../../foundation/config/config.js'
import { ConfigError } from '../../foundation/errors/errors.js'
import { type BackupReport, type MadeBackup, makeBackup } from '../../operations/backup/backup.js'
import type { BackupManifest } from '../../operations/backup/manifest.js'
import { verifyBackup } from '../../operations/backup/verify.js'
import type { CheckResult } from '../../operations/doctor/checks.js'
import { reportOf, verdictOf } from '../../operations/doctor/examine.js'
import { formatFinding } from './doctor.js'
import { onDatabase, orExplain } from './explain-error.js'
import { createProgress, formatSize, pluralize, print, printJson, printList } from './output.js'
import { checkDatabase, checkPrepared, loadWithoutSecrets, readProjectFolder } from './project.js'
import { watchInterruption } from './signals.js'

interface Options {
  readonly to?: string
  readonly verify?: string
  readonly json?: boolean
  readonly allowMissingFiles?: boolean
}

/** Exit status of a backup without some of the referenced files. */
const withoutFiles = 3

/** Creates or verifies a backup. @throws ConfigError with a sentence if that fails */
export const backupCommand = orExplain(async (folder: string, { to, verify, json = false, allowMissingFiles = false }: Options) => {
  if (verify !== undefined) return check(await loadWithoutSecrets(folder), verify, json)
  if (to === undefined) throw new ConfigError('--to <path> is missing: where the backup is written. To check one: --verify <path>')
  const { config } = await readProjectFolder(folder, checkDatabase, loadWithoutSecrets)
  await onDatabase(config, async () => {
    const view = await (await getDriver(config)).openView(config)
    await checkPrepared(view, config, folder).finally(() => view.close())
    const made = await make(config, to, allowMissingFiles)
    show(made, 'Backed up', json)
    if (made.manifest.missing.length > 0 && !allowMissingFiles) process.exitCode = withoutFiles
  })
})

async function make(config: Config, to: string, allowsMissing: boolean): Promise<MadeBackup> {
  const { version } = createRequire(import.meta.url)('../package.json') as { readonly version: string }
  const interruption = watchInterruption()
  try {
    return await makeBackup(config, {
      to,
      version,
      allowsMissing,
      report: createProgress(formatProgress('backing up')),
      begun: interruption.undoes,
    })
  } finally {
    interruption.end()
  }
}

async function check(config: Config, path: string, json: boolean): Promise<void> {
  const { folder, manifest, findings } = await verifyBackup(config, path, createProgress(formatProgress('verifying')))
  show({ path: folder, manifest, findings }, 'The backup is complete:', json)
}

/** A line of progress. */
export const formatProgress =
  (verb: string) =>
  ({ what, done, total }: BackupReport): string =>
    `${verb} ${what}: ${done} of ${total}`

/** Maximum number of files listed. */
const named = 10

function show({ path, manifest, findings }: MadeBackup, verb: string, json: boolean): void {
  const { rows, files, missing, uncertain, left } = manifest
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0)
  if (json) {
    const { format: _, files: _files, ...about } = manifest
    printJson({ path, ...about, rows: Object.fromEntries(rows), files: files.length, bytes, doctor: reportOf(findings) })
    return
  }
  printList(
    named,
    `The backup does not have ${pluralize(missing.length, 'file')} of the media library, because ${missing.length === 1 ? 'it is not where its row says' : 'they are not where their rows say'}:`,
    missing,
  )
  printList(
    named,
    `${pluralize(uncertain.length, 'file')} may be newer than the rows of the backup, because they were replaced while it was made:`,
    uncertain,
  )
  printList(named, 'Not in the backup, because Octavo does not know these tables or columns (pg_dump or mariadb-dump saves them):', left)
  printFindings(findings)
  print(
    `${verb} ${describeContents(manifest)} as of ${manifest.snapshotAt} ${verb.endsWith(':') ? 'in' : 'to'} ${path} (${formatSize(bytes)}).`,
  )
}

function printFindings(findings: readonly CheckResult[]): void {
  const wrong = findings.filter((result) => verdictOf(result) === 'wrong')
  for (const line of wrong.flatMap(formatFinding)) print(line)
  if (wrong.length > 0)
    print(`The backup is as the database is: ${wrong.length} of ${findings.length} checks of octavo doctor found problems.`)
}

function describeContents({ rows, files }: BackupManifest): string {
  const schemas = files.filter(({ path }) => path.startsWith('project/')).length
  return [
    `${pluralize(
      rows.reduce((sum, [, count]) => sum + count, 0),
      'row',
    )} of ${pluralize(rows.length, 'table')}`,
    pluralize(files.length - schemas - 1, 'file'),
    pluralize(schemas, 'schema'),
  ].join(', ')
}
