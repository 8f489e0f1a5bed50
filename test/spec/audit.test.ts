// The audit log of a real service: actions with their users, and nothing else.
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, vi } from 'vitest'
import { openAppendedFile } from '../../src/foundation/runtime/audit-log.js'
import { octavo } from '../start/command.js'
import { addAdministrator, requestAdmin, signInAdmin } from '../support/administration.js'
import { rule } from '../support/rule.js'
import { type Served, serveProject, type TestResponse } from '../support/serve.js'
import { patience } from '../support/until.js'
import { access, contentType, plain, reading, seeded } from './library.js'

const json = { 'content-type': 'application/json' }
type Line = Readonly<Record<string, unknown>>
const secret = 'Unheard-of'

const project = {
  ...contentType('note', { name: { type: 'string', required: true } }, { draftAndPublish: true }),
  ...seeded('note', plain({ first: { name: 'first' } })),
  ...access([
    ...reading('note'),
    ...['create', 'update', 'delete', 'publish'].map((action) => `api::note.note.${action}`),
    'plugin::users-permissions.auth.callback',
    'plugin::users-permissions.auth.register',
    'plugin::upload.content-api.upload',
    'plugin::users-permissions.user.create',
  ]),
}

const linesOf = (file: string): readonly Line[] =>
  existsSync(file)
    ? readFileSync(file, 'utf8')
        .split('\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line) as Line)
    : []

const notes = 'src/api/note/content-types/note/schema.json'

let served: Served
let file: string
beforeAll(async () => {
  served = await serveProject(project, { config: { auditLog: 'audit.jsonl', admin: { model: 'always' } } })
  file = join(served.folder, 'audit.jsonl')
})
afterAll(() => served?.close())

const send = (path: string, method: string, value?: unknown, headers: Record<string, string> = {}, token?: string): Promise<TestResponse> =>
  served.request(path, {
    method,
    headers: { 'content-type': 'application/json', ...headers },
    ...(value === undefined ? {} : { body: JSON.stringify(value) }),
    ...(token === undefined ? {} : { token }),
  })

/** The lines that come with an act. */
async function linesWith(count: number, act: () => Promise<unknown>): Promise<readonly Line[]> {
  const before = linesOf(file).length
  await act()
  return vi.waitFor(() => {
    const found = linesOf(file).slice(before)
    expect(found.length).toBeGreaterThanOrEqual(count)
    return found
  }, patience)
}

rule('audit.1', 'the audit log is off by default; a file is readable for its owner only; stdout has it at any log level', async () => {
  expect(statSync(file).mode & 0o777).toBe(0o600)
  const plainly = await serveProject(project)
  await plainly.request('/api/notes', { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"data":{"name":"x"}}' })
  expect(plainly.log.some((line) => line.includes('"audit"'))).toBe(false)
  await plainly.close()
  const loud = await serveProject(project, { environment: { OCTAVO_AUDIT_LOG: 'stdout', LOG_LEVEL: 'error' } })
  await loud.request('/api/notes', { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"data":{"name":"x"}}' })
  expect(loud.log.map((line) => JSON.parse(line))).toMatchObject([{ audit: true, action: 'create', type: 'api::note.note', msg: 'audit' }])
  await loud.close()
  await expect(serveProject(project, { environment: { OCTAVO_AUDIT_LOG: '/nowhere/audit.jsonl' } })).rejects.toThrow(
    /The audit log cannot be written to \/nowhere\/audit\.jsonl/,
  )
})

rule(
  'audit.2',
  'writes of documents have a line after the commit, with caller, type, documentId, request and address; what fails has none',
  async () => {
    let documentId = ''
    const [created] = await linesWith(1, async () => {
      const { body } = await send('/api/notes', 'POST', { data: { name: secret } }, { 'x-request-id': 'an-id-of-a-client' })
      documentId = body.data.documentId
    })
    expect(created).toEqual({
      ...{ level: 30, time: expect.any(Number), msg: 'audit', audit: true },
      ...{ actor: { kind: 'public' }, action: 'create', type: 'api::note.note', documentId, result: 'success' },
      ...{ requestId: 'an-id-of-a-client', ip: expect.stringMatching(/127\.0\.0\.1|::1/) },
    })
    const later = await linesWith(3, async () => {
      expect((await send('/api/notes', 'POST', { data: { name: null } })).status).toBe(400)
      expect((await send(`/api/notes/${documentId}?status=draft`, 'PUT', { data: { name: 'y' } })).status).toBe(200)
      expect((await send(`/api/notes/${documentId}/actions/publish`, 'POST')).status).toBe(200)
      expect((await send(`/api/notes/${documentId}`, 'DELETE')).status).toBe(204)
    })
    expect(later.map(({ action, documentId: id }) => [action, id])).toEqual(
      ['update', 'publish', 'delete'].map((action) => [action, documentId]),
    )
    const [own] = await linesWith(1, () => served.service.documents('api::note.note').create({ data: { name: secret } }))
    expect(own).toMatchObject({ actor: { kind: 'project' }, action: 'create' })
    expect(own).not.toHaveProperty('ip')
  },
)

rule('audit.3', 'sign-ins have a line whether they succeed or not, and so have accounts and files', async () => {
  const user = { username: 'reader', email: 'reader@example.org', password: `${secret}-1` }
  let token = ''
  let id = 0
  const ids: string[] = []
  const lines = await linesWith(7, async () => {
    const registered = await send('/api/auth/local/register', 'POST', user)
    expect(registered.status).toBe(200)
    id = registered.body.user.id
    expect((await send('/api/auth/local', 'POST', { identifier: 'reader', password: `${secret}-2` })).status).toBe(400)
    const signedIn = await send('/api/auth/local', 'POST', { identifier: 'reader', password: user.password })
    token = signedIn.body.jwt
    const form = new FormData()
    form.append('files', new Blob([secret], { type: 'text/plain' }), `${secret}.txt`)
    form.append('files', new Blob([secret], { type: 'text/plain' }), `${secret}-2.txt`)
    const stored = await served.request('/api/upload', { method: 'POST', body: form })
    expect(stored.status).toBe(201)
    const [first, second] = stored.body as readonly { readonly id: number }[]
    const other = new FormData()
    other.append('files', new Blob(['other'], { type: 'text/plain' }), `${secret}.txt`)
    expect((await served.request(`/api/upload?id=${first!.id}`, { method: 'POST', body: other })).status).toBe(200)
    const made = await send('/api/users', 'POST', { username: 'writer', email: 'writer@example.org', password: `${secret}-3`, role: 1 })
    expect(made.status, made.text).toBe(201)
    ids.push(...[first!.id, second!.id, first!.id, made.body.id].map(String))
  })
  expect(token).not.toBe('')
  expect(lines).toMatchObject([
    { action: 'plugin::users-permissions.auth.register', actor: { kind: 'user', id }, result: 'success' },
    { action: 'local', type: 'account', actor: { kind: 'nobody' }, result: 'refused' },
    { action: 'plugin::users-permissions.auth.callback', actor: { kind: 'user', id }, result: 'success' },
    { action: 'plugin::upload.content-api.upload', actor: { kind: 'public' }, id: ids[0], result: 'success' },
    { action: 'plugin::upload.content-api.upload', id: ids[1] },
    { action: 'plugin::upload.content-api.upload', id: ids[2] },
    { action: 'plugin::users-permissions.user.create', id: ids[3] },
  ])
})

rule('audit.4', 'actions of administrators have the lines of their activity, with names of fields and without values', async () => {
  const id = await addAdministrator(served, 'ada@admins.example')
  const actor = { kind: 'administrator', id }
  let documentId = ''
  const lines = await linesWith(8, async () => {
    const refused = await requestAdmin(served, '/session', { method: 'POST', body: { email: 'ada@admins.example', password: secret } })
    expect(refused.status).toBe(400)
    const { accessToken: token } = await signInAdmin(served, 'ada@admins.example')
    const made = await requestAdmin(served, '/tokens', { method: 'POST', token, body: { name: secret, type: 'read-only' } })
    expect(made.status).toBe(201)
    const { id: tokenId } = made.body.data
    expect((await requestAdmin(served, `/tokens/${tokenId}`, { method: 'PATCH', token, body: { name: `${secret} 2` } })).status).toBe(200)
    const written = await requestAdmin(served, '/content/api::note.note', { method: 'POST', token, body: { data: { name: secret } } })
    expect(written.status, written.text).toBe(201)
    documentId = written.body.data.documentId
    expect((await requestAdmin(served, `/tokens/${tokenId}`, { method: 'DELETE', token })).status).toBe(204)
    const again = await requestAdmin(served, `/tokens/${tokenId}`, { method: 'DELETE', token })
    expect(again.status).toBe(404)
    expect((await served.request('/api/notes', { token })).status).toBe(401)
    const schema = JSON.parse(readFileSync(join(served.folder, notes), 'utf8'))
    const body = { data: { 'api::note.note': { ...schema, attributes: { ...schema.attributes, more: { type: 'text' } } } } }
    const planned = (await requestAdmin(served, '/model/plan', { method: 'POST', token, body })).body.data
    const applied = { ...body, plan: planned.id, version: planned.version }
    const changed = await requestAdmin(served, '/model/apply', { method: 'POST', token, body: applied })
    expect(changed.status, changed.text).toBe(200)
    expect((await send('/api/notes', 'POST', { data: { name: 'the last line' } })).status).toBe(201)
  })
  expect(lines).toMatchObject([
    { action: 'admin-session', type: 'account', result: 'refused', actor: { kind: 'nobody' } },
    { action: 'sign-in', type: 'administrator', id: String(id), actor },
    { action: 'create', type: 'token', actor, requestId: expect.any(String), ip: expect.any(String) },
    { action: 'update', type: 'token', actor, fields: ['name'] },
    { action: 'create', type: 'api::note.note', documentId, actor },
    { action: 'delete', type: 'token', actor },
    { action: 'update', type: 'model', actor },
    { action: 'create', actor: { kind: 'public' } },
  ])
  expect(lines).toHaveLength(8)
})

rule('audit.4', 'commands have the entries and lines of administrators, with the actor command', async () => {
  const [made, revoked] = await linesWith(2, async () => {
    for (const words of [
      ['create', '--name', 'of a command'],
      ['revoke', 'of a command'],
    ]) {
      const { status } = await octavo(['tokens', ...words, served.folder], { ...served.sameDatabase, OCTAVO_AUDIT_LOG: file })
      expect(status).toBe(0)
    }
  })
  expect(made).toMatchObject({ actor: { kind: 'command' }, action: 'create', type: 'token', result: 'success' })
  expect(revoked).toMatchObject({ actor: { kind: 'command' }, action: 'delete', type: 'token' })
  expect(made).not.toHaveProperty('ip')
  const { accessToken: token } = await signInAdmin(served, 'ada@admins.example')
  const { body } = await requestAdmin(served, '/activity?subject=token&limit=2', { token })
  expect(body.data).toMatchObject([
    { administrator: null, address: null, action: 'delete', name: 'of a command' },
    { administrator: null, address: null, action: 'create' },
  ])
  const { status, out, err } = await octavo(['tokens', 'create', '--name', 'another', served.folder], {
    ...served.sameDatabase,
    OCTAVO_AUDIT_LOG: 'stdout',
  })
  expect([status, out.trim()]).toEqual([0, expect.stringMatching(/^[0-9a-f]{256}$/)])
  expect(JSON.parse(err)).toMatchObject({ audit: true, actor: { kind: 'command' }, action: 'create' })
})

rule('audit.5', 'no value, token or password is in the audit log', () => {
  expect(readFileSync(file, 'utf8')).not.toMatch(new RegExp(secret, 'i'))
  expect(readFileSync(file, 'utf8')).not.toMatch(/reader@example|eyJ/)
  return Promise.resolve()
})

rule('audit.6', 'a moved file is recreated; lines that cannot be written wait, and those without room are counted', async () => {
  renameSync(file, `${file}.1`)
  const before = linesOf(`${file}.1`).length
  await vi.waitFor(async () => {
    expect((await send('/api/notes', 'POST', { data: { name: 'z' } })).status).toBe(201)
    expect(linesOf(file).length).toBeGreaterThan(0)
  }, patience)
  expect(linesOf(`${file}.1`).length).toBeGreaterThanOrEqual(before)
  // A folder in its place: nothing can be written, and nothing else fails.
  renameSync(file, `${file}.2`)
  mkdirSync(file)
  await vi.waitFor(async () => {
    expect((await send('/api/notes', 'POST', { data: { name: 'z' } })).status).toBe(201)
    expect(served.log.some((line) => line.includes('the audit log cannot be written'))).toBe(true)
  }, patience)
  const { body } = await send('/api/notes', 'POST', { data: { name: 'last' } })
  rmSync(file, { recursive: true })
  await vi.waitFor(() => expect(linesOf(file).at(-1)).toMatchObject({ documentId: body.data.documentId }), patience)
  expect(served.log.filter((line) => line.includes('the audit log cannot be written'))).toHaveLength(1)

  // A full disk.
  const full = await serveProject(project, { environment: { OCTAVO_AUDIT_LOG: '/dev/full' } })
  for (let count = 0; count < 3; count++)
    expect((await full.request('/api/notes', { method: 'POST', headers: json, body: '{"data":{"name":"x"}}' })).status).toBe(201)
  await vi.waitFor(() => expect(full.log.some((line) => line.includes('ENOSPC'))).toBe(true), patience)
  await full.close()
  expect(full.log.filter((line) => line.includes('the audit log cannot be written'))).toHaveLength(1)

  const place = join(served.folder, 'small.jsonl')
  const lost: number[] = []
  const small = await openAppendedFile(place, { bytes: 100, failed: () => {}, recovered: (count) => void lost.push(count) })
  for (let count = 0; count < 10; count++) small.add('x'.repeat(19))
  await small.close()
  expect(lost).toEqual([5])
  expect(readFileSync(place, 'utf8')).toBe(`${'x'.repeat(19)}\n`.repeat(5))
})
