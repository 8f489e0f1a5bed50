// Each kind of request once on PostgreSQL and MariaDB, on a new database and on one of Strapi.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { goldenTokens, type Served, serveGolden } from '../support/serve.js'
import { closeServices, type NotesService, serveNotes } from './notes-service.js'
import { describeServers, environmentOf, goldenContent } from './server.js'

describeServers('the content API', (server, kind) => {
  let service: NotesService
  let strapi: Served
  beforeAll(async () => {
    service = await serveNotes(await server().createDatabase())
    strapi = await serveGolden({ environment: environmentOf(await server().createDatabase(goldenContent(kind))) })
  })
  afterAll(async () => {
    await strapi?.close()
    await closeServices(service)
  })

  const create = async (path: string, data: object): Promise<string> => {
    const { status, text, body } = await service.send('POST', path, data)
    expect(status, text).toBe(201)
    return body.data.documentId as string
  }
  const list = async (path: string, attribute: string) =>
    (await service.request(path)).body.data.map((entry: Record<string, unknown>) => entry[attribute])

  it('filters, sorts, searches and pages', async () => {
    for (const code of ['b', 'c', 'a']) await create('/api/notes', { code, text: `Text ${code}` })
    expect(await list('/api/notes?sort=code:desc', 'code')).toEqual(['c', 'b', 'a'])
    expect(await list('/api/notes?filters[code][$in][0]=a&filters[code][$in][1]=c&sort=code', 'code')).toEqual(['a', 'c'])
    expect(await list('/api/notes?filters[text][$containsi]=TEXT%20B', 'code')).toEqual(['b'])
    expect(await list('/api/notes?_q=text%20c', 'code')).toEqual(['c'])
    const { body } = await service.request('/api/notes?sort=code&pagination[page]=2&pagination[pageSize]=2')
    expect([body.data.map(({ code }: { code: string }) => code), body.meta.pagination.total]).toEqual([['c'], 3])
  })

  it('refuses a value that is taken', async () => {
    await create('/api/notes', { code: 'taken' })
    const { status, body } = await service.send('POST', '/api/notes', { code: 'taken' })
    expect([status, body.error.message]).toEqual([400, 'This attribute must be unique'])
  })

  it('updates, publishes, unpublishes and deletes, with components', async () => {
    const id = await create('/api/memos?status=draft', { title: 'Draft', part: { name: 'Part' } })
    expect((await service.request(`/api/memos/${id}`)).status).toBe(404)
    expect((await service.send('PUT', `/api/memos/${id}?status=draft`, { title: 'Changed' })).status).toBe(200)
    expect((await service.send('POST', `/api/memos/${id}/actions/publish`)).status).toBe(200)
    expect((await service.request(`/api/memos/${id}?populate=part`)).body.data).toMatchObject({ title: 'Changed', part: { name: 'Part' } })
    expect((await service.send('POST', `/api/memos/${id}/actions/unpublish`)).status).toBe(200)
    expect((await service.request(`/api/memos/${id}`)).status).toBe(404)
    expect((await service.send('DELETE', `/api/memos/${id}`)).status).toBe(204)
    expect((await service.request(`/api/memos/${id}?status=draft`)).status).toBe(404)
  })

  it('connects and populates relations from both sides', async () => {
    const [one, other] = [await create('/api/cards', { name: 'one' }), await create('/api/cards', { name: 'other' })]
    const board = await create('/api/boards', { name: 'board', cards: [one] })
    await service.send('PUT', `/api/boards/${board}`, { cards: { connect: [other], disconnect: [one] } })
    const { body } = await service.request(`/api/boards/${board}?populate=cards`)
    expect(body.data.cards.map(({ name }: { name: string }) => name)).toEqual(['other'])
    expect(await list('/api/cards?filters[boards][name]=board', 'name')).toEqual(['other'])
  })

  it("serves Strapi's database", async () => {
    const { status, body } = await strapi.request('/api/articles?populate=*', { token: goldenTokens().full! })
    expect([status, body.data.length > 0]).toEqual([200, true])
  })

  it('logs no error', () => {
    expect([...service.log, ...strapi.log].filter((line) => /^\{"level":[56]0/.test(line))).toEqual([])
  })
})
