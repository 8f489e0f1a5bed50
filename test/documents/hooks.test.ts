// Hooks of octavo.config: once for every operation of any caller; before its transaction and after its commit.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Document } from '../../src/foundation/public/documents.js'
import type { AfterCall, BeforeCall, Hook } from '../../src/foundation/public/hooks.js'
import type { RequestOptions, Served, TestResponse } from '../support/serve.js'
import { goldenTokens, serveGolden, serveProject } from '../support/serve.js'

const { full: token, ...tokens } = goldenTokens()
const articles = 'api::article.article'
const tags = 'api::tag.tag'
const cities = 'api::city.city'

let served: Served
/** Hooks of the current test; the service is started once. */
let hook: { -readonly [part in keyof Hook]: Hook[part] } = {}
/** The hooks that were called, in order. */
let calls: { part: 'before' | 'after'; call: BeforeCall | AfterCall }[] = []

const send = (method: string, path: string, data?: unknown, asked: RequestOptions = { token }): Promise<TestResponse> =>
  served.request(path, {
    method,
    ...asked,
    ...(data === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify({ data }) }),
  })
const called = (): string[] => calls.map(({ part, call }) => `${part} ${call.action} ${call.uid.split('.')[1]} ${call.status}`)
const logged = (text: string): number => served.log.filter((line) => line.includes(text)).length
const never = (signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    signal.addEventListener('abort', () => resolve())
  })

beforeAll(async () => {
  served = await serveGolden({
    config: { limits: { hookTimeout: 500 } },
    code: {
      hooks: [
        {
          name: 'the hook of the test',
          before: async (call) => {
            calls.push({ part: 'before', call: { ...call } })
            await hook.before?.(call)
          },
          after: async (call) => {
            calls.push({ part: 'after', call })
            await hook.after?.(call)
          },
        },
        {
          types: [tags],
          before: ({ data }) => data !== null && typeof data.name === 'string' && Object.assign(data, { name: data.name.trim() }),
        },
        {
          types: [cities],
          actions: ['update'],
          before: (call) => {
            call.data = { ...call.data, area: 42 }
          },
        },
      ],
    },
  })
})
afterAll(() => served.close())
beforeEach(() => {
  hook = {}
  calls = []
})

describe('once for each operation', () => {
  test('a POST and a PUT that publish are one operation each, as are all others', async () => {
    const { documentId } = (await send('POST', '/api/tags', { name: 'once' })).body.data
    expect(called()).toEqual(['before create tag published', 'after create tag published'])
    await send('PUT', `/api/tags/${documentId}`, { weight: 1 })
    await send('PUT', `/api/tags/${documentId}?status=draft`, { weight: 2 })
    await send('POST', `/api/tags/${documentId}/actions/discard`)
    await send('POST', `/api/tags/${documentId}/actions/unpublish`)
    await send('POST', `/api/tags/${documentId}/actions/publish`)
    await send('DELETE', `/api/tags/${documentId}`)
    expect(called().slice(2)).toEqual([
      ...['before update tag published', 'after update tag published', 'before update tag draft', 'after update tag draft'],
      ...['before discardDraft tag draft', 'after discardDraft tag draft', 'before unpublish tag draft', 'after unpublish tag draft'],
      ...['before publish tag published', 'after publish tag published', 'before delete tag draft', 'after delete tag draft'],
    ])
    expect(calls.slice(2).map(({ call }) => call.documentId)).toEqual(calls.slice(2).map(() => documentId))
  })

  test('operations of scripts have them too; reads have none', async () => {
    const documents = served.service.documents(cities)
    const { documentId } = await documents.create({ data: { name: 'scripted' } })
    await documents.findMany()
    await documents.findOne({ documentId })
    await served.request('/api/cities', { token: token! })
    expect(called()).toEqual(['before create city published', 'after create city published'])
    expect(calls.map(({ call }) => call.caller)).toEqual([null, null])
  })

  test('after-hooks are not called for what did not happen', async () => {
    expect((await send('POST', '/api/tags', { name: 5 })).status).toBe(400)
    expect((await send('PUT', '/api/tags/nobody', { weight: 1 })).status).toBe(404)
    expect((await send('DELETE', '/api/tags/nobody')).status).toBe(204)
    expect(called().filter((line) => line.startsWith('after'))).toEqual([])
    expect(called()).toHaveLength(3)
  })

  test('before-hooks are not called for who may not, for a query that makes no sense, and without data', async () => {
    expect((await send('POST', '/api/tags', { name: 'no' }, { token: tokens.readonly! })).status).toBe(403)
    expect((await send('POST', '/api/tags?fields=nothing', { name: 'no' })).status).toBe(400)
    expect((await send('POST', '/api/tags', ['no'])).status).toBe(400)
    expect((await send('POST', '/api/tags')).status).toBe(400)
    expect(called()).toEqual([])
  })
})

