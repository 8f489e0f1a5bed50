// Events for open pages of administrators: changes of documents, presence, the model; and who learns of what.
import { afterAll, afterEach, beforeAll, expect } from 'vitest'
import { projectWithNotes } from '../support/administration.js'
import { rule } from '../support/rule.js'
import { type Served, serveExisting, serveProject, type TestResponse } from '../support/serve.js'
import { patience } from '../support/until.js'
import { openStream, type Stream } from '../webhooks/stream.js'
import { addToken, secrets } from './callers.js'
import { type AdminClient, giveRights, newsroomRoles, serveNewsroom, signInClient, story, writer } from './newsroom.js'

const stories = `/content/${story}`
let served: Served
let ada: AdminClient
const clients: Record<string, AdminClient> = {}
const streams: Stream[] = []
beforeAll(async () => {
  served = await serveNewsroom()
  ada = await signInClient(served, 'ada@office.example')
  for (const [code, rows] of Object.entries(newsroomRoles)) {
    await giveRights(served, code, rows)
    clients[code] = await signInClient(served, `${code}@office.example`, [code])
  }
  await addToken(served, 'all', { type: 'full-access' })
})
afterEach(() => {
  for (const stream of streams.splice(0)) stream.close()
})
afterAll(() => served?.close())

const tagOf = ({ headers }: TestResponse): string => headers.get('etag') ?? ''
const idOf = ({ body }: TestResponse): string => body.data.documentId

async function open(client: AdminClient, more: Readonly<Record<string, string>> = {}, origin = served.origin): Promise<Stream> {
  const stream = await openStream(`${origin}/admin/api/events`, { authorization: `Bearer ${client.token}`, ...more })
  streams.push(stream)
  if (stream.status === 200) await expect.poll(stream.lastId, patience).not.toBe('')
  return stream
}
const dataOf = (stream: Stream, event: string) => stream.events.filter((block) => block.event === event).map(({ data }) => data)
const changesIn = (stream: Stream) => dataOf(stream, 'content').map(({ action, documentId }) => [action, documentId])

async function ok(asked: Promise<TestResponse>): Promise<TestResponse> {
  const answer = await asked
  if (answer.status >= 300) throw new Error(answer.text)
  return answer
}
const create = (data: object = {}, client = ada) => ok(client.send('POST', stories, { data: { title: 'A story', ...data } }))
/** A document of which every client with rights to writers learns, which proves that earlier missing events will not follow. */
async function mark(): Promise<string> {
  return idOf(await ok(ada.send('POST', `/content/${writer}`, { data: { name: 'mark' } })))
}
const tagAt = async (id: string, locale = 'en') => ({ 'if-match': tagOf(await ada.get(`${stories}/${id}?locale=${locale}`)) })

rule('administration-events.1', 'a change has its document, locales, action and administrator, and nothing else', async () => {
  const stream = await open(ada)
  expect(['content-type', 'cache-control', 'x-accel-buffering'].map((name) => stream.headers.get(name))).toEqual([
    ...['text/event-stream; charset=utf-8', 'no-store, no-transform', 'no'],
  ])
  const id = idOf(await create({ secret: 'canary' }))
  // Creations that are read together are one event.
  await expect.poll(() => dataOf(stream, 'content').length, patience).toBe(1)
  await ok(ada.send('PATCH', `${stories}/${id}?locale=de`, { changes: { title: 'canary' } }, { 'if-none-match': '*' }))
  const both = { 'if-match': [await tagAt(id), await tagAt(id, 'de')].map((header) => header['if-match']).join(', ') }
  await ok(ada.send('POST', `${stories}/${id}/publish?locale=en,de`, undefined, both))
  const { body } = await served.request('/api/writers', {
    method: 'POST',
    token: 'all',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ data: { name: 'canary' } }),
  })
  await expect.poll(() => dataOf(stream, 'content').length, patience).toBe(4)
  const administrator = { id: ada.id, firstname: 'Ada', lastname: null }
  const change = { event: 'content', type: story, documentId: id, administrator, at: expect.stringMatching(/Z$/) }
  expect(dataOf(stream, 'content')).toEqual([
    { ...change, action: 'create', locales: ['en'] },
    { ...change, action: 'create', locales: ['de'] },
    { ...change, action: 'publish', locales: ['en', 'de'] },
    {
      event: 'content',
      type: writer,
      documentId: body.data.documentId,
      locales: null,
      action: 'create',
      administrator: null,
      at: change.at,
    },
  ])
  expect(stream.text()).not.toContain('canary')
  expect((await ada.send('POST', '/events')).status).toBe(405)
  const head = await fetch(`${served.origin}/admin/api/events`, { method: 'HEAD', headers: { authorization: `Bearer ${ada.token}` } })
  expect([head.status, head.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8'])
})

