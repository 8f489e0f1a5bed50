// Changes of a content model on database servers: every recorded change that one start took over has the rows there that SQLite has, and
// Strapi's layout; a change that cannot be made leaves nothing behind.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { loadModel } from '../../src/model/load.js'
import type { Model } from '../../src/model/types.js'
import { planModelChange } from '../../src/model-plans/plan.js'
import { expressionOf } from '../../src/model-plans/sql-text.js'
import { isPlain, modelAfter, recordedChanges, unpackProject } from '../model-plans/recorded.js'
import { layoutDifferences } from './model-layout.js'
import { cloneOf, copiedToSqlite, copyRows, resultOnSqlite, rowDifferences, workOf } from './model-work.js'
import { openWorker } from './model-worker.js'
import { describePostgres } from './server.js'

const folder = mkdtempSync(join(tmpdir(), 'octavo-model-work-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const project = unpackProject(folder)
const from = await loadModel(project)

/** Changes that Octavo does not load, or in which more than the model takes part (test/model-plans/recorded.test.ts). */
const others = new Set([
  'add-relation-one-to-many-self-both-ways',
  'add-relation-inverse-name-is-a-relation',
  'add-relation-morph-many-inverse',
  'remove-relation-self',
  'zone-with-unknown-component',
  'start-reserved-attribute-created-at',
  'start-relation-mapped-by-missing',
  'start-bad-default',
  'start-bad-regex',
  'create-in-plugin-extension',
  'migration-file-renames-column',
  'disk-column-name-option',
])

const changes = recordedChanges.filter((change) => isPlain(change) && !others.has(change.name))

describePostgres('changes of the model', (server) => {
  const kind = { client: 'postgres' as const }
  let base: string
  let bytes: Buffer
  beforeAll(async () => {
    base = await server().createDatabase()
    await copyRows(join(project, 'content.db'), base, from)
    // What the server cannot hold is another matter: both begin with the same values.
    bytes = await copiedToSqlite(base, from)
  }, 120_000)

  it.each(changes)('model-plans.19: $group: $name', async (change) => {
    const to: Model = await modelAfter({ ...change, name: `${change.name} ${kind.client}` }, project, folder)
    const plan = planModelChange(from, to, [])
    const url = await cloneOf(server(), base)
    const worker = await openWorker(kind.client, url)
    try {
      for (const { count } of [...plan.losses, ...plan.conditions])
        expect(await worker.count(expressionOf(count))).toBeGreaterThanOrEqual(0)
      expect(await worker.carryOut(workOf(plan.steps, to))).toBe(true)
      expect(await layoutDifferences(server(), url, to)).toEqual([])
      expect(await worker.mismatches(to)).toMatchObject({ types: [] })
      expect(await rowDifferences(resultOnSqlite(bytes, plan.steps, to), url)).toEqual({})
    } finally {
      await worker.close()
      await server().removeDatabase(url)
    }
  })
})
