// The content model in the administration API: reading it, planning, applying and undoing changes.
import { afterAll, beforeAll, expect } from 'vitest'
import { resources } from '../../src/http/admin/resources.js'
import { addAdministrator, allowAdmins, projectWithNotes, requestAdmin, rowsOf, signInAdmin } from '../support/administration.js'
import { rule } from '../support/rule.js'
import { type Served, serveProject, type TestResponse } from '../support/serve.js'
import { addToken, secrets } from './callers.js'

const uid = 'api::note.note'
const noteWith = (attributes: object) => ({
  ...(projectWithNotes['src/api/note/content-types/note/schema.json'] as object),
  attributes: { title: { type: 'string' }, ...attributes },
})

let served: Served
const tokens: Record<string, string> = {}
beforeAll(async () => {
  served = await serveProject(projectWithNotes, { environment: secrets, config: { admin: { model: 'always' } } })
  await addAdministrator(served, 'ada@admins.example')
  await addAdministrator(served, 'reader@admins.example', ['readers'])
  await addAdministrator(served, 'nobody@admins.example', [])
  await allowAdmins(served, 'readers', 'plugin::content-type-builder.read')
  await addToken(served, 'full', { type: 'full-access' })
  for (const name of ['ada', 'reader', 'nobody']) tokens[name] = (await signInAdmin(served, `${name}@admins.example`)).accessToken
})
afterAll(() => served?.close())

const get = (path: string, who = 'ada', headers = {}) => requestAdmin(served, path, { token: tokens[who]!, headers })
const send = (path: string, body: unknown, headers: Record<string, string> = {}, who = 'ada'): Promise<TestResponse> =>
  requestAdmin(served, path, { method: 'POST', token: tokens[who]!, body, headers })

/** Plans a change and applies it. */
async function apply(body: object, headers: Record<string, string> = {}): Promise<TestResponse> {
  const { id, version } = (await send('/model/plan', body)).body.data
  return send('/model/apply', { ...body, version, plan: id }, headers)
}

const acts = async () => (await rowsOf(served, 'octavo_activity')).filter(({ subject }) => subject === 'model')
const makeNote = (data: object) =>
  served.request('/api/notes', {
    ...{ method: 'POST', token: 'full', headers: { 'content-type': 'application/json' } },
    body: JSON.stringify({ data }),
  })

rule('administration-model.1', 'the model is read as the content-type builder shows it', async () => {
  const { body, headers } = await get('/model', 'reader')
  expect([body.data.version, body.data.isLocked]).toEqual([served.service.model.version, false])
  const builder = (path: string) => served.request(`/api/content-type-builder/${path}`, { token: 'full' })
  expect(body.data.types).toEqual((await builder('content-types')).body.data)
  expect(body.data.components).toEqual((await builder('components')).body.data)
  expect((await get('/model', 'reader', { 'if-none-match': headers.get('etag')! })).status).toBe(304)
  for (const path of ['/model', '/model/changes']) expect([path, (await get(path, 'nobody')).status]).toEqual([path, 403])
  expect((await send('/model/plan', { data: { [uid]: noteWith({}) } }, {}, 'nobody')).status).toBe(403)
})

rule('administration-model.2', 'only super administrators change it', async () => {
  const strong = resources.filter(({ who }) => who === 'superAdministrator')
  expect(strong.map(({ path }) => path)).toEqual(expect.arrayContaining(['/model/apply', '/model/undo', '/model/restore']))
  for (const { method, path } of strong)
    for (const name of ['reader', 'nobody']) {
      const body = method === 'GET' ? {} : { body: {} }
      expect([path, name, (await requestAdmin(served, path, { method, token: tokens[name]!, ...body })).status]).toEqual([path, name, 403])
    }
  const changing = strong.filter(({ path }) => path.startsWith('/model'))
  expect(changing.map(({ isStrong }) => isStrong)).toEqual([true, true, true])
})

rule('administration-model.3', 'a locked model is read, and not changed', async () => {
  const locked = await serveProject(projectWithNotes, { environment: secrets, config: { admin: { model: 'never' } } })
  try {
    await addAdministrator(locked, 'ada@admins.example')
    const token = (await signInAdmin(locked, 'ada@admins.example')).accessToken
    const body = { data: { [uid]: noteWith({ body: { type: 'text' } }) } }
    const request = async (path: string, more?: object) =>
      requestAdmin(locked, path, { token, ...(more === undefined ? {} : { method: 'POST', body: more }) })
    expect((await request('/model')).body.data.isLocked).toBe(true)
    expect((await request('/model/changes')).body.data).toEqual([])
    expect((await request('/model/plan', body)).status).toBe(403)
    expect((await request('/model/apply', { ...body, version: 'x', plan: 'x' })).status).toBe(403)
    expect((await request('/model/undo', {})).status).toBe(403)
    expect((await request('/model/restore', { attribute: `${uid}.body` })).status).toBe(403)
  } finally {
    await locked.close()
  }
})