rule('administration-events.2', 'rights by type, locale and condition decide, and conditional rights hide deletions', async () => {
  const [author, german, reader, all] = [
    await open(clients.author!),
    await open(clients.german!),
    await open(clients.editor!),
    await open(ada),
  ]
  const foreign = idOf(await create())
  const own = idOf(await create({}, clients.author!))
  await ok(ada.send('PATCH', `${stories}/${foreign}?locale=de`, { changes: { title: 'Hallo' } }, { 'if-none-match': '*' }))
  for (const id of [foreign, own]) await ok(ada.send('DELETE', `${stories}/${id}?locale=*`, undefined, await tagsOf(id)))
  // The last event of each stream proves that a missing one will not follow.
  const last = idOf(await create({}, clients.author!))
  const end = await mark()
  await expect.poll(() => changesIn(all).at(-1), patience).toEqual(['create', end])
  await expect.poll(() => changesIn(reader), patience).toEqual(changesIn(all))
  await expect.poll(() => changesIn(author).at(-1), patience).toEqual(['create', last])
  expect(changesIn(author)).toEqual([
    ['create', own],
    ['create', last],
  ])
  await expect.poll(() => changesIn(german).at(-1), patience).toEqual(['delete', foreign])
  expect(changesIn(german)).toEqual([
    ['create', foreign],
    ['delete', foreign],
  ])
  expect(dataOf(german, 'content').map(({ locales }) => locales)).toEqual([['de'], ['de']])
})

/** The states of all locales of a story. */
async function tagsOf(id: string): Promise<Record<string, string>> {
  const { body } = await ada.get(`${stories}/${id}`)
  const tags = []
  for (const { locale } of body.data.locales) tags.push((await tagAt(id, locale))['if-match'])
  return { 'if-match': tags.join(', ') }
}

rule('administration-events.3', 'a stream continues after an event; a reset reports missed ones', async () => {
  const first = await open(ada)
  const one = await mark()
  await expect.poll(() => changesIn(first), patience).toEqual([['create', one]])
  first.close()
  const later = [await mark(), await mark()]
  const again = await open(ada, { 'last-event-id': first.lastId() })
  await expect.poll(() => changesIn(again), patience).toEqual(later.map((id) => ['create', id]))
  const unknown = await open(ada, { 'last-event-id': 'made-up' })
  expect(unknown.events[0]).toMatchObject({ event: 'reset', data: { event: 'reset' } })
  await served.sql('DELETE FROM octavo_document_changes WHERE sequence < (SELECT max(sequence) FROM octavo_document_changes)')
  const late = await open(ada, { 'last-event-id': first.lastId() })
  expect(late.events[0]!.event).toBe('reset')
})

rule('administration-events.5', 'nothing is recorded while no page follows, and a page that comes back afterwards is reset', async () => {
  const first = await open(ada)
  const seen = await mark()
  await expect.poll(() => changesIn(first), patience).toEqual([['create', seen]])
  const count = async () => Number((await served.sql('SELECT count(*) AS count FROM octavo_document_changes'))[0]!.count)
  first.close()
  // A short break: changes are recorded.
  const before = await count()
  await mark()
  expect(await count()).toBe(before + 1)
  const id = first.lastId()
  const unfollowed = await serveExisting(served, secrets)
  try {
    // As after the longest break.
    await expect.poll(() => first.isOver(), patience).toBe(true)
    await served.sql('DELETE FROM octavo_followers')
    const there = (name: string) =>
      unfollowed.request('/api/writers', {
        method: 'POST',
        token: 'all',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ data: { name } }),
      })
    expect((await there('unrecorded')).status).toBe(201)
    expect(await count()).toBe(before + 1)
    const back = await open(ada, { 'last-event-id': id })
    await expect.poll(() => back.events.some(({ event }) => event === 'reset'), patience).toBe(true)
    const { body } = await there('recorded')
    await expect.poll(() => changesIn(back).at(-1), patience).toEqual(['create', body.data.documentId])
  } finally {
    await unfollowed.close()
  }
})

rule('administration-events.5', 'the recording goes on while one of several pages follows, even if another process ends it', async () => {
  const [gone, stays] = [await open(ada), await open(ada)]
  gone.close()
  await mark()
  await expect.poll(() => changesIn(stays).length, patience).toBe(1)
  await served.sql('DELETE FROM octavo_followers')
  await mark()
  await expect.poll(async () => (await served.sql('SELECT name FROM octavo_followers')).length, patience).toBe(1)
  await expect.poll(() => stays.events.some(({ event }) => event === 'reset'), patience).toBe(true)
  const last = await mark()
  await expect.poll(() => changesIn(stays).at(-1), patience).toEqual(['create', last])
})

