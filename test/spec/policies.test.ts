// Policies of the project by action, and its hooks around reads.
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Policy, ReadAfterCall, ReadBeforeCall, ReadHooks } from '../../src/foundation/public/type-settings.js'
import { rule } from '../support/rule.js'
import { type Served, serveGolden, serveProject, type TestResponse } from '../support/serve.js'
import { patience } from '../support/until.js'
import { addToken, secrets } from './callers.js'

const full = 'may-do-everything'
const [article, tag, author, homepage] = ['api::article.article', 'api::tag.tag', 'api::author.author', 'api::homepage.homepage'] as const

/** The project's functions in the current test; by default policies allow. */
let policy: Policy = () => true
let before: NonNullable<ReadHooks['before']> = () => {}
let after: NonNullable<ReadHooks['after']> = () => {}

let served: Served
beforeAll(async () => {
  const every = Object.fromEntries(
    ['find', 'findOne', 'create', 'update', 'delete', 'publish', 'unpublish', 'discardDraft'].map((action) => [
      action,
      (call: Parameters<Policy>[0]) => policy(call),
    ]),
  )
  served = await serveGolden({
    environment: secrets,
    config: { limits: { hookTimeout: 500 } },
    code: {
      types: {
        [article]: { policies: every },
        [homepage]: { policies: every, reads: { before: (call) => before(call) } },
        [tag]: {
          defaults: { sort: 'name:asc' },
          reads: { before: (call: ReadBeforeCall) => before(call), after: (call: ReadAfterCall) => after(call) },
        },
      },
    },
  })
  await addToken(served, full, { type: 'full-access' })
  await addToken(served, 'reads-tags', { type: 'custom', actions: [`${tag}.find`, `${tag}.findOne`] })
})
afterAll(() => served.close())

function request(method: string, path: string, data?: object, token = full): Promise<TestResponse> {
  const body = data === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify({ data }) }
  return served.request(`/api/${path}`, { method, token, ...body })
}

const failed = { data: null, error: { status: 403, name: 'PolicyError', message: 'Policy Failed', details: {} } }

/** Waits until something is in the log that was written since; a response is logged after it was sent. */
const logged = (since: number, text: string): Promise<void> => expect.poll(() => served.log.slice(since).join(''), patience).toContain(text)

rule('policies.1', 'a policy that returns false refuses every action, before anything is read or written', async () => {
  policy = () => true
  const { body } = await request('POST', 'articles?status=draft', { title: 'Policies', slug: 'policies' })
  const { documentId } = body.data
  const calls: string[] = []
  const requests: readonly [string, string, string, object?][] = [
    ['find', 'GET', 'articles'],
    ['findOne', 'GET', `articles/${documentId}?status=draft`],
    ['create', 'POST', 'articles', { title: 'Another', slug: 'another' }],
    ['update', 'PUT', `articles/${documentId}`, { title: 'Changed' }],
    ['publish', 'POST', `articles/${documentId}/actions/publish`],
    ['unpublish', 'POST', `articles/${documentId}/actions/unpublish`],
    ['discardDraft', 'POST', `articles/${documentId}/actions/discard`],
    ['delete', 'DELETE', `articles/${documentId}`],
  ]
  policy = ({ action, uid, documentId: named, data }) => {
    calls.push(action)
    expect(uid).toBe(article)
    expect(named).toBe(['find', 'create'].includes(action) ? null : documentId)
    expect(data).toEqual(requests.find(([asked]) => asked === action)![3] ?? null)
    return false
  }
  const rows = () => served.sql('select count(*) as number, max(updated_at) as latest from articles')
  const former = await rows()
  for (const [, method, path, data] of requests) {
    const answer = await request(method, path, data)
    expect([answer.status, answer.body], answer.text).toEqual([403, failed])
  }
  expect(calls).toEqual(requests.map(([action]) => action))
  expect(await rows()).toEqual(former)
  policy = ({ query }) => query.locale === 'en'
  expect((await request('GET', 'articles?locale=en')).status).toBe(200)
  expect((await request('GET', 'articles?locale=de')).status).toBe(403)
})

rule('policies.1', 'the permission and the form of the request are looked at before', async () => {
  let asked = 0
  policy = () => ++asked > 0
  expect((await request('GET', 'articles', undefined, 'reads-tags')).body.error.name).toBe('ForbiddenError')
  expect((await request('POST', 'articles', undefined, 'reads-tags')).body.error.name).toBe('ForbiddenError')
  expect((await served.request('/api/articles', { method: 'POST', token: full })).body.error.message).toBe(
    'Missing "data" payload in the request body',
  )
  expect(asked).toBe(0)
})

