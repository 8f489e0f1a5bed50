// Another program changes tables under a running service (R25): requests that need them get 503, and no table is created or dropped.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { addToken, secrets } from '../spec/callers.js'
import { type Served, serveProject, type TestResponse } from '../support/serve.js'
import { type NotesService, notesProject, range, serveNotes } from './notes-service.js'
import { describePostgres, describeServers } from './server.js'

type Asking = Pick<NotesService, 'send' | 'close' | 'sql' | 'request'>

/** The same on the database that a run of the tests is on, which is a file unless a server is named. */
async function serveHere(): Promise<Asking> {
  const served: Served = await serveProject(notesProject)
  const headers = { 'content-type': 'application/json' }
  const bodyOf = (data: object | undefined) => (data === undefined ? {} : { headers, body: JSON.stringify({ data }) })
  return { ...served, send: (method, path, data) => served.request(path, { method, ...bodyOf(data) }) }
}

function drifts(open: () => Promise<Asking>): void {
  let service: Asking
  let note: string
  beforeAll(async () => {
    service = await open()
    note = (await service.send('POST', '/api/notes', { code: 'one', text: 'kept' })).body.data.documentId
    expect((await service.send('POST', '/api/memos', { title: 'one', part: { name: 'kept' } })).status).toBe(201)
  })
  afterAll(() => service.close())

  /** Sends requests for notes and memos, and checks that they succeed or report the drift. */
  async function expectAll(notes: 'works' | 'drift', memos: 'works' | 'drift'): Promise<void> {
    const title = String(Math.random())
    for (const [state, method, path, data] of [
      [notes, 'GET', '/api/notes'],
      [notes, 'GET', `/api/notes/${note}`],
      [notes, 'GET', '/api/notes?filters[text]=kept'],
      [notes, 'POST', '/api/notes', { code: title, text: 'new' }],
      [notes, 'PUT', `/api/notes/${note}`, { text: 'kept' }],
      [memos, 'GET', '/api/memos?populate=*'],
      [memos, 'POST', '/api/memos', { title, part: { name: 'new' } }],
    ] as const) {
      const { status, headers, text } = await service.send(method, path, data)
      if (state === 'works') expect(status, `${method} ${path}: ${text}`).toBeLessThan(300)
      else {
        expect({ status, retry: headers.has('retry-after') }, `${method} ${path}: ${text}`).toEqual({ status: 503, retry: true })
        expect(text).toContain('schema drift')
      }
    }
    expect((await service.request('/_health')).status).toBe(204)
  }

  it('R25 a column that is renamed: 503 for its type, and everything again once it is back', async () => {
    await expectAll('works', 'works')
    await service.sql('alter table notes rename column text to other')
    await expectAll('drift', 'works')
    expect((await service.sql("select other from notes where code = 'one'")).map(({ other }) => other)).toEqual(['kept'])
    await service.sql('alter table notes rename column other to text')
    await expectAll('works', 'works')
  })

  it('R25 a table that is renamed: 503 for what needs it', async () => {
    await service.sql('alter table components_desk_parts rename to parts_elsewhere')
    await expectAll('works', 'drift')
    expect(await service.sql("select name from parts_elsewhere where name = 'kept' limit 1")).toEqual([{ name: 'kept' }])
    await service.sql('alter table parts_elsewhere rename to components_desk_parts')
    await expectAll('works', 'works')
  })

  it('R25 a column that is dropped: 503 for its type, which another column of its name ends', async () => {
    await service.sql('alter table notes drop column text')
    await expectAll('drift', 'works')
    await service.sql('alter table notes add column text varchar(255)')
    await expectAll('works', 'works')
  })
}

describe('tables changed by another program', () => drifts(serveHere))
describeServers('tables changed by another program', (server) => drifts(async () => serveNotes(await server().createDatabase())))

describePostgres('columns that somebody gives another type on PostgreSQL', (server) => {
  it('R25 requests, also those by a token, and writes go on with statements that connections have prepared', async () => {
    const url = await server().createDatabase()
    const service = await serveNotes(url, { environment: secrets })
    try {
      await addToken(service, 'a token', { type: 'full-access' })
      const { documentId } = (await service.send('POST', '/api/notes', { code: 'one', text: 'first' })).body.data
      /** Reads permissions again and writes a document. Resolves to the requests that failed. */
      const work = async (): Promise<readonly string[]> => {
        const answers: TestResponse[] = []
        for (const index of range(8)) {
          await server().run(url, `update strapi_api_tokens set name = 'token ${Math.random()}'`)
          answers.push(await service.request('/api/notes', { token: 'a token' }))
          answers.push(await service.send('PUT', `/api/notes/${documentId}`, { text: `text ${index}` }))
        }
        return answers.filter(({ status }) => status !== 200).map(({ text }) => text)
      }
      expect(await work()).toEqual([])
      for (const type of ['varchar(300)', 'text']) {
        await server().run(url, `alter table strapi_api_tokens alter name type ${type}; alter table notes alter text type ${type}`)
        expect(await work()).toEqual([])
      }
    } finally {
      await service.close()
    }
  })
})
