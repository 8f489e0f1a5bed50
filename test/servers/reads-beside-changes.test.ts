// A model change on a PostgreSQL server waits, because another client holds a table that it needs: other services of the database
// keep reading unaffected types, also if they have to reload permissions.
import pg from 'pg'
import { afterAll, beforeAll, expect } from 'vitest'
import { addToken, secrets } from '../spec/callers.js'
import { rule } from '../support/rule.js'
import { until } from '../support/until.js'
import { closeServices, type NotesService, serveNotes, serveSecondNotes } from './notes-service.js'
import { describePostgres } from './server.js'

const token = 'may-do-everything'

describePostgres('reads beside a change of the model', (server) => {
  let url: string
  let first: NotesService
  let second: NotesService
  beforeAll(async () => {
    url = await server().createDatabase()
    first = await serveNotes(url, { config: { admin: { model: 'always' } }, environment: secrets })
    await addToken(first, token, { type: 'full-access' })
    second = await serveSecondNotes(first, url)
    await first.send('POST', '/api/boards', { name: 'before' })
    await first.send('POST', '/api/notes', { code: 'one' })
  })
  afterAll(() => closeServices(second, first))

  rule('live-model.8', 'other instances read what a slow change is not about, with permissions that are read again', async () => {
    const holder = new pg.Client(url)
    await holder.connect()
    await holder.query('begin; select from notes')
    try {
      let changed = Promise.resolve({ status: 503, text: '' })
      // A change waits for six seconds at most; where the reads take longer, they are repeated beside another one.
      await until('the reads are through while a change waits', async () => {
        expect((await changed).status).toBe(503)
        let isOver = false
        changed = first
          .request('/api/content-type-builder/schemas', {
            ...{ method: 'PUT', token, body: JSON.stringify({ data: { 'api::note.note': null } }) },
            headers: { 'content-type': 'application/json', 'octavo-agree': 'api::note.note' },
          })
          .finally(() => {
            isOver = true
          })
        await until('the change waits for the table', async () => isOver || (await server().waiting(url)) === 1)
        for (const name of ['one', 'two']) {
          // Commits of other programs may change permissions.
          await server().run(url, `update boards set name = '${name}'`)
          expect((await second.request('/api/boards')).body.data).toMatchObject([{ name }])
        }
        return (await server().waiting(url)) === 1
      })
      await holder.query('rollback')
      const { status, text } = await changed
      expect(status, text).toBe(200)
    } finally {
      await holder.end()
    }
    expect((await second.request('/api/notes')).status).toBe(404)
    expect((await second.request('/api/boards')).status).toBe(200)
  })
})
