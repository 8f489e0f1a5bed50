// Projects as Strapi's loader reads them: extensions that have only their changes.
import { afterAll, describe, expect } from 'vitest'
import { rule } from '../support/rule.js'
import { type Served, serveProject } from '../support/serve.js'
import { addToken, secrets } from './callers.js'
import { access, contentType } from './library.js'

const all: Served[] = []
afterAll(() => Promise.all(all.map(({ close }) => close())))

const serve = async (files: Readonly<Record<string, unknown>>) => {
  const served = await serveProject(files, { environment: secrets })
  all.push(served)
  await addToken(served, 'full', { type: 'full-access' })
  const send = (method: string, path: string, body?: object) =>
    served.request(path, {
      ...{ method, token: 'full' },
      ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    })
  const warnings = () => served.log.map((line) => JSON.parse(line)).flatMap(({ level, msg }) => (level === 40 ? [msg as string] : []))
  return { ...served, send, warnings }
}

const extension = (plugin: string, type: string, schema: object) => ({
  [`src/extensions/${plugin}/content-types/${type}/schema.json`]: schema,
})
const user = (attributes: object) => extension('users-permissions', 'user', { attributes })

const account = { username: 'anna', email: 'anna@users.example', password: 'secret of anna', role: 1 }
const signIn = { identifier: account.email, password: account.password }

describe('paths', () => {
  rule('projects.19', 'a content-type comes first at a path that the service has as well', async () => {
    const name = { name: { type: 'string' } }
    const { request, send, warnings, service, sql } = await serve({
      ...contentType('user', name),
      ...contentType('language', name, { plural: 'i18n' }),
      ...contentType('upload', name, { kind: 'singleType', plural: 'uploads-of-us' }),
      ...contentType('authz', name, { plural: 'auth' }),
      'octavo.config.json': { types: { 'api::authz.authz': { routes: { except: ['findOne'] } } } },
      ...access(['api::language.language.find', 'plugin::users-permissions.user.find', 'plugin::users-permissions.user.me']),
    })
    const own = service.documents('plugin::users-permissions.user')
    await sql("insert into up_users (document_id, username, email) values ('abc', 'anna', 'anna@users.example')")
    expect(await own.findMany()).toHaveLength(1)
    // Public attributes of accounts are not at the path of the type.
    expect(await request('/api/users')).toMatchObject({ status: 403 })
    expect(await request('/api/Users/1')).toMatchObject({ status: 403 })
    const { status, body } = await send('POST', '/api/users', { data: { name: 'berta' } })
    expect([status, body.data.name]).toEqual([201, 'berta'])
    const at = `/api/users/${body.data.documentId}`
    expect((await send('GET', '/api/users')).body).toMatchObject({ data: [{ name: 'berta' }], meta: { pagination: { total: 1 } } })
    expect(await send('GET', at)).toMatchObject({ body: { data: { name: 'berta' } } })
    expect(await send('PUT', at, { data: { name: 'carla' } })).toMatchObject({ body: { data: { name: 'carla' } } })
    expect((await send('OPTIONS', at)).headers.get('allow')).toContain('PUT')
    for (const path of ['/api/users/me', '/api/users/count', '/api/users/1', '/api/auth/email-confirmation', '/api/i18n/locales'])
      expect([path, await send('GET', path)]).toMatchObject([path, { status: 404, body: { error: { name: 'NotFoundError' } } }])
    expect(await send('DELETE', '/api/users/1')).toMatchObject({ status: 204 })
    expect(await own.findMany()).toHaveLength(1)
    expect(await send('DELETE', at)).toMatchObject({ status: 204 })
    expect(await request('/api/i18n')).toMatchObject({ status: 200, body: { data: [] } })
    expect(await send('PUT', '/api/upload', { data: { name: 'one' } })).toMatchObject({ body: { data: { name: 'one' } } })
    expect(await send('POST', '/api/auth/local', signIn)).toMatchObject({
      status: 400,
      body: { error: { message: 'Invalid identifier or password' } },
    })
    const form = new FormData()
    form.append('files', new Blob(['text'], { type: 'text/plain' }), 'a.txt')
    expect(await request('/api/upload', { method: 'POST', token: 'full', body: form })).toMatchObject({
      status: 201,
      body: [{ name: 'a.txt' }],
    })
    const description = (await send('GET', '/api/openapi.json')).body
    expect(description.paths['/users'].get.tags).toEqual(['user'])
    expect(Object.keys(description.paths)).not.toContain('/users/me')
    expect(warnings()).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^api::user\.user has the path of .+ Not reached: GET \/api\/users, GET \/api\/users\/count, /),
        expect.stringMatching(/^api::upload\.upload |^api::language\.language .+ Not reached: GET \/api\/i18n\/locales$/),
      ]),
    )
  })
})

