// Scopes: which documents of a type exist for a caller.
import { afterAll, beforeAll, describe, expect } from 'vitest'
import type { ScopeCall, ScopeResult } from '../../src/foundation/public/type-settings.js'
import { rule } from '../support/rule.js'
import type { Served, TestResponse } from '../support/serve.js'
import { serveProject } from '../support/serve.js'
import { addToken, grant, secrets } from './callers.js'

const task = 'api::task.task'
const files = {
  'src/api/task/content-types/task/schema.json': {
    kind: 'collectionType',
    collectionName: 'tasks',
    info: { singularName: 'task', pluralName: 'tasks', displayName: 'Task' },
    options: { draftAndPublish: true },
    attributes: {
      title: { type: 'string' },
      owner: { type: 'relation', relation: 'manyToOne', target: 'plugin::users-permissions.user' },
      secretTeam: { type: 'string', private: true },
      cover: { type: 'media', multiple: false },
    },
  },
  'src/extensions/users-permissions/content-types/user/schema.json': {
    kind: 'collectionType',
    collectionName: 'up_users',
    info: { singularName: 'user', pluralName: 'users', displayName: 'User' },
    attributes: {
      username: { type: 'string', unique: true, required: true },
      email: { type: 'email', required: true },
      provider: { type: 'string' },
      password: { type: 'password', private: true },
      resetPasswordToken: { type: 'string', private: true },
      confirmationToken: { type: 'string', private: true },
      confirmed: { type: 'boolean' },
      blocked: { type: 'boolean' },
      role: { type: 'relation', relation: 'manyToOne', target: 'plugin::users-permissions.role', inversedBy: 'users' },
      favourite: { type: 'relation', relation: 'oneToOne', target: task },
    },
  },
}