describe('before', () => {
  test('may change the data, or replace it: for some types, for some actions', async () => {
    const tag = (await send('POST', '/api/tags', { name: '  trimmed ' })).body.data
    expect(tag.name).toBe('trimmed')
    const city = (await send('POST', '/api/cities', { name: ' as given ' })).body.data
    expect(city).toMatchObject({ name: ' as given ', area: null })
    expect((await send('PUT', `/api/cities/${city.documentId}`, { name: 'changed' })).body.data).toMatchObject({
      name: 'changed',
      area: 42,
    })
  })

  test('sees the changes of earlier hooks, and does not modify the request', async () => {
    const data = { name: ' two ' }
    hook.before = (call) => {
      call.data = { ...call.data, name: ` ${call.data!.name} hooks ` }
    }
    expect(await served.service.documents(tags).create({ data })).toMatchObject({ name: 'two  hooks' })
    expect(data).toEqual({ name: ' two ' })
  })

  test('data changed by a hook is validated by the same rules', async () => {
    hook.before = (call) => {
      call.data = { ...call.data, nothing: 1 }
    }
    const answer = await send('POST', '/api/cities', { name: 'city' })
    expect(answer.body.error).toMatchObject({ status: 400, name: 'ValidationError', message: 'Invalid key nothing' })
    hook.before = ({ data }) => Object.assign(data!, { area: 'large' })
    expect((await send('POST', '/api/cities', { name: 'city' })).body.error.details.errors).toMatchObject([{ path: ['area'] }])
    hook.before = (call) => {
      call.data = null
    }
    expect((await send('POST', '/api/cities', { name: 'city' })).status).toBe(400)
  })

  test.each([
    ['ValidationError', 400],
    ['ApplicationError', 400],
    ['ForbiddenError', 403],
    ['NotFoundError', 404],
    ['RateLimitError', 429],
  ])('a %s is the answer, in the shape of any other, and nothing is written', async (name, status) => {
    hook.before = () => {
      throw Object.assign(new Error('The moon is full'), { name, details: { phase: 'full' } })
    }
    const before = await served.service.documents(cities).count()
    const answer = await send('POST', '/api/cities', { name: 'city' })
    expect(answer.status).toBe(status)
    expect(answer.body).toEqual({ data: null, error: { status, name, message: 'The moon is full', details: { phase: 'full' } } })
    expect(await served.service.documents(cities).count()).toBe(before)
  })

  test('any other error is a bug: 500, logged, no details, nothing written', async () => {
    for (const bug of [new Error('bug 1'), new TypeError('bug 2'), new SyntaxError('bug 3'), 'bug 4', undefined]) {
      hook.before = () => {
        throw bug
      }
      const answer = await send('POST', '/api/cities', { name: 'city of a bug' })
      expect(answer.body).toEqual({ data: null, error: { status: 500, name: 'InternalServerError', message: 'Internal Server Error' } })
    }
    expect([1, 2, 3, 4].map((number) => logged(`bug ${number}`))).toEqual([1, 1, 1, 1])
    expect(await served.service.documents(cities).count({ filters: { name: 'city of a bug' } })).toBe(0)
  })

  test('a hook that takes longer than limits.hookTimeout is reported, and the response is 503', async () => {
    let aborted = false
    hook.before = async ({ signal }) => {
      await never(signal)
      aborted = true
    }
    const answer = await send('POST', '/api/cities', { name: 'late city' })
    expect(answer.body.error).toMatchObject({ status: 503, name: 'ServiceUnavailableError' })
    expect(answer.headers.get('retry-after')).toBe('1')
    expect(aborted).toBe(true)
    // Once as the cause of the refusal; the line of the request names it too.
    const told = served.log.filter((line) => line.includes('the hook of the test took longer than 500 milliseconds'))
    expect(told.map((line) => JSON.parse(line).level).toSorted()).toEqual([30, 50])
    expect(await served.service.documents(cities).count({ filters: { name: 'late city' } })).toBe(0)
  })

  test('other writes go on while one waits', async () => {
    let release = () => {}
    const waits = new Promise<void>((resolve) => {
      release = resolve
    })
    hook.before = ({ data }) => (data?.name === 'slow' ? waits : undefined)
    const slow = send('POST', '/api/cities', { name: 'slow' })
    expect((await send('POST', '/api/cities', { name: 'fast' })).status).toBe(201)
    release()
    expect((await slow).status).toBe(201)
  })

  test('gets the caller', async () => {
    await send('POST', '/api/cities', { name: 'city' })
    await send('POST', '/api/cities', { name: 'city' }, { token: tokens.alice ?? tokens.custom! })
    expect(calls[0]!.call.caller).toEqual({ kind: 'token', id: expect.any(Number) })
    for (const { call } of calls) expect(Object.keys(call.caller!).sort()).toEqual(['id', 'kind'])
  })

  test('gets the locale, or that all are selected', async () => {
    const { documentId } = (await send('POST', '/api/articles', { title: 'Told of locales' })).body.data
    await send('PUT', `/api/articles/${documentId}?locale=fr`, { title: 'Des langues' })
    await send('DELETE', `/api/articles/${documentId}?locale=*`)
    await send('POST', '/api/tags', { name: 'without locales' })
    expect(calls.filter(({ part }) => part === 'before').map(({ call }) => call.locale)).toEqual(['en', 'fr', '*', null])
    const gone = calls.find(({ part, call }) => part === 'after' && call.action === 'delete')!.call as AfterCall
    expect(gone.entries.map(({ locale, title }) => `${locale} ${title}`)).toEqual([
      ...['en Told of locales', 'en Told of locales', 'fr Des langues', 'fr Des langues'],
    ])
  })
})

