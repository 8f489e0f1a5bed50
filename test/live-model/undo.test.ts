// Undoing the last change, and what was written meanwhile: nothing is lost and nothing is damaged.
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { addGerman, addToken, insert, secrets } from '../spec/callers.js'
import { removeProject, type Served, serveProject, type TestResponse } from '../support/serve.js'
import { agreed as agree, send as ask, token } from './changing-project.js'

const main = join(import.meta.dirname, '..', '..', 'dist', 'main.js')
const text = { type: 'string' }
const off = { options: { draftAndPublish: false } }
const type = (name: string, attributes: object, more: object = off) => ({
  [`api::${name}.${name}`]: {
    kind: 'collectionType',
    collectionName: `${name}s`,
    info: { singularName: name, pluralName: `${name}s`, displayName: name },
    ...more,
    attributes,
  },
})
const part = (name: string, attributes: object) => ({ [`order.${name}`]: { info: { displayName: name }, attributes } })

let served: Served
beforeAll(async () => {
  served = await serveProject({}, { environment: secrets, config: { admin: { model: 'always' } } })
  await addToken(served, token, { type: 'full-access' })
  await served.sql("update strapi_api_tokens set document_id = 'token'")
  await addGerman(served)
})
afterAll(async () => {
  await served.service.close()
  await removeProject(served.folder)
})

const send = (path: string, method: string, body?: unknown): Promise<TestResponse> => ask(served, { path, method, body })

/** Sends a change, and agrees to what it hides. */
const agreed = (name: string, method: string, body: object): Promise<TestResponse> =>
  agree(served, { path: `/api/content-type-builder/${name}`, method, body })

const changes = async (): Promise<readonly { readonly id: number; readonly undoes: number }[]> =>
  (await send('/api/content-type-builder/changes', 'GET')).body.data

/** Makes a change; resolves to its id. */
async function change(data: object, renames: readonly object[] = []): Promise<number> {
  const answer = await agreed('schemas', 'PUT', { data, renames })
  expect(answer.status, answer.text).toBe(200)
  return (await changes()).at(-1)!.id
}

/** Undoes a change; resolves to the id of the undo. */
async function undo(id?: number): Promise<number> {
  const answer = await agreed('undo', 'POST', id === undefined ? {} : { data: { change: id } })
  expect(answer.status, answer.text).toBe(200)
  return (await changes()).at(-1)!.id
}

async function made(path: string, data: object): Promise<string> {
  const answer = await send(path, 'POST', { data })
  expect(answer.status, answer.text).toBe(201)
  return answer.body.data.documentId
}

async function saved(path: string, data: object): Promise<void> {
  const answer = await send(path, 'PUT', { data })
  expect(answer.status, answer.text).toBe(200)
}

async function read(path: string) {
  const answer = await send(path, 'GET')
  expect(answer.status, answer.text).toBe(200)
  return answer.body.data
}

/** The checks of the doctor that have found something wrong, with examples. */
async function damage(): Promise<readonly unknown[]> {
  const env = { ...process.env, ...secrets, ...served.sameDatabase, UPLOADS_DIR: 'uploads' }
  const ended = promisify(execFile)(process.execPath, [main, 'doctor', served.folder, '--json'], { env })
  const { stdout } = await ended.catch((error: { readonly stdout: string }) => error)
  const { checks } = JSON.parse(stdout) as { readonly checks: readonly { readonly name: string; readonly verdict: string }[] }
  return checks.filter(({ verdict }) => verdict === 'wrong')
}

test('live-model.14: an undo is undone where the change renamed and converted an attribute and its table at once', async () => {
  const [uid, other] = ['api::order-word.order-word', 'api::order-term.order-term']
  const first = type('order-word', { title: text, gone: text })
  await change(first)
  const id = await made('/api/order-words', { title: 'a', gone: 'g' })
  const renamed = await change({ [uid]: null, ...type('order-term', { head: { type: 'integer' } }) }, [
    { kind: 'type', from: uid, to: other },
    { kind: 'attribute', schema: uid, from: 'title', to: 'head' },
  ])
  const undone = await undo(renamed)
  expect(await read(`/api/order-words/${id}`)).toMatchObject({ title: 'a', gone: 'g' })
  await undo(undone)
  expect(await read(`/api/order-terms/${id}`)).toMatchObject({ head: null })
  await undo()
  expect(await read(`/api/order-words/${id}`)).toMatchObject({ title: 'a', gone: 'g' })
  const same = await change(type('order-word', { head: { type: 'text' }, gone: text }), [
    { kind: 'attribute', schema: uid, from: 'title', to: 'head' },
  ])
  await undo(await undo(same))
  expect(await read(`/api/order-words/${id}`)).toMatchObject({ head: 'a' })
})