rule('administration-model.4', 'a plan is applied unchanged, to the version that it was created for', async () => {
  const body = { data: { [uid]: noteWith({ body: { type: 'text' } }) } }
  const planned = (await send('/model/plan', body, {}, 'reader')).body.data
  expect(planned).toMatchObject({
    version: served.service.model.version,
    changes: [{ kind: 'attributeCreated', attribute: 'body' }],
    losses: [],
  })
  // Roles that gain access are named to administrators who may list them.
  expect(planned.gains).toEqual([{ schema: uid, attribute: 'body', roles: [], tokens: [], administrators: [] }])
  await addToken(served, 'finding', { type: 'custom', actions: ['api::note.note.find'] })
  expect((await send('/model/plan', body, {}, 'reader')).body.data.gains[0].tokens).toEqual([])
  expect((await send('/model/plan', body)).body.data.gains[0].tokens).toHaveLength(1)
  const other = { data: { [uid]: noteWith({ other: { type: 'text' } }) } }
  const named = { version: planned.version, plan: planned.id }
  const before = await get('/model')
  expect((await send('/model/apply', { ...other, ...named })).status).toBe(412)
  expect((await send('/model/apply', { ...body, ...named, version: 'another' })).status).toBe(412)
  expect((await send('/model/apply', body)).status).toBe(400)
  expect((await get('/model')).body).toEqual(before.body)
  const applied = await send('/model/apply', { ...body, ...named })
  expect(applied.status, applied.text).toBe(200)
  expect((await makeNote({ title: 'one', body: 'text' })).body.data.body).toBe('text')
  expect((await get('/model')).body.data.version).toBe(applied.body.data.version)
  // The same plan again is of another version by now.
  expect((await send('/model/apply', { ...body, ...named })).status).toBe(412)
  const wrong = await send('/model/plan', { data: { [uid]: noteWith({ body: { type: 'nothing' } }) } })
  expect(wrong.status).toBe(400)
  expect((await send('/model/plan', { data: {} })).status).toBe(400)
  expect((await send('/model/plan', { ...body, more: 1 })).status).toBe(400)
})

rule('administration-model.5', 'a change that hides content needs its names', async () => {
  await makeNote({ title: 'two', body: 'text' })
  const body = { data: { [uid]: noteWith({}) } }
  const refused = await apply(body)
  expect([refused.status, refused.body.error.details.losses]).toMatchObject([409, [{ name: `${uid}.body` }]])
  expect((await makeNote({ title: 'three', body: 'still there' })).body.data.body).toBe('still there')
  const count = (await acts()).length
  expect((await apply(body, { 'octavo-agree': `${uid}.body` })).status).toBe(200)
  expect((await acts()).length).toBe(count + 1)
})

rule('administration-model.6', 'changes are listed, the latest first, and undone', async () => {
  const undone = await send('/model/undo', {})
  expect(undone.status, undone.text).toBe(200)
  expect((await served.request('/api/notes?filters[title]=two', { token: 'full' })).body.data[0].body).toBe('text')
  const { body } = await get('/model/changes', 'reader')
  expect(body.data[0]).toMatchObject({ undoes: body.data[1].id, version: undone.body.data.version, isFiled: true })
  const page = await get('/model/changes?limit=1')
  expect((await get(`/model/changes?limit=1&after=${page.body.meta.next}`)).body.data).toEqual([body.data[1]])
  expect((await send('/model/undo', { change: 999 })).status).toBe(404)
})

rule('administration-model.7', 'a change is in the activity log, one that fails is not', async () => {
  const before = await acts()
  const made = (await apply({ data: { [uid]: noteWith({ body: { type: 'text' }, count: { type: 'integer' } }) } })).body.data
  const moved = (await apply({ data: { [uid]: noteWith({ body: { type: 'text' }, count: { type: 'string' } }) } })).body.data
  const undone = (await send('/model/undo', {})).body.data
  expect((await send('/model/undo', { change: 999 })).status).toBe(404)
  expect((await acts()).slice(before.length)).toMatchObject([
    { action: 'update', subject: 'model', subject_id: made.version, name: uid, administrator: 'ada@admins.example' },
    { action: 'update', subject: 'model', subject_id: moved.version, name: uid },
    { action: 'undo', subject: 'model', subject_id: undone.version },
  ])
})