describe('extensions', () => {
  rule('projects.17', 'an extension is merged into the type of the plugin key by key', async () => {
    const { request, send, warnings } = await serve({
      ...extension('users-permissions', 'role', { options: { draftAndPublish: false } }),
      ...extension('upload', 'file', { pluginOptions: { search: { include: true } } }),
      ...extension('i18n', 'locale', { info: { displayName: 'Language' } }),
      ...extension('another-plugin', 'thing', { attributes: { color: { type: 'string' } } }),
      ...contentType('menu', { title: { type: 'string' } }),
    })
    expect(await send('POST', '/api/users', account)).toMatchObject({ status: 201, body: { username: 'anna' } })
    expect(await send('POST', '/api/auth/local', signIn)).toMatchObject({ status: 200, body: { user: { email: account.email } } })
    expect(await request('/api/upload/files', { token: 'full' })).toMatchObject({ status: 200 })
    expect(await request('/api/i18n/locales', { token: 'full' })).toMatchObject({ status: 200, body: [{ code: 'en' }] })
    expect(warnings().filter((text) => text.includes('schema.json'))).toEqual([])
  })

  rule('projects.17', 'attributes missing in it stay; those of users are in no response', async () => {
    const { request, send, warnings } = await serve({
      ...user({ color: { type: 'string' }, email: { type: 'email', required: true } }),
      ...extension('users-permissions', 'role', { attributes: { name: { type: 'string' } } }),
      ...extension('users-permissions', 'permission', { attributes: {} }),
      ...extension('i18n', 'locale', { attributes: { name: { type: 'string' } } }),
      ...extension('upload', 'file', { attributes: { alternativeText: { type: 'string' } } }),
      ...contentType('menu', {
        title: { type: 'string' },
        owner: { type: 'relation', relation: 'oneToOne', target: 'plugin::users-permissions.user' },
      }),
    })
    const { body: created } = await send('POST', '/api/users', { ...account, color: 'red' })
    expect(created).toMatchObject({ email: account.email, color: 'red' })
    expect(created).not.toHaveProperty('username')
    const { status, body } = await send('POST', '/api/auth/local', signIn)
    expect([status, Object.keys(body.user).includes('username')]).toEqual([200, false])
    expect(await send('GET', '/api/users?filters[username]=anna')).toMatchObject({ status: 400 })
    expect(await send('POST', '/api/menus?populate=*', { data: { title: 'a', owner: created.id } })).toMatchObject({
      body: { data: { owner: { color: 'red' } } },
    })
    const form = new FormData()
    form.append('files', new Blob(['text'], { type: 'text/plain' }), 'a.txt')
    const uploaded = await request('/api/upload', { method: 'POST', token: 'full', body: form })
    expect(uploaded).toMatchObject({ status: 201, body: [{ name: 'a.txt', url: expect.stringContaining('/uploads/') }] })
    expect(await send('GET', '/api/users-permissions/roles')).toMatchObject({
      body: { roles: [{ type: 'authenticated', nb_users: 1 }, { type: 'public' }] },
    })
    expect(await send('GET', '/api/i18n/locales')).toMatchObject({ body: [{ code: 'en' }] })
    expect(await send('PUT', `/api/users/${created.id}`, { color: 'blue' })).toMatchObject({ status: 200, body: { color: 'blue' } })
    expect(warnings()).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^src\/extensions\/users-permissions.+user.+ lacks username, provider, password, .+ role\./),
      ]),
    )
  })

  rule('projects.17', 'drafts and locales that a file gives to users have no effect, and the start says so', async () => {
    const { send, sql, warnings } = await serve({
      ...extension('users-permissions', 'user', {
        options: { draftAndPublish: true },
        pluginOptions: { i18n: { localized: true } },
      }),
      ...contentType('menu', { owner: { type: 'relation', relation: 'oneToOne', target: 'plugin::users-permissions.user' } }),
    })
    const { id } = (await send('POST', '/api/users', account)).body
    const names = async (path: string) => (await send('GET', path)).body.map(({ username }: { username: string }) => username)
    expect(await names('/api/users')).toEqual(['anna'])
    // As Strapi stores users of such a type.
    await sql("update up_users set published_at = null, locale = 'de'")
    expect(await names('/api/users')).toEqual(['anna'])
    expect(await send('POST', '/api/menus?populate=*', { data: { owner: id } })).toMatchObject({
      body: { data: { owner: { username: 'anna' } } },
    })
    expect(await send('PUT', `/api/users/${id}`, { username: 'anne' })).toMatchObject({ status: 200, body: { id, username: 'anne' } })
    expect(warnings().filter((text) => text.includes('has no effect'))).toEqual([
      expect.stringContaining('user/schema.json: options.draftAndPublish has no effect'),
      expect.stringContaining('user/schema.json: pluginOptions.i18n.localized has no effect'),
    ])
  })

  rule('projects.24', 'an other side that only code adds to a type of a plugin does not end the start', async () => {
    const owner = { type: 'relation', relation: 'manyToOne', target: 'plugin::users-permissions.user', inversedBy: 'menus' }
    const { send, warnings, sql } = await serve({
      'package.json': { dependencies: { '@strapi/strapi': '5.54.0' } },
      ...contentType('menu', { owner }),
    })
    const { id } = (await send('POST', '/api/users', account)).body
    expect(await send('POST', '/api/menus?populate=*', { data: { owner: id } })).toMatchObject({
      body: { data: { owner: { username: 'anna' } } },
    })
    expect(await sql('select menu_ord from menus_owner_lnk')).toHaveLength(1)
    expect(warnings()).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/attributes\.owner\.inversedBy plugin::users-permissions\.user has no attribute "menus"\. .+strapi-server/),
      ]),
    )
  })

  rule('projects.17', 'an attribute of another kind in place of one that accounts need ends the start', async () => {
    await expect(serve(user({ role: { type: 'string' } }))).rejects.toThrow(
      /user\/schema\.json: attributes\.role has to be a relation to plugin::users-permissions\.role/,
    )
  })
})

rule('projects.25', 'schemas that are code are named by the start', async () => {
  const { warnings } = await serve({
    ...contentType('menu', { title: { type: 'string' } }),
    'src/api/menu/content-types/menu/lifecycles.js': '',
    'src/api/menu/content-types/menu/schema.d.ts': '',
    'src/api/dish/content-types/dish/schema.ts': 'export default {}',
    'src/components/shared/seo.js': 'module.exports = {}',
    'src/extensions/users-permissions/content-types/user/schema.js': 'module.exports = {}',
  })
  expect(warnings().filter((text) => text.includes('is not read'))).toEqual([
    'src/api/dish/content-types/dish/schema.ts is not read, and its content-type is not there: write it as schema.json',
    'src/extensions/users-permissions/content-types/user/schema.js is not read, and the type is as its plugin has it: write it as schema.json',
    'src/components/shared/seo.js is not read, and its component is not there: write it as seo.json',
  ])
})
