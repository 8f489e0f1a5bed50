// Saved views of lists: who sees and changes them.
import { afterAll, beforeAll, expect } from 'vitest'
import { adminRole, allowAdmins } from '../support/administration.js'
import { rule } from '../support/rule.js'
import type { Served, TestResponse } from '../support/serve.js'
import { type AdminClient, giveRights, newsroomRoles, serveNewsroom, signInClient, story, writer } from './newsroom.js'

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
afterAll(() => served?.close())

const tagOf = ({ headers }: TestResponse) => ({ 'if-match': headers.get('etag') ?? '' })
const save = (client: AdminClient, view: object = {}) =>
  client.send('POST', '/views', { type: story, name: 'A view', query: 'filters[title][$containsi]=tea', ...view })
const namesFor = async (client: AdminClient): Promise<readonly string[]> =>
  (await client.get(`/views?type=${story}`)).body.data.map(({ name }: { name: string }) => name)

rule('administration-views.1', 'a view is saved, listed, changed with its state, and deleted', async () => {
  const made = await save(ada, { name: 'Tea', columns: ['title', 'writer'], density: 'compact' })
  expect([made.status, made.body.data]).toEqual([
    201,
    {
      ...{ id: expect.any(Number), type: story, name: 'Tea', query: 'filters[title][$containsi]=tea' },
      ...{ columns: ['title', 'writer'], density: 'compact', visibility: 'mine', roles: [] },
      ...{ owner: { id: ada.id, firstname: 'Ada', lastname: null }, isMine: true },
      ...{ updatedAt: expect.stringMatching(/Z$/), revision: expect.any(String) },
    },
  ])
  await save(ada, { name: 'Coffee' })
  expect(await namesFor(ada)).toEqual(['Coffee', 'Tea'])
  expect((await ada.get(`/views?type=${writer}`)).body.data).toEqual([])
  const path = `/views/${made.body.data.id}`
  const read = await ada.get(path)
  expect(read.body).toEqual(made.body)
  expect((await ada.send('PATCH', path, { name: 'Green tea' })).status).toBe(428)
  const changed = await ada.send('PATCH', path, { name: 'Green tea' }, tagOf(read))
  expect([changed.status, changed.body.data]).toMatchObject([200, { name: 'Green tea', columns: ['title', 'writer'] }])
  const late = await ada.send('PATCH', path, { name: 'Black tea' }, tagOf(read))
  expect([late.status, late.body.error.details]).toMatchObject([412, { name: 'Green tea' }])
  for (const wrong of [{ query: 'x'.repeat(10_001) }, { type: 'api::nope.nope' }, { name: '' }, { density: 'loose' }, { unknown: 1 }])
    expect([wrong, (await save(ada, wrong)).status]).toEqual([wrong, 400])
  expect((await ada.send('DELETE', path)).status).toBe(204)
  expect((await ada.get(path)).status).toBe(404)
  const acts = (await ada.get('/activity?subject=view')).body.data
  expect(acts.map(({ action, name }: { action: string; name: string }) => [action, name])).toEqual([
    ...[
      ['delete', 'Green tea'],
      ['update', 'Green tea'],
      ['create', 'Coffee'],
      ['create', 'Tea'],
    ],
  ])
})

