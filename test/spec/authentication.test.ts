// docs/spec/authentication.md: the public, API tokens, users, and changes of their permissions.
import { afterAll, beforeAll, expect } from 'vitest'
import { rule } from '../support/rule.js'
import type { Served } from '../support/serve.js'
import { goldenTokens, serveGolden } from '../support/serve.js'
import { addToken, addUser, grant, insert, jwt, revoke, roleId } from './callers.js'
import { all, expected, serve, versions } from './magazine.js'

let magazine: Served
let user: number
beforeAll(async () => {
  magazine = await serve('specification')
  await addToken(magazine, 'reader', { type: 'read-only' })
  await addToken(magazine, 'full', { type: 'full-access' })
  await addToken(magazine, 'tags', { type: 'custom', actions: ['api::tag.tag.find'] })
  await addToken(magazine, 'late', { type: 'full-access', expiresAt: Date.now() - 1000 })
  await addToken(magazine, 'soon', { type: 'read-only', expiresAt: Date.now() + 3_600_000 })
  user = await addUser(magazine, 'reader', 'authenticated')
})
afterAll(() => magazine.close())

const status = async (path: string, token?: string, method = 'GET') => (await magazine.request(path, { method, token })).status
const refusal = async (path: string, token: string) => {
  const { status, body } = await magazine.request(path, { token })
  return [status, body.error?.name, body.error?.message]
}
const unknown = [401, 'UnauthorizedError', 'Missing or invalid credentials']
const refusedUser = [401, 'UnauthorizedError', 'Invalid credentials']

rule('authentication.1', 'any request without the permission is 403', async () => {
  for (const path of [
    'pitches',
    'pitches/nobody',
    'pitches?sort=nope',
    'pitches?filters[nope]=1',
    'pitches?pagination[page]=x',
    'users',
    'users/99',
  ]) {
    const { status, body } = await magazine.request(`/api/${path}`)
    expect([path, status, body.error.name, body.data]).toEqual([path, 403, 'ForbiddenError', null])
  }
  for (const [path, method] of [
    ['tags', 'POST'],
    ['tags/x', 'PUT'],
    ['tags/x', 'DELETE'],
    ['setting', 'PUT'],
  ])
    expect([path, await status(`/api/${path}`, undefined, method)]).toEqual([path, 403])
})

rule('authentication.2', 'without credentials the public’s permissions hold', async () => {
  expect(await status('/api/tags')).toBe(200)
  for (const authorization of ['Basic dXNlcjpwYXNz', 'Bearer', 'Bearer ', 'bearer a b', 'full', 'Token full', ''])
    expect([authorization, (await magazine.request('/api/tags', { headers: { authorization } })).status]).toEqual([authorization, 200])
  expect((await magazine.request('/api/pitches', { headers: { authorization: 'Token full' } })).status).toBe(403)
})

rule('authentication.2', 'the scheme may be written in any case', async () => {
  for (const authorization of ['Bearer full', 'bearer full', 'BEARER full'])
    expect((await magazine.request('/api/pitches', { headers: { authorization } })).status).toBe(200)
})

rule('authentication.3', 'an unknown token is refused everywhere', async () => {
  for (const token of ['nonsense', 'a.b.c', 'Reader', 'full.'])
    for (const path of ['/api/tags', '/api/pitches', '/api/users/me', '/api/i18n/locales', '/api/upload/files'])
      expect([path, ...(await refusal(path, token))]).toEqual([path, ...unknown])
  expect(await status('/api/nothing', 'nonsense')).toBe(404)
  expect(await status('/_health', 'nonsense')).toBe(204)
})

rule('authentication.4', 'a user’s token has the permissions of the role', async () => {
  expect(await status('/api/tags', jwt(user))).toBe(200)
  expect(await status('/api/pitches', jwt(user))).toBe(403)
  const { body } = await magazine.request('/api/users/me', { token: jwt(user) })
  expect(body.username).toBe('reader')
})

rule('authentication.4', 'and none of the public’s', async () => {
  const role = await insert(magazine, 'up_roles', { name: 'Nobody', type: 'nobody', updated_at: Date.now() })
  expect(role).toBeGreaterThan(2)
  const stranger = await addUser(magazine, 'stranger', 'nobody')
  expect(await status('/api/tags', jwt(stranger))).toBe(403)
  expect(await status('/api/tags')).toBe(200)
  expect(await status('/api/tags', jwt(await addUser(magazine, 'roleless', null)))).toBe(403)
})

rule('authentication.5', 'a token with another signature, algorithm or age is refused', async () => {
  const now = jwt(user)
  const [head, , signature] = now.split('.')
  const other = jwt(1).split('.')[1]
  for (const token of [
    jwt(user, { secret: 'another' }),
    jwt(user, { algorithm: 'none' }),
    jwt(user, { algorithm: 'HS512' }),
    jwt(user, { seconds: -10 }),
    `${head}.${other}.${signature}`,
    jwt(String(user)),
    jwt(null),
  ])
    expect(await refusal('/api/tags', token)).toEqual(unknown)
})

