// docs/spec/retries.md: writes that are sent again with the same Idempotency-Key are done once.
import { afterAll, beforeAll, expect } from 'vitest'
import type { AfterCall } from '../../src/foundation/public/hooks.js'
import { rule } from '../support/rule.js'
import type { Served, TestResponse } from '../support/serve.js'
import { goldenTokens, serveExisting, serveGolden } from '../support/serve.js'

const { full, bob, custom } = goldenTokens()
const called: string[] = []
let golden: Served
beforeAll(async () => {
  const hook = { after: ({ action }: AfterCall) => void called.push(action) }
  golden = await serveGolden({ config: { events: { outbox: true } }, code: { hooks: [hook] } })
})
afterAll(() => golden.close())

interface Given {
  readonly data?: object
  readonly token?: string | undefined
  readonly headers?: Record<string, string>
  readonly served?: Served
}

const post = (path: string, key: string | null, { data, token = full, headers = {}, served = golden }: Given = {}): Promise<TestResponse> =>
  served.request(path, {
    method: 'POST',
    ...(token === '' ? {} : { token }),
    headers: {
      ...(data === undefined ? {} : { 'content-type': 'application/json' }),
      ...(key === null ? {} : { 'idempotency-key': key }),
      ...headers,
    },
    ...(data === undefined ? {} : { body: JSON.stringify({ data }) }),
  })

async function count(name: string, served = golden): Promise<number> {
  const { body } = await served.request(`/api/cities?filters[name]=${encodeURIComponent(name)}`, { token: full })
  return body.meta.pagination.total
}

rule('retries.1', 'the same request gets the same response and is executed once', async () => {
  const data = { name: 'once' }
  const first = await post('/api/cities?fields=name', 'key-1', { data })
  expect(first.status).toBe(201)
  const events = (await golden.service.events.after(0)).length
  const hooks = called.length
  await golden.request(`/api/cities/${first.body.data.documentId}`, {
    method: 'PUT',
    token: full,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ data: { area: 7 } }),
  })
  for (const key of ['key-1', '"key-1"']) {
    const again = await post('/api/cities?fields=name', key, { data })
    expect([again.status, again.text]).toEqual([first.status, first.text])
    expect(again.headers.get('content-type')).toBe(first.headers.get('content-type'))
  }
  expect(await count('once')).toBe(1)
  expect((await golden.service.events.after(0)).length).toBe(events + 1)
  expect(called.length).toBe(hooks + 1)

  const tag = (await post('/api/tags?status=draft', null, { data: { name: 'published once' } })).body.data.documentId
  for (const action of ['publish', 'discard', 'unpublish']) {
    const done = await post(`/api/tags/${tag}/actions/${action}`, `key-${action}`)
    expect(done.status).toBe(200)
    const before = (await golden.service.events.after(0)).length
    expect((await post(`/api/tags/${tag}/actions/${action}`, `key-${action}`)).text).toBe(done.text)
    expect((await golden.service.events.after(0)).length).toBe(before)
  }
  const other = await serveExisting(golden)
  try {
    expect((await post('/api/cities?fields=name', 'key-1', { data, served: other })).text).toBe(first.text)
  } finally {
    await other.close()
  }
})

rule('retries.2', 'a key is a short text of visible characters', async () => {
  const data = { name: 'a form' }
  for (const key of ['', '""', 'a b', 'a,b', 'a"b', '"a', 'a\\b', 'é', 'x'.repeat(256)]) {
    const { status, body } = await post('/api/cities', key, { data })
    // The transport trims blanks: an empty rest is not a key.
    expect([key, status, body.error?.name]).toEqual([key, 400, 'ValidationError'])
  }
  expect(await count('a form')).toBe(0)
  for (const key of ['x', 'x'.repeat(255), '8e03978e-40d5-43dd-bc93-6894a57f9324', "!#$%&'()*+-./:;<=>?@[]^_`{|}~"]) {
    expect((await post('/api/cities', key, { data })).status).toBe(201)
  }
  const put = (value: string) =>
    golden.request('/api/homepage', {
      method: 'PUT',
      token: full,
      headers: { 'content-type': 'application/json', 'idempotency-key': 'a b' },
      body: JSON.stringify({ data: { title: value } }),
    })
  expect((await put('one')).body.data.title).toBe('one')
  expect((await put('two')).body.data.title).toBe('two')
})

