// Publications of documents and their withdrawal at a later time.
import { afterAll, afterEach, beforeAll, expect } from 'vitest'
import { rowsOf } from '../support/administration.js'
import { rule } from '../support/rule.js'
import { type Served, serveExisting, type TestResponse } from '../support/serve.js'
import { patience } from '../support/until.js'
import { openStream } from '../webhooks/stream.js'
import { secrets } from './callers.js'
import { type AdminClient, giveRights, newsroomRoles, serveNewsroom, signInClient, story, writer } from './newsroom.js'

const stories = `/content/${story}`
const hour = 3_600_000

let served: Served
let ada: AdminClient
const clients: Record<string, AdminClient> = {}
beforeAll(async () => {
  served = await serveNewsroom()
  ada = await signInClient(served, 'ada@office.example')
  for (const [code, rows] of Object.entries(newsroomRoles)) {
    await giveRights(served, code, rows)
    clients[code] = await signInClient(served, `${code}@office.example`, [code])
  }
})
afterEach(() => served.sql('DELETE FROM octavo_scheduled_actions'))
afterAll(() => served?.close())

async function ok(asked: Promise<TestResponse>): Promise<TestResponse> {
  const answer = await asked
  if (answer.status >= 300) throw new Error(answer.text)
  return answer
}

/** Creates a story in English; resolves to its id. */
async function storyOf(data: object = {}, client: AdminClient = ada): Promise<string> {
  const made = await ok(ada.send('POST', stories, { data: { title: 'A story', ...data } }))
  const id: string = made.body.data.documentId
  await served.sql('UPDATE stories SET created_by_id = ? WHERE document_id = ?', client.id, id)
  return id
}
const inGerman = (id: string, changes: object = { title: 'Deutsch' }) =>
  ok(ada.send('PATCH', `${stories}/${id}?locale=de`, { changes }, { 'if-none-match': '*' }))
const change = async (id: string, changes: object) => {
  const headers = { 'if-match': (await ada.get(`${stories}/${id}`)).headers.get('etag') ?? '' }
  return ok(ada.send('PATCH', `${stories}/${id}`, { changes }, headers))
}
const later = (milliseconds = hour): string => new Date(Date.now() + milliseconds).toISOString()
const schedule = (id: string, { client = ada, action = 'publish', at = later(), locale = 'en' } = {}) =>
  client.send('PUT', `${stories}/${id}/schedule?locale=${locale}`, { action, at })
const cancel = (id: string, { client = ada, action = '', locale = 'en' } = {}) =>
  client.send('DELETE', `${stories}/${id}/schedule?locale=${locale}${action && `&action=${action}`}`)
const scheduledOf = async (id: string, client = ada) => (await ok(client.get(`${stories}/${id}/schedule`))).body.data
const stateOf = async (id: string, locale = 'en') => (await ada.get(`${stories}/${id}?locale=${locale}`)).body.data?.state ?? null
const actsOn = async (id: string) =>
  (await rowsOf(served, 'octavo_activity')).filter((row) => row.subject_id === id).map(({ action }) => action)

/** Lets the time of everything that is scheduled come. */
async function comeDue(id: string): Promise<void> {
  await served.sql('UPDATE octavo_scheduled_actions SET due_at = 1 WHERE document_id = ?', id)
  // A change of what is scheduled makes the process look at it.
  const other = await storyOf({ title: 'Another one' })
  await ok(schedule(other))
}