describe('after', () => {
  test('the change is committed: everyone reads it, and the hook is given the version that was written', async () => {
    let seen: Document | null = null
    hook.after = async ({ documents, documentId }) => {
      seen = (await served.request(`/api/articles/${documentId}`, { token: token! })).body.data
      await documents(articles).findOne({ documentId })
    }
    const { body } = await send('POST', '/api/articles?fields=title', {
      title: 'Committed',
      rank: 7,
      internalNote: 'private',
      secretCode: 'secret',
    })
    expect(body.data).toEqual({ id: expect.any(Number), documentId: expect.any(String), title: 'Committed' })
    const { entries, data } = calls.find(({ part }) => part === 'after')!.call as AfterCall
    expect(entries).toEqual([seen])
    expect(entries[0]).toMatchObject({ title: 'Committed', rank: 7, publishedAt: expect.any(String) })
    expect(data).toMatchObject({ title: 'Committed', secretCode: 'secret' })
  })

  test("gets whole versions, regardless of the caller's selection", async () => {
    const documents = served.service.documents(tags)
    const { documentId } = await documents.create({ data: { name: 'whole' }, fields: ['weight'] })
    await documents.delete({ documentId, fields: ['weight'] })
    const given = calls.filter(({ part }) => part === 'after').map(({ call }) => (call as AfterCall).entries[0]!.name)
    expect(given).toEqual(['whole', 'whole'])
  })

  test('one that fails is logged; the request is as good as without it, and the next hook runs', async () => {
    hook.after = () => {
      throw Object.assign(new Error('after all'), { name: 'ForbiddenError' })
    }
    expect((await send('POST', '/api/cities', { name: 'after a failure' })).status).toBe(201)
    expect(logged('after all')).toBe(1)
    expect(await served.service.documents(cities).count({ filters: { name: 'after a failure' } })).toBe(1)
  })

  test('one that takes too long is logged, and the answer no longer waits for it', async () => {
    hook.after = ({ signal }) => never(signal)
    const before = logged('took longer than 500 milliseconds')
    expect((await send('POST', '/api/cities', { name: 'after a long time' })).status).toBe(201)
    expect(logged('took longer than 500 milliseconds')).toBe(before + 1)
  })
})

describe('writes of hooks', () => {
  test('is a separate operation: writes of before-hooks stay even if the request fails', async () => {
    hook.before = async ({ uid, documents }) => {
      if (uid === articles) await documents(cities).create({ data: { name: 'made on the way' } })
    }
    expect((await send('POST', '/api/articles', { title: 'x' })).status).toBe(400)
    expect(await served.service.documents(cities).count({ filters: { name: 'made on the way' } })).toBe(1)
    expect(called()).toEqual(['before create article published', 'before create city published', 'after create city published'])
  })

  test('may be the same type; a hook without an end is stopped after five levels', async () => {
    hook.after = async ({ uid, documents }) => {
      if (uid === cities) await documents(cities).create({ data: { name: 'again and again' } })
    }
    expect((await send('POST', '/api/cities', { name: 'once' })).status).toBe(201)
    expect(await served.service.documents(cities).count({ filters: { name: 'again and again' } })).toBe(5)
    expect(logged('more than 5 levels deep')).toBe(1)
    hook = {
      before: async ({ uid, documents }) => {
        if (uid === cities) await documents(cities).create({ data: { name: 'before and before' } })
      },
    }
    expect((await send('POST', '/api/cities', { name: 'never' })).status).toBe(500)
    expect(await served.service.documents(cities).count({ filters: { name: { $in: ['before and before', 'never'] } } })).toBe(0)
  })

  test('a hook may look something up and write it into the data', async () => {
    hook.before = async ({ uid, action, data, documents }) => {
      if (uid !== articles || action !== 'create') return
      const [author] = await documents<{ documentId: string }>('api::author.author').findMany({ sort: 'id:asc', limit: 1 })
      data!.author = author!.documentId
    }
    const { body } = await send('POST', '/api/articles?populate=author', { title: 'With an author' })
    expect(body.data.author.documentId).toEqual(expect.any(String))
  })
})

