// A tour of everything that the official JavaScript client of Strapi offers, against the golden project.
import {
  HTTPAuthorizationError,
  HTTPBadRequestError,
  HTTPError,
  HTTPForbiddenError,
  HTTPNotFoundError,
  StrapiError,
  strapi,
} from '@strapi/client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Served } from '../support/serve.js'
import { goldenTokens, serveGolden } from '../support/serve.js'
import { sample } from '../uploads/sending.js'

const tokens = goldenTokens()
let served: Served
beforeAll(async () => {
  served = await serveGolden({ config: { limits: { authRateLimit: 0 } } })
})
afterAll(() => served.close())

type Client = ReturnType<typeof strapi>
const clientAs = (token?: string): Client =>
  strapi({ baseURL: `${served.origin}/api`, ...(token === undefined ? {} : { auth: tokens[token]! }) })

/** The error that a call of the client throws; a call without an error fails the test. */
async function thrownBy(call: Promise<unknown>): Promise<unknown> {
  const nothing = Symbol('nothing')
  const thrown = await call.then(
    () => nothing,
    (error: unknown) => error,
  )
  expect(thrown).not.toBe(nothing)
  return thrown
}

const finderOf =
  (client: Client) =>
  (parameters: object): ReturnType<ReturnType<Client['collection']>['find']> =>
    client.collection('articles').find(parameters as never)

