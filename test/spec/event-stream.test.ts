// The event stream: what a caller hears of, and when it ends.
import { afterAll, afterEach, beforeAll, describe, expect } from 'vitest'
import type { ScopeCall, ScopeResult } from '../../src/public/type-settings.js'
import { rule } from '../support/rule.js'
import type { Answer, Served } from '../support/serve.js'
import { serveBeside, serveProject } from '../support/serve.js'
import { openStream, type Stream } from '../webhooks/stream.js'
import { addToken, addUser, grant, jwt, revoke, secrets } from './callers.js'
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
const patience = { timeout: 20_000, interval: 50 }
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
      config: { events: { stream: true }, limits: { eventStreamsPerAddress: 6, outboxEvents: 60 } },
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

  const send = (method: string, path: string, data?: object): Promise<Answer> =>
    served.ask(`/api${path}`, {
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
  const heard = (stream: Stream) => stream.events.map(({ event, data }) => [event, data.entry?.title ?? data.entry?.documentId])
  /** A document that everybody hears of last, so that what was not sent before is known not to come. */
  async function last(title: string): Promise<void> {
    await send('POST', '/posts', { title })
  }

  rule('event-stream.1', 'blocks with an id, the name of the event, and JSON; responses that nobody keeps or holds back', async () => {
    const stream = await open()
    expect(['content-type', 'cache-control', 'x-accel-buffering'].map((name) => stream.headers.get(name))).toEqual([
      ...['text/event-stream; charset=utf-8', 'no-store, no-transform', 'no'],
    ])
    const { body } = await send('POST', '/posts', { title: 'first' })
    await expect.poll(() => heard(stream), patience).toEqual([['entry.publish', 'first']])
    const [{ data, id }] = stream.events as [Stream['events'][number]]
    expect(Object.keys(data)).toEqual(['event', 'createdAt', 'model', 'uid', 'entry'])
    expect(data).toMatchObject({ event: 'entry.publish', model: 'post', uid: post, entry: { documentId: body.data.documentId } })
    expect(id).toMatch(/^[\w-]{48}$/)
    expect((await served.ask('/api/events', { method: 'POST' })).status).toBe(405)
    const without = await serveProject(contentType('event', { title: { type: 'string' } }), { environment: secrets })
    try {
      await grant(without, 'public', 'api::event.event.find')
      expect((await without.ask('/api/events')).body).toMatchObject({ data: [] })
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
        .poll(() => heard(visitor), patience)
        .toEqual([
          ['entry.publish', 'shown'],
          ['entry.publish', 'end'],
        ])
      expect(visitor.text()).not.toMatch(/canary|"secret"|"note"|"word"/)
      await expect.poll(() => heard(all).length, patience).toBe(5)
      expect(heard(all).map(([, title]) => title)).toEqual(['canary hidden', 'shown', 'canary task', 'canary guarded', 'end'])
      expect(all.text()).not.toMatch(/canary (note|word)/)
      // What was replaced since is told as it is now.
      const from = visitor.lastId()
      const { body } = await send('POST', '/posts', { title: 'canary former' })
      await send('PUT', `/posts/${body.data.documentId}`, { title: 'latter' })
      const later = await open('', null, { 'last-event-id': from })
      await expect.poll(() => heard(later).length, patience).toBe(2)
      expect(later.text()).not.toContain('canary')
    },
  )

  rule('event-stream.3', 'drafts for those who ask for drafts', async () => {
    const drafts = await open('?status=draft')
    const { body } = await send('POST', '/posts?status=draft', { title: 'a draft' })
    await send('POST', `/posts/${body.data.documentId}/actions/publish`)
    await send('PUT', `/posts/${body.data.documentId}?status=draft`, { title: 'another draft' })
    await expect.poll(() => heard(drafts).map(([event]) => event), patience).toEqual(['entry.create', 'entry.update'])
    expect(heard(drafts)[1]).toEqual(['entry.update', 'another draft'])
    const closed = await serveProject(files, {
      environment: secrets,
      config: { events: { stream: true }, api: { rest: { draftGrant: true } } },
    })
    try {
      await grant(closed, 'public', `${post}.find`)
      expect((await closed.ask(`/api/events?status=draft&types=${post}`)).status).toBe(403)
    } finally {
      await closed.close()
    }
  })

  rule('event-stream.4', 'removals by id only, and not where a scope or code decides who may see a document', async () => {
    const [visitor, all] = [await open(), await open('', 'all')]
    const { body } = await send('POST', '/posts', { title: 'removed' })
    const { documentId } = body.data
    const tasks = (await send('POST', '/tasks', { title: 'canary task', owner: 4711 })).body.data.documentId
    const guards = (await send('POST', '/guardeds', { title: 'canary guarded' })).body.data.documentId
    await expect.poll(() => heard(all).length, patience).toBe(3)
    await send('POST', `/posts/${documentId}/actions/unpublish`)
    await send('DELETE', `/posts/${documentId}`)
    await send('DELETE', `/tasks/${tasks}`)
    await send('DELETE', `/guardeds/${guards}`)
    await last('end')
    await expect
      .poll(() => heard(visitor).slice(-2), patience)
      .toEqual([
        ['entry.unpublish', documentId],
        ['entry.publish', 'end'],
      ])
    expect(visitor.text()).not.toMatch(new RegExp(`canary|${tasks}|${guards}`))
    const removed = visitor.events.find(({ event }) => event === 'entry.unpublish')!
    expect(Object.keys(removed.data.entry)).toEqual(['id', 'documentId'])
  })

  rule('event-stream.5', 'parameters choose types and events; what is wrong is refused', async () => {
    const chosen = await open(`?types[]=${task}&types[]=${post}&events=entry.create,entry.publish`, 'all')
    await send('POST', '/guardeds', { title: 'not chosen' })
    await send('POST', '/tasks', { title: 'chosen' })
    const { body } = await send('POST', '/posts', { title: 'chosen too' })
    await send('DELETE', `/posts/${body.data.documentId}`)
    await last('end')
    await expect.poll(() => heard(chosen).map(([, title]) => title), patience).toEqual(['chosen', 'chosen too', 'end'])
    const statuses = async (...paths: string[]) => {
      const found = []
      for (const path of paths) found.push((await served.ask(`/api/events${path}`)).status)
      return found
    }
    expect(
      await statuses('?types=api::nope.nope', '?events=entry.explode', '?status=x', '?populate=*', '?types=api::hidden.hidden'),
    ).toEqual([...[400, 400, 400, 400, 403]])
    expect((await served.ask('/api/events', { token: 'wrong' })).status).toBe(401)
    await addToken(served, 'nothing', { type: 'custom', actions: [] })
    expect((await served.ask('/api/events', { token: 'nothing' })).status).toBe(403)
  })

  rule('event-stream.6', 'a stream continues behind an event; what is lost is told by a reset', async () => {
    const first = await open()
    await last('one')
    await expect.poll(() => heard(first).length, patience).toBe(1)
    first.close()
    const { id } = first.events[0]!
    await last('two')
    await last('three')
    const again = await open(`?lastEventId=${id}`)
    await expect.poll(() => heard(again).map(([, title]) => title), patience).toEqual(['two', 'three'])
    const unknown = await open('', null, { 'last-event-id': 'made-up' })
    expect(unknown.events[0]).toMatchObject({ event: 'reset', data: { event: 'reset' } })
    for (let index = 0; index < 80; index++) await last(`many ${index}`)
    const late = await open('', null, { 'last-event-id': id! })
    expect(late.events[0]!.event).toBe('reset')
    await last('after the reset')
    await expect.poll(() => heard(late).at(-1), patience).toEqual(['entry.publish', 'after the reset'])
  })

  rule('event-stream.7', 'a stream ends with the permissions or the credentials of its caller', async () => {
    const ann = await addUser(served, 'ann', 'authenticated')
    const [hers, visitor] = [await open(`?types=${task}`, jwt(ann)), await open(`?types=${task}`)]
    await send('POST', '/tasks', { title: 'hers', owner: ann })
    await send('POST', '/tasks', { title: 'his', owner: 4711 })
    await expect.poll(() => heard(hers), patience).toEqual([['entry.create', 'hers']])
    await served.sql('update up_users set blocked = true where id = ?', ann)
    await revoke(served, 'public', `${task}.find`)
    await send('POST', '/tasks', { title: 'no longer', owner: ann })
    await expect.poll(() => [hers.isOver(), visitor.isOver()], patience).toEqual([true, true])
    expect([heard(hers), heard(visitor)]).toEqual([[['entry.create', 'hers']], []])
    await grant(served, 'public', `${task}.find`)
  })

  rule('event-stream.8', 'no two ids of one place are the same', async () => {
    const [one, two] = [await open(), await open()]
    expect(one.lastId()).not.toBe(two.lastId())
    expect(one.lastId()).toHaveLength(two.lastId().length)
  })

  rule('event-stream.9', 'the number of streams of an address is bounded', async () => {
    for (let index = 0; index < 6; index++) await open()
    await expect.poll(async () => (await served.ask('/api/events')).status, patience).toBe(429)
  })

  rule('event-stream.10', 'events of another service on the same database arrive, and a shutdown ends the streams', async () => {
    const other = await serveBeside(served, secrets)
    const there = await open('', null, {}, other.origin).catch(async (error) => {
      await other.close()
      throw error
    })
    await last('from elsewhere')
    await expect.poll(() => heard(there), patience).toEqual([['entry.publish', 'from elsewhere']])
    await other.close()
    await expect.poll(there.isOver, patience).toBe(true)
  })
})
