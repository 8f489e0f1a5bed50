// Everything that `octavo doctor` examines: the rows, the tables against the model, and the files of the media library.
import type { DatabaseView } from '../../database/database.js'
import type { Model } from '../../model/schema/types.js'
import { type CheckResult, runChecks } from './checks.js'
import { missingFiles } from './missing-files.js'

/** What is examined. */
export interface ExaminedView {
  readonly database: DatabaseView
  readonly model: Model
}

/** Runs every check on a project with this folder of uploads. */
export const examine = async ({ database, model }: ExaminedView, uploadsFolder: string): Promise<readonly CheckResult[]> => [
  ...(await runChecks({ database, model })),
  ...(await schemaMismatches(database, model)),
  await missingFiles(database.main, uploadsFolder),
]

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