describe('octavo.config', () => {
  const schema = {
    kind: 'collectionType',
    info: { singularName: 'note', pluralName: 'notes' },
    attributes: { text: { type: 'string' } },
  }
  const files = { 'src/api/note/content-types/note/schema.json': schema }

  test('hooks and listeners of octavo.config.mjs are there', async () => {
    const code = `export default {
      hooks: [{ types: ['api::note.note'], before: ({ data }) => { data.text = data.text.toUpperCase() } }],
      events: { listeners: [({ event, entry }) => { globalThis.octavoHeard = event + ' ' + entry.text }] },
    }`
    const own = await serveProject({ ...files, 'octavo.config.mjs': code })
    expect(await own.service.documents('api::note.note').create({ data: { text: 'loud' } })).toMatchObject({ text: 'LOUD' })
    await own.close()
    expect((globalThis as { octavoHeard?: string }).octavoHeard).toBe('entry.create LOUD')
  })

  test.each([
    ["{ hooks: [{ types: ['api::nobody.nobody'], before: () => {} }] }", /hooks\[0\]: there is no type api::nobody\.nobody/],
    ["{ hooks: [{ before: 'text' }] }", /hooks\[0\]\.before\): must be a function/],
    ["{ hooks: [{ actions: ['find'] }] }", /hooks\[0\]\.actions\[0\]/],
    ['{ events: { listeners: [1] } }', /events\.listeners\[0\]\): must be a function/],
  ])('what cannot be a hook is refused at the start: %s', async (code, message) => {
    const starting = serveProject({ ...files, 'octavo.config.mjs': `export default ${code}` })
    await expect(starting).rejects.toThrow(message)
  })
})

test("a hook's result that cannot be sent to a thread is refused, and the next write works", async () => {
  hook.before = (call) => {
    if (call.data !== null) call.data.metadata = Symbol('of the project')
  }
  const refused = await send('POST', '/api/articles', { title: 'Not to be stored' })
  expect(refused.status, refused.text).toBeGreaterThanOrEqual(400)
  hook = {}
  expect((await send('POST', '/api/articles', { title: 'Stored' })).status).toBe(201)
  expect((await send('GET', '/api/articles?filters[title]=Not to be stored&status=draft')).body.data).toEqual([])
})

test("a hook's number that JSON lacks is refused, or stored as null like an absent value", async () => {
  hook.before = (call) => {
    if (call.data !== null) call.data.metadata = Number.NaN
  }
  const { status } = await send('POST', '/api/articles', { title: 'Not a number' })
  hook = {}
  const found = await send('GET', '/api/articles?filters[title]=Not a number&filters[metadata][$null]=true&status=draft')
  expect(found.body.data).toHaveLength(status === 201 ? 1 : 0)
})

test('hooks write to the log, with their name and the id of the request', async () => {
  hook = { before: ({ log }) => log.info('before', { asked: 1 }), after: ({ log }) => log.warn('after', { code: 'forged' }) }
  const headers = { 'x-request-id': 'request-with-hooks', 'content-type': 'application/json' }
  await served.request('/api/cities', { method: 'POST', token: token!, headers, body: JSON.stringify({ data: { name: 'Logged' } }) })
  await served.service.documents(cities).create({ data: { name: 'Logged by a script' } })
  const lines = served.log.map((line) => JSON.parse(line)).filter(({ code }) => code === 'the hook of the test')
  expect(lines).toMatchObject([
    { level: 30, msg: 'before', asked: 1, requestId: 'request-with-hooks' },
    { level: 40, msg: 'after', requestId: 'request-with-hooks' },
    { msg: 'before' },
    { msg: 'after' },
  ])
  expect(lines[2]).not.toHaveProperty('requestId')
})
