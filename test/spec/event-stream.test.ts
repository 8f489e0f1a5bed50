// The event stream: which events a caller receives, and when it ends.
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { afterAll, afterEach, beforeAll, describe, expect } from 'vitest'
import { openEventLog } from '../../src/content/events/event-log.js'
import { writeSql } from '../../src/database/sqlite/dialect.js'
import type { ScopeCall, ScopeResult } from '../../src/foundation/public/type-settings.js'
import { rule } from '../support/rule.js'
import { type Served, serveExisting, serveProject, type TestResponse } from '../support/serve.js'
import { patience } from '../support/until.js'
import { openStream, type Stream } from '../webhooks/stream.js'
import { addGerman, addToken, addUser, grant, jwt, revoke, secrets } from './callers.js'
import { contentType } from './library.js'

const [post, task, guarded] = ['api::post.post', 'api::task.task', 'api::guarded.guarded'] as const
const files = {
  ...contentType(
    'post',
    {
      title: { type: 'string' },
      note: { type: 'string', private: true },
      word: { type: 'password' },
      secret: { type: 'relation', relation: 'oneToOne', target: 'api::hidden.hidden' },
    },
    { draftAndPublish: true },
  ),
  ...contentType('task', { title: { type: 'string' }, owner: { type: 'integer' } }),
  ...contentType('hidden', { title: { type: 'string' } }),
  ...contentType('guarded', { title: { type: 'string' } }, { plural: 'guardeds' }),
}
const types = {
  [task]: {
    scope: ({ caller }: ScopeCall): ScopeResult => caller.kind === 'token' || (caller.kind === 'user' && { owner: { $eq: caller.id } }),
  },
  [guarded]: {
    policies: { find: ({ caller }: { caller: { kind: string } }) => caller.kind === 'token' },
  },
}