describe('collections', () => {
  test('find returns a page with its meta', async () => {
    const { data, meta } = await clientAs().collection('articles').find()
    expect(data).toHaveLength(25)
    expect(data[0]).toMatchObject({ documentId: expect.stringMatching(/^[a-z0-9]{24}$/), title: expect.any(String) })
    expect(meta.pagination).toMatchObject({ page: 1, pageSize: 25, total: expect.any(Number), pageCount: expect.any(Number) })
  })

  test('find takes every parameter at once', async () => {
    const { data, meta } = await clientAs('full')
      .collection('articles')
      .find({
        filters: {
          rank: { $notNull: true },
          $or: [{ rank: { $in: [1, 10] } }, { title: { $containsi: 'AMBER' } }],
          $not: { author: { name: { $null: true } } },
        },
        fields: ['title', 'rank'],
        sort: ['rank:desc', 'title'],
        pagination: { page: 1, pageSize: 2, withCount: true },
        populate: { author: { fields: ['name'] }, tags: { sort: 'name', filters: { name: { $notNull: true } } } },
        locale: 'en',
        status: 'published',
      })
    expect(data).toHaveLength(2)
    expect(data[0]!.rank).toBeGreaterThan(data[1]!.rank)
    for (const article of data) {
      expect(Object.keys(article).sort()).toEqual(['author', 'documentId', 'id', 'rank', 'tags', 'title'])
      expect(Object.keys(article.author).sort()).toEqual(['documentId', 'id', 'name'])
      expect(article.tags.map(({ name }: { name: string }) => name)).toEqual(
        article.tags.map(({ name }: { name: string }) => name).toSorted(),
      )
    }
    expect(meta.pagination).toMatchObject({ page: 1, pageSize: 2 })
  })

  test('parameters as a text, a list and an object mean the same', async () => {
    const find = finderOf(clientAs('full'))
    const [text, list, object] = await Promise.all([
      find({ populate: 'author', sort: 'rank:desc' }),
      find({ populate: ['author'], sort: ['rank:desc'] }),
      find({ populate: { author: true }, sort: ['rank:desc'] }),
    ])
    expect(list).toEqual(text)
    expect(object).toEqual(text)
    expect(text.data[0]).toHaveProperty('author')
  })

  test('pages by offset, and without counting', async () => {
    const find = finderOf(clientAs())
    const page = await find({ pagination: { page: 2, pageSize: 3 }, sort: 'rank' })
    const offset = await find({ pagination: { start: 3, limit: 3 }, sort: 'rank' })
    expect(offset.data).toEqual(page.data)
    expect(offset.meta.pagination).toMatchObject({ start: 3, limit: 3 })
    const uncounted = await find({ pagination: { page: 2, pageSize: 3, withCount: false }, sort: 'rank' })
    expect(uncounted).toEqual({ data: page.data, meta: { pagination: { page: 2, pageSize: 3 } } })
  })

  test('empty lists, dates and special characters in filters arrive as they were given', async () => {
    const find = finderOf(clientAs('full'))
    expect((await find({ filters: { rank: { $in: [] } } })).data).toEqual([])
    const title = `a & b = "c" + d % 20 [e] ü`
    const created = await clientAs('full').collection('articles').create({ title })
    expect((await find({ filters: { title } })).data.map(({ documentId }) => documentId)).toEqual([created.data.documentId])
    const since = new Date(Date.parse(created.data.createdAt) - 1)
    expect((await find({ filters: { title, createdAt: { $gt: since } } })).data).toHaveLength(1)
    await clientAs('full').collection('articles').delete(created.data.documentId)
  })

  test('a document lives: created as a draft, published, changed, in another locale, deleted', async () => {
    const articles = clientAs('full').collection('articles')
    const draft = await articles.create({ title: 'Tour', rank: 5, code: 'tour-1' }, { status: 'draft' })
    const { documentId } = draft.data
    expect(draft.data).toMatchObject({ title: 'Tour', rank: 5, publishedAt: null, locale: 'en' })
    expect(await thrownBy(articles.findOne(documentId))).toBeInstanceOf(HTTPNotFoundError)
    expect((await articles.findOne(documentId, { status: 'draft', fields: ['title'] })).data).toEqual({
      id: draft.data.id,
      documentId,
      title: 'Tour',
    })
    const published = await articles.update(documentId, { title: 'Tour, second' }, { fields: ['title', 'publishedAt'] })
    expect(published.data).toMatchObject({ documentId, title: 'Tour, second', publishedAt: expect.any(String) })
    expect((await articles.update(documentId, { title: 'Balade' }, { locale: 'fr' })).data).toMatchObject({ documentId, locale: 'fr' })
    const { data } = await articles.findOne(documentId, { populate: ['localizations'] })
    expect([data.title, data.localizations.map(({ locale }: { locale: string }) => locale)]).toEqual(['Tour, second', ['fr']])
    expect(await articles.delete(documentId, { locale: 'fr' })).toBeUndefined()
    expect((await articles.findOne(documentId, { populate: '*' })).data.localizations).toEqual([])
    expect(await articles.delete(documentId)).toBeUndefined()
    expect(await thrownBy(articles.findOne(documentId, { status: 'draft' }))).toBeInstanceOf(HTTPNotFoundError)
  })

  test('relations, components and dynamic zones are written and read', async () => {
    const client = clientAs('full')
    const tags = await client.collection('tags').find({ pagination: { pageSize: 2 } })
    const written = await client.collection('articles').create(
      {
        title: 'Tour of relations',
        tags: { connect: tags.data.map(({ documentId }) => documentId) },
        seo: { metaTitle: 'Seo' },
      },
      { populate: { tags: { fields: ['name'] }, seo: true } },
    )
    expect(written.data.tags.map(({ documentId }: { documentId: string }) => documentId).toSorted()).toEqual(
      tags.data.map(({ documentId }) => documentId).toSorted(),
    )
    expect(written.data.seo).toMatchObject({ metaTitle: 'Seo' })
    await client.collection('articles').delete(written.data.documentId)
  })

  test('another path and headers of the caller', async () => {
    const client = strapi({ baseURL: `${served.origin}/api`, headers: { 'Strapi-Response-Format': 'v4' } })
    const { data } = await client.collection('anything', { path: '/articles' }).find({ fields: ['title'], pagination: { pageSize: 1 } })
    expect(Object.keys(data[0]!).sort()).toEqual(['attributes', 'documentId', 'id'])
  })

  test('fetch reaches every other route', async () => {
    const response = await clientAs().fetch('i18n/locales')
    expect(((await response.json()) as readonly { readonly code: string }[]).map(({ code }) => code)).toEqual(['en', 'fr', 'de'])
  })
})

