// Another program holds locks on a MariaDB server beyond the lock timeout (R26): rows of a document, and tables that a change of the model
// needs. The response is 503, nothing is half done, and everything works again once the lock is gone.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Connection, createConnection } from 'mysql2/promise'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { addToken, secrets } from '../spec/callers.js'
import type { TestResponse } from '../support/serve.js'
import { type NotesService, notesProject, serveNotes } from './notes-service.js'
import { describeMariadb } from './server.js'

const token = 'may-do-everything'
const noteFile = 'src/api/note/content-types/note/schema.json'
const note = notesProject[noteFile as keyof typeof notesProject] as unknown as { readonly attributes: object }

describeMariadb('locks of others', (server) => {
  let url: string
  let service: NotesService
  let other: Connection
  beforeAll(async () => {
    url = await server().createDatabase()
    service = await serveNotes(url, {
      config: { admin: { model: 'always' }, limits: { writeTimeout: 4_000, readTimeout: 5_000 } },
      environment: secrets,
    })
    await addToken(service, token, { type: 'full-access' })
    other = await createConnection(url)
  })
  afterEach(() => other.query('rollback'))
  afterAll(async () => {
    await other?.end()
    await service?.close()
  })

  const refusal = ({ status, headers, text, body }: TestResponse): void => {
    expect({ status, retry: headers.get('retry-after') }, text).toEqual({ status: 503, retry: '1' })
    expect(body, text).toMatchObject({ data: null, error: { status: 503, name: 'ServiceUnavailableError' } })
  }

  it('R26 rows of a document, for longer than innodb_lock_wait_timeout: nothing of its write is there', async () => {
    const [locked, free] = await Promise.all(
      ['locked', 'free'].map(async (title) => {
        const { body } = await service.send('POST', '/api/memos?status=published', { title, text: 'before', part: { name: 'before' } })
        return body.data.documentId as string
      }),
    )
    const shown = async (status: string) => (await service.request(`/api/memos/${locked}?populate=*&status=${status}`)).body.data
    const before = [await shown('draft'), await shown('published')]
    await other.query('start transaction')
    // The row of the document is written before.
    await other.query('select p.id from components_desk_parts p where p.id = ? for update', [before[1].part.id])
    refusal(await service.send('PUT', `/api/memos/${locked}?status=published`, { text: 'after', part: { name: 'after' } }))
    expect([await shown('draft'), await shown('published')]).toEqual(before)
    expect((await service.send('PUT', `/api/memos/${free}?status=published`, { text: 'after' })).status).toBe(200)
    await other.query('rollback')
    const written = await service.send('PUT', `/api/memos/${locked}?status=published&populate=*`, {
      text: 'after',
      part: { name: 'after' },
    })
    expect(written.body.data, written.text).toMatchObject({ text: 'after', part: { name: 'after' } })
    expect(await shown('draft')).toMatchObject({ text: 'after', part: { name: 'after' } })
  })

  const change = (attributes: object): Promise<TestResponse> =>
    service.request('/api/content-type-builder/schemas', {
      method: 'PUT',
      token,
      headers: { 'content-type': 'application/json', 'octavo-agree': 'api::note.note.text,api::note.note.more' },
      body: JSON.stringify({ data: { 'api::note.note': { ...note, attributes } } }),
    })

  const columns = async (): Promise<readonly string[]> =>
    (
      await service.sql(
        "select column_name as name from information_schema.columns where table_schema = database() and table_name = 'notes'",
      )
    ).map(({ name }) => name)

  /** Holds a table's definition as a transaction does that has only read it. */
  async function hold(table: string): Promise<void> {
    await other.query('start transaction')
    await other.query(`select count(*) from ${table}`)
  }

  it('R26 a table that a change of the model adds to, for longer than lock_wait_timeout: the former model, and the new one later', async () => {
    const { documentId } = (await service.send('POST', '/api/notes', { code: 'adding', text: 'kept' })).body.data
    const before = [await columns(), readFileSync(join(service.folder, noteFile), 'utf8')]
    await hold('notes')
    const more = { ...note.attributes, more: { type: 'string' } }
    refusal(await change(more))
    expect([await columns(), readFileSync(join(service.folder, noteFile), 'utf8')]).toEqual(before)
    expect((await service.request(`/api/notes/${documentId}`)).body.data).toMatchObject({ code: 'adding', text: 'kept' })
    expect((await service.send('PUT', `/api/notes/${documentId}`, { more: 'too early' })).status).toBe(400)
    expect((await service.send('PUT', `/api/notes/${documentId}`, { text: 'written' })).status).toBe(200)
    await other.query('rollback')
    const changed = await change(more)
    expect(changed.status, changed.text).toBe(200)
    expect((await service.send('PUT', `/api/notes/${documentId}`, { more: 'new' })).body.data).toMatchObject({
      text: 'written',
      more: 'new',
    })
  })

  it('R26 a table whose content a model change moves: the change is reverted, and all other requests are served', async () => {
    const { documentId } = (await service.send('POST', '/api/notes', { code: 'moving', text: '7' })).body.data
    const before = [await columns(), readFileSync(join(service.folder, noteFile), 'utf8')]
    await hold('notes')
    const numbers = { ...note.attributes, text: { type: 'integer' } }
    refusal(await change(numbers))
    expect([await columns(), readFileSync(join(service.folder, noteFile), 'utf8')]).toEqual(before)
    expect((await service.request('/api/boards')).status).toBe(200)
    expect((await service.send('POST', '/api/cards', { name: 'meanwhile' })).status).toBe(201)
    expect((await service.send('PUT', `/api/notes/${documentId}`, { text: '8' })).body.data).toMatchObject({ code: 'moving', text: '8' })
    await other.query('rollback')
    const changed = await change(numbers)
    expect(changed.status, changed.text).toBe(200)
    expect((await service.request(`/api/notes/${documentId}`)).body.data).toMatchObject({ code: 'moving', text: 8 })
  })

  it('R26 the table of changes, locked by a backup: a change that moves content is reverted, and all requests are served', async () => {
    const { documentId } = (await service.send('POST', '/api/notes', { code: 'history', text: 9 })).body.data
    const before = [await columns(), readFileSync(join(service.folder, noteFile), 'utf8')]
    await hold('octavo_model_history')
    const texts = { ...note.attributes, text: { type: 'string' } }
    refusal(await change(texts))
    expect([await columns(), readFileSync(join(service.folder, noteFile), 'utf8')]).toEqual(before)
    expect(await service.sql('select id from octavo_model_history where is_made <> 1')).toEqual([])
    expect((await service.request(`/api/notes/${documentId}`)).body.data).toMatchObject({ code: 'history', text: 9 })
    expect((await service.send('PUT', `/api/notes/${documentId}`, { text: 10 })).body.data).toMatchObject({ code: 'history', text: 10 })
    await other.query('rollback')
    expect((await service.request(`/api/notes/${documentId}`)).body.data).toMatchObject({ code: 'history', text: 10 })
    const changed = await change(texts)
    expect(changed.status, changed.text).toBe(200)
    expect((await service.request(`/api/notes/${documentId}`)).body.data).toMatchObject({ code: 'history', text: '10' })
  })
})
