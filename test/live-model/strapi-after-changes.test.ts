// Strapi started on a project and database that Octavo has changed finds nothing to change (model-plans.17): tables, columns, indexes and rows
// stay, archived ones too, and the change can still be undone.
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { describeWith } from '../support/describe-with.js'
import { serveExisting } from '../support/serve.js'
import { agreed, contentOf, newProject, removeProject, type Step, undo } from './changing-project.js'
import { kindsOfChanges, requestFor } from './kinds-of-changes.js'
import { changedByStrapi, everythingIn, startStrapiOnce } from './real-strapi.js'

const results: string[] = []

describeWith(['Strapi'], 'Strapi after a change', () => {
  afterAll(() => console.log(results.join('\n')))

  for (const kind of Object.keys(kindsOfChanges))
    test(kind, async () => {
      const project = newProject()
      try {
        await check(project, kind, [requestFor(project, kind)])
      } finally {
        removeProject(project)
      }
    })
})

async function check(project: string, name: string, steps: readonly Step[]): Promise<void> {
  const database = join(project, 'content.db')
  const environment = { DATABASE_FILENAME: database }
  const served = await serveExisting({ folder: project }, environment)
  const content = await contentOf(served)
  for (const step of steps) {
    const answer = await agreed(served, step)
    expect(answer.status, answer.text).toBeLessThan(300)
  }
  await served.close()
  const found = await differences(project, database)
  results.push(`${found.length === 0 ? 'nothing' : `${found.length} differences`}\t${name}`)
  expect(found).toEqual([])
  const again = await serveExisting({ folder: project }, environment)
  await undo(again)
  // Undoing does not revert publications, which test/live-model/undone-changes.test.ts checks.
  if (name !== 'Draft & Publish off, drafts published') expect(await contentOf(again)).toEqual(content)
  await again.close()
  expect(await differences(project, database)).toEqual([])
}

async function differences(project: string, database: string): Promise<readonly string[]> {
  const before = everythingIn(database)
  await startStrapiOnce(project, { DATABASE_FILENAME: database })
  return changedByStrapi(before, everythingIn(database)).map((line) => line.slice(0, 400))
}
