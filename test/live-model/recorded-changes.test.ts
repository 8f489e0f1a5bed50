// Every recorded change of a model, sent to a service: it is in force with the response and stays over a start, or it is refused and nothing
// has changed. Content is only hidden by agreement, and no row of a table is lost.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import Database from 'better-sqlite3'
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

/** The number of rows of every table that is Strapi's. */
function rowsOf(file: string): Readonly<Record<string, number>> {
  const database = new Database(file, { readonly: true })
  const tables = database
    .prepare("select name from sqlite_schema where type = 'table' and name not like 'octavo_%' and name not like 'sqlite_%' order by name")
    .pluck()
    .all() as string[]
  const counted = Object.fromEntries(
    tables.map((table) => [table, database.prepare(`select count(*) from "${table}"`).pluck().get() as number]),
  )
  database.close()
  return counted
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
          const [before, rows] = [await modelOf(served), rowsOf(served.database)]
          let answer = await send(served, step, '')
          const losses = answer.body?.error?.details?.losses as { name: string }[] | undefined
          if (losses !== undefined) {
            expect(await modelOf(served)).toBe(before)
            answer = await send(served, step, losses.map((loss) => loss.name).join(','))
          }
          expect(answer.status, answer.text).toBeLessThan(500)
          outcomes.push({ name, status: answer.status })
          if (answer.status >= 400) expect(await modelOf(served)).toBe(before)
          for (const [table, count] of Object.entries(rows)) expect(rowsOf(served.database)[table], table).toBeGreaterThanOrEqual(count)
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
