// Open pages of administrators at several instances: changes and presence of each reach all, also after the end of one.
import { join } from 'node:path'
import { afterAll, afterEach, expect } from 'vitest'
import { project, removeProjects } from '../start/command.js'
import { addAdministrator, adminPassword, pageHeaders } from '../support/administration.js'
import { rule } from '../support/rule.js'
import { requestAt } from '../support/serve.js'
import { runStatement } from '../support/statements.js'
import { patience } from '../support/until.js'
import { openStream, type Stream } from '../webhooks/stream.js'
import { describeInstances } from './databases.js'
import { endAll, notes, run } from './started.js'

afterEach(endAll)
afterAll(removeProjects)

const json = { 'content-type': 'application/json' }

async function create(origin: string, name: string): Promise<string> {
  const answer = await requestAt(origin, '/api/notes', { method: 'POST', headers: json, body: JSON.stringify({ data: { name } }) })
  expect(answer.status).toBe(201)
  return answer.body.data.documentId
}

const changed = (stream: Stream) => stream.events.filter(({ event }) => event === 'content').map(({ data }) => data.documentId)

describeInstances('open pages', (database) => {
  rule('administration-events.6', 'a page at any instance learns what others do, and continues at another one after a kill', async () => {
    const folder = project(notes())
    const environment = await database()
    const first = run(folder, environment)
    await first.origin
    const second = run(folder, environment)
    const [one, two] = await Promise.all([first.origin, second.origin])
    const at = environment.DATABASE_URL ?? join(folder, '.tmp', 'data.db')
    await addAdministrator({ sql: (statement, ...values) => runStatement(at, statement, values) }, 'ada@admins.example')
    const body = JSON.stringify({ email: 'ada@admins.example', password: adminPassword })
    const session = await requestAt(one, '/admin/api/session', { method: 'POST', headers: pageHeaders(one), body })
    const token: string = session.body.data.accessToken
    const open = async (origin: string, more: Readonly<Record<string, string>> = {}) => {
      const stream = await openStream(`${origin}/admin/api/events`, { authorization: `Bearer ${token}`, ...more })
      await expect.poll(stream.lastId, patience).not.toBe('')
      return stream
    }
    const [here, there] = [await open(one), await open(two)]
    const documents = [await create(two, 'at the second'), await create(one, 'at the first')]
    for (const stream of [here, there]) await expect.poll(() => changed(stream), patience).toEqual(documents)
    const report = { type: 'api::note.note', document: documents[0], locale: null, field: 'name', tab: 'first' }
    const headers = { ...json, authorization: `Bearer ${token}` }
    expect((await requestAt(one, '/admin/api/presence', { method: 'POST', headers, body: JSON.stringify(report) })).status).toBe(204)
    await expect
      .poll(() => there.events.find(({ event }) => event === 'presence')?.data, patience)
      .toMatchObject({ documentId: documents[0], people: [{ field: 'name', tab: 'first' }] })
    first.process.kill('SIGKILL')
    await first.ended
    there.close()
    const meanwhile = await create(two, 'without a page')
    const back = await open(two, { 'last-event-id': here.lastId() })
    await expect.poll(() => changed(back), patience).toEqual([meanwhile])
    expect(back.events.map(({ event }) => event)).not.toContain('reset')
    back.close()
  })
})
