// Recorded changes of a model, sent to a service: each is in force with the response and stays over a start, or it is refused and nothing
// has changed. Content is only hidden by agreement, and is all there when the change is undone.
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { isUpdateSchema, isWrite, recordings } from '../content-type-builder/recorded-project.js'
import { serveExisting } from '../support/serve.js'
import { isThorough } from '../support/thorough.js'
import { contentOf, lossesIn, modelOf, newProject, removeProject, type Step, send, token, undo } from './changing-project.js'

interface Recording {
  readonly name: string
  readonly prepare?: readonly unknown[]
  readonly steps: readonly Step[]
}

/** Recordings that only send requests: changes of files and tables in between are not changes by request. */
const all = recordings<Recording>('changes.jsonl.gz').filter(
  ({ prepare = [], steps }) =>
    prepare.length === 0 && steps.some(isWrite) && steps.filter(isWrite).every(isUpdateSchema) && !steps.some((step) => 'edit' in step),
)

/** The statuses of the responses. */
const outcomes: { readonly name: string; readonly status: number }[] = []

/** Every third; FAULTS=all takes all. What each does to files, tables and rows is in test/content-type-builder and test/model-plans. */
const sent = all.filter((_, index) => isThorough || index % 3 === 0)

describe('a recorded change', () => {
  for (const [index, { name, steps }] of sent.entries())
    test(name, async () => {
      const folder = newProject()
      const served = await serveExisting({ folder }, { DATABASE_FILENAME: join(folder, 'content.db') })
      try {
        for (const step of steps.filter(({ method }) => method !== undefined)) {
          const [before, content] = [await modelOf(served), await contentOf(served)]
          let answer = await send(served, step)
          const losses = lossesIn(answer)
          if (losses.length > 0) {
            expect(await modelOf(served)).toBe(before)
            answer = await send(served, step, losses)
          }
          expect(answer.status, answer.text).toBeLessThan(500)
          outcomes.push({ name, status: answer.status })
          if (answer.status >= 400) {
            expect(await modelOf(served)).toBe(before)
            continue
          }
          if ((await modelOf(served)) === before) continue
          await undo(served)
          expect(await modelOf(served)).toBe(before)
          expect(await contentOf(served)).toEqual(content)
          await undo(served)
        }
        const after = await modelOf(served)
        await served.close()
        // A start takes its time, so every third has one.
        if (index % 3 > 0) return
        const again = await serveExisting({ folder }, { DATABASE_FILENAME: join(folder, 'content.db') })
        expect(await modelOf(again)).toBe(after)
        for (const { schema } of (await again.request('/api/content-type-builder/content-types', { token })).body.data) {
          const path = `/api/${schema.kind === 'singleType' ? schema.singularName : schema.pluralName}`
          expect((await again.request(`${path}?populate=*`, { token })).status).toBeLessThan(500)
        }
        await again.close()
      } finally {
        removeProject(folder)
      }
    })
})

test('most changes are applied; refused ones convert or move content, or break a rule of the content-type builder', () => {
  const made = outcomes.filter(({ status }) => status < 300)
  expect(outcomes.filter(({ status }) => status >= 300 && status !== 409 && status !== 400)).toEqual([])
  expect(made.length / outcomes.length).toBeGreaterThan(0.7)
})
