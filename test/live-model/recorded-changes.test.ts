// Every recorded change of a model, sent to a service: it is in force with the response and stays over a start, or it is refused and nothing
// has changed. Content is only hidden by agreement, and is all there when the change is undone.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { recordings } from '../content-type-builder/recorded-project.js'
import { type Answer, type Served, serveBeside } from '../support/serve.js'

interface Recording {
  readonly name: string
  readonly prepare?: readonly unknown[]
  readonly steps: readonly { readonly method?: string; readonly path?: string; readonly body?: unknown }[]
}

const archive = join(dirname(fileURLToPath(import.meta.url)), '..', 'golden', 'model', 'project.tar.gz')
const token = 'lab-full-token'

/** Recordings that only send requests: what is done to files and tables in between is no change by request. */
const all = recordings<Recording>('changes.jsonl.gz').filter(
  ({ prepare = [], steps }) =>
    prepare.length === 0 && steps.some(({ method }) => method !== undefined) && !steps.some((step) => 'edit' in step),
)

function newProject(): string {
  const folder = mkdtempSync(join(tmpdir(), 'octavo-recorded-'))
  execFileSync('tar', ['xzf', archive, '-C', folder])
  const project = join(folder, 'project')
  writeFileSync(join(project, 'octavo.config.json'), JSON.stringify({ admin: { model: 'always' } }))
  return project
}

/** All content as the API shows it, without the numbers of rows, which are given anew. */
async function contentOf(served: Served): Promise<unknown> {
  const content: Record<string, unknown> = {}
  for (const { schema } of (await served.ask('/api/content-type-builder/content-types', { token })).body.data) {
    const name = schema.kind === 'singleType' ? schema.singularName : schema.pluralName
    for (const status of ['draft', 'published']) {
      const answer = await served.ask(`/api/${name}?populate=*&locale=*&status=${status}&sort=documentId&pagination[pageSize]=100`, {
        token,
      })
      content[`${name} ${status}`] = answer.body.data
    }
  }
  return JSON.parse(JSON.stringify(content, (key, value) => (key === 'id' || key === 'updatedAt' ? undefined : value)))
}

async function send(served: Served, step: Recording['steps'][number], agree: string): Promise<Answer> {
  const headers: Record<string, string> = agree === '' ? {} : { 'octavo-agree': agree }
  const body = step.body === undefined ? {} : { body: JSON.stringify(step.body) }
  return served.ask(step.path!, {
    method: step.method!,
    token,
    headers: { ...headers, ...(step.body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...body,
  })
}

/** Undoes the last change, whatever it hides. */
async function undo(served: Served): Promise<void> {
  const changes = (await served.ask('/api/content-type-builder/changes', { token })).body.data
  const step = { method: 'POST', path: '/api/content-type-builder/undo', body: { data: { change: changes.at(-1).id } } }
  let answer = await send(served, step, '')
  const losses = (answer.body?.error?.details?.losses ?? []) as { name: string }[]
  if (losses.length > 0) answer = await send(served, step, losses.map(({ name }) => name).join(','))
  expect(answer.status, answer.text).toBe(200)
}

const modelOf = async (served: Served): Promise<string> =>
  (await served.ask('/api/content-type-builder/content-types', { token })).text +
  (await served.ask('/api/content-type-builder/components', { token })).text

/** The statuses of the responses. */
const outcomes: { readonly name: string; readonly status: number }[] = []

describe('a recorded change', () => {
  for (const [index, { name, steps }] of all.entries())
    test(name, async () => {
      const folder = newProject()
      const served = await serveBeside({ folder }, { DATABASE_FILENAME: join(folder, 'content.db') })
      try {
        for (const step of steps.filter(({ method }) => method !== undefined)) {
          const [before, content] = [await modelOf(served), await contentOf(served)]
          let answer = await send(served, step, '')
          const losses = answer.body?.error?.details?.losses as { name: string }[] | undefined
          if (losses !== undefined) {
            expect(await modelOf(served)).toBe(before)
            answer = await send(served, step, losses.map((loss) => loss.name).join(','))
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
        // A start takes its time, so every third change has one.
        if (index % 3 > 0) return
        const again = await serveBeside({ folder }, { DATABASE_FILENAME: join(folder, 'content.db') })
        expect(await modelOf(again)).toBe(after)
        for (const { schema } of (await again.ask('/api/content-type-builder/content-types', { token })).body.data) {
          const path = `/api/${schema.kind === 'singleType' ? schema.singularName : schema.pluralName}`
          expect((await again.ask(`${path}?populate=*`, { token })).status).toBeLessThan(500)
        }
        await again.close()
      } finally {
        rmSync(dirname(folder), { recursive: true, force: true })
      }
    })
})

test('most changes are made; what is refused converts or moves content, or is refused by a rule of the content-type builder', () => {
  const made = outcomes.filter(({ status }) => status < 300)
  expect(outcomes.filter(({ status }) => status >= 300 && status !== 409 && status !== 400)).toEqual([])
  expect(made.length / outcomes.length).toBeGreaterThan(0.7)
})
