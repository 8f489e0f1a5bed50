// A change at one of two instances applies at the other one for the very next request.
import { afterAll, beforeAll, expect } from 'vitest'
import { secrets } from '../spec/callers.js'
import { addAdministrator, requestAdmin, type SignedIn, signInAdmin } from '../support/administration.js'
import { rule } from '../support/rule.js'
import { type Served, serveExisting, serveProject, type TestResponse } from '../support/serve.js'
import { describeInstances } from './databases.js'

const localized = { i18n: { localized: true } }
const files = {
  'src/api/note/content-types/note/schema.json': {
    kind: 'collectionType',
    collectionName: 'notes',
    info: { singularName: 'note', pluralName: 'notes', displayName: 'Note' },
    options: { draftAndPublish: false },
    pluginOptions: localized,
    attributes: { title: { type: 'string', pluginOptions: localized } },
  },
}
const json = { 'content-type': 'application/json' }
const rounds = 6

describeInstances('the next request', (database) => {
  let instances: readonly [Served, Served]
  let ada: SignedIn
  beforeAll(async () => {
    const environment = { ...secrets, ...(await database()) }
    const first = await serveProject(files, { environment, config: { limits: { authRateLimit: 0 } } })
    instances = [first, await serveExisting(first, environment)]
    await addAdministrator(first, 'ada@admins.example')
    ada = await signInAdmin(first, 'ada@admins.example')
  })
  afterAll(async () => {
    await instances[1].close()
    await instances[0].close()
  })

  /** Changes one instance and sends a request to the other, in turn. */
  async function inTurn(work: (at: Served, other: Served, round: number) => Promise<void>): Promise<void> {
    for (let round = 0; round < rounds; round++) await work(instances[round % 2]!, instances[(round + 1) % 2]!, round)
  }
  const admin = async (at: Served, method: string, path: string, body?: unknown): Promise<TestResponse> => {
    const answer = await requestAdmin(at, path, { method, token: ada.accessToken, body })
    expect(answer.status, `${method} ${path}: ${answer.text}`).toBeLessThan(300)
    return answer
  }
  const post = (at: Served, path: string, body: unknown, token?: string): Promise<TestResponse> =>
    at.request(path, { method: 'POST', headers: json, body: JSON.stringify(body), ...(token === undefined ? {} : { token }) })

  rule('instances.8', 'permissions of a role', async () => {
    const roles: readonly { id: number; type: string }[] = (await admin(instances[0], 'GET', '/api-roles')).body.data
    const visitors = `/api-roles/${roles.find(({ type }) => type === 'public')!.id}`
    const { actions } = (await admin(instances[0], 'GET', visitors)).body.data
    await inTurn(async (at, other) => {
      expect((await other.request('/api/notes')).status).toBe(403)
      await admin(at, 'PATCH', visitors, { actions: [...actions, 'api::note.note.find'] })
      expect((await other.request('/api/notes')).status).toBe(200)
      await admin(at, 'PATCH', visitors, { actions })
    })
  })

  rule('instances.8', 'API tokens', async () => {
    await inTurn(async (at, other, round) => {
      const { data, key: token } = (await admin(at, 'POST', '/tokens', { name: `token ${round}`, type: 'full-access' })).body
      expect((await other.request('/api/notes', { token })).status).toBe(200)
      await admin(at, 'PATCH', `/tokens/${data.id}`, { type: 'read-only' })
      expect((await post(other, '/api/notes', { data: { title: 'x' } }, token)).status).toBe(403)
      await admin(at, 'DELETE', `/tokens/${data.id}`)
      expect((await other.request('/api/notes', { token })).status).toBe(401)
    })
  })

  rule('instances.8', 'content, also where the other instance has it in memory', async () => {
    const { key: token } = (await admin(instances[0], 'POST', '/tokens', { name: 'content', type: 'full-access' })).body
    const { documentId } = (await post(instances[0], '/api/notes', { data: { title: 'first' } }, token)).body.data
    const titleAt = async (at: Served) => (await at.request(`/api/notes/${documentId}`, { token })).body.data.title
    await inTurn(async (at, other, round) => {
      const [before] = [await titleAt(other), await titleAt(other)]
      const body = JSON.stringify({ data: { title: `title ${round}` } })
      expect((await at.request(`/api/notes/${documentId}`, { method: 'PUT', token, headers: json, body })).status).toBe(200)
      expect([await titleAt(other), before]).not.toContain(undefined)
      expect(await titleAt(other)).toBe(`title ${round}`)
    })
  })

  rule('instances.8', 'locales', async () => {
    const { key: token } = (await admin(instances[0], 'POST', '/tokens', { name: 'locales', type: 'full-access' })).body
    const localeOf = async (at: Served) => (await post(at, '/api/notes', { data: { title: 'x' } }, token)).body.data.locale
    await admin(instances[0], 'POST', '/locales', { code: 'de' })
    expect((await instances[1].request('/api/notes?locale=de', { token })).status).toBe(200)
    await inTurn(async (at, other, round) => {
      const code = round % 2 === 0 ? 'de' : 'en'
      await admin(at, 'PATCH', `/locales/${code}`, { isDefault: true })
      expect(await localeOf(other)).toBe(code)
    })
  })

  rule('instances.8', 'settings', async () => {
    const register = (at: Served, name: string) =>
      post(at, '/api/auth/local/register', { username: name, email: `${name}@users.example`, password: 'Secret-horse-7' })
    await inTurn(async (at, other, round) => {
      const { settings, revision } = (await admin(at, 'GET', '/settings/users')).body.data
      const allowed = round % 2 === 1
      const body = { ...settings, allow_register: allowed }
      const headers = { 'if-match': `"${revision}"` }
      expect((await requestAdmin(at, '/settings/users', { method: 'PUT', token: ada.accessToken, body, headers })).status).toBe(200)
      expect((await register(other, `user${round}`)).status).toBe(allowed ? 200 : 400)
    })
  })

  rule('instances.8', 'sessions of users and of administrators', async () => {
    await inTurn(async (at, other, round) => {
      const name = `blocked${round}`
      const role = (await at.sql("SELECT id FROM up_roles WHERE type = 'authenticated'"))[0]!.id
      const user = { username: name, email: `${name}@users.example`, password: 'Secret-horse-7', role, isConfirmed: true }
      const { id } = (await admin(at, 'POST', '/users', user)).body.data
      const { jwt: token } = (await post(other, '/api/auth/local', { identifier: name, password: 'Secret-horse-7' })).body
      expect((await other.request('/api/users/me', { token })).status).toBe(200)
      await admin(at, 'PATCH', `/users/${id}`, { isBlocked: true })
      expect((await other.request('/api/users/me', { token })).status).toBe(401)
    })
    await addAdministrator(instances[0], 'eva@admins.example')
    const { accessToken: token } = await signInAdmin(instances[1], 'eva@admins.example')
    expect((await requestAdmin(instances[0], '/session/all', { token })).status).toBe(200)
    expect((await requestAdmin(instances[1], '/session/all', { method: 'DELETE', token })).status).toBe(204)
    expect((await requestAdmin(instances[0], '/session/all', { token })).status).toBe(401)
  })
})
