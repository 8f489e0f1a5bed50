// The client in octavo/client, as it is built, against the golden project.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { runInNewContext } from 'node:vm'
import { strapi } from '@strapi/client'
import qs from 'qs'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import type * as Octavo from '../../packages/client/index.js'
import { rule } from '../support/rule.js'
import { goldenTokens, type Served, serveGolden } from '../support/serve.js'
import { sample } from '../uploads/sending.js'

const root = join(import.meta.dirname, '..', '..')
const file = join(root, 'dist', 'client.js')
const { ApiError, createClient, isApiError, stringifyQuery, typed } = (await import(file)) as typeof Octavo
const tokens = goldenTokens()

let served: Served
let url: string
beforeAll(async () => {
  served = await serveGolden({ config: { limits: { authRateLimit: 0 } } })
  url = `${served.origin}/api`
})
afterAll(() => served.close())

const clientAs = (token?: string) => createClient({ url, ...(token === undefined ? {} : { token: tokens[token]! }) })

/** The reason of a rejected promise; a fulfilled one fails the test. */
async function rejectionOf(promise: Promise<unknown>): Promise<unknown> {
  const nothing = Symbol('nothing')
  const reason = await promise.then(
    () => nothing,
    (error: unknown) => error,
  )
  expect(reason).not.toBe(nothing)
  return reason
}

/** Parses a query string as the service does. */
const read = (query: string) => qs.parse(query, { strictNullHandling: true, arrayLimit: 100, depth: 20, parameterLimit: 1000 })

describe('query strings', () => {
  rule('types.6', 'are read back unchanged', () => {
    const query = {
      filters: {
        $or: [{ title: { $in: ['a & b', 'c=d', 'e[f]', 'ü %20+'] } }, { rank: { $between: [1, 5] } }],
        author: { name: { $null: true } },
      },
      populate: { blocks: { on: { 'blocks.quote': true } }, tags: { fields: ['name'], sort: ['name:asc'] } },
      pagination: { page: 2, withCount: false },
      locale: null,
    }
    expect(read(stringifyQuery(query))).toEqual(
      JSON.parse(JSON.stringify(query), (_key, value) => (typeof value === 'boolean' || typeof value === 'number' ? String(value) : value)),
    )
  })

  rule('types.6', 'dates, big integers, undefined and empty lists', () => {
    expect(read(stringifyQuery({ filters: { at: { $gt: new Date(0) }, views: 9007199254740993n, gone: undefined } }))).toEqual({
      filters: { at: { $gt: '1970-01-01T00:00:00.000Z' }, views: '9007199254740993' },
    })
    expect(read(stringifyQuery({ filters: { rank: { $in: [] }, $or: [] }, populate: [], sort: [] }))).toEqual({
      filters: { rank: { $in: [null] } },
    })
    expect(stringifyQuery({})).toBe('')
  })

  rule('types.6', 'more parameters than the service reads are refused', () => {
    const list = Array.from({ length: 1001 }, (_, index) => ({ rank: index }))
    expect(() => stringifyQuery({ filters: { $or: list } })).toThrow(RangeError)
    expect(stringifyQuery({ filters: { $or: list.slice(1) } }).split('&')).toHaveLength(1000)
  })

  rule('types.6', 'conditions select the right documents', async () => {
    const articles = clientAs('full').collection('articles')
    const title = `a & b = "c" + d % 20 [e] ü, ${Date.now()}`
    const { data } = await articles.create({ title, views: 9007199254740993n })
    const find = async (filters: object) => (await articles.find({ filters })).data.map(({ documentId }) => documentId)
    expect(await find({ title })).toEqual([data.documentId])
    expect(await find({ title: { $in: [title, 'other'] }, views: 9007199254740993n })).toEqual([data.documentId])
    expect(await find({ title, createdAt: { $gte: new Date(data.createdAt) } })).toEqual([data.documentId])
    expect(await find({ title, createdAt: { $gt: new Date(data.createdAt) } })).toEqual([])
    expect(await find({ title: { $in: [] } })).toEqual([])
    await articles.delete(data.documentId)
  })
})