describe('the event stream', () => {
  let served: Served
  const streams: Stream[] = []
  beforeAll(async () => {
    served = await serveProject(files, {
      environment: secrets,
      config: { events: { stream: true }, limits: { connections: 10_500, outboxEvents: 60 } },
      code: { types },
    })
    await addToken(served, 'all', { type: 'full-access' })
    for (const uid of [post, task, guarded]) await grant(served, 'public', `${uid}.find`)
    for (const uid of [post, task]) await grant(served, 'authenticated', `${uid}.find`)
  })
  afterEach(() => {
    for (const stream of streams.splice(0)) stream.close()
  })
  afterAll(() => served.close())

  const send = (method: string, path: string, data?: object): Promise<TestResponse> =>
    served.request(`/api${path}`, {
      method,
      token: 'all',
      ...(data === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify({ data }) }),
    })
  async function open(query = '', token: string | null = null, more: Readonly<Record<string, string>> = {}, origin = served.origin) {
    const headers = { ...more, ...(token === null ? {} : { authorization: `Bearer ${token}` }) }
    const stream = await openStream(`${origin}/api/events${query}`, headers)
    streams.push(stream)
    if (stream.status === 200) await expect.poll(stream.lastId, patience).not.toBe('')
    return stream
  }
  const received = (stream: Stream) => stream.events.map(({ event, data }) => [event, data.entry?.title ?? data.entry?.documentId])
  /** A document whose event every client receives last, which proves that earlier missing events will not follow. */
  async function last(title: string): Promise<void> {
    await send('POST', '/posts', { title })
  }

  rule('event-stream.1', 'events have an id, a name and JSON; proxies must not cache or buffer them', async () => {
    const stream = await open()
    expect(['content-type', 'cache-control', 'x-accel-buffering'].map((name) => stream.headers.get(name))).toEqual([
      ...['text/event-stream; charset=utf-8', 'no-store, no-transform', 'no'],
    ])
    const { body } = await send('POST', '/posts', { title: 'first' })
    await expect.poll(() => received(stream), patience).toEqual([['entry.publish', 'first']])
    const [{ data, id }] = stream.events as [Stream['events'][number]]
    expect(Object.keys(data)).toEqual(['event', 'createdAt', 'model', 'uid', 'entry'])
    expect(data).toMatchObject({ event: 'entry.publish', model: 'post', uid: post, entry: { documentId: body.data.documentId } })
    expect(id).toMatch(/^[\w-]{48}$/)
    expect((await served.request('/api/events', { method: 'POST' })).status).toBe(405)
    const without = await serveProject(contentType('event', { title: { type: 'string' } }), { environment: secrets })
    try {
      await grant(without, 'public', 'api::event.event.find')
      expect((await without.request('/api/events')).body).toMatchObject({ data: [] })
    } finally {
      await without.close()
    }
    await expect(serveProject(contentType('event', {}), { config: { events: { stream: true } } })).rejects.toThrow(
      'events.stream: /api/events is the path of api::event.event',
    )
  })

  rule(
    'event-stream.2',
    'nothing that a GET of the caller would not return: attributes, relations, types, scopes, policies, former contents',
    async () => {
      const [visitor, all] = [await open(), await open('', 'all')]
      const { body: hidden } = await send('POST', '/hiddens', { title: 'canary hidden' })
      await send('POST', '/posts', { title: 'shown', note: 'canary note', word: 'canary word', secret: hidden.data.documentId })
      await send('POST', '/tasks', { title: 'canary task', owner: 4711 })
      await send('POST', '/guardeds', { title: 'canary guarded' })
      await send('POST', '/posts?status=draft', { title: 'canary draft' })
      await last('end')
      await expect
        .poll(() => received(visitor), patience)
        .toEqual([
          ['entry.publish', 'shown'],
          ['entry.publish', 'end'],
        ])
      expect(visitor.text()).not.toMatch(/canary|"secret"|"note"|"word"/)
      await expect.poll(() => received(all).length, patience).toBe(5)
      expect(received(all).map(([, title]) => title)).toEqual(['canary hidden', 'shown', 'canary task', 'canary guarded', 'end'])
      expect(all.text()).not.toMatch(/canary (note|word)/)
      // A document that has changed since is sent as it is now.
      const from = visitor.lastId()
      const { body } = await send('POST', '/posts', { title: 'canary former' })
      await send('PUT', `/posts/${body.data.documentId}`, { title: 'latter' })
      const later = await open('', null, { 'last-event-id': from })
      await expect.poll(() => received(later).length, patience).toBe(2)
      expect(later.text()).not.toContain('canary')
    },
  )

  rule('event-stream.3', 'drafts are streamed on request', async () => {
    const drafts = await open('?status=draft')
    const { body } = await send('POST', '/posts?status=draft', { title: 'a draft' })
    await send('POST', `/posts/${body.data.documentId}/actions/publish`)
    await send('PUT', `/posts/${body.data.documentId}?status=draft`, { title: 'another draft' })
    await expect.poll(() => received(drafts).map(([event]) => event), patience).toEqual(['entry.create', 'entry.update'])
    expect(received(drafts)[1]).toEqual(['entry.update', 'another draft'])
    const closed = await serveProject(files, {
      environment: secrets,
      config: { events: { stream: true }, api: { rest: { draftGrant: true } } },
    })
    try {
      await grant(closed, 'public', `${post}.find`)
      expect((await closed.request(`/api/events?status=draft&types=${post}`)).status).toBe(403)
    } finally {
      await closed.close()
    }
  })

  rule('event-stream.4', 'removals have only an id, and are hidden if a scope or code restricts the document', async () => {
    const [visitor, all] = [await open(), await open('', 'all')]
    const { body } = await send('POST', '/posts', { title: 'removed' })
    const { documentId } = body.data
    const tasks = (await send('POST', '/tasks', { title: 'canary task', owner: 4711 })).body.data.documentId
    const guards = (await send('POST', '/guardeds', { title: 'canary guarded' })).body.data.documentId
    await expect.poll(() => received(all).length, patience).toBe(3)
    await send('POST', `/posts/${documentId}/actions/unpublish`)
    await send('DELETE', `/posts/${documentId}`)
    await send('DELETE', `/tasks/${tasks}`)
    await send('DELETE', `/guardeds/${guards}`)
    await last('end')
    await expect
      .poll(() => received(visitor).slice(-2), patience)
      .toEqual([
        ['entry.unpublish', documentId],
        ['entry.publish', 'end'],
      ])
    expect(visitor.text()).not.toMatch(new RegExp(`canary|${tasks}|${guards}`))
    const removed = visitor.events.find(({ event }) => event === 'entry.unpublish')!
    expect(Object.keys(removed.data.entry)).toEqual(['id', 'documentId'])
  })

  rule('event-stream.5', 'parameters select types and events; invalid ones are refused', async () => {
    const chosen = await open(`?types[]=${task}&types[]=${post}&events=entry.create,entry.publish`, 'all')
    await send('POST', '/guardeds', { title: 'not chosen' })
    await send('POST', '/tasks', { title: 'chosen' })
    const { body } = await send('POST', '/posts', { title: 'chosen too' })
    // A document deleted before its event is sent is not shown.
    await expect.poll(() => received(chosen).length, patience).toBe(2)
    await send('DELETE', `/posts/${body.data.documentId}`)
    await last('end')
    await expect.poll(() => received(chosen).map(([, title]) => title), patience).toEqual(['chosen', 'chosen too', 'end'])
    const statuses = async (...paths: string[]) => {
      const found = []
      for (const path of paths) found.push((await served.request(`/api/events${path}`)).status)
      return found
    }
    expect(
      await statuses('?types=api::nope.nope', '?events=entry.explode', '?status=x', '?populate=*', '?types=api::hidden.hidden'),
    ).toEqual([...[400, 400, 400, 400, 403]])
    expect((await served.request('/api/events', { token: 'wrong' })).status).toBe(401)
    await addToken(served, 'nothing', { type: 'custom', actions: [] })
    expect((await served.request('/api/events', { token: 'nothing' })).status).toBe(403)
  })

  rule('event-stream.6', 'a stream continues after an event; a reset reports lost events', async () => {
    const first = await open()
    await last('one')
    await expect.poll(() => received(first).length, patience).toBe(1)
    first.close()
    const { id } = first.events[0]!
    await last('two')
    await last('three')
    const again = await open(`?lastEventId=${id}`)
    await expect.poll(() => received(again).map(([, title]) => title), patience).toEqual(['two', 'three'])
    const unknown = await open('', null, { 'last-event-id': 'made-up' })
    expect(unknown.events[0]).toMatchObject({ event: 'reset', data: { event: 'reset' } })
    for (let index = 0; index < 80; index++) await last(`many ${index}`)
    const late = await open('', null, { 'last-event-id': id! })
    expect(late.events[0]!.event).toBe('reset')
    await last('after the reset')
    await expect.poll(() => received(late).at(-1), patience).toEqual(['entry.publish', 'after the reset'])
  })

  rule('event-stream.7', 'a stream ends with the permissions or the credentials of its caller', async () => {
    const ann = await addUser(served, 'ann', 'authenticated')
    const [hers, visitor] = [await open(`?types=${task}`, jwt(ann)), await open(`?types=${task}`)]
    await send('POST', '/tasks', { title: 'hers', owner: ann })
    await send('POST', '/tasks', { title: 'his', owner: 4711 })
    await expect.poll(() => received(hers), patience).toEqual([['entry.create', 'hers']])
    await served.sql('update up_users set blocked = true where id = ?', ann)
    await revoke(served, 'public', `${task}.find`)
    await send('POST', '/tasks', { title: 'no longer', owner: ann })
    await expect.poll(() => [hers.isOver(), visitor.isOver()], patience).toEqual([true, true])
    expect([received(hers), received(visitor)]).toEqual([[['entry.create', 'hers']], []])
    await grant(served, 'public', `${task}.find`)
  })

  rule('event-stream.8', 'ids of the same position differ', async () => {
    const [one, two] = [await open(), await open()]
    expect(one.lastId()).not.toBe(two.lastId())
    expect(one.lastId()).toHaveLength(two.lastId().length)
  })

  rule('event-stream.9', 'the number of streams of an address is bounded, by default by that of connections', async () => {
    for (let index = 0; index < 21; index++) await open()
    await expect.poll(async () => (await served.request('/api/events')).status, patience).toBe(429)
  })

  rule('event-stream.10', 'events of another service on the same database arrive, and a shutdown ends the streams', async () => {
    const other = await serveExisting(served, secrets)
    const there = await open('', null, {}, other.origin).catch(async (error) => {
      await other.close()
      throw error
    })
    await last('from elsewhere')
    await expect.poll(() => received(there), patience).toEqual([['entry.publish', 'from elsewhere']])
    await other.close()
    await expect.poll(there.isOver, patience).toBe(true)
  })
})

