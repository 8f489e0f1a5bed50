// `octavo copy [folder]`: copies all rows between databases (SQLite, PostgreSQL, MySQL) and verifies the copy.

import { startTimeoutMs } from '../../database/limits.js'
import { type CopyReport, type CopyResult, copyDatabase } from '../../database/transfer/copy.js'
import { openRowSource, openRowTarget, type RowsOptions } from '../../database/transfer/open-rows.js'
import { clientOfUrl, serverOf } from '../../foundation/config/database.js'
import { ConfigError } from '../../foundation/errors/errors.js'
import { orExplain } from './explain-error.js'
import { createProgress, print } from './output.js'
import { anyDatabase, readProjectFolder } from './project.js'

interface Options {
  readonly from: string
  readonly to: string
  readonly adapt?: boolean
  readonly overwrite?: boolean
}

/** @throws ConfigError with a sentence if the copy would differ, or does */
export const copyCommand = orExplain(async (folder: string, { from, to, adapt = false, overwrite = false }: Options) => {
  if (from === to) throw new ConfigError('--from and --to are the same database')
  const { config, model } = await readProjectFolder(folder, anyDatabase)
  // Settings that URLs lack: the schema, TLS.
  const server = serverOf('postgres', { ...process.env, DATABASE_URL: '' }, null)!
  const options: RowsOptions = { sqlite: config.database, server, wait: startTimeoutMs }
  const adapted = (sentence: string) => print(`changed: ${sentence}`)
  const source = await openRowSource(from, options, model)
  try {
    const target = await openRowTarget(to, model, options)
    try {
      show(await copyDatabase(source, target, { onAdapted: adapt ? adapted : null, overwrite, report: createProgress(formatProgress) }))
      const client = clientOfUrl(to)
      const variable = client === undefined ? 'DATABASE_FILENAME' : 'DATABASE_URL'
      print(`Next, to serve the copy, set in .env: DATABASE_CLIENT=${client ?? 'sqlite'} and ${variable}, which names it.`)
    } finally {
      await target.close()
    }
  } finally {
    await source.close()
  }
})

const verbs: Readonly<Record<CopyReport['phase'], string>> = { check: 'checking', copy: 'copying', verify: 'verifying' }

const formatProgress = ({ phase, table, done, total }: CopyReport): string => `${verbs[phase]} ${table}: ${done} of ${total} rows`

function show({ tables, rows, adapted, omitted: left, resumed }: CopyResult): void {
  if (adapted > 0) print(`Changed ${adapted} values that the copy cannot hold.`)
  if (left.length > 0) print('Not copied, because the project has no such table or column:')
  for (const name of left) print(`  ${name}`)
  print(`Copied ${rows} rows of ${tables} tables${resumed ? ', the first of them earlier,' : ''} and verified them.`)
}
