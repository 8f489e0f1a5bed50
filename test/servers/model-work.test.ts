// Changes of a content model on database servers: the plan of every recorded change that one start took over leads to the rows that it leads
// to on SQLite, and to Strapi's layout. Plans that are the same are carried out once.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { planModelChange } from '../../src/model/diff/plan.js'
import { withRestoration } from '../../src/model/diff/restoration.js'
import { toExpression } from '../../src/model/diff/sql-text.js'
import { loadModel } from '../../src/model/schema/load.js'
import { isFollowed } from '../../src/project/model-changes/change-log.js'
import { isPlain, modelAfter, others, recordedChanges, refused, unpackProject } from '../model-plans/recorded.js'
import { isThorough } from '../support/thorough.js'
import { layoutDifferences } from './model-layout.js'
import { cloneOf, copiedToSqlite, copyRows, resultOnSqlite, rowDifferences, workOf } from './model-work.js'
import { openWorker } from './model-worker.js'
import { withoutDrafts, withTablesExchanged } from './rich-change.js'
import { describeServers } from './server.js'

const folder = mkdtempSync(join(tmpdir(), 'octavo-model-work-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const project = unpackProject(folder)
const from = await loadModel({ folder: project })

/** The changes, each with its plan; of those that have the same steps for the same tables, the first. */
async function plannedChanges() {
  const planned = new Map<string, { name: string; to: typeof from; plan: ReturnType<typeof planModelChange> }>()
  for (const change of recordedChanges.filter((each) => isPlain(each) && !refused.has(each.name) && !others.has(each.name))) {
    const to = await modelAfter(change, project, folder)
    const plan = planModelChange(from, to, [])
    // test/model-plans checks the setting of content types.
    const key = JSON.stringify([plan.steps.filter(({ kind }) => kind !== 'storeContentTypes'), plan.conditions])
    if (!planned.has(key)) planned.set(key, { name: change.name, to, plan })
  }
  return [...planned.values()]
}

const changes = await plannedChanges()

/** Changes that archive data, each of a different kind. */
const restored = [
  'remove-attribute',
  'remove-component-attribute',
  'remove-dynamic-zone',
  'remove-relation-owner-side',
  'delete-type-pointed-at',
  'draft-publish-off-localized',
  'i18n-off-label',
  'retype-amount-string-to-biginteger',
  'retype-amount-string-to-decimal',
  'retype-number-integer-to-string',
  'retype-at-datetime-to-date',
  'retype-due-date-to-datetime',
  'retype-data-json-to-text',
  'retype-done-boolean-to-string',
]

/** A second change after the first. */
const again = { isOutdated: isFollowed(1), complete: [sql`select 1`] }

/** A recorded change, and its plan. */
async function changeNamed(name: string, as: string) {
  const to = await modelAfter({ ...recordedChanges.find((each) => each.name === name)!, name: as }, project, folder)
  return { to, plan: planModelChange(from, to, []) }
}

describeServers('changes of the model', (server, kind) => {
  let base: string
  let bytes: Buffer
  beforeAll(async () => {
    base = await server().createDatabase()
    await copyRows(join(project, 'content.db'), base, from)
    // Both begin with the same values: the server's limits are tested elsewhere.
    bytes = await copiedToSqlite(base, from)
  })

  // Each on one of the servers, in turn; FAULTS=all takes all on each.
  const own = changes.filter((_, index) => isThorough || (index % 2 === 0) === (kind.client === 'postgres'))
  it.each(own)('model-plans.19, model-plans.21: $name', async ({ to, plan }) => {
    const url = await cloneOf(server(), base)
    const worker = await openWorker(kind.client, url)
    try {
      for (const { count } of [...plan.losses, ...plan.conditions])
        expect(await worker.count(toExpression(count))).toBeGreaterThanOrEqual(0)
      expect(await worker.carryOut(workOf(plan.steps, to))).toBe(true)
      expect(await layoutDifferences(server(), url, to)).toEqual([])
      expect(await worker.mismatches(to)).toMatchObject({ types: [] })
      expect(await rowDifferences(resultOnSqlite(bytes, plan.steps, to), url)).toEqual({})
    } finally {
      await worker.close()
      await server().removeDatabase(url)
    }
  })

  it.each(restored)('model-plans.18: values archived by %s are restored', async (name) => {
    const { to, plan } = await changeNamed(name, `${name} and back ${kind.client}`)
    const back = planModelChange(to, from, [], { number: 2 })
    const url = await cloneOf(server(), base)
    const worker = await openWorker(kind.client, url)
    expect(await worker.carryOut(workOf(plan.steps, to))).toBe(true)
    // Rows without archived values have no table.
    const schema = kind.client === 'mysql' ? 'database()' : 'current_schema()'
    const tables = await server().run(url, `select table_name as name from information_schema.tables where table_schema = ${schema}`)
    const there = new Set(tables.map((table) => table.name))
    const kept = plan.kept.filter(({ kind: what, as }) => what !== 'rows' || there.has(as))
    const steps = withRestoration(back.steps, back.restoreBefore, from, kept)
    expect(await worker.carryOut(workOf(steps, from, again))).toBe(true)
    await worker.close()
    expect(await layoutDifferences(server(), url, from)).toEqual([])
    expect(await rowDifferences(resultOnSqlite(bytes, [...plan.steps, ...steps], from), url)).toEqual({})
    await server().removeDatabase(url)
  })

  it('model-plans.5: tables that exchange their names have the layout of their new ones', async () => {
    const to = await withTablesExchanged(project, folder, `exchanged ${kind.client}`)
    const { steps } = planModelChange(from, to, [])
    const url = await cloneOf(server(), base)
    const worker = await openWorker(kind.client, url)
    expect(await worker.carryOut(workOf(steps, to))).toBe(true)
    await worker.close()
    expect(await layoutDifferences(server(), url, to)).toEqual([])
    expect(await rowDifferences(resultOnSqlite(bytes, steps, to), url)).toEqual({})
    await server().removeDatabase(url)
  })

  it('model-plans.13: makes drafts with deep copies of components, their links and files', async () => {
    const off = await withoutDrafts(project, folder, `off ${kind.client}`)
    const [there, back] = [planModelChange(from, off, []), planModelChange(off, from, [], { number: 2 })]
    const url = await cloneOf(server(), base)
    const worker = await openWorker(kind.client, url)
    expect(await worker.carryOut(workOf(there.steps, off))).toBe(true)
    expect(await worker.carryOut(workOf(back.steps, from, again))).toBe(true)
    await worker.close()
    expect(await layoutDifferences(server(), url, from)).toEqual([])
    const expected = resultOnSqlite(bytes, [...there.steps, ...back.steps], from)
    expect(await rowDifferences(expected, url)).toEqual({})
    // A comparison that cannot find differences would prove nothing.
    await server().run(url, 'update notes set done = null where done is not null')
    await server().run(url, kind.client === 'mysql' ? 'alter table notes drop index notes_documents_idx' : 'drop index notes_documents_idx')
    expect(Object.keys(await rowDifferences(expected, url))).toEqual(['notes'])
    expect(await layoutDifferences(server(), url, from)).toEqual([expect.stringContaining('lacks notes index notes_documents_idx')])
    await server().removeDatabase(url)
  })
})