rule('administration-schedule.1', 'an action is scheduled in locales, replaced, listed and cancelled', async () => {
  const id = await storyOf()
  await inGerman(id)
  const [first, second] = [later(), later(2 * hour)]
  const put = await ok(schedule(id, { locale: 'en,de', at: first }))
  const administrator = { id: ada.id, firstname: 'Ada', lastname: null }
  const action = { action: 'publish', at: first, administrator, error: null }
  const both = [
    { ...action, locale: 'en' },
    { ...action, locale: 'de' },
  ]
  expect(put.body.data).toEqual(both)
  expect(await scheduledOf(id)).toEqual(both)
  expect((await ada.get(`${stories}/${id}?locale=de`)).body.data.scheduled).toEqual(both)
  // With another offset, in place of the former time.
  const offset = `${new Date(Date.parse(second) + 2 * hour).toISOString().slice(0, -1)}+02:00`
  await ok(schedule(id, { at: offset }))
  await ok(schedule(id, { action: 'unpublish', at: second, locale: '*' }))
  expect((await scheduledOf(id)).map((one: Record<string, string>) => [one.action, one.locale, one.at])).toEqual([
    ['publish', 'de', first],
    ['publish', 'en', second],
    ['unpublish', 'en', second],
    ['unpublish', 'de', second],
  ])
  expect((await cancel(id, { locale: 'de,en' })).status).toBe(204)
  expect((await cancel(id)).status).toBe(404)
  expect((await scheduledOf(id)).map((one: Record<string, string>) => one.action)).toEqual(['unpublish', 'unpublish'])
  expect((await actsOn(id)).slice(2)).toEqual(['schedule', 'schedule', 'schedule', 'unschedule'])
  expect(await stateOf(id)).toBe('draft')
  for (const locale of ['fr', 'xx']) expect((await schedule(id, { locale })).status, locale).toBe(400)
  expect((await schedule(await storyOf(), { locale: 'de' })).status).toBe(404)
  expect((await schedule('aaaaaaaaaaaaaaaaaaaaaaaa')).status).toBe(404)
  for (const body of [{ action: 'publish' }, { action: 'publish', at: '2030-01-01T09:00' }, { action: 'discard', at: first }])
    expect((await ada.send('PUT', `${stories}/${id}/schedule`, body)).status).toBe(400)
  const ana = (await ok(ada.send('POST', `/content/${writer}`, { data: { name: 'Ana' } }))).body.data.documentId
  expect((await ada.send('PUT', `/content/${writer}/${ana}/schedule`, { action: 'publish', at: first })).status).toBe(400)
})

rule('administration-schedule.2', 'at its time the draft is published as it then is, and taken back', async () => {
  const id = await storyOf()
  await inGerman(id)
  await ok(schedule(id, { client: clients.editor, locale: 'en,de' }))
  await change(id, { title: 'Changed since' })
  await comeDue(id)
  await expect.poll(() => stateOf(id), patience).toBe('published')
  await expect.poll(() => stateOf(id, 'de'), patience).toBe('published')
  const { data } = (await ada.get(`${stories}/${id}`)).body
  expect(data).toMatchObject({ published: { title: 'Changed since' }, scheduled: [] })
  const [version] = (await ada.get(`${stories}/${id}/history`)).body.data
  expect(version).toMatchObject({ status: 'published', administrator: { id: clients.editor!.id } })
  const log = (await rowsOf(served, 'octavo_activity')).filter((row) => row.subject_id === id && row.action === 'publish')
  expect(log).toMatchObject([{ administrator: 'editor@office.example' }, { administrator: 'editor@office.example' }])
  await ok(schedule(id, { action: 'unpublish', locale: 'de' }))
  await comeDue(id)
  await expect.poll(() => stateOf(id, 'de'), patience).toBe('draft')
  expect([await stateOf(id), await scheduledOf(id)]).toEqual(['published', []])
})

rule('administration-schedule.3', 'callers with the right to publish the locales schedule and cancel, and readers see it', async () => {
  const [mine, german] = [await storyOf({}, clients.author), await storyOf()]
  await inGerman(german)
  const statuses = async (id: string, locale: string, codes: readonly string[]) => {
    const found: Record<string, number> = {}
    for (const code of codes) found[code] = (await schedule(id, { client: clients[code]!, locale })).status
    return found
  }
  const codes = ['editor', 'author', 'fields', 'german', 'reader', 'blind', 'unknown', 'none']
  expect(await statuses(mine, 'en', codes)).toEqual({
    ...{ editor: 200, author: 200, fields: 403, german: 404, reader: 403, blind: 403, unknown: 403, none: 403 },
  })
  expect(await statuses(german, 'de', ['author', 'german'])).toEqual({ author: 404, german: 200 })
  expect(await statuses(german, 'en,de', ['german', 'editor'])).toEqual({ german: 404, editor: 200 })
  expect(await scheduledOf(german, clients.reader)).toHaveLength(2)
  expect((await scheduledOf(german, clients.german)).map((one: Record<string, string>) => one.locale)).toEqual(['de'])
  expect((await clients.author!.get(`${stories}/${german}/schedule`)).status).toBe(404)
  expect((await cancel(german, { client: clients.reader! })).status).toBe(403)
  // What another administrator has scheduled.
  expect((await cancel(german, { client: clients.german!, locale: 'de' })).status).toBe(204)
})

