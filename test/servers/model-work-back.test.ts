// A step of a model change fails on MariaDB: the earlier steps are reverted, and the database is as before.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { planModelChange } from '../../src/model/diff/plan.js'
import { type ReversingStep, reversingSteps } from '../../src/model/diff/reversing.js'
import type { PlanStep } from '../../src/model/diff/steps.js'
import { loadModel } from '../../src/model/schema/load.js'
import type { Model } from '../../src/model/schema/types.js'
import { describeTables } from '../../src/model/tables/tables.js'
import { unpackProject } from '../model-plans/recorded.js'
import { isThorough } from '../support/thorough.js'
import { layoutDifferences } from './model-layout.js'
import { allRows, cloneOf, copyRows, workOf } from './model-work.js'
import { openWorker } from './model-worker.js'
import { richChange, withoutDrafts, withTablesExchanged } from './rich-change.js'
import { describeMariadb } from './server.js'

const folder = mkdtempSync(join(tmpdir(), 'octavo-model-back-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const project = unpackProject(folder)
const from = await loadModel({ folder: project })

const [rich, withDraftsOff, exchanged] = [
  await richChange(project, folder, from, 'rich'),
  await withoutDrafts(project, folder, 'off'),
  await withTablesExchanged(project, folder, 'exchanged'),
]
const planTo = (to: Model) => ({ to, steps: planModelChange(from, to, []).steps })
const changes: Readonly<Record<string, { readonly to: Model; readonly steps: readonly PlanStep[] }>> = {
  'everything at once': { to: rich.to, steps: rich.plan.steps },
  'Draft & Publish off': planTo(withDraftsOff),
  'tables exchanged': planTo(exchanged),
}

/** A step that no server can do. */
const impossible: PlanStep = { kind: 'renameColumn', table: 'notes', column: 'text', to: 'long', risk: 'safe' }

/** The steps before which a change fails. FAULTS=all takes each. */
const points = (steps: readonly PlanStep[]): readonly number[] =>
  Array.from({ length: steps.length + 1 }, (_, index) => index).filter((index) => isThorough || index % 7 === 5 || index === steps.length)

describeMariadb('a change of the model on MariaDB that cannot be carried out', (server) => {
  let base: string
  let before: string
  beforeAll(async () => {
    base = await server().createDatabase()
    await copyRows(join(project, 'content.db'), base, from)
    before = await allRows(base)
  })

  it.each(Object.entries(changes))(
    'model-plans.22: is taken back: %s',
    async (_, { to, steps }) => {
      for (const failing of points(steps)) {
        const url = await cloneOf(server(), base)
        const worker = await openWorker('mysql', url)
        const stepsWithIt = steps.toSpliced(failing, 0, { ...impossible, table: tableOfNotes(steps.slice(0, failing)) })
        let back: readonly ReversingStep[] | null = null
        const giveUp = (done: number) => {
          back = reversingSteps(stepsWithIt, done, describeTables(from))
          return sql`delete from strapi_core_store_settings where ${sql.id('key')} = 'test_progress'`
        }
        await expect(worker.carryOut(workOf(stepsWithIt, to, { progress: worker.progress, giveUp }))).rejects.toThrow(/long/)
        const leadsBack = !steps.slice(0, failing).some(({ kind }) => kind === 'makeDrafts' || kind === 'dropTable')
        expect([failing, back !== null]).toEqual([failing, leadsBack])
        if (leadsBack) {
          const { progress } = worker
          expect(await worker.takeBack({ steps: back!, isOutdated: sql`select 1 from dual where 1 = 0`, complete: [], progress })).toBe(
            true,
          )
          await server().run(url, `delete from strapi_core_store_settings where value = '${back!.length}'`)
          expect([failing, await layoutDifferences(server(), url, from)]).toEqual([failing, []])
          expect(await allRows(url), `failing at ${failing}`).toBe(before)
        }
        await worker.close()
        await server().removeDatabase(url)
      }
    },
    600_000,
  )
})

/** The name of the table of notes after these steps. */
const tableOfNotes = (steps: readonly PlanStep[]): string =>
  steps.reduce((name, step) => (step.kind === 'renameTable' && step.table === name ? step.to : name), 'notes')
