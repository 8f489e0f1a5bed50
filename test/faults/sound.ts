// Checks of `octavo doctor` for a project, in the same process.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { inspectSqlite } from '../../src/database/sqlite/catalog.js'
import { createMainConnection } from '../../src/database/sqlite/main-connection.js'
import { loadModel } from '../../src/model/schema/load.js'
import { runChecks } from '../../src/operations/doctor/checks.js'
import { goldenProject } from '../support/serve.js'

const model = await loadModel({ folder: goldenProject })

/** Findings for a golden project's database and files; empty if it is sound. */
export async function findings(folder: string): Promise<readonly string[]> {
  const connection = new Database(join(folder, '.tmp', 'data.db'), { readonly: true })
  try {
    const main = createMainConnection(connection)
    const found = await runChecks({ database: { ...inspectSqlite(main), main }, model })
    const wrong = found.filter(({ count, warning }) => count > 0 && !warning)
    const files = connection.prepare("select hash || ext from files where provider = 'local'").pluck().all() as string[]
    const missing = files.filter((name) => !existsSync(join(folder, 'uploads', name)))
    return [...wrong.map(({ name, examples }) => `${name}: ${examples.join(', ')}`), ...missing.map((name) => `no file ${name}`)]
  } finally {
    connection.close()
  }
}
