// docs/spec/users-and-files.md: users, roles, files, locales and the model.
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect } from 'vitest'
import { rule } from '../support/rule.js'
import type { Served } from '../support/serve.js'
import { addToken, addUser, grant, jwt, roleId } from './callers.js'
import { expected, files, readProject, serve, type Version } from './magazine.js'

const uploads = join(dirname(fileURLToPath(import.meta.url)), '..', '..', 'examples', 'magazine', 'seed', 'uploads')

let magazine: Served
beforeAll(async () => {
  magazine = await serve('specification')
  await addToken(magazine, 'full', { type: 'full-access' })
  await addToken(magazine, 'users', {
    type: 'custom',
    actions: ['plugin::users-permissions.user.find', 'plugin::users-permissions.user.findOne'],
  })
})
afterAll(() => magazine.close())

const seededUsers = readProject('seed/access.json').users as readonly Version[]
const request = (path: string, token: string | undefined = 'full') => magazine.request(`/api/${path}`, token === 'nobody' ? {} : { token })
const body = async (path: string, token?: string) => (await request(path, token)).body
const refused = async (path: string, token?: string) => {
  const { status, body } = await request(path, token)
  return [status, body?.error?.name, body?.error?.message]
}

rule('users-and-files.1', 'users are a bare array without pages', async () => {
  const users = await body('users')
  expect(expected(users, 'username')).toEqual(expected(seededUsers, 'username'))
  for (const query of ['pagination[pageSize]=1', 'pagination[start]=1', 'page=2&pageSize=1'])
    expect([query, await body(`users?${query}`)]).toEqual([query, users])
  expect(await body('users?limit=1')).toEqual([users[0]])
  expect(await body('users?start=1')).toEqual([users[1]])
  expect(await body('users?start=1&limit=1')).toEqual([users[1]])
})

rule('users-and-files.1', 'they are filtered and sorted like documents', async () => {
  expect(expected(await body('users?filters[username][$startsWith]=jan'), 'username')).toEqual(['jan-harder'])
  expect(expected(await body('users?sort=username:desc'), 'username')).toEqual(['jan-harder', 'anna-fell'])
  expect(Object.keys((await body('users?fields=email'))[0])).toEqual(['id', 'documentId', 'email'])
})

rule('users-and-files.1', 'the count is a bare number', async () => {
  expect((await request('users/count')).text).toBe(String(seededUsers.length))
  expect((await request('users/count?filters[username]=anna-fell')).text).toBe('1')
})

rule('users-and-files.2', 'a row id returns one user, or 204', async () => {
  const [anna] = await body('users')
  expect(await body(`users/${anna.id}`)).toEqual(anna)
  for (const path of [
    'users/999',
    'users/abc',
    `users/${anna.documentId}`,
    `users/${anna.id}?filters[blocked]=true`,
    'users/0',
    'users/-1',
  ]) {
    const { status, text } = await request(path)
    expect([path, status, text]).toEqual([path, 204, ''])
  }
})

rule('users-and-files.3', 'a user has no secrets', async () => {
  const [anna] = await body('users')
  const moment = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  expect(anna).toEqual({
    id: expect.any(Number),
    documentId: expect.any(String),
    username: 'anna-fell',
    email: 'anna.fell@readers.example',
    provider: 'local',
    confirmed: true,
    blocked: false,
    createdAt: moment,
    updatedAt: moment,
    publishedAt: moment,
  })
  expect((await request('users?populate=*&fields=*')).text).not.toMatch(/\$2[aby]\$|password|[tT]oken/)
})

rule('users-and-files.3', 'secrets cannot be filtered, sorted or selected', async () => {
  for (const name of ['password', 'resetPasswordToken', 'confirmationToken']) {
    for (const query of [`filters[${name}][$notNull]=true`, `sort=${name}`, `fields=${name}`, `populate=${name}`])
      for (const path of ['users', 'users/1', 'users/count'])
        expect([query, await refused(`${path}?${query}`)]).toEqual([query, [400, 'ValidationError', `Invalid key ${name}`]])
  }
  expect((await request('users?_q=%242')).body).toEqual([])
})

rule('users-and-files.4', 'the role is visible to callers that may find roles', async () => {
  for (const user of await body('users?populate=role')) expect(user.role).toMatchObject({ name: 'Authenticated', type: 'authenticated' })
  for (const query of ['populate=role', 'populate=*', 'populate[role][fields]=name'])
    for (const user of await body(`users?${query}`, 'users')) expect(user).not.toHaveProperty('role')
})

