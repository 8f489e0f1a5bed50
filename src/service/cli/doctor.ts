// `octavo doctor [folder]`: checks the project's database and files without changes, and reports the findings.

import { getDriver } from '../../database/open.js'
import type { Config } from '../../foundation/config/config.js'
import type { Model } from '../../model/schema/types.js'
import type { CheckResult } from '../../operations/doctor/checks.js'
import { type PendingLink, pendingLinks } from '../../operations/doctor/checks.js'
import { examine, remedies, reportOf, verdictOf } from '../../operations/doctor/examine.js'
import type { ExaminedProject } from '../../operations/doctor/searches.js'
import { foreignIn } from '../../project/model-changes/follow.js'
import { onDatabase, orExplain } from './explain-error.js'
import { print } from './output.js'
import { checkDatabase, checkPrepared, loadWithoutSecrets, readProjectFolder } from './project.js'

interface DoctorOptions {
  /** Also lists pending links. */
  readonly links?: boolean
  /** Prints one JSON object. */
  readonly json?: boolean
}

/** The exit status is 1 if a check fails. */
export const doctorCommand = orExplain(async (folder: string, options: DoctorOptions) => {
  const { config, model } = await readProjectFolder(folder, checkDatabase, loadWithoutSecrets)
  await onDatabase(config, () => diagnose(config, model, folder, options))
})

async function diagnose(config: Config, model: Model, folder: string, options: DoctorOptions): Promise<void> {
  const driver = await getDriver(config)
  const view = await driver.openSnapshot(config)
  try {
    await checkPrepared(view, config, folder)
    const foreign = await foreignIn(config, view, model)
    const project = { database: view, model }
    const found = [...belonging(foreign), ...(await examine(project, config.uploadsFolder))]
    const wrong = found.filter((result) => verdictOf(result) === 'wrong').length
    if (options.json === true) print(JSON.stringify(await toJson(found, options.links === true ? project : null), null, 2))
    else {
      for (const line of found.flatMap(formatFinding)) print(line)
      if (options.links === true) for (const line of await pendingLinkReport(project)) print(line)
      print(wrong === 0 ? 'No problems found.' : `${wrong} of ${found.length} checks found problems.`)
    }
    if (wrong > 0) process.exitCode = 1
  } finally {
    await view.close()
  }
}

/** A service refuses to start on a database with these tables; here they are a finding. */
const belonging = (foreign: readonly string[]): readonly CheckResult[] =>
  foreign.length === 0
    ? []
    : [
        {
          name: 'tables with names of the content model belong to the project',
          warning: false,
          count: foreign.length,
          examples: foreign.slice(0, 5),
        },
      ]

async function pendingLinkReport(project: ExaminedProject): Promise<readonly string[]> {
  try {
    return linesOfLinks(await pendingLinks(project))
  } catch (error) {
    return [`Pending links cannot be read: ${(error as Error).message}`]
  }
}

/** The findings as JSON; `project`: with its pending links. */
async function toJson(found: readonly CheckResult[], project: ExaminedProject | null): Promise<unknown> {
  const links = project === null ? {} : { pendingLinks: await pendingLinks(project).catch(() => null) }
  return { ...reportOf(found), ...links }
}

function linesOfLinks(links: readonly PendingLink[]): readonly string[] {
  if (links.length === 0) return ['No pending links.']
  return [
    'Pending links (they take effect when their target is published):',
    ...links.map(({ owner, table, target }) => `  ${owner}: ${table} → ${target}`),
  ]
}

/** A line for the result, with more lines for examples and remedy. */
export function formatFinding(result: CheckResult): readonly string[] {
  const { name, count, examples } = result
  const verdict = verdictOf(result)
  const more = count > examples.length ? [`               … and ${count - examples.length} more`] : []
  const remedy = count > 0 && Object.hasOwn(remedies, name) ? [`               → ${remedies[name]}`] : []
  return [
    `${(verdict === 'wrong' ? 'WRONG' : verdict).padEnd(5)} ${String(count).padStart(7)}  ${name}`,
    ...examples.map((example) => `               ${example}`),
    ...more,
    ...remedy,
  ]
}