describe('clients of the event stream', () => {
  const note = 'api::note.note'
  let served: Served
  beforeAll(async () => {
    const localized = { pluginOptions: { i18n: { localized: true } } }
    served = await serveProject(
      {
        ...contentType('note', { title: { type: 'string', ...localized } }, { localized: true }),
        ...contentType('paper', { title: { type: 'string' }, text: { type: 'text' } }),
      },
      {
        environment: secrets,
        config: { events: { stream: true }, limits: { eventStreamsPerAddress: 3, bodyBytes: 2_000_000 } },
      },
    )
    await addToken(served, 'all', { type: 'full-access' })
    await addGerman(served)
    for (const type of [note, 'api::paper.paper']) await grant(served, 'public', `${type}.find`)
  })
  afterAll(() => served.close())

  const write = (method: string, path: string, data: object, by: Pick<Served, 'request'> = served): Promise<TestResponse> =>
    by.request(`/api${path}`, { method, token: 'all', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ data }) })

  /** Opens a stream of a client that reads only when it is resumed. */
  async function openSlowly(query: string): Promise<{ readonly socket: Socket; text(): string; readonly ended: Promise<unknown> }> {
    const socket = connect(Number(new URL(served.origin).port), '127.0.0.1')
    let text = ''
    const ended = new Promise((resolve) => socket.on('close', resolve).on('error', resolve))
    await once(socket, 'connect')
    socket.pause()
    socket.on('data', (bytes) => {
      text += bytes.toString('latin1')
    })
    socket.pause()
    socket.write(`GET /api/events${query} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`)
    return { socket, text: () => text, ended }
  }

  rule('event-stream.2', 'the entry is the version in the locale of the event', async () => {
    const stream = await openStream(`${served.origin}/api/events?types=${note}`)
    await expect.poll(stream.lastId, patience).not.toBe('')
    const { documentId } = (await write('POST', '/notes', { title: 'english' })).body.data
    await write('PUT', `/notes/${documentId}?locale=de`, { title: 'deutsch' })
    expect((await served.request(`/api/notes/${documentId}?locale=de`, { method: 'DELETE', token: 'all' })).status).toBe(204)
    await write('PUT', `/notes/${documentId}`, { title: 'english again' })
    await expect.poll(() => stream.events.length, patience).toBeGreaterThanOrEqual(3)
    await expect.poll(() => stream.events.at(-1)!.data.entry.title, patience).toBe('english again')
    const seen = stream.events.map(({ event, data: { entry } }) => [event, entry.documentId, entry.locale])
    const [first, last] = [seen[0], seen.at(-1)]
    expect([first, last]).toEqual([
      ['entry.create', documentId, 'en'],
      ['entry.update', documentId, 'en'],
    ])
    expect(seen).toContainEqual(['entry.delete', documentId, 'de'])
    for (const { event, data } of stream.events.filter(({ data: { entry } }) => entry.locale === 'de'))
      if (event !== 'entry.delete') expect(data.entry.title).toBe('deutsch')
    stream.close()
  })

  rule('event-stream.6', 'a reconnecting client misses nothing while several services write', async () => {
    const other = await serveExisting(served, secrets)
    try {
      const first = await openStream(`${served.origin}/api/events?types=${note}`)
      await expect.poll(first.lastId, patience).not.toBe('')
      let lastId = first.lastId()
      first.close()
      const titles = Array.from({ length: 60 }, (_, index) => `many ${index}`)
      const writing = Promise.all(
        [0, 1, 2, 3].map(async (turn) => {
          for (const [index, title] of titles.entries())
            if (index % 4 === turn) expect((await write('POST', '/notes', { title }, turn % 2 === 0 ? served : other)).status).toBe(201)
        }),
      )
      const received: string[] = []
      for (let at = 0; received.length < titles.length; at++) {
        const origin = at % 2 === 0 ? served.origin : other.origin
        const stream = await openStream(`${origin}/api/events?types=${note}`, { 'last-event-id': lastId })
        await expect.poll(() => stream.events.length, patience).toBeGreaterThanOrEqual(1)
        // Clients remember the events that they read: later ones are lost with the connection, and sent again.
        const taken = stream.events.slice(0, 7)
        stream.close()
        received.push(...taken.map(({ data }) => data.entry.title))
        lastId = taken.at(-1)!.id!
      }
      await writing
      expect([...received].sort()).toEqual([...titles].sort())
    } finally {
      await other.close()
    }
  })

  rule('event-stream.11', 'events are read in small batches, and none is left out', async () => {
    const start = await openStream(`${served.origin}/api/events?types=api::paper.paper`)
    await expect.poll(start.lastId, patience).not.toBe('')
    start.close()
    const [{ latest }] = (await served.sql('select coalesce(max(sequence), 0) as latest from octavo_outbox')) as unknown as [
      { latest: number },
    ]
    const titles = Array.from({ length: 30 }, (_, index) => `batch ${index}`)
    for (const [index, title] of titles.entries())
      await write('POST', '/papers', { title, text: 'x'.repeat(index % 10 === 0 ? 400_000 : 1_000 * index) })
    const stream = await openStream(`${served.origin}/api/events?types=api::paper.paper&lastEventId=${start.lastId()}`)
    await expect.poll(() => stream.events.map(({ data }) => data.entry.title), patience).toEqual(titles)
    stream.close()

    const reads: number[][] = []
    const rows = async <Row>(query: Parameters<typeof writeSql>[0]): Promise<readonly Row[]> => {
      const { sql, parameters } = writeSql(query)
      const found = await served.sql(sql, ...(parameters as number[]))
      if (found.some(({ payload }) => payload !== undefined)) reads.push(found.map(({ payload }) => payload.length))
      return found as readonly Row[]
    }
    const log = openEventLog({ rows })
    let sequence = latest
    for (let events = await log.batch(latest, 100, 50_000); events.length > 0; events = await log.batch(sequence, 100, 50_000))
      sequence = events.at(-1)!.sequence
    expect(reads.flat()).toHaveLength(titles.length)
    const tooLarge = reads.filter((sizes) => sizes.length > 1 && sizes.reduce((sum, size) => sum + size, 0) > 50_000)
    expect(tooLarge).toEqual([])
    expect(reads.length).toBeLessThan(titles.length)
  })

  rule('event-stream.9', 'a client that does not read is disconnected', async () => {
    const { documentId } = (await write('POST', '/papers', { title: 'large', text: 'x'.repeat(400_000) })).body.data
    const slow = await openSlowly('?types=api::paper.paper')
    const streams = [await openStream(`${served.origin}/api/events`), await openStream(`${served.origin}/api/events`)]
    const isFull = async () => (await served.request('/api/events', { method: 'HEAD' })).status === 429
    await expect.poll(isFull, patience).toBe(true)
    // Of these 24 MB, the buffers of the connection take a part.
    for (let index = 0; index < 60; index++) await write('PUT', `/papers/${documentId}`, { title: `large ${index}` })
    await expect.poll(isFull, { ...patience, interval: 500 }).toBe(false)
    for (const stream of streams) stream.close()
    slow.socket.destroy()
  })

  rule('event-stream.7', 'a slow client does not receive events that were forbidden in the meantime', async () => {
    const start = await openStream(`${served.origin}/api/events?types=api::paper.paper`)
    await expect.poll(start.lastId, patience).not.toBe('')
    start.close()
    const { documentId } = (await write('POST', '/papers', { title: 'paper', text: 'x'.repeat(400_000) })).body.data
    for (let index = 0; index < 60; index++) await write('PUT', `/papers/${documentId}`, { title: `paper ${index}` })
    const slow = await openSlowly(`?types=api::paper.paper&lastEventId=${start.lastId()}`)
    // The caller is identified every 15 seconds, and the stream waits for the client in between.
    await new Promise((resolve) => setTimeout(resolve, 17_000))
    await revoke(served, 'public', 'api::paper.paper.find')
    slow.socket.resume()
    await slow.ended
    const blocks = slow.text().split('event: entry.').length - 1
    expect(blocks).toBeGreaterThan(0)
    expect(blocks).toBeLessThan(55)
    await grant(served, 'public', 'api::paper.paper.find')
  })
})
