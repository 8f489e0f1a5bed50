// Slow reads and writes in the log of a real service.

import Database from 'better-sqlite3'
import { afterEach, expect } from 'vitest'
import { octavo } from '../start/command.js'
import { isOnServer } from '../support/databases.js'
import { rule } from '../support/rule.js'
import { type Served, serveProject } from '../support/serve.js'
import { access, contentType, plain, reading, seeded } from './library.js'

const project = {
  ...contentType('note', { name: { type: 'string' }, text: { type: 'text' } }),
  ...seeded('note', plain({ first: { name: 'first' } })),
  ...access([...reading('note'), 'api::note.note.create']),
}

const running: Served[] = []
afterEach(async () => {
  for (const served of running.splice(0)) await served.close()
})

async function serve(slowQuery: number, rows: number): Promise<Served> {
  const served = await serveProject(project, { config: { limits: { slowQuery } } })
  running.push(served)
  if (rows > 0)
    await served.sql(
      `insert into notes (document_id, name, text, published_at) with recursive n(i) as (select 1 union all select i + 1 from n where i < ${rows})
       select 'document' || i, 'note ' || i, 'a text that is long enough to be looked through ' || i, 1700000000000 from n`,
    )
  return served
}

const lines = ({ log }: Served, message: string): readonly Record<string, unknown>[] =>
  log.map((line) => JSON.parse(line)).filter(({ msg }) => msg === message)

rule('operations.11', 'slow reads and writes are logged with type, duration and statements, and without values', async () => {
  if (isOnServer) return
  const served = await serve(5, 30_000)
  expect((await served.request('/api/notes?filters[text][$containsi]=Unheard-of&sort=text')).status).toBe(200)
  const [read] = lines(served, 'a read was slow')
  expect(read).toMatchObject({ level: 40, type: 'api::note.note', bytes: expect.any(Number), plan: expect.stringMatching(/^[\w-]{12}$/) })
  expect(read).toMatchObject({ filters: ['text $containsi'], sort: ['text'], milliseconds: expect.any(Number) })
  expect((read!.statements as readonly string[])[0]).toMatch(/^select .* from .notes/)
  expect(JSON.stringify(read)).not.toMatch(/unheard/i)

  // Another process holds the lock briefly, so that the write has to wait.
  const other = new Database(served.database)
  other.exec('begin immediate')
  const write = served.request('/api/notes', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ data: { name: 'Unheard-of' } }),
  })
  await new Promise((resolve) => setTimeout(resolve, 100))
  other.exec('rollback')
  other.close()
  expect((await write).status).toBe(201)
  const [written] = lines(served, 'a write was slow')
  expect(written).toMatchObject({ level: 40, type: 'api::note.note', action: 'create' })
  expect(JSON.stringify(written)).not.toMatch(/unheard/i)

  const silent = await serve(0, 30_000)
  expect((await silent.request('/api/notes?filters[text][$containsi]=Unheard-of&sort=text')).status).toBe(200)
  expect(lines(silent, 'a read was slow')).toEqual([])
})

rule('operations.12', 'the same plan is logged once a minute, with any values', async () => {
  if (isOnServer) return
  const served = await serve(5, 30_000)
  for (const text of ['one', 'two', 'three']) await served.request(`/api/notes?filters[text][$containsi]=${text}&sort=text`)
  expect(lines(served, 'a read was slow')).toHaveLength(1)
  await served.request('/api/notes?filters[text][$notContainsi]=long&sort=name')
  expect(lines(served, 'a read was slow')).toHaveLength(2)
})

rule(
  'operations.14',
  'on SQLite, a slow read that looks through a large table says so, and names the attribute that lacks an index',
  async () => {
    if (isOnServer) return
    const served = await serve(1, 60_000)
    const slowest = async (query: string): Promise<Readonly<Record<string, unknown>>> => {
      const before = lines(served, 'a read was slow').length
      expect((await served.request(`/api/notes?${query}`)).status).toBe(200)
      return lines(served, 'a read was slow')[before]!
    }
    const sorted = await slowest('sort=name&filters[text][$notContainsi]=zz')
    expect(sorted.scans).toEqual([{ table: 'notes', rows: expect.any(Number) }])
    expect((sorted.scans as readonly { readonly rows: number }[])[0]!.rows).toBeGreaterThanOrEqual(60_000)
    expect(sorted.advice).toBe('an index on name may help: octavo indexes')
    const named = await slowest('filters[name][$eq]=Nobody&filters[text][$containsi]=zz')
    expect(named.advice).toBe('an index on name may help: octavo indexes')
    // No index finds a part of a text.
    const searched = await slowest('filters[text][$containsi]=zz')
    expect(searched.scans).toHaveLength(1)
    expect(searched.advice).toBeUndefined()
    expect(JSON.stringify([sorted, named, searched])).not.toMatch(/nobody|zz/i)

    expect((await octavo(['indexes', served.folder])).status).toBe(0)
    // Counting the total takes its time all the same.
    const indexed = await slowest('sort=name&fields[0]=name&filters[text][$notContainsi]=zz')
    expect(indexed).toMatchObject({ sort: ['name'] })
    expect(indexed.advice).toBeUndefined()
  },
)