describe('the tasks of a user', () => {
  let served: Served
  let ann = { id: 0, token: '' }
  let bob = { id: 0, token: '' }
  /** The scope that the current test returns. */
  let scope: (call: ScopeCall) => ScopeResult | Promise<ScopeResult>
  const own = ({ caller }: ScopeCall): ScopeResult => caller.kind === 'token' || (caller.kind === 'user' && { owner: { id: caller.id } })

  const send = (method: string, path: string, token?: string, data?: unknown): Promise<TestResponse> =>
    served.request(`/api${path}`, {
      method,
      ...(token === undefined ? {} : { token }),
      ...(data === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify({ data }) }),
    })
  const make = async (title: string, owner: number): Promise<string> =>
    (await send('POST', '/tasks', 'all', { title, owner })).body.data.documentId

  beforeAll(async () => {
    served = await serveProject(files, {
      environment: secrets,
      config: { limits: { hookTimeout: 300 } },
      code: { types: { [task]: { scope: (call) => scope(call) } } },
    })
    await addToken(served, 'all', { type: 'full-access' })
    scope = own
    const actions = ['find', 'findOne', 'create', 'update', 'delete', 'publish', 'unpublish', 'discard'].map(
      (action) => `${task}.${action}`,
    )
    for (const role of ['public', 'authenticated']) for (const action of actions) await grant(served, role, action)
    for (const action of ['find', 'update', 'me']) await grant(served, 'authenticated', `plugin::users-permissions.user.${action}`)
    await grant(served, 'authenticated', 'plugin::upload.content-api.upload')
    const signIn = async (name: string) => {
      const { jwt, user } = (
        await served.request('/api/auth/local/register', {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ username: name, email: `${name}@users.example`, password: 'a long password' }),
        })
      ).body
      return { id: user.id as number, token: jwt as string }
    }
    ann = await signIn('ann')
    bob = await signIn('bob')
  })
  afterAll(() => served.close())

  rule('scopes.1', 'lists, totals and single documents are those of the caller; a scope may compare private attributes', async () => {
    scope = own
    const [hers, his] = [await make('hers', ann.id), await make('his', bob.id)]
    const { data, meta } = (await send('GET', '/tasks', ann.token)).body
    expect([data.map(({ title }: { title: string }) => title), meta.pagination.total]).toEqual([['hers'], 1])
    expect((await send('GET', '/tasks')).body.data).toEqual([])
    expect((await send('GET', `/tasks/${hers}`, ann.token)).status).toBe(200)
    expect((await send('GET', `/tasks/${his}`, ann.token)).status).toBe(404)
    expect((await send('GET', `/tasks/${his}?status=draft`, ann.token)).status).toBe(404)
    expect((await send('GET', '/tasks', 'all')).body.meta.pagination.total).toBe(2)
    await send('PUT', `/tasks/${his}`, 'all', { secretTeam: 'blue' })
    scope = () => ({ secretTeam: 'blue' })
    expect((await send('GET', '/tasks')).body.data.map(({ title }: { title: string }) => title)).toEqual(['his'])
    expect((await send('GET', '/tasks?filters[secretTeam]=blue')).status).toBe(400)
  })

  rule('scopes.2', 'a write to a hidden document finds none', async () => {
    scope = own
    const his = await make('kept', bob.id)
    expect((await send('PUT', `/tasks/${his}`, ann.token, { title: 'taken' })).status).toBe(404)
    for (const action of ['publish', 'unpublish', 'discard'])
      expect((await send('POST', `/tasks/${his}/actions/${action}`, ann.token)).status).toBe(404)
    expect((await send('DELETE', `/tasks/${his}`, ann.token)).status).toBe(204)
    expect((await send('GET', `/tasks/${his}`, bob.token)).body.data.title).toBe('kept')
    // A draft of another owner hides the document for writing.
    await send('PUT', `/tasks/${his}?status=draft`, 'all', { owner: ann.id })
    expect((await send('PUT', `/tasks/${his}`, bob.token, { title: 'taken' })).status).toBe(404)
    expect((await send('PUT', `/tasks/${his}`, ann.token, { title: 'taken' })).status).toBe(404)
  })

  rule('scopes.3', 'writes that would leave the scope are refused', async () => {
    scope = own
    expect((await send('POST', '/tasks', 'all', { title: 'of nobody' })).status).toBe(201)
    const before = (await send('GET', '/tasks', 'all')).body.meta.pagination.total
    expect((await send('POST', '/tasks', ann.token, { title: 'of nobody' })).status).toBe(403)
    expect((await send('GET', '/tasks?status=draft', 'all')).body.meta.pagination.total).toBe(before)
    scope = ({ caller }) => caller.kind === 'token' || { title: { $startsWith: 'open' } }
    const { documentId } = (await send('POST', '/tasks', ann.token, { title: 'open' })).body.data
    expect((await send('PUT', `/tasks/${documentId}`, ann.token, { title: 'closed' })).status).toBe(403)
    expect((await send('GET', `/tasks/${documentId}`, ann.token)).body.data.title).toBe('open')
    expect((await send('PUT', `/tasks/${documentId}`, ann.token, { title: 'open again' })).status).toBe(200)
  })

  rule('scopes.4', 'neither users nor files can be linked to hidden documents', async () => {
    scope = own
    const his = await make('unlinked', bob.id)
    const user = await served.request(`/api/users/${ann.id}`, {
      method: 'PUT',
      token: ann.token,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ favourite: his }),
    })
    expect([user.status, user.body.error.message]).toEqual([400, 'Invalid key favourite'])
    const [row] = await served.sql('select id from tasks where document_id = ? and published_at is not null', his)
    const form = new FormData()
    form.set('files', new Blob(['a text']), 'a.txt')
    for (const [name, value] of Object.entries({ ref: task, refId: String(row!.id), field: 'cover' })) form.set(name, value)
    const response = await fetch(`${served.origin}/api/upload`, {
      method: 'POST',
      body: form,
      headers: { authorization: `Bearer ${ann.token}` },
    })
    expect([response.status, ((await response.json()) as { error: { message: string } }).error.message]).toEqual([
      400,
      'No entry with this refId',
    ])
    expect((await send('GET', `/tasks/${his}?populate=cover`, bob.token)).body.data.cover).toBe(null)
    const upload = async () => {
      const parts = new FormData()
      parts.set('files', new Blob(['a text']), 'b.txt')
      for (const [name, value] of Object.entries({ ref: task, refId: String(row!.id), field: 'cover' })) parts.set(name, value)
      return (
        await fetch(`${served.origin}/api/upload`, { method: 'POST', body: parts, headers: { authorization: `Bearer ${bob.token}` } })
      ).status
    }
    expect(await upload()).toBe(201)
    // As for other writes, all versions have to be there for the caller.
    await send('PUT', `/tasks/${his}?status=draft`, 'all', { owner: ann.id })
    expect(await upload()).toBe(400)
  })

  rule('scopes.5', 'a scope that does not say what exists shows nothing', async () => {
    const wrong: readonly (readonly [ScopeResult | undefined | null, string])[] = [
      [undefined, 'returned neither filters nor true or false'],
      [null, 'returned neither filters nor true or false'],
      [{}, 'has no condition; return true for all documents'],
      [{ owner: { id: undefined } }, 'compares with undefined at owner.id'],
      [{ owner: { id: null } }, 'compares with null at owner.id'],
      [{ $or: [] }, 'has no condition at $or'],
      [{ owner: { id: Number.NaN } }, 'compares with NaN at owner.id'],
      [{ title: new Date('never') }, 'compares with a value of type object at title'],
      [{ owner: { id: 1 }, title: own as never }, 'compares with a value of type function at title'],
      [{ ownr: { id: 1 } }, 'is not a filter of it: Invalid key ownr'],
      [{ title: { $like: 'a' } }, 'is not a filter of it: Invalid key $like'],
    ]
    for (const [result, said] of wrong) {
      scope = () => result as ScopeResult
      expect([(await send('GET', '/tasks', ann.token)).status, said]).toEqual([500, said])
      expect(served.log.some((line) => line.includes(said))).toBe(true)
    }
    scope = () => {
      throw new Error('no connection')
    }
    expect((await send('GET', '/tasks', ann.token)).status).toBe(500)
    scope = async ({ documents }) => (await documents(task).findMany({ filters: { titel: 'x' } })).length > 0
    expect((await send('GET', '/tasks', ann.token)).status).toBe(500)
    expect(served.log.some((line) => line.includes(`The scope of ${task} failed`) && line.includes('Invalid key titel'))).toBe(true)
    scope = () => new Promise<boolean>(() => {})
    expect((await send('GET', '/tasks', ann.token)).status).toBe(503)
    scope = () => ({ id: { $in: [] } })
    expect((await send('GET', '/tasks', 'all')).body.data).toEqual([])
  })

  rule('scopes.6', 'scripts have no scope, and scopes may ask for documents', async () => {
    scope = () => false
    expect(await served.service.documents(task).count()).toBeGreaterThan(0)
    scope = async ({ documents }) => {
      const user = await documents('plugin::users-permissions.user').findFirst({ filters: { username: 'bob' } })
      return { owner: { id: user!.id } }
    }
    const { data } = (await send('GET', '/tasks?populate=owner', 'all')).body
    expect(data.length).toBeGreaterThan(0)
    expect(new Set(data.map(({ owner }: { owner: { username: string } }) => owner.username))).toEqual(new Set(['bob']))
  })

  rule('scopes.7', 'requests that reach no content do not ask scopes, nor do those that are refused', async () => {
    let asked = 0
    scope = () => {
      asked++
      throw new Error('not to be asked')
    }
    const signIn = { identifier: 'ann', password: 'wrong' }
    const post = (path: string, body: object) =>
      served.request(`/api${path}`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
    expect((await post('/auth/local', signIn)).status).toBe(400)
    expect((await post('/auth/forgot-password', { email: 'nobody@users.example' })).status).toBe(200)
    expect((await send('GET', '/i18n/locales', 'all')).status).toBe(200)
    expect((await send('GET', '/content-type-builder/content-types', 'all')).status).toBe(200)
    expect((await send('GET', '/users/count', ann.token)).status).toBe(403)
    expect(asked).toBe(0)
    expect((await send('GET', '/users', 'all')).status).toBe(500)
    expect((await send('GET', '/upload/files', 'all')).status).toBe(500)
    expect(asked).toBe(2)
  })
})
