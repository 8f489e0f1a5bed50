// `octavo doctor [folder]`: checks the project's database and files without changing anything, and reports the findings.
import { existsSync } from 'node:fs'
import { basename, join } from 'node:path'
import { sql } from 'kysely'
import type { Config } from '../config/config.js'
import type { DatabaseView, MainConnection } from '../database/database.js'
import { driverOf } from '../database/open.js'
import { type CheckResult, runChecks } from '../doctor/checks.js'
import { type PendingLink, pendingLinks } from '../doctor/pending-links.js'
import { remedies } from '../doctor/remedies.js'
import type { ExaminedProject } from '../doctor/searches.js'
import type { Model } from '../model/types.js'
import { onDatabase, orExplain } from './explain-error.js'
import { checkDatabase, print } from './project.js'
import { loadWithoutSecrets, readProjectFolder } from './project-folder.js'

/** Options of `octavo doctor`. */
export interface DoctorOptions {
  /** Also lists pending links. */
  readonly links?: boolean
  /** Prints one JSON object. */
  readonly json?: boolean
}

/** Checks the project in `folder`; the exit status is 1 if something is wrong. */
export const doctorCommand = orExplain(async (folder: string, options: DoctorOptions) => {
  const { config, model } = await readProjectFolder(folder, checkDatabase, loadWithoutSecrets)
  await onDatabase(config, () => diagnose(config, model, options))
})

async function diagnose(config: Config, model: Model, options: DoctorOptions): Promise<void> {
  const driver = await driverOf(config)
  const view = await driver.snapshotOf(config)
  try {
    const project = { database: view, model }
    const found = [
      ...(await runChecks(project)),
      ...(await schemaMismatches(view, model)),
      await missingFiles(view.main, config.uploadsFolder),
    ]
    const wrong = found.filter((result) => verdictOf(result) === 'WRONG').length
    if (options.json === true) print(JSON.stringify(await jsonOf(found, options.links === true ? project : null), null, 2))
    else {
      for (const line of found.flatMap(linesOf)) print(line)
      if (options.links === true) for (const line of await pendingLinkReport(project)) print(line)
      print(wrong === 0 ? 'No problems found.' : `${wrong} of ${found.length} checks found problems.`)
    }
    if (wrong > 0) process.exitCode = 1
  } finally {
    await view.close()
  }
}

async function pendingLinkReport(project: ExaminedProject): Promise<readonly string[]> {
  try {
    return linesOfLinks(await pendingLinks(project))
  } catch (error) {
    return [`Pending links cannot be read: ${(error as Error).message}`]
  }
}

const verdictOf = ({ count, warning }: CheckResult): 'ok' | 'note' | 'WRONG' => (count === 0 ? 'ok' : warning ? 'note' : 'WRONG')

function linesOf(result: CheckResult): readonly string[] {
  const { name, count, examples } = result
  const more = count > examples.length ? [`               … and ${count - examples.length} more`] : []
  const remedy = count > 0 && Object.hasOwn(remedies, name) ? [`               → ${remedies[name]}`] : []
  return [
    `${verdictOf(result).padEnd(5)} ${String(count).padStart(7)}  ${name}`,
    ...examples.map((example) => `               ${example}`),
    ...more,
    ...remedy,
  ]
}

/** The findings as JSON; `project`: with its pending links. */
async function jsonOf(found: readonly CheckResult[], project: ExaminedProject | null): Promise<unknown> {
  const checks = found.map((result) => {
    const { name, warning, count, examples } = result
    const remedy = count > 0 ? { remedy: remedies[name] ?? null } : {}
    return { name, verdict: verdictOf(result).toLowerCase(), severity: warning ? 'note' : 'error', count, examples, ...remedy }
  })
  const links = project === null ? {} : { pendingLinks: await pendingLinks(project).catch(() => null) }
  return { sound: checks.every(({ verdict }) => verdict !== 'wrong'), checks, ...links }
}

/** Examples shown for each check. */
const shown = 5

/** Differences between the tables and the model; empty if the file cannot be read, which other checks report. */
async function schemaMismatches(view: DatabaseView, model: Model): Promise<readonly CheckResult[]> {
  try {
    const { types, columns, tables } = await view.mismatches(model)
    const checked = (name: string, warning: boolean, examples: readonly string[]): CheckResult => ({
      ...{ name, warning, count: examples.length, examples: examples.slice(0, shown) },
    })
    return [
      checked('column types match the model', false, types),
      checked('every column belongs to the model (others are ignored)', true, columns),
      checked('every table belongs to the model or to a plugin', true, tables),
    ]
  } catch {
    return []
  }
}

function linesOfLinks(links: readonly PendingLink[]): readonly string[] {
  if (links.length === 0) return ['No pending links.']
  return [
    'Pending links (they take effect when their target is published):',
    ...links.map(({ owner, table, target }) => `  ${owner}: ${table} → ${target}`),
  ]
}

interface LocalFileRow {
  readonly id: number
  readonly name: string
  readonly url: string | null
  readonly formats: string | null
}

/** Files of the local provider whose bytes, or those of one of their formats, are not in the uploads folder. */
async function missingFiles(database: MainConnection, folder: string): Promise<CheckResult> {
  const name = 'every local file is in the uploads folder'
  let rows: readonly LocalFileRow[]
  try {
    rows = await database.rows<LocalFileRow>(sql`select id, name, url, formats from files where provider = 'local' order by id`)
  } catch (error) {
    return { name, warning: false, count: 1, examples: [(error as Error).message] }
  }
  const missing = rows.flatMap((row) =>
    urlsOf(row)
      .filter((url) => !existsSync(join(folder, basename(decoded(url)))))
      .map((url) => `file ${row.id} ${row.name}: ${url}`),
  )
  return { name, warning: false, count: missing.length, examples: missing.slice(0, 5) }
}

function urlsOf({ url, formats }: LocalFileRow): readonly string[] {
  let parsed: unknown = null
  try {
    parsed = formats === null ? null : JSON.parse(formats)
  } catch {
    // Formats that are not valid JSON refer to no files.
  }
  const named =
    typeof parsed === 'object' && parsed !== null
      ? (Object.values(parsed) as ({ url?: unknown } | null)[]).map((format) => format?.url)
      : []
  return [url, ...named].filter((each): each is string => typeof each === 'string' && each !== '')
}

function decoded(url: string): string {
  try {
    return decodeURIComponent(url)
  } catch {
    return url
  }
}