rule('administration-views.2', 'visibility decides who sees a view, and only its owner or a super administrator changes it', async () => {
  const { editor, reader, author } = clients as Record<string, AdminClient>
  const role = await adminRole(served, 'editor')
  const colleague = await signInClient(served, 'second@office.example', ['editor'])
  const mine = await save(editor!, { name: 'mine' })
  const ours = await save(editor!, { name: 'ours', visibility: 'roles', roles: [role] })
  await allowAdmins(served, 'editor', 'plugin::content-manager.collection-types.configure-view')
  const all = await save(editor!, { name: 'all', visibility: 'everybody' })
  expect(all.status).toBe(201)
  expect(await namesFor(editor!)).toEqual(['all', 'mine', 'ours'])
  expect(await namesFor(colleague)).toEqual(['all', 'ours'])
  for (const client of [reader!, author!]) expect(await namesFor(client)).toEqual(['all'])
  expect(await namesFor(ada)).toEqual(['all', 'Coffee', 'ours'].sort())
  const at = ({ body }: TestResponse) => `/views/${body.data.id}`
  expect((await colleague.get(at(mine))).status).toBe(404)
  expect((await colleague.send('PATCH', at(ours), { name: 'theirs' }, tagOf(ours))).status).toBe(403)
  expect((await colleague.send('DELETE', at(all))).status).toBe(403)
  expect((await ada.send('DELETE', at(mine))).status).toBe(404)
  expect((await ada.send('PATCH', at(ours), { name: 'corrected' }, tagOf(ours))).body.data).toMatchObject({
    name: 'corrected',
    isMine: true,
  })
  for (const view of [ours, all]) expect((await ada.send('DELETE', at(view))).status).toBe(204)
  expect(await namesFor(editor!)).toEqual(['mine'])
})

rule('administration-views.3', 'sharing needs own roles, or a right', async () => {
  const [own, other] = [await adminRole(served, 'reader'), await adminRole(served, 'author')]
  const statuses = []
  for (const view of [
    { visibility: 'roles', roles: [own] },
    { visibility: 'roles', roles: [other] },
    { visibility: 'roles', roles: [] },
    { visibility: 'everybody' },
  ])
    statuses.push((await save(clients.reader!, view)).status)
  expect(statuses).toEqual([201, 400, 400, 403])
  const mine = await save(clients.reader!)
  expect((await clients.reader!.send('PATCH', `/views/${mine.body.data.id}`, { visibility: 'everybody' }, tagOf(mine))).status).toBe(403)
  expect((await save(ada, { visibility: 'roles', roles: [other] })).status).toBe(201)
})

rule('administration-views.4', 'a view of hidden types or attributes does not exist', async () => {
  for (const view of [
    { name: 'secret', query: 'filters[secret][$eq]=x' },
    { name: 'column', columns: ['title', 'score'] },
    { name: 'phone', query: 'filters[writer][phone]=1' },
    { name: 'plain', columns: ['title'], query: 'sort=summary' },
  ])
    expect((await save(ada, { ...view, visibility: 'everybody' })).status).toBe(201)
  expect((await namesFor(clients.fields!)).filter((name) => name !== 'A view')).toEqual(['plain'])
  expect(await namesFor(clients.none!)).toEqual([])
  expect((await save(clients.none!)).status).toBe(400)
  const { body } = await ada.get(`/views?type=${story}`)
  const { id } = body.data.find(({ name }: { name: string }) => name === 'secret')
  expect((await clients.fields!.get(`/views/${id}`)).status).toBe(404)
})

rule('administration-views.5', 'the number of views is bounded, and those that nobody shares are deleted with their owner', async () => {
  const many = await signInClient(served, 'many@office.example', ['reader'])
  expect((await save(many, { visibility: 'roles', roles: [await adminRole(served, 'reader')] })).status).toBe(201)
  const row = [many.id, story, 'x', 'mine', '[]', '{"query":"","columns":[],"density":"normal"}', 0]
  for (let index = 0; index < 199; index++)
    await served.sql(
      'INSERT INTO octavo_views (administrator_id, type, name, visibility, roles, definition, changed_at) VALUES (?, ?, ?, ?, ?, ?, ?) RETURNING id',
      ...row,
    )
  const refused = await save(many)
  expect([refused.status, refused.body.error.message]).toEqual([400, 'An administrator has at most 200 views'])
  expect((await ada.send('DELETE', `/admins/${many.id}`)).status).toBe(204)
  expect(await served.sql('SELECT visibility FROM octavo_views WHERE administrator_id = ?', many.id)).toEqual([{ visibility: 'roles' }])
})