rule('authentication.5', 'a token ends when its time is over, also for one who was let in before', async () => {
  const token = jwt(user, { seconds: 4 })
  expect(await status('/api/tags', token)).toBe(200)
  await new Promise((resolve) => setTimeout(resolve, 4100))
  expect(await refusal('/api/tags', token)).toEqual(unknown)
})

rule('authentication.5', 'blocked and deleted users are refused', async () => {
  const blocked = await addUser(magazine, 'blocked', 'authenticated', { blocked: 1 })
  expect(await refusal('/api/tags', jwt(blocked))).toEqual(refusedUser)
  expect(await refusal('/api/users/me', jwt(blocked))).toEqual(refusedUser)
  expect(await refusal('/api/tags', jwt(987_654))).toEqual(refusedUser)
})

rule('authentication.6', 'an API token is identified by its hash, not by its stored text', async () => {
  expect(await status('/api/pitches', 'full')).toBe(200)
  const [row] = await magazine.sql("SELECT access_key FROM strapi_api_tokens WHERE name = 'full'")
  const stored = row!.access_key
  expect(stored).toMatch(/^[0-9a-f]{128}$/)
  expect(await refusal('/api/pitches', stored)).toEqual(unknown)
})

rule('authentication.6', 'an expired token is refused with a specific error', async () => {
  expect(await refusal('/api/tags', 'late')).toEqual([401, 'UnauthorizedError', 'Token expired'])
  expect(await status('/api/pitches', 'soon')).toBe(200)
})

rule('authentication.6', 'tokens and users of a database that Strapi wrote are known', async () => {
  const golden = await serveGolden({ config: { api: { rest: { contract: 'specification' } } } })
  const { full, readonly, expired, alice, wrong } = goldenTokens()
  const answer = async (path: string, token: string) => (await golden.request(path, { token })).body
  try {
    expect((await answer('/api/users/count', full!)) > 0).toBe(true)
    expect((await answer('/api/secret-notes?pagination[limit]=1', readonly!)).data.length).toBe(1)
    expect((await answer('/api/tags', expired!)).error.message).toBe('Token expired')
    expect((await answer('/api/users/me', alice!)).username).toBe('alice')
    expect((await answer('/api/tags', wrong!)).error.status).toBe(401)
  } finally {
    await golden.close()
  }
})

rule('authentication.7', 'a read-only token finds, and does nothing else', async () => {
  for (const path of [
    'pitches',
    'tags',
    'setting',
    'users',
    'users/1',
    'users-permissions/roles',
    'users-permissions/roles/1',
    'upload/files',
    'upload/files/1',
  ])
    expect([path, await status(`/api/${path}`, 'reader')]).toEqual([path, 200])
  const { documentId } = (await magazine.request('/api/pitches', { token: 'reader' })).body.data[0]
  expect(await status(`/api/pitches/${documentId}`, 'reader')).toBe(200)
  for (const path of ['users/count', 'users/me', 'i18n/locales', 'users-permissions/permissions', 'content-type-builder/content-types'])
    expect([path, await status(`/api/${path}`, 'reader')]).toEqual([path, 403])
  for (const [path, method] of [
    ['pitches', 'POST'],
    [`pitches/${documentId}`, 'PUT'],
    [`pitches/${documentId}`, 'DELETE'],
    ['users', 'POST'],
    ['upload', 'POST'],
  ])
    expect([path, method, await status(`/api/${path}`, 'reader', method)]).toEqual([path, method, 403])
})

rule('authentication.8', 'a full-access token may do what needs a permission', async () => {
  for (const path of [
    'pitches',
    'users',
    'users/count',
    'users-permissions/roles',
    'users-permissions/permissions',
    'upload/files',
    'i18n/locales',
    'content-type-builder/components',
  ])
    expect([path, await status(`/api/${path}`, 'full')]).toEqual([path, 200])
  expect(all(await magazine.request('/api/pitches', { token: 'full' }), 'title')).toEqual(expected(versions('pitch'), 'title'))
})

rule('authentication.9', 'a custom token has its listed permissions', async () => {
  expect(await status('/api/tags', 'tags')).toBe(200)
  for (const path of ['articles', 'tags/x', 'setting', 'i18n/locales', 'users'])
    expect([path, await status(`/api/${path}`, 'tags')]).toEqual([path, 403])
})