describe('single types', () => {
  test('are found, changed and deleted', async () => {
    const homepage = clientAs('full').single('homepage')
    const before = await homepage.find({ populate: ['hero', 'seo'], locale: 'en' })
    expect(before.data).toMatchObject({ title: expect.any(String), hero: expect.anything() })
    expect((await homepage.update({ hits: 77 })).data).toMatchObject({ documentId: before.data.documentId, hits: 77 })
    expect((await homepage.update({ tagline: 'Brouillon' }, { locale: 'fr', status: 'draft' })).data).toMatchObject({ locale: 'fr' })
    expect(await homepage.delete({ locale: 'fr' })).toBeUndefined()
    expect((await homepage.find({ fields: ['hits'] })).data.hits).toBe(77)
    expect(await homepage.delete()).toBeUndefined()
    expect(await thrownBy(homepage.find())).toBeInstanceOf(HTTPNotFoundError)
  })
})

describe('files', () => {
  test('are uploaded from memory and as a blob, found, changed and deleted', async () => {
    const { files } = clientAs('full')
    const [fromMemory] = await files.upload(Buffer.from(sample('tiny.png')), {
      filename: 'tour.png',
      mimetype: 'image/png',
      fileInfo: { alternativeText: 'a tour', caption: 'c' },
    })
    expect(fromMemory).toMatchObject({ name: 'tour.png', alternativeText: 'a tour', caption: 'c', mime: 'image/png', ext: '.png' })
    const [blob] = await files.upload(new Blob([sample('notes.txt') as Uint8Array<ArrayBuffer>], { type: 'text/plain' }), {
      fileInfo: { name: 'notes.txt' },
    })
    expect(blob).toMatchObject({ name: 'notes.txt' })
    expect((await files.find({ filters: { name: { $eq: 'tour.png' } }, sort: 'name:asc' })).map(({ id }) => id)).toEqual([fromMemory!.id])
    expect(await files.findOne(fromMemory!.id)).toMatchObject({ url: fromMemory!.url })
    expect((await served.request(fromMemory!.url)).status).toBe(200)
    expect(await files.update(fromMemory!.id, { name: 'renamed.png', caption: 'changed' })).toMatchObject({
      name: 'renamed.png',
      alternativeText: 'a tour',
      caption: 'changed',
    })
    for (const { id } of [fromMemory!, blob!]) expect(await files.delete(id)).toMatchObject({ id })
    expect(await thrownBy(files.findOne(fromMemory!.id))).toMatchObject({ name: 'FileNotFoundError', fileId: fromMemory!.id })
    expect(await thrownBy(files.delete(fromMemory!.id))).toMatchObject({ name: 'FileNotFoundError' })
    expect(await thrownBy(files.update(fromMemory!.id, { name: 'x' }))).toMatchObject({ name: 'FileNotFoundError' })
  })

  test('are refused to who may not', async () => {
    const { files } = clientAs('alice')
    expect((await files.find()).length).toBeGreaterThan(0)
    const sent = files.upload(Buffer.from('x'), { filename: 'x.txt', mimetype: 'text/plain' })
    expect(await thrownBy(sent)).toBeInstanceOf(HTTPForbiddenError)
    expect(await thrownBy(files.delete(1))).toMatchObject({ name: 'FileForbiddenError' })
    expect(await thrownBy(clientAs().files.find())).toBeInstanceOf(HTTPForbiddenError)
  })
})

describe('users', () => {
  test('are read and written without a wrapper, by their numbers', async () => {
    const users = clientAs('full').collection('users')
    const created = (await users.create({
      username: 'tourist',
      email: 'tourist@example.test',
      password: 'tour-Secret1',
      role: 1,
    })) as never as {
      readonly id: number
    }
    expect(created).toMatchObject({ username: 'tourist', email: 'tourist@example.test' })
    const all = (await users.find({ filters: { username: 'tourist' }, populate: ['role'] } as never)) as never as readonly object[]
    expect(all).toEqual([expect.objectContaining({ id: created.id, role: expect.objectContaining({ type: 'authenticated' }) })])
    expect(await users.findOne(created.id)).toMatchObject({ username: 'tourist' })
    expect(await users.update(created.id, { username: 'traveller' })).toMatchObject({ username: 'traveller' })
    await users.delete(created.id)
    expect(((await users.find({ filters: { email: 'tourist@example.test' } } as never)) as never as readonly object[]).length).toBe(0)
  })
})