rule('users-and-files.4', 'the users of a role are never populated below a user', async () => {
  for (const query of [
    'populate[role][populate]=*',
    'populate[role][populate]=users',
    'populate=role.users',
    'populate[role][populate][users]=true',
  ])
    for (const user of await body(`users?${query}`)) {
      expect(user.role).toMatchObject({ type: 'authenticated' })
      expect(user.role).not.toHaveProperty('users')
    }
})

rule('users-and-files.4', 'other callers cannot filter or sort by it', async () => {
  expect(expected(await body('users?filters[role][type]=authenticated&sort=username'), 'username')).toEqual(['anna-fell', 'jan-harder'])
  for (const query of ['filters[role][type]=authenticated', 'sort=role.name'])
    expect(await refused(`users?${query}`, 'users')).toEqual([400, 'ValidationError', 'Invalid key role'])
})

rule('users-and-files.5', 'me is the user of the token', async () => {
  const id = await addUser(magazine, 'myself', 'authenticated')
  const me = await body('users/me', jwt(id))
  expect([me.id, me.username]).toEqual([id, 'myself'])
  expect(await body('users/me?fields=email', jwt(id))).toEqual({ id, documentId: null, email: 'myself@users.example' })
})

rule('users-and-files.5', 'other callers cannot read me', async () => {
  expect(await refused('users/me')).toEqual([401, 'UnauthorizedError', 'Unauthorized'])
  expect(await refused('users/me', 'users')).toEqual([403, 'ForbiddenError', 'Forbidden'])
  expect(await refused('users/me', 'nobody')).toEqual([403, 'ForbiddenError', 'Forbidden'])
})

rule('users-and-files.6', 'roles have the number of their users', async () => {
  const { roles } = await body('users-permissions/roles')
  const count = async (type: string) => {
    const id = await roleId(magazine, type)
    return (await magazine.sql('SELECT count(*) AS count FROM up_users_role_lnk WHERE role_id = ?', id))[0]!.count
  }
  expect(expected(roles, 'type').sort()).toEqual(['authenticated', 'public'])
  for (const role of roles) expect([role.type, role.nb_users]).toEqual([role.type, await count(role.type)])
  expect(roles[0]).toMatchObject({ id: expect.any(Number), name: expect.any(String), description: expect.any(String) })
})

rule('users-and-files.6', 'a role has the tree of its permissions', async () => {
  const id = await roleId(magazine, 'public')
  await grant(magazine, 'public', 'api::pitch.pitch.findOne')
  const { role } = await body(`users-permissions/roles/${id}`)
  expect(role).toMatchObject({ id, type: 'public' })
  const controllers = role.permissions['api::pitch'].controllers.pitch
  expect(Object.keys(controllers).sort()).toEqual(['create', 'delete', 'find', 'findOne', 'update'])
  expect([controllers.find.enabled, controllers.findOne.enabled]).toEqual([false, true])
  expect(role.permissions['api::tag'].controllers.tag.find.enabled).toBe(true)
  expect(role.permissions['plugin::users-permissions'].controllers.user.find.enabled).toBe(false)
  expect((await request('users-permissions/roles/999')).status).toBe(404)
})

rule('users-and-files.6', 'the tree of all permissions enables none', async () => {
  const { permissions } = await body('users-permissions/permissions')
  expect(Object.keys(permissions)).toEqual(
    expect.arrayContaining(['api::article', 'api::setting', 'plugin::upload', 'plugin::users-permissions']),
  )
  expect(JSON.stringify(permissions)).not.toContain('"enabled":true')
  expect(Object.keys(permissions['api::setting'].controllers.setting).sort()).toEqual(['delete', 'find', 'update'])
})

rule('users-and-files.7', 'files are a bare array without pages', async () => {
  const all = await body('upload/files', 'nobody')
  expect(expected(all, 'url')).toEqual(expected(files(), 'url'))
  for (const [index, { name, width, height, mime, size, formats }] of files().entries())
    expect(all[index]).toMatchObject({ name, width: width ?? null, height: height ?? null, mime, size, formats: formats ?? null })
  expect(await body('upload/files?pagination[pageSize]=1', 'nobody')).toEqual(all)
  expect(await body('upload/files?start=2&limit=3', 'nobody')).toEqual(all.slice(2, 5))
})