rule(
  'policies.2',
  'errors of a policy are responses if they have a name of the API, else 500; so are results other than true or false',
  async () => {
    policy = () => {
      throw Object.assign(new Error('Only on Sundays'), { name: 'PolicyError', details: { day: 'Monday' } })
    }
    expect((await request('GET', 'articles')).body.error).toEqual({
      ...{ status: 403, name: 'PolicyError', message: 'Only on Sundays', details: { day: 'Monday' } },
    })
    const wrong: readonly [Policy, string][] = [
      [() => undefined as never, 'the policy find of api::article.article returned neither true nor false'],
      [() => Promise.resolve('yes' as never), 'the policy find of api::article.article returned neither true nor false'],
      [() => (undefined as never as { name: string }).name === '', 'Cannot read properties of undefined'],
    ]
    for (const [broken, reason] of wrong) {
      const since = served.log.length
      policy = broken
      const { status, text } = await request('GET', 'articles')
      expect(status, text).toBe(500)
      expect(text).not.toContain(reason)
      await logged(since, reason)
    }
    policy = () => new Promise<never>(() => {})
    expect((await request('GET', 'articles')).status).toBe(503)
  },
)

rule('policies.3', 'a policy gets copies, and is not called for other access to documents', async () => {
  policy = ({ query, data }) => {
    Object.assign(query, { filters: { slug: 'nothing' } })
    if (data !== null) Object.assign(data, { title: 'Changed by a policy' })
    return true
  }
  expect((await request('GET', 'articles')).body.data.length).toBeGreaterThan(0)
  const created = await request('POST', 'articles?status=draft', { title: 'As sent', slug: 'as-sent' })
  expect(created.body.data.title, created.text).toBe('As sent')
  const actions: string[] = []
  policy = ({ action }) => {
    actions.push(action)
    return false
  }
  const found = await request('GET', 'authors?populate=articles&filters[articles][title][$notNull]=true')
  expect(found.body.data[0].articles.length, found.text).toBeGreaterThan(0)
  expect(await served.service.documents(article).findFirst()).toHaveProperty('slug')
  expect(actions).toEqual([])
  expect((await request('GET', 'homepage')).status).toBe(403)
  expect(actions).toEqual(['find'])
  expect((await request('GET', `authors`)).body.data.length, author).toBeGreaterThan(0)
})

rule('policies.4', 'a file that is uploaded to a document needs the policy for updates', async () => {
  const upload = async (ref: string, refId: number, field: string) => {
    const form = new FormData()
    form.set('files', new Blob(['a text'], { type: 'text/plain' }), 'a.txt')
    for (const [name, value] of Object.entries({ ref, refId: String(refId), field })) form.set(name, value)
    const response = await fetch(`${served.origin}/api/upload`, {
      method: 'POST',
      body: form,
      headers: { authorization: `Bearer ${full}` },
    })
    return { status: response.status, text: await response.text() }
  }
  policy = () => true
  const { id, documentId } = (await request('POST', 'articles?status=draft', { title: 'With a cover', slug: 'with-a-cover' })).body.data
  const asked: unknown[] = []
  policy = ({ action, uid, documentId: named, data, caller }) => asked.push([uid, action, named, data, caller.kind]) > 1
  const refused = await upload(article, id, 'cover')
  expect([refused.status, JSON.parse(refused.text)]).toEqual([403, failed])
  expect((await upload(article, id, 'cover')).status).toBe(201)
  const call = [article, 'update', documentId, { cover: [] }, 'token']
  expect(asked).toEqual([call, call])
  expect((await upload(article, 4_711_000, 'cover')).status).toBe(400)
  const entry = await upload('shared.seo', 1, 'shareImage')
  expect([entry.status, JSON.parse(entry.text).error.message]).toEqual([400, 'No entry with this refId'])
})

