// `octavo doctor [folder]`: examines the project's database and files without changing anything, and says what it found.
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { ConfigError, loadConfig } from '../config.js'
import { openDirect } from '../database/direct.js'
import { openSqliteReader } from '../database/sqlite.js'
import type { Checked, WaitingLink } from '../documents/doctor.js'
import { examine, waitingLinks } from '../documents/doctor.js'
import { loadModel } from '../model/load.js'
import { orExplain } from './explain.js'
import { print } from './project.js'

/** Examines the project in `folder`; the exit status is 1 when something is wrong. `links`: lists the links that wait. */
export const doctorCommand = orExplain(async (folder: string, options: { readonly links?: boolean }) => {
  const config = await loadConfig(folder, process.env, () => randomBytes(24).toString('base64url'))
  const { filename } = config.database
  if (!existsSync(filename))
    throw new ConfigError(`There is no database at ${filename} yet. Start the service once: octavo start ${folder}`)
  const model = await loadModel(config.folder)
  const connection = openSqliteReader(config.database)
  try {
    // One snapshot, also while the service writes.
    connection.exec('begin')
    const patient = { database: openDirect(connection), model, uploadsFolder: config.uploadsFolder }
    const found = await examine(patient)
    for (const line of found.flatMap(linesOf)) print(line)
    if (options.links === true) for (const line of waitingLines(await waitingLinks(patient))) print(line)
    const wrong = found.filter(({ count, warning }) => count > 0 && !warning).length
    print(wrong === 0 ? 'The project is sound.' : `${wrong} of ${found.length} checks found something.`)
    if (wrong > 0) process.exitCode = 1
  } finally {
    connection.close()
  }
})

function linesOf({ name, warning, count, examples }: Checked): readonly string[] {
  const verdict = count === 0 ? 'ok' : warning ? 'note' : 'WRONG'
  const more = count > examples.length ? [`               … and ${count - examples.length} more`] : []
  return [`${verdict.padEnd(5)} ${String(count).padStart(7)}  ${name}`, ...examples.map((example) => `               ${example}`), ...more]
}

function waitingLines(links: readonly WaitingLink[]): readonly string[] {
  if (links.length === 0) return ['No links wait for a publication.']
  return [
    'Links that published entries get when their target is published:',
    ...links.map(({ owner, table, target }) => `  ${owner}: ${table} → ${target}`),
  ]
}