describe('callers', () => {
  const credentials = { identifier: 'alice', password: 'alice-Secret1' }
  /** The client's public configuration takes tokens; signing in is what its provider does before the first request. */
  async function signedIn({ identifier, password }: typeof credentials): Promise<Client> {
    const open = clientAs()
    const response = await open.fetch('auth/local', {
      method: 'POST',
      body: JSON.stringify({ identifier, password }),
      headers: { 'Content-Type': 'application/json' },
    })
    return strapi({ baseURL: open.baseURL, auth: ((await response.json()) as { readonly jwt: string }).jwt })
  }

  test('a user signs in and is known from then on', async () => {
    const alice = await signedIn(credentials)
    expect(await (await alice.fetch('users/me')).json()).toMatchObject({ username: 'alice' })
    expect((await alice.collection('suppliers').find()).data.length).toBeGreaterThan(0)
    expect(await thrownBy(alice.collection('articles').create({ title: 'no' }))).toBeInstanceOf(HTTPForbiddenError)
    const wrong = { ...credentials, password: 'wrong-password' }
    expect(await thrownBy(signedIn(wrong))).toBeInstanceOf(HTTPBadRequestError)
  })

  test('tokens: read-only, custom, expired, wrong', async () => {
    expect((await clientAs('readonly').collection('articles').find()).data.length).toBe(25)
    expect(await thrownBy(clientAs('readonly').collection('articles').create({ title: 'no' }))).toBeInstanceOf(HTTPForbiddenError)
    expect(await thrownBy(clientAs('custom').collection('tags').find())).toBeInstanceOf(HTTPForbiddenError)
    for (const token of ['expired', 'wrong'])
      expect(await thrownBy(clientAs(token).collection('articles').find())).toBeInstanceOf(HTTPAuthorizationError)
  })
})

describe('errors', () => {
  test('have the class of their status and the body of the contract', async () => {
    const full = clientAs('full').collection('articles')
    const cases = [
      [
        () => full.create({ rank: 1 }),
        HTTPBadRequestError,
        400,
        'ValidationError',
        'title must be a `string` type, but the final value was: `null`.',
      ],
      [() => full.find({ filters: { nothing: 1 } }), HTTPBadRequestError, 400, 'ValidationError', 'Invalid key nothing'],
      [() => full.find({ sort: 'nothing:asc' }), HTTPBadRequestError, 400, 'ValidationError', undefined],
      [() => clientAs('wrong').collection('articles').find(), HTTPAuthorizationError, 401, 'UnauthorizedError', undefined],
      [() => clientAs().collection('suppliers').find(), HTTPForbiddenError, 403, 'ForbiddenError', 'Forbidden'],
      [() => full.findOne('abcdefghijklmnopqrstuvwx'), HTTPNotFoundError, 404, 'NotFoundError', 'Not Found'],
      [() => clientAs('full').collection('nothing-here').find(), HTTPNotFoundError, 404, 'NotFoundError', 'Not Found'],
    ] as const
    for (const [call, of, status, name, message] of cases) {
      const error = (await thrownBy(call())) as HTTPError
      expect(error).toBeInstanceOf(of)
      expect(error.response.status).toBe(status)
      const body = (await error.response.json()) as { readonly data: null; readonly error: Record<string, unknown> }
      expect(body).toMatchObject({ data: null, error: { status, name, ...(message === undefined ? {} : { message }) } })
    }
  })

  test('an unreachable service is reported', async () => {
    const lost = strapi({ baseURL: 'http://127.0.0.1:9/api' })
    const error = await thrownBy(lost.collection('articles').find())
    expect(error).not.toBeInstanceOf(HTTPError)
    expect(error instanceof StrapiError || error instanceof Error).toBe(true)
  })
})