rule('read-hooks.1', 'a before hook may change the query of a read, within the permissions of the caller', async () => {
  const calls: ReadBeforeCall[] = []
  after = () => {}
  before = (call) => {
    calls.push({ ...call, query: structuredClone(call.query) })
    call.query = { ...call.query, fields: ['name'], pagination: { pageSize: 2 } }
  }
  const { body } = await request('GET', 'tags?filters[name][$notNull]=true')
  expect(body.data).toHaveLength(2)
  expect(Object.keys(body.data[0])).toEqual(['id', 'documentId', 'name'])
  expect(calls[0]).toMatchObject({
    ...{ uid: tag, action: 'find', documentId: null, caller: { kind: 'token' } },
    query: { filters: { name: { $notNull: 'true' } }, sort: 'name:asc' },
  })
  const one = await request('GET', `tags/${body.data[0].documentId}`)
  expect(one.body.data).toEqual(body.data[0])
  expect(calls[1]).toMatchObject({ action: 'findOne', documentId: body.data[0].documentId })
  before = ({ query }) => {
    query.populate = { articles: true }
  }
  expect((await request('GET', 'tags')).body.data[0]).toHaveProperty('articles')
  expect((await request('GET', 'tags', undefined, 'reads-tags')).body.data[0]).not.toHaveProperty('articles')
  for (const broken of [{ filters: { name: { $eq: undefined } } }, 'all', null]) {
    before = (call) => void Object.assign(call, { query: broken })
    expect((await request('GET', 'tags')).status).toBe(500)
  }
  before = ({ query }) => {
    query.filters = { articles: { title: 'x' } }
  }
  expect((await request('GET', 'tags', undefined, 'reads-tags')).body.error.message).toContain('Invalid key articles')
})

rule('read-hooks.2', 'an after hook may change the response; writes, scripts and missing documents have none', async () => {
  before = () => {}
  const formats: string[] = []
  after = ({ response }) => {
    formats.push(response.format)
    const { data } = response.body as { data: { label?: string; name?: string } | { label?: string; name?: string }[] }
    for (const entry of [data].flat()) entry.label = `Tag “${entry.name}”`
    response.body.meta.generator = 'octavo'
  }
  const list = await request('GET', 'tags?pagination[pageSize]=2')
  expect(list.body.data[0].label).toBe(`Tag “${list.body.data[0].name}”`)
  expect(list.body.meta).toMatchObject({ generator: 'octavo', pagination: { pageSize: 2 } })
  expect(list.headers.get('content-length')).toBe(String(Buffer.byteLength(list.text)))
  const { documentId } = list.body.data[0]
  expect((await request('GET', `tags/${documentId}`)).body.data.label).toBe(list.body.data[0].label)
  expect(formats).toEqual(['flat', 'flat'])
  after = ({ response }) => void formats.push(response.format)
  expect((await served.request('/api/tags', { token: full, headers: { 'strapi-response-format': 'v4' } })).body.data[0]).toHaveProperty(
    'attributes',
  )
  expect(formats).toEqual(['flat', 'flat', 'nested'])
  expect((await request('GET', 'tags/nothing')).status).toBe(404)
  expect((await request('PUT', `tags/${documentId}`, {})).body.data).not.toHaveProperty('label')
  expect(await served.service.documents(tag).findFirst()).toHaveProperty('name')
  policy = () => true
  expect((await request('GET', 'articles?populate=tags')).status).toBe(200)
  expect(formats).toHaveLength(3)
})

rule('read-hooks.3', 'errors of hooks around reads are responses if they have a name of the API, else 500', async () => {
  const named = () => {
    throw Object.assign(new Error('Not today'), { name: 'ForbiddenError' })
  }
  const broken = () => {
    throw new TypeError('a fault of the hook')
  }
  for (const place of ['before', 'after']) {
    const use = (hook: () => void) => {
      before = place === 'before' ? hook : () => {}
      after = place === 'after' ? hook : () => {}
    }
    use(named)
    expect((await request('GET', 'tags')).body.error).toEqual({ status: 403, name: 'ForbiddenError', message: 'Not today', details: {} })
    use(broken)
    const since = served.log.length
    const { status, text } = await request('GET', 'tags')
    expect(status).toBe(500)
    expect(text).not.toContain('a fault of the hook')
    await logged(since, 'a fault of the hook')
  }
  before = () => {}
  after = ({ response }) => void Object.assign(response, { body: undefined })
  expect((await request('GET', 'tags')).status).toBe(500)
})

test('settings of a type that are none are refused at the start', async () => {
  const start = (settings: string) => serveProject({ 'octavo.config.mjs': `export default { types: { '${article}': ${settings} } }` })
  await expect(start('{ policies: { find: true } }')).rejects.toThrow('must be a function')
  await expect(start('{ policies: { list: () => true } }')).rejects.toThrow('list')
  await expect(start('{ reads: { around: () => {} } }')).rejects.toThrow('around')
})