rule('administration-events.4', 'a stream ends with its session', async () => {
  const ed = await signInClient(served, 'ed@office.example', ['editor'])
  const stream = await open(ed)
  expect(stream.headers.get('connection')).toBe('close')
  await served.sql('DELETE FROM strapi_sessions WHERE user_id = ?', String(ed.id))
  await mark()
  await expect.poll(stream.isOver, patience).toBe(true)
  expect(dataOf(stream, 'content')).toEqual([])
  expect((await open(ed)).status).toBe(401)
})

rule('administration-events.6', 'changes and presence of another process arrive, and it records for streams elsewhere', async () => {
  const other = await serveExisting(served, secrets)
  try {
    const [here, there] = [await open(ada), await open(ada, {}, other.origin)]
    const one = idOf(await create())
    const two = await ok(
      other.request(`/admin/api${stories}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${ada.token}` },
        body: JSON.stringify({ data: { title: 'there' } }),
      }),
    )
    const expected = [
      ['create', one],
      ['create', idOf(two)],
    ]
    for (const stream of [here, there]) await expect.poll(() => changesIn(stream), patience).toEqual(expected)
    await ok(ada.send('POST', '/presence', { type: story, document: one, locale: 'en', field: 'title', tab: 'tab-of-ada' }))
    await expect.poll(() => dataOf(there, 'presence').at(-1), patience).toMatchObject({ documentId: one, people: [{ tab: 'tab-of-ada' }] })
    await ok(ada.send('DELETE', '/presence/tab-of-ada'))
    await expect.poll(() => dataOf(there, 'presence').at(-1), patience).toMatchObject({ documentId: one, people: [] })
  } finally {
    await other.close()
  }
})

rule('administration-events.7', 'another model in force is an event', async () => {
  const building = await serveProject(projectWithNotes, { environment: secrets, config: { admin: { model: 'always' } } })
  try {
    const builder = await signInClient(building, 'ada@office.example')
    const stream = await open(builder, {}, building.origin)
    const note = projectWithNotes['src/api/note/content-types/note/schema.json']
    const data = { data: { 'api::note.note': { ...note, attributes: { ...note.attributes, text: { type: 'string' } } } } }
    const { id, version } = (await ok(builder.send('POST', '/model/plan', data))).body.data
    await ok(builder.send('POST', '/model/apply', { ...data, version, plan: id }))
    await expect.poll(() => stream.events.map(({ event }) => event), patience).toEqual(['model'])
  } finally {
    await building.close()
  }
})

rule('administration-events.8', 'the number of streams of an administrator is bounded', async () => {
  const many = await signInClient(served, 'many@office.example', ['editor'])
  for (let index = 0; index < 20; index++) await open(many)
  expect((await open(many)).status).toBe(429)
  expect((await open(ada)).status).toBe(200)
})

rule('administration-events.8', 'streams that are opened at once are bounded too', async () => {
  const client = await signInClient(served, 'at-once@office.example', ['editor'])
  const ask = () => openStream(`${served.origin}/admin/api/events`, { authorization: `Bearer ${client.token}` })
  const opened = await Promise.all(Array.from({ length: 40 }, ask))
  streams.push(...opened)
  expect(opened.filter(({ status }) => status === 200).length).toBe(20)
  expect(opened.filter(({ status }) => status === 429).length).toBe(20)
})

const report = (client: AdminClient, body: object) => client.send('POST', '/presence', { locale: 'en', field: null, ...body })