test('live-model.14: the undo of a change is undone as the last change, with what was written meanwhile', async () => {
  const schema = (attributes: object) => type('order-cup', attributes)
  await change(schema({ size: text, colour: text }))
  const id = await made('/api/order-cups', { size: 's', colour: 'red' })
  const removed = await change(schema({ size: text }))
  const undone = await undo()
  expect((await changes()).at(-1)).toMatchObject({ undoes: removed })
  await saved(`/api/order-cups/${id}`, { colour: 'blue' })
  const again = await undo(undone)
  expect(await read(`/api/order-cups/${id}`)).not.toHaveProperty('colour')
  await undo(again)
  expect(await read(`/api/order-cups/${id}`)).toMatchObject({ colour: 'blue' })
})

test('model-plans.18: restored links follow those that were written since', async () => {
  const zoneOf = (components: readonly string[]) => ({ type: 'dynamiczone', components: components.map((name) => `order.${name}`) })
  const box = (components: readonly string[]) => type('order-box', { title: text, zone: zoneOf(components) })
  const parts = { ...part('square', { text }), ...part('circle', { text }) }
  const entry = (name: string, value: string) => ({ __component: `order.${name}`, text: value })
  const zone = [entry('square', '1'), entry('circle', '2'), entry('square', '3')]
  const texts = async (id: string) => (await read(`/api/order-boxs/${id}?populate=zone`)).zone.map((each: { text: string }) => each.text)
  await change({ ...parts, ...box(['square', 'circle']) })
  const ids = [await made('/api/order-boxs', { title: 'w', zone }), await made('/api/order-boxs', { title: 'l', zone })]
  const written = { zone: ['N1', 'N2', 'N3'].map((value) => entry('circle', value)) }
  for (const data of [box(['circle']), { ...box(['circle']), 'order.square': null }]) {
    await change(data)
    await saved(`/api/order-boxs/${ids[0]}`, written)
    await undo()
    expect(await texts(ids[0]!)).toEqual(['N1', 'N2', 'N3', '1', '3'])
    expect(await texts(ids[1]!)).toEqual(['1', '2', '3'])
    expect(await damage()).toEqual([])
  }
})

test('live-model.5, model-plans.6: a type that comes back has its permissions, where their role is there', async () => {
  const gate = type('order-gate', { title: text })
  await change(gate)
  await made('/api/order-gates', { title: 'open' })
  const action = 'api::order-gate.order-gate.find'
  const moments = { created_at: Date.now(), updated_at: Date.now() }
  const [role] = await served.sql("select id from up_roles where type = 'public'")
  const grant = async (roleId: number) => {
    const permission = await insert(served, 'up_permissions', { document_id: `p${roleId}${Math.random()}`, action, ...moments })
    await insert(served, 'up_permissions_role_lnk', { permission_id: permission, role_id: roleId })
  }
  await grant(Number(role!.id))
  const gone = await insert(served, 'up_roles', { document_id: 'gone', name: 'Gone', type: 'gone', ...moments })
  await grant(gone)
  await addToken(served, 'reads-gates', { type: 'custom', actions: [action] })
  for (const table of ['strapi_api_tokens', 'strapi_api_token_permissions'])
    await served.sql(`update ${table} set document_id = 'gates' where document_id is null`)
  const administrators = await insert(served, 'admin_roles', { document_id: 'gates', name: 'Gates', code: 'gates', ...moments })
  const own = { action: 'plugin::content-manager.explorer.read', subject: 'api::order-gate.order-gate' }
  const permission = await insert(served, 'admin_permissions', { document_id: 'gate', ...own, ...moments })
  await insert(served, 'admin_permissions_role_lnk', { permission_id: permission, role_id: administrators })
  const seen = async () => [
    (await served.request('/api/order-gates')).status,
    (await served.request('/api/order-gates', { token: 'reads-gates' })).status,
  ]
  expect(await seen()).toEqual([200, 200])
  await change({ 'api::order-gate.order-gate': null })
  await served.sql('delete from up_roles where id = ?', gone)
  await undo()
  expect(await seen()).toEqual([200, 200])
  const granted = 'select role_id from up_permissions_role_lnk join up_permissions on up_permissions.id = permission_id where action = ?'
  expect(await served.sql(granted, action)).toEqual([{ role_id: Number(role!.id) }])
  expect(await served.sql('select subject from admin_permissions where id = ?', permission)).toEqual([{ subject: own.subject }])
  expect(await served.sql('select role_id from admin_permissions_role_lnk where permission_id = ?', permission)).toHaveLength(1)
  expect(await damage()).toEqual([])
})