rule('users-and-files.7', 'they are filtered and sorted', async () => {
  const pictures = files().filter(({ mime }) => mime === 'image/png')
  expect(expected(await body('upload/files?filters[mime]=image/png'), 'url')).toEqual(expected(pictures, 'url'))
  const sizes = expected(files(), 'size') as number[]
  expect(expected(await body('upload/files?sort=size:desc&fields=size'), 'size')).toEqual([...sizes].sort((a, b) => b - a))
  for (const query of ['filters[folderPath]=/', 'sort=nope', 'fields=folder'])
    expect((await request(`upload/files?${query}`)).status).toBe(400)
})

rule('users-and-files.7', 'a row id returns one file, or 404', async () => {
  const [first] = await body('upload/files')
  expect(await body(`upload/files/${first.id}`)).toEqual(first)
  for (const id of ['999', 'abc', first.documentId])
    expect(await refused(`upload/files/${id}`)).toEqual([404, 'NotFoundError', 'file.notFound'])
})

rule('users-and-files.8', 'uploads are served with their type, byte by byte', async () => {
  for (const { url, mime, hash, ext } of files()) {
    const response = await fetch(magazine.origin + url)
    expect([url, response.status]).toEqual([url, 200])
    expect(response.headers.get('content-type')).toContain(mime)
    expect(Buffer.from(await response.arrayBuffer()).equals(readFileSync(join(uploads, `${hash}${ext}`)))).toBe(true)
  }
  const [{ formats }] = files() as unknown as [{ formats: Record<string, { url: string }> }]
  for (const { url } of Object.values(formats)) expect((await magazine.request(url)).status).toBe(200)
})

rule('users-and-files.8', 'non-upload paths return 404', async () => {
  for (const path of [
    'nothing.jpg',
    '',
    '%2e%2e/octavo.config.json',
    '..%2f..%2foctavo.config.json',
    '%2e%2e%2f%2e%2e%2f.tmp%2fdata.db',
    '.env',
    '%00',
  ]) {
    const { status, text } = await magazine.request(`/uploads/${path}`)
    expect([path, status]).toEqual([path, expect.toSatisfy((status: number) => status === 404 || status === 400 || status === 403)])
    expect(text).not.toContain('contract')
  }
})

rule('users-and-files.8', 'a file never runs in a browser', async () => {
  const drawing = files().find(({ ext }) => ext === '.svg')!
  const policy = (await magazine.request(drawing.url)).headers.get('content-security-policy')
  expect(policy).toContain("default-src 'none'")
  expect(policy).toContain('sandbox')
  expect(policy).not.toContain('script-src')
})

rule('users-and-files.9', 'locales are a bare array, one of them the default', async () => {
  const locales = await body('i18n/locales', 'nobody')
  expect(locales.map(({ code, name, isDefault }: Version) => ({ code, name, isDefault }))).toEqual([
    { code: 'en', name: 'English (en)', isDefault: true },
    { code: 'de', name: 'German (de)', isDefault: false },
  ])
  expect(locales[0]).toMatchObject({ id: expect.any(Number), documentId: expect.any(String), createdAt: expect.any(String) })
})

rule('users-and-files.10', 'the model has the form of its schema files', async () => {
  const { data } = await body('content-type-builder/content-types')
  const uids = expected(data, 'uid')
  for (const name of ['article', 'author', 'homepage', 'setting', 'pitch']) expect(uids).toContain(`api::${name}.${name}`)
  const schema = readProject('src/api/event/content-types/event/schema.json')
  const { data: event } = await body('content-type-builder/content-types/api::event.event')
  expect(event).toMatchObject({
    uid: 'api::event.event',
    apiID: 'event',
    schema: { kind: 'collectionType', ...schema.info, draftAndPublish: false },
  })
  expect(Object.keys(event.schema.attributes)).toEqual(Object.keys(schema.attributes))
  for (const name of ['kind', 'seats', 'venue', 'hosts', 'streamPassword'])
    expect(event.schema.attributes[name]).toMatchObject(schema.attributes[name])
})

rule('users-and-files.10', 'components too; unknown names are 404', async () => {
  const { data } = await body('content-type-builder/components')
  expect(expected(data, 'uid')).toEqual(expect.arrayContaining(['shared.seo', 'block.quote', 'print.ink']))
  const schema = readProject('src/components/shared/link.json')
  const { data: link } = await body('content-type-builder/components/shared.link')
  expect(link).toMatchObject({ uid: 'shared.link', category: 'shared', schema: { displayName: 'Link', attributes: schema.attributes } })
  for (const path of ['content-types/api::nope.nope', 'components/nope.nope', 'content-types/article'])
    expect((await request(`content-type-builder/${path}`)).status).toBe(404)
  expect((await request('content-type-builder/content-types', 'nobody')).status).toBe(403)
})