rule('administration-events.9', 'a tab is at one document until it leaves; what cannot be read is refused', async () => {
  const [one, two] = [idOf(await create()), idOf(await create())]
  const at = { type: story, tab: 'tab-number-1' }
  const peopleAt = async (document: string) => (await ok(ada.get(`/presence?type=${story}&document=${document}`))).body.data
  expect((await report(ada, { ...at, document: one, field: 'seo.metaTitle' })).status).toBe(204)
  const [{ people }] = await peopleAt(one)
  expect(people).toEqual([
    {
      administrator: { id: ada.id, firstname: 'Ada', lastname: null },
      tab: 'tab-number-1',
      locale: 'en',
      field: 'seo.metaTitle',
      since: expect.stringMatching(/Z$/),
    },
  ])
  await ok(report(ada, { ...at, document: one, field: null }))
  expect(await peopleAt(one)).toEqual([{ type: story, documentId: one, people: [{ ...people[0], field: null }] }])
  await ok(report(ada, { ...at, document: two }))
  expect([await peopleAt(one), (await peopleAt(two)).length]).toEqual([[], 1])
  await ok(clients.editor!.send('DELETE', '/presence/tab-number-1'))
  expect(await peopleAt(two)).toHaveLength(1)
  await ok(ada.send('DELETE', '/presence/tab-number-1'))
  expect(await peopleAt(two)).toEqual([])
  const statuses = []
  for (const [client, body] of [
    [ada, { ...at, document: 'unknown' }],
    [clients.author!, { ...at, document: one }],
    [ada, { ...at, type: 'api::nope.nope', document: one }],
    [clients.author!, { ...at, type: writer, document: one }],
    [ada, { ...at, document: one, field: 'nope' }],
    [clients.fields!, { ...at, document: one, field: 'secret' }],
    [ada, { ...at, document: one, locale: 'xx' }],
    [ada, { type: story, document: one, tab: 'a tab' }],
  ] as const)
    statuses.push((await report(client, body)).status)
  expect(statuses).toEqual([404, 404, 404, 403, 400, 400, 400, 400])
})

rule('administration-events.10', 'documents, locales and fields that may not be read are not in a list', async () => {
  const [english, german] = [idOf(await create()), idOf(await create())]
  await ok(ada.send('PATCH', `${stories}/${german}?locale=de`, { changes: { title: 'Hallo' } }, { 'if-none-match': '*' }))
  const own = idOf(await create({}, clients.author!))
  await ok(report(ada, { type: story, document: english, tab: 'tab-english', field: 'secret' }))
  await ok(report(ada, { type: story, document: german, tab: 'tab-german', locale: 'de', field: 'title' }))
  await ok(report(ada, { type: story, document: own, tab: 'tab-of-own' }))
  const tabsFor = async (client: AdminClient) => {
    const { body } = await ok(client.get(`/presence?type=${story}`))
    return body.data.flatMap(({ people }: { people: { tab: string; field: string | null }[] }) =>
      people.map(({ tab, field }) => [tab, field]),
    )
  }
  expect(await tabsFor(ada)).toEqual([
    ['tab-english', 'secret'],
    ['tab-german', 'title'],
    ['tab-of-own', null],
  ])
  expect(await tabsFor(clients.author!)).toEqual([['tab-of-own', null]])
  expect(await tabsFor(clients.german!)).toEqual([['tab-german', 'title']])
  expect((await tabsFor(clients.fields!))[0]).toEqual(['tab-english', null])
  expect((await clients.author!.get(`/presence?type=${writer}`)).status).toBe(403)
  expect((await ada.get('/presence?type=api::nope.nope')).status).toBe(404)
  for (const tab of ['tab-english', 'tab-german', 'tab-of-own']) await ok(ada.send('DELETE', `/presence/${tab}`))
})

rule('administration-events.11', 'the stream begins with presence, and sends what changes, until a tab expires', async () => {
  const id = idOf(await create())
  await ok(report(ada, { type: story, document: id, tab: 'tab-before' }))
  const stream = await open(clients.editor!)
  const author = await open(clients.author!)
  const tabsIn = (one: Stream) => dataOf(one, 'presence').map(({ people }) => people.map(({ tab }: { tab: string }) => tab))
  await expect.poll(() => tabsIn(stream), patience).toEqual([['tab-before']])
  await ok(report(clients.editor!, { type: story, document: id, tab: 'tab-second' }))
  await expect.poll(() => tabsIn(stream).at(-1), patience).toEqual(['tab-before', 'tab-second'])
  // As 46 seconds later.
  await served.sql('UPDATE octavo_presence SET seen_at = seen_at - 46000')
  await expect.poll(() => tabsIn(stream).at(-1), patience).toEqual([])
  expect(tabsIn(author)).toEqual([])
})

rule('administration-events.12', 'an administrator has a bounded number of tabs, and expired ones are deleted', async () => {
  const id = idOf(await create())
  await served.sql('UPDATE octavo_presence SET seen_at = seen_at - 46000')
  for (let index = 0; index < 25; index++) await ok(report(ada, { type: story, document: id, tab: `tab-number-${index}` }))
  expect(await served.sql('SELECT count(*) AS count FROM octavo_presence')).toEqual([{ count: 20 }])
  const rows = await served.sql('SELECT tab FROM octavo_presence')
  expect(rows.map(({ tab }) => tab)).toContain('tab-number-24')
  for (let index = 0; index < 25; index++) await ok(ada.send('DELETE', `/presence/tab-number-${index}`))
  expect(await served.sql('SELECT count(*) AS count FROM octavo_presence')).toEqual([{ count: 0 }])
})