rule('authentication.9', 'populate, filters and sort see no further', async () => {
  const { body } = await magazine.request('/api/tags?populate=*', { token: 'tags' })
  for (const tag of body.data) expect(tag).not.toHaveProperty('articles')
  for (const query of ['filters[articles][title]=a', 'sort=articles.title'])
    expect((await refusal(`/api/tags?${query}`, 'tags'))[2]).toBe('Invalid key articles')
  const full = (await magazine.request('/api/articles?populate=pitch&filters[pitch][stage]=accepted', { token: 'full' })).body.data
  expect(full.map(({ pitch }: { pitch: { title: string } }) => pitch.title).sort()).toEqual(
    expected(
      versions('pitch').filter(({ key }) => key === 'pitch-walls' || key === 'pitch-clocks'),
      'title',
    ).sort(),
  )
})

rule('authentication.10', 'find and findOne are two permissions', async () => {
  await addToken(magazine, 'list', { type: 'custom', actions: ['api::pitch.pitch.find'] })
  await addToken(magazine, 'one', {
    type: 'custom',
    actions: ['api::pitch.pitch.findOne', 'api::setting.setting.findOne', 'api::article.article.find'],
  })
  const { documentId } = (await magazine.request('/api/pitches', { token: 'list' })).body.data[0]
  expect(await status(`/api/pitches/${documentId}`, 'list')).toBe(403)
  expect(await status(`/api/pitches/${documentId}`, 'one')).toBe(200)
  expect(await status('/api/pitches', 'one')).toBe(403)
  expect(await status('/api/setting', 'one')).toBe(403)
  const { body } = await magazine.request('/api/articles?populate=pitch&filters[slug]=a-wall-without-mortar', { token: 'one' })
  expect(body.data[0]).not.toHaveProperty('pitch')
})

rule('authentication.11', 'a permission granted or taken away holds for the next request', async () => {
  const pitch = async () => {
    const { body } = await magazine.request('/api/articles?fields=slug&populate=pitch&filters[slug]=a-wall-without-mortar')
    return [await status('/api/pitches'), 'pitch' in body.data[0]]
  }
  expect(await pitch()).toEqual([403, false])
  await grant(magazine, 'public', 'api::pitch.pitch.find')
  expect(await pitch()).toEqual([200, true])
  await revoke(magazine, 'public', 'api::pitch.pitch.find')
  expect(await pitch()).toEqual([403, false])
})

rule('authentication.11', 'so does one that is moved from a role to another', async () => {
  await grant(magazine, 'authenticated', 'api::pitch.pitch.find')
  expect([await status('/api/pitches'), await status('/api/pitches', jwt(user))]).toEqual([403, 200])
  const [from, to] = [await roleId(magazine, 'authenticated'), await roleId(magazine, 'public')]
  const permission = "SELECT id FROM up_permissions WHERE action = 'api::pitch.pitch.find'"
  await magazine.sql(`UPDATE up_permissions_role_lnk SET role_id = ? WHERE role_id = ? AND permission_id IN (${permission})`, to, from)
  expect([await status('/api/pitches'), await status('/api/pitches', jwt(user))]).toEqual([200, 403])
  await revoke(magazine, 'public', 'api::pitch.pitch.find')
  expect(await status('/api/pitches')).toBe(403)
})

rule('authentication.11', 'so do changes of tokens', async () => {
  await addToken(magazine, 'brief', { type: 'full-access' })
  expect(await status('/api/pitches', 'brief')).toBe(200)
  await magazine.sql("UPDATE strapi_api_tokens SET expires_at = ? WHERE name = 'brief'", Date.now() - 1)
  expect(await refusal('/api/pitches', 'brief')).toEqual([401, 'UnauthorizedError', 'Token expired'])
  await magazine.sql("UPDATE strapi_api_tokens SET expires_at = NULL, type = 'read-only' WHERE name = 'brief'")
  expect([await status('/api/pitches', 'brief'), await status('/api/users/count', 'brief')]).toEqual([200, 403])
  await magazine.sql("DELETE FROM strapi_api_tokens WHERE name = 'brief'")
  expect(await refusal('/api/pitches', 'brief')).toEqual(unknown)
})

rule('authentication.11', 'so do changes of users', async () => {
  const moved = await addUser(magazine, 'moved', 'authenticated')
  expect(await status('/api/users/me', jwt(moved))).toBe(200)
  await magazine.sql('UPDATE up_users SET blocked = ? WHERE id = ?', 1, moved)
  expect(await refusal('/api/users/me', jwt(moved))).toEqual(refusedUser)
  await magazine.sql('UPDATE up_users SET blocked = ? WHERE id = ?', 0, moved)
  expect(await status('/api/users/me', jwt(moved))).toBe(200)
  await magazine.sql('UPDATE up_users_role_lnk SET role_id = ? WHERE user_id = ?', await roleId(magazine, 'public'), moved)
  expect(await status('/api/users/me', jwt(moved))).toBe(403)
  await magazine.sql('DELETE FROM up_users WHERE id = ?', moved)
  expect(await refusal('/api/tags', jwt(moved))).toEqual(refusedUser)
})
