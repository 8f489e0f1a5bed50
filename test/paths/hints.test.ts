// Rule hints.10, measured: the code of hints that is loaded and runs during every erroneous request of the list.
import { cpSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, vi } from 'vitest'
import { addToken, secrets } from '../spec/callers.js'
import { idsOf, mistakes, send } from '../spec/mistakes.js'
import { rule } from '../support/rule.js'
import { requestAt, type Served } from '../support/serve.js'
import { runStatement } from '../support/statements.js'
import { startMeasured } from './measure.js'

const magazine = join(dirname(fileURLToPath(import.meta.url)), '..', '..', 'examples', 'magazine')
const isOfHints = (file: string): boolean => file.startsWith('src/http/hints/')

// It builds and starts the sources file by file, three times.
vi.setConfig({ testTimeout: 900_000 })

/** Sends every erroneous request; resolves to the files of hints that were loaded, and to those that ran. */
async function filesOfHints(environment: Readonly<Record<string, string>>) {
  const measured = await startMeasured({ ...secrets, ...environment, LOG_LEVEL: 'silent' }, (project) =>
    cpSync(magazine, project, { recursive: true, filter: (path) => !path.includes('.tmp') && !path.endsWith('.env') }),
  )
  const served: Pick<Served, 'request' | 'sql'> = {
    request: (path, asked) => requestAt(measured.origin, path, asked),
    sql: (text, ...values) => runStatement(join(measured.project, '.tmp', 'data.db'), text, values),
  }
  await addToken(served as Served, 'full', { type: 'full-access' })
  await addToken(served as Served, 'desk', { type: 'custom', actions: ['api::tag.tag.find'] })
  await addToken(served as Served, 'reader', { type: 'read-only' })
  for (const mistake of mistakes(await idsOf(served), 'specification')) await send(served, mistake)
  const run = await measured.taken()
  expect([...measured.loaded()]).toContain('src/http/server.ts')
  const found = { loaded: [...measured.loaded()].filter(isOfHints), ran: [...run.keys()].filter(isOfHints) }
  await measured.close()
  return found
}

rule('hints.10', 'the code of hints is loaded and runs only in development', async () => {
  for (const environment of [{}, { NODE_ENV: 'production' }] as Record<string, string>[])
    expect([environment, await filesOfHints(environment)]).toEqual([environment, { loaded: [], ran: [] }])
  const { loaded, ran } = await filesOfHints({ NODE_ENV: 'development' })
  expect(ran).toContain('src/http/hints/hints.ts')
  expect(loaded.length).toBeGreaterThan(4)
  expect(loaded.filter((file) => !ran.includes(file))).toEqual([])
})