describe('requests', () => {
  rule('types.8', 'pages and documents of a list are read to the end, from where one says', async () => {
    const articles = clientAs('full').collection('articles')
    const { meta } = await articles.find({ pagination: { pageSize: 1 } })
    const { total } = meta.pagination as { total: number }
    const ids: string[] = []
    for await (const { documentId } of articles.all({ fields: ['title'] })) ids.push(documentId)
    expect([new Set(ids).size, ids.length]).toEqual([total, total])
    const sizes: number[] = []
    for await (const page of articles.pages({ fields: ['title'], pagination: { page: 2, pageSize: 7 } })) sizes.push(page.data.length)
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(total - 7)
    const none: unknown[] = []
    for await (const one of articles.all({ filters: { title: 'nothing has this title' } })) none.push(one)
    expect(none).toEqual([])
  })

  rule('types.7', 'refusals are ApiErrors with what the response says', async () => {
    const articles = clientAs('full').collection('articles')
    const cases = [
      [() => articles.create({ rank: 1 }), 400, 'ValidationError'],
      [() => articles.find({ filters: { nothing: 1 } }), 400, 'ValidationError'],
      [() => articles.find({ pagination: { page: 1, limit: 2 } }), 400, 'PaginationError'],
      [() => createClient({ url, token: 'wrong' }).collection('articles').find(), 401, 'UnauthorizedError'],
      [() => clientAs().collection('suppliers').find(), 403, 'ForbiddenError'],
      [() => articles.findOne('abcdefghijklmnopqrstuvwx'), 404, 'NotFoundError'],
      [() => clientAs('full').request('PATCH', 'articles'), 405, 'ApiError'],
    ] as const
    for (const [send, status, name] of cases) {
      const error = await rejectionOf(send())
      expect(error).toBeInstanceOf(ApiError)
      expect(isApiError(error, status) && error.name).toBe(name)
    }
    const error = (await rejectionOf(articles.find({ filters: { nothing: 1 } }))) as Octavo.ApiError
    expect([error.message, error.details.key, error.response.status]).toEqual(['Invalid key nothing', 'nothing', 400])
    expect(Object.keys(error)).not.toContain('response')
    expect(inspect(error)).toContain("key: 'nothing'")
    expect(inspect(error)).not.toContain('Response {')
    expect(String(await rejectionOf(clientAs('full').request('PATCH', 'articles')))).toContain('Method Not Allowed')
    expect(isApiError(new Error('other'))).toBe(false)
  })

  rule('types.7', 'responses without JSON, network failures and aborted requests', async () => {
    const server = createServer((_request, response) =>
      response.writeHead(502, { 'content-type': 'text/html' }).end('<h1>Bad gateway</h1>'),
    )
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const client = createClient({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/api` })
    const error = await rejectionOf(client.collection('articles').find())
    expect(isApiError(error, 502) && error.message).toBe('<h1>Bad gateway</h1>')
    await new Promise((resolve) => server.close(resolve))
    expect(isApiError(await rejectionOf(client.collection('articles').find()))).toBe(false)
    const aborted = await rejectionOf(clientAs().collection('articles').find({}, { signal: AbortSignal.abort() }))
    expect([isApiError(aborted), (aborted as Error).name]).toEqual([false, 'AbortError'])
  })

  rule('types.3', 'a document lives: draft, publication, locales, deletion', async () => {
    const articles = clientAs('full').collection('articles')
    const draft = await articles.create({ title: 'Life', code: 'life-1' }, { status: 'draft' }, { idempotencyKey: 'life-of-an-article' })
    const again = await articles.create({ title: 'Life', code: 'life-1' }, { status: 'draft' }, { idempotencyKey: 'life-of-an-article' })
    const { documentId } = draft.data
    expect(again.data.documentId).toBe(documentId)
    expect(draft.data.publishedAt).toBeNull()
    expect((await articles.publish(documentId, { fields: ['title'] })).data).toMatchObject({ documentId, title: 'Life' })
    expect((await articles.update(documentId, { title: 'La vie' }, { locale: 'fr' })).data).toMatchObject({ locale: 'fr', title: 'La vie' })
    expect((await articles.unpublish(documentId)).data.publishedAt).toBeNull()
    expect((await articles.publish(documentId)).data.publishedAt).not.toBeNull()
    await articles.update(documentId, { title: 'Changed' }, { status: 'draft' })
    expect((await articles.discard(documentId)).data.title).toBe('Life')
    expect(await articles.delete(documentId, { locale: '*' })).toBeUndefined()
    expect(isApiError(await rejectionOf(articles.findOne(documentId)), 404)).toBe(true)
  })

  rule('types.3', 'single types, locales, custom requests', async () => {
    const client = clientAs('full')
    const homepage = client.single('homepage')
    const { title } = (await homepage.find({ status: 'draft' })).data
    expect((await homepage.update({ tagline: 'New' }, { fields: ['tagline'] })).data.tagline).toBe('New')
    expect((await homepage.find({ fields: ['title'] })).data.title).toBe(title)
    expect((await client.locales()).some(({ isDefault }) => isDefault)).toBe(true)
    expect(await client.request('GET', '/users/count')).toEqual(expect.any(Number))
    const { data } = await client.request<{ readonly data: readonly unknown[] }>('GET', 'articles', { query: { pagination: { limit: 2 } } })
    expect(data).toHaveLength(2)
  })

  rule('types.3', 'users sign in, and a client becomes theirs', async () => {
    const open = clientAs()
    const { jwt, user } = await open.auth.signIn({ identifier: 'alice', password: 'alice-Secret1' })
    const alice = open.with({ token: async () => jwt })
    expect((await alice.users.me()).id).toBe(user.id)
    expect(isApiError(await rejectionOf(open.users.me()), 403)).toBe(true)
    const users = clientAs('full').users
    expect(await users.count()).toBe((await users.find()).length)
    expect(await users.findOne(99_999)).toBeUndefined()
    expect(isApiError(await rejectionOf(open.auth.signIn({ identifier: 'alice', password: 'wrong-one' })), 400)).toBe(true)
  })

  rule('types.3', 'files are uploaded, described, replaced and deleted', async () => {
    const { files } = clientAs('full')
    const image = new Blob([sample('tiny.png')], { type: 'image/png' })
    const [first, second] = await files.upload([image, image], { info: [{ name: 'one.png', caption: 'One' }, { name: 'two.png' }] })
    expect([first!.name, second!.name].sort()).toEqual(['one.png', 'two.png'])
    expect((await files.update(first!.id, { alternativeText: 'A picture' })).alternativeText).toBe('A picture')
    expect((await files.findOne(first!.id)).url).toMatch(/^\/uploads\//)
    expect((await files.find({ filters: { id: { $in: [first!.id, second!.id] } }, limit: 5 })).length).toBe(2)
    expect((await files.replace(first!.id, image, { info: { name: 'three.png' } })).id).toBe(first!.id)
    for (const { id } of [first!, second!]) await files.delete(id)
    expect(isApiError(await rejectionOf(files.findOne(first!.id)), 404)).toBe(true)
  })
})

describe('the module', () => {
  rule('types.9', 'is small, and imports nothing', () => {
    const text = readFileSync(file, 'utf8')
    expect(text.length).toBeLessThan(5_000)
    expect(text).not.toMatch(/\bimport\b|\brequire\b|\bprocess\b|\bBuffer\b/)
  })

  rule('types.9', 'is what the package exports', () => {
    const script = "const { createClient } = await import('octavo/client'); console.log(typeof createClient)"
    expect(execFileSync(process.execPath, ['--input-type=module', '-e', script], { cwd: root, encoding: 'utf8' })).toBe('function\n')
  })

  rule('types.9', 'needs nothing of its surroundings but fetch and its kin', async () => {
    // A module cannot run in a separate context without a flag; its names are handed over in another way.
    const text = readFileSync(file, 'utf8').replace(
      /export\{(.*)\};?\s*$/,
      (_, names: string) => `handOver({${names.replaceAll(/(\w+) as (\w+)/g, '$2:$1')}})`,
    )
    let module: typeof Octavo | undefined
    const own = { Headers, Response, FormData }
    runInNewContext(text, { ...own, handOver: (names: typeof Octavo) => (module = names) })
    const seen: unknown[] = []
    const client = module!.createClient({
      url: 'http://x.example/api/',
      headers: { 'x-own': '1' },
      token: 't',
      fetch: async (address, { method, headers }) => {
        seen.push(method, address, (headers as Headers).get('authorization'), (headers as Headers).get('x-own'))
        return new Response('{"data":[],"meta":{}}', { headers: { 'content-type': 'application/json' } })
      },
    })
    expect((await client.collection('articles').find({ populate: ['author'] })).data).toEqual([])
    expect(seen).toEqual(['GET', 'http://x.example/api/articles?populate[0]=author', 'Bearer t', '1'])
  })

  rule('types.11', 'typed is the client of Strapi itself', async () => {
    const client = strapi({ baseURL: url, auth: tokens.full! })
    expect(typed(client)).toBe(client)
    const { data } = await typed(client)
      .collection('articles')
      .find({ pagination: { pageSize: 2 } })
    expect(data).toHaveLength(2)
  })
})