rule('administration-schedule.4', 'the rights at that time decide', async () => {
  const [blocked, demoted, deleted] = [await storyOf(), await storyOf(), await storyOf()]
  const people = {
    blocked: await signInClient(served, 'blocked@office.example', ['editor']),
    demoted: await signInClient(served, 'demoted@office.example', ['editor']),
    deleted: await signInClient(served, 'deleted@office.example', ['editor']),
  }
  await ok(schedule(blocked, { client: people.blocked }))
  await ok(schedule(demoted, { client: people.demoted }))
  await ok(schedule(deleted, { client: people.deleted }))
  await ok(ada.send('PATCH', `/admins/${people.blocked.id}`, { isActive: false }))
  const [reader] = await served.sql("SELECT id FROM admin_roles WHERE code = 'reader'")
  await ok(ada.send('PATCH', `/admins/${people.demoted.id}`, { roles: [Number(reader!.id)] }))
  await ok(ada.send('DELETE', `/admins/${people.deleted.id}`))
  for (const id of [blocked, demoted, deleted]) {
    await comeDue(id)
    await expect.poll(async () => (await scheduledOf(id))[0].error?.status, patience).toBe(403)
    expect(await stateOf(id)).toBe('draft')
  }
})

rule('administration-schedule.5', 'a refused action stays with its errors, until the locale is published', async () => {
  const id = await storyOf({ title: null, code: 'a:b!' })
  await ok(schedule(id))
  await comeDue(id)
  await expect.poll(async () => (await scheduledOf(id))[0].error, patience).not.toBeNull()
  const [{ error }] = await scheduledOf(id)
  expect(error).toMatchObject({ status: 400, name: 'ValidationError', locale: 'en' })
  expect(error.errors.map(({ path, code }: { path: string[]; code: string }) => [path.join('.'), code]).sort()).toEqual([
    ['code', 'minLength'],
    ['title', 'required'],
  ])
  await giveRights(served, 'titles', [{ action: 'read', subject: story, properties: { fields: ['title'], locales: null } }])
  const titles = await signInClient(served, 'titles@office.example', ['titles'])
  const [hidden] = await scheduledOf(id, titles)
  expect(JSON.stringify(hidden)).not.toMatch(/a:b!|"min"/)
  expect(hidden.error.errors).toHaveLength(2)
  // It is not repeated.
  await change(id, { title: 'Now', code: 'long enough' })
  await comeDue(id)
  expect((await scheduledOf(id))[0].error).toEqual(error)
  const headers = { 'if-match': (await ada.get(`${stories}/${id}`)).headers.get('etag') ?? '' }
  await ok(ada.send('POST', `${stories}/${id}/publish`, undefined, headers))
  expect(await scheduledOf(id)).toEqual([])
})

rule('administration-schedule.5', 'a refused action is dismissed, or scheduled again', async () => {
  const [one, two] = [await storyOf({ title: null }), await storyOf({ title: null })]
  for (const id of [one, two]) {
    await ok(schedule(id))
    await comeDue(id)
    await expect.poll(async () => (await scheduledOf(id))[0].error?.status, patience).toBe(400)
  }
  expect((await cancel(one)).status).toBe(204)
  expect(await scheduledOf(one)).toEqual([])
  await ok(schedule(two))
  expect(await scheduledOf(two)).toMatchObject([{ error: null }])
})

rule('administration-schedule.6', 'of several processes one carries an action out, once', async () => {
  const other = await serveExisting(served, secrets)
  try {
    const ids = await Promise.all(Array.from({ length: 6 }, () => storyOf()))
    for (const id of ids) await ok(schedule(id))
    await served.sql('UPDATE octavo_scheduled_actions SET due_at = 1')
    const marks = [await storyOf(), await storyOf()]
    await Promise.all([ok(schedule(marks[0]!)), ok(schedule(marks[1]!, { client: ada.at(other) }))])
    for (const id of ids) {
      await expect.poll(() => stateOf(id), patience).toBe('published')
      expect((await actsOn(id)).filter((action) => action === 'publish')).toHaveLength(1)
    }
  } finally {
    await other.close()
  }
})

rule('administration-schedule.6', 'what was missed while no process was running is done at the next start', async () => {
  const id = await storyOf()
  await ok(schedule(id))
  await served.sql('UPDATE octavo_scheduled_actions SET due_at = 1')
  expect(await stateOf(id)).toBe('draft')
  const next = await serveExisting(served, secrets)
  try {
    await expect.poll(() => stateOf(id), patience).toBe('published')
  } finally {
    await next.close()
  }
})

rule('administration-schedule.7', 'deleting a document or a locale cancels', async () => {
  const id = await storyOf()
  await inGerman(id)
  await ok(schedule(id, { locale: '*' }))
  const remove = async (locale: string) => {
    const tags = [(await ada.get(`${stories}/${id}`)).headers.get('etag')]
    if (locale !== 'en') tags.push((await ada.get(`${stories}/${id}?locale=de`)).headers.get('etag'))
    return ok(ada.send('DELETE', `${stories}/${id}?locale=${locale}`, undefined, { 'if-match': tags.join(', ') }))
  }
  await remove('de')
  expect((await scheduledOf(id)).map((one: Record<string, string>) => one.locale)).toEqual(['en'])
  await remove('en')
  expect(await served.sql('SELECT id FROM octavo_scheduled_actions WHERE document_id = ?', id)).toEqual([])
})