rule(
  'retries.3',
  'keys belong to a caller, permission comes first, and repeated responses are limited to current permissions',
  async () => {
    const data = { name: 'of several' }
    const mine = await post('/api/cities', 'shared', { data })
    const theirs = await post('/api/cities', 'shared', { data, token: bob })
    expect([mine.status, theirs.status]).toEqual([201, 201])
    expect(theirs.body.data.documentId).not.toBe(mine.body.data.documentId)
    for (const [token, status] of [
      [custom, 403],
      ['', 403],
      ['nobody', 401],
    ] as const)
      expect((await post('/api/cities', 'shared', { data, token })).status).toBe(status)
    expect((await post('/api/cities', 'not a key', { data, token: custom })).status).toBe(403)

    const author = { data: { title: 'With an author', author: 'h8b16cn6fdt4ira4uipuuffk' }, token: bob }
    const seen = await post('/api/articles?populate=author', 'seen', author)
    expect(seen.body.data.author).toMatchObject({ name: expect.any(String) })
    const editors = `in (select l.permission_id from up_permissions_role_lnk l join up_roles r on r.id = l.role_id where r.type = 'editor')`
    await golden.sql(`delete from up_permissions where action like 'api::author.author.find%' and id ${editors}`)
    const later = await post('/api/articles?populate=author', 'seen', author)
    // Relations that may no longer be populated are refused, as in any request.
    expect([later.status, later.body.data?.author]).toSatisfy(([status, shown]: unknown[]) => status === 400 || shown === undefined)
    await golden.sql(`delete from up_permissions where action = 'api::city.city.create' and id ${editors}`)
    expect((await post('/api/cities', 'shared', { data, token: bob })).status).toBe(403)
  },
)

rule('retries.4', 'another request with the same key is 422, one while the first is under way 409', async () => {
  const data = { name: 'another' }
  expect((await post('/api/cities', 'taken', { data })).status).toBe(201)
  const others = [
    { path: '/api/cities', data: { name: 'other' } },
    { path: '/api/cities?fields=name', data },
    { path: '/api/cities', data, headers: { 'strapi-response-format': 'v4' } },
    { path: '/api/tags', data },
  ]
  for (const { path, ...given } of others) {
    expect((await post(path, 'taken', given)).body.error).toMatchObject({ status: 422, name: 'UnprocessableEntityError' })
  }
  const many = await Promise.all(Array.from({ length: 8 }, () => post('/api/cities', 'at-once', { data: { name: 'at once' } })))
  const statuses = many.map(({ status }) => status)
  expect(statuses.filter((status) => status === 201).length).toBeGreaterThan(0)
  expect(statuses.filter((status) => status !== 201 && status !== 409)).toEqual([])
  for (const { status, headers } of many) if (status === 409) expect(headers.get('retry-after')).toBe('1')
  expect(await count('at once')).toBe(1)
})

rule('retries.5', 'a refusal leaves no key', async () => {
  expect((await post('/api/cities', 'fixed', { data: { name: 7, nope: 1 } })).status).toBe(400)
  expect((await post('/api/tags/nobody/actions/publish', 'fixed')).status).toBe(404)
  expect((await post('/api/cities', 'fixed', { data: { name: 'fixed' } })).status).toBe(201)
})

rule('retries.6', 'keys are stored for a day, up to a number and a size', async () => {
  const served = await serveGolden({ config: { limits: { idempotencyBytes: 64_000 } } })
  const keys = () => served.sql('select "key", length(answer) as bytes from octavo_idempotency_keys order by id')
  try {
    for (let number = 0; number < 8; number++) {
      // The first ones are as old as 100,000 later keys make them.
      if (number === 7)
        await served.sql('update octavo_idempotency_keys set id = id - 100000 where "key" in (?, ?, ?)', 'key-0', 'key-1', 'key-2')
      expect((await post('/api/cities', `key-${number}`, { data: { name: `city ${number}` }, served })).status).toBe(201)
    }
    expect((await keys()).map(({ key }) => key)).toEqual([3, 4, 5, 6, 7].map((number) => `key-${number}`))
    expect((await post('/api/cities', 'key-7', { data: { name: 'city 7' }, served })).status).toBe(201)
    expect(await count('city 7', served)).toBe(1)
    await served.sql('update octavo_idempotency_keys set created_at = created_at - 86400001')
    expect((await post('/api/cities', 'key-7', { data: { name: 'city 7' }, served })).status).toBe(201)
    expect(await count('city 7', served)).toBe(2)
    expect((await keys()).map(({ key }) => key)).toEqual(['key-7'])
    const large = { title: 'Large', body: 'x'.repeat(5_000) }
    const first = await post('/api/articles', 'large', { data: large, served })
    expect((await keys()).at(-1)).toEqual({ key: 'large', bytes: null })
    expect((await post('/api/articles', 'large', { data: large, served })).body).toEqual(first.body)
    for (let number = 0; number < 80; number++) await post('/api/cities', `b-${number}`, { data: { name: `b ${number}` }, served })
    expect((await keys()).reduce((sum, { bytes }) => sum + (bytes ?? 0), 0)).toBeLessThanOrEqual(64_000)
  } finally {
    await served.close()
  }
})