rule('administration-schedule.8', 'times and the number of actions are bounded', async () => {
  const id = await storyOf()
  const years = (count: number) => later(count * 365.25 * 24 * hour)
  for (const at of [later(-hour), years(6)]) {
    const { status, body } = await schedule(id, { at })
    expect([status, body.error.details.errors[0].path]).toEqual([400, ['at']])
  }
  await ok(schedule(id, { at: years(4.9) }))
  await served.sql(
    `INSERT INTO octavo_scheduled_actions (type, document_id, locale, action, due_at, administrator_id, made_at, failed_at)
      WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100), m (i) AS (SELECT a.i FROM n a, n b)
      SELECT 'api::story.story', 'none', '', 'publish', 4102444800000, 1, 0, 0 FROM m`,
  )
  const refused = await schedule(id)
  expect([refused.status, refused.body.error.message]).toEqual([400, expect.stringContaining('10000')])
})

rule('administration-schedule.9', 'the list has the documents that the administrator may read, the earliest first', async () => {
  const [soon, late, own] = [
    await storyOf({ title: 'Soon' }),
    await storyOf({ title: 'Late' }),
    await storyOf({ title: 'Own' }, clients.author),
  ]
  await ok(schedule(late, { at: later(3 * hour) }))
  await ok(schedule(soon))
  await ok(schedule(own, { at: later(2 * hour), action: 'unpublish' }))
  const { body } = await ok(ada.get('/schedule'))
  expect(body.meta).toEqual({ isComplete: true })
  expect(body.data.map(({ name }: { name: string }) => name)).toEqual(['Soon', 'Own', 'Late'])
  expect(body.data[1]).toEqual({
    ...{ type: story, displayName: 'Story', documentId: own, locale: 'en', name: 'Own', state: 'draft', action: 'unpublish', error: null },
    ...{ at: expect.stringMatching(/Z$/), administrator: { id: ada.id, firstname: 'Ada', lastname: null } },
  })
  expect((await ok(clients.author!.get('/schedule'))).body.data.map(({ name }: { name: string }) => name)).toEqual(['Own'])
  expect((await ok(clients.none!.get('/schedule'))).body.data).toEqual([])
})

rule('administration-schedule.10', 'open pages learn of changes', async () => {
  const stream = await openStream(`${served.origin}/admin/api/events`, { authorization: `Bearer ${ada.token}` })
  try {
    await expect.poll(stream.lastId, patience).not.toBe('')
    const id = await storyOf({ title: null })
    const events = () =>
      stream.events
        .map(({ data }) => data as Record<string, unknown>)
        .filter((data) => data.documentId === id && data.action === 'schedule')
    await ok(schedule(id, { client: clients.editor }))
    await expect.poll(() => events().length, patience).toBe(1)
    expect(events()[0]).toMatchObject({ event: 'content', type: story, locales: ['en'], administrator: { id: clients.editor!.id } })
    await comeDue(id)
    await expect.poll(() => events().length, patience).toBe(2)
    expect((await scheduledOf(id))[0].error.status).toBe(400)
  } finally {
    stream.close()
  }
})

rule('administration-schedule.11', 'rows of lists have what is due, in the locales that the administrator may read', async () => {
  const [planned, refused] = [await storyOf(), await storyOf({ title: null })]
  await inGerman(planned)
  const [first, second] = [later(), later(2 * hour)]
  await ok(schedule(planned, { at: second, locale: 'en' }))
  await ok(schedule(planned, { at: first, locale: 'de' }))
  await ok(schedule(refused))
  await comeDue(refused)
  await expect.poll(async () => (await scheduledOf(refused))[0].error, patience).not.toBeNull()
  const rowOf = async (id: string, client = ada, query = '') =>
    (await ok(client.get(`${stories}?filters[documentId]=${id}${query}`))).body.data[0]
  const german = { locale: 'de', action: 'publish', at: first }
  const both = [german, { locale: 'en', action: 'publish', at: second }]
  expect((await rowOf(planned)).scheduled).toEqual(both)
  expect((await rowOf(planned, clients.reader)).scheduled).toEqual(both)
  expect((await rowOf(planned, clients.german, '&locale=de')).scheduled).toEqual([german])
  expect((await rowOf(refused)).scheduled).toEqual([])
  await ok(ada.send('POST', `/content/${writer}`, { data: { name: 'Ana' } }))
  expect((await ok(ada.get(`/content/${writer}`))).body.data[0]).not.toHaveProperty('scheduled')
})
