// Users with additional attributes of the project: scalars, relations, components and media are read and written
// through /api/users as recorded from Strapi 5.54.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { addToken, addUser, grant, jwt, secrets } from '../spec/callers.js'
import { access, component, contentType, seeded } from '../spec/library.js'
import { rule } from '../support/rule.js'
import type { Served, TestResponse } from '../support/serve.js'
import { serveProject } from '../support/serve.js'
import { post } from './golden.js'

const fixed = { configurable: false }
const hidden = { ...fixed, private: true, searchable: false }
const user = {
  kind: 'collectionType',
  collectionName: 'up_users',
  info: { name: 'user', description: '', singularName: 'user', pluralName: 'users', displayName: 'User' },
  options: { draftAndPublish: false },
  attributes: {
    username: { type: 'string', minLength: 3, unique: true, required: true, ...fixed },
    email: { type: 'email', minLength: 6, required: true, ...fixed },
    provider: { type: 'string', ...fixed },
    password: { type: 'password', minLength: 6, ...hidden },
    resetPasswordToken: { type: 'string', ...hidden },
    confirmationToken: { type: 'string', ...hidden },
    confirmed: { type: 'boolean', default: false, ...fixed },
    blocked: { type: 'boolean', default: false, ...fixed },
    role: { type: 'relation', relation: 'manyToOne', target: 'plugin::users-permissions.role', inversedBy: 'users', ...fixed },
    nickname: { type: 'string', maxLength: 20 },
    badge: { type: 'string', unique: true },
    age: { type: 'integer', min: 1 },
    birthday: { type: 'date' },
    secretNote: { type: 'string', private: true },
    favourites: { type: 'relation', relation: 'manyToMany', target: 'api::tag.tag', inversedBy: 'fans' },
    home: { type: 'relation', relation: 'manyToOne', target: 'api::town.town' },
    avatar: { type: 'media', multiple: false },
    gallery: { type: 'media', multiple: true },
    address: { type: 'component', repeatable: false, component: 'user.address' },
    links: { type: 'component', repeatable: true, component: 'user.link' },
  },
}

const named = (name: string) => ({ key: name, documentId: name, locales: { '-': { published: { name } } } })

let served: Served
let file: number
beforeAll(async () => {
  served = await serveProject(
    {
      'src/extensions/users-permissions/content-types/user/schema.json': user,
      ...contentType('tag', {
        name: { type: 'string' },
        fans: { type: 'relation', relation: 'manyToMany', target: 'plugin::users-permissions.user', mappedBy: 'favourites' },
      }),
      ...contentType('town', { name: { type: 'string' } }, { draftAndPublish: true }),
      ...component('user', 'address', {
        street: { type: 'string', required: true },
        zip: { type: 'string', maxLength: 5 },
        doorCode: { type: 'string', private: true },
      }),
      ...component('user', 'link', {
        url: { type: 'string' },
        tag: { type: 'relation', relation: 'oneToOne', target: 'api::tag.tag' },
      }),
      ...seeded('tag', [named('red'), named('blue')]),
      ...seeded('town', [named('delft'), { key: 'draft', documentId: 'draft', locales: { '-': { draft: { name: 'draft' } } } }]),
      ...access([]),
    },
    {
      config: {
        api: { rest: { contract: 'strapi' } },
        auth: { register: { allowedFields: ['nickname', 'favourites', 'address', 'avatar', 'role', 'confirmed', 'badge'] } },
        limits: { authRateLimit: 0 },
      },
      environment: { ...secrets },
    },
  )
  await addToken(served, 'full', { type: 'full-access' })
  for (const name of ['me', 'find', 'findOne', 'update']) await grant(served, 'authenticated', `plugin::users-permissions.user.${name}`)
  await grant(served, 'authenticated', 'api::tag.tag.find')
  for (const name of ['callback', 'register']) await grant(served, 'public', `plugin::users-permissions.auth.${name}`)
  const form = new FormData()
  form.append('files', new Blob(['text']), 'text.txt')
  file = (await served.request('/api/upload', { method: 'POST', token: 'full', body: form })).body[0].id
})
afterAll(() => served.close())

let made = 0
const create = (more: object): Promise<TestResponse> => {
  const name = `user${++made}`
  return post(served, '/api/users', { username: name, email: `${name}@users.example`, password: 'secret-1', role: 1, ...more }, 'full')
}
const headers = { 'content-type': 'application/json' }
const put = (id: number, body: object, token = 'full'): Promise<TestResponse> =>
  served.request(`/api/users/${id}`, { method: 'PUT', token, headers, body: JSON.stringify(body) })
const read = async (id: number, query = 'populate=*') => (await served.request(`/api/users/${id}?${query}`, { token: 'full' })).body
const newUser = async (more: object = {}): Promise<number> => {
  const { status, body } = await create(more)
  expect([status, body.error?.message]).toEqual([201, undefined])
  return body.id
}
const everything = () => ({
  nickname: 'nick',
  age: '12',
  birthday: '2000-01-02',
  secretNote: 's',
  favourites: ['red', 'blue'],
  home: 'delft',
  avatar: file,
  gallery: [file],
  address: { street: 'S', zip: '1', doorCode: 'd' },
  links: [{ url: 'a', tag: 'red' }, { url: 'b' }],
})

describe('writing', () => {
  rule('accounts.19', 'a new user gets all that the body says; unknown names are ignored', async () => {
    const { status, body } = await create({ ...everything(), nope: 1 })
    expect([status, body.nickname, body.age, body.birthday]).toEqual([201, 'nick', 12, '2000-01-02'])
    for (const name of ['favourites', 'home', 'address', 'secretNote', 'nope']) expect(body).not.toHaveProperty(name)
    const whole = await read(body.id)
    expect(whole.favourites.map(({ name }: { name: string }) => name)).toEqual(['red', 'blue'])
    expect([whole.home.name, whole.avatar.id, whole.gallery.map(({ id }: { id: number }) => id)]).toEqual(['delft', file, [file]])
    expect(whole.address).toEqual({ id: expect.any(Number), street: 'S', zip: '1' })
    expect(whole.links.map(({ url }: { url: string }) => url)).toEqual(['a', 'b'])
    expect(
      (await read(body.id, 'populate[links][populate]=tag')).links.map((one: { tag: { name: string } | null }) => one.tag?.name),
    ).toEqual(['red', undefined])
    expect(await served.sql('select secret_note from up_users where id = ?', body.id)).toEqual([{ secret_note: 's' }])
  })

  rule('accounts.19', 'relations take every form that documents take', async () => {
    const id = await newUser({ favourites: { connect: ['red'] } })
    const names = async () => (await read(id, 'populate=favourites')).favourites.map(({ name }: { name: string }) => name)
    const [{ id: blue } = { id: 0 }] = await served.sql("select id from tags where document_id = 'blue'")
    for (const [body, wanted] of [
      [{ favourites: [blue] }, ['blue']],
      [{ favourites: { connect: [{ documentId: 'red' }] } }, ['blue', 'red']],
      [{ favourites: { disconnect: ['blue'] } }, ['red']],
      [{ nickname: 'other' }, ['red']],
      [{ favourites: {} }, ['red']],
      [{ favourites: { set: [{ id: blue }, { documentId: 'red' }] } }, ['blue', 'red']],
      [{ favourites: [] }, []],
    ] as const) {
      expect((await put(id, body)).status).toBe(200)
      expect([body, await names()]).toEqual([body, wanted])
    }
    await put(id, { home: 'delft' })
    expect((await read(id, 'populate=home')).home.name).toBe('delft')
    await put(id, { home: null })
    expect((await read(id, 'populate=home')).home).toBeNull()
  })

  test('a component without id is a new one, with its id it is changed in part, another’s is refused', async () => {
    const [mine, others] = [await newUser(everything()), await newUser(everything())]
    const [{ address }, foreign] = [await read(mine), (await read(others)).address]
    expect((await put(mine, { address: { id: address.id, zip: '2' } })).status).toBe(200)
    expect((await read(mine)).address).toEqual({ id: address.id, street: 'S', zip: '2' })
    const refused = await put(mine, { address: { id: foreign.id, zip: '3' } })
    expect([refused.status, refused.body.error.message]).toEqual([
      400,
      'Some of the provided components in address are not related to the entity',
    ])
    expect((await read(others)).address).toEqual(foreign)
    await put(mine, { address: { street: 'T' } })
    expect((await read(mine)).address).toMatchObject({ street: 'T', zip: null })
    await put(mine, { address: null })
    expect((await read(mine)).address).toBeNull()
  })

  rule('accounts.19', 'errors have details on a change, and none on creation', async () => {
    const id = await newUser()
    const cases: readonly (readonly [object, string, boolean?])[] = [
      [{ nickname: 'x'.repeat(21) }, 'nickname must be at most 20 characters'],
      [{ nickname: 5 }, 'nickname must be a `string` type, but the final value was: `5`.'],
      [{ age: 0 }, 'age must be greater than or equal to 1'],
      [{ age: 'abc' }, 'age must be a `number` type, but the final value was: `NaN` (cast from the value `"abc"`).'],
      [{ address: { street: 'a', zip: '1234567' } }, 'address.zip must be at most 5 characters'],
      [{ links: { url: 'x' } }, 'links must be a `array` type, but the final value was: `{\n  "url": "\\"x\\""\n}`.'],
      [{ username: 'ab', age: 0, nickname: 5 }, '3 errors occurred'],
      [{ favourites: [9999] }, '1 relation(s) of type api::tag.tag associated with this entity do not exist', false],
      [{ home: 'nope' }, 'Document with id "nope", locale "null" not found', false],
      [{ avatar: 9999 }, '1 relation(s) of type plugin::upload.file associated with this entity do not exist', false],
    ]
    const before = await served.sql('select count(*) as users from up_users')
    for (const [body, message, detailed = true] of cases) {
      const changed = await put(id, body)
      expect([changed.status, changed.body.error.name, changed.body.error.message]).toEqual([400, 'ValidationError', message])
      if (detailed) expect(changed.body.error.details.errors.length).toBeGreaterThan(0)
      const created = await create(body)
      const { name, message: says, details } = created.body.error
      expect([created.status, name, says, details]).toEqual([400, 'ApplicationError', message, {}])
    }
    expect(await served.sql('select count(*) as users from up_users')).toEqual(before)
  })

  rule(
    'accounts.19',
    'targets that do not exist, roles too, are an error of the body as a whole, which shows it as it would be stored',
    async () => {
      const id = await newUser()
      const cases: readonly (readonly [object, object, string])[] = [
        [{ nickname: 'x', role: 9999 }, { nickname: 'x', role: { set: [{ id: 9999 }] } }, 'plugin::users-permissions.role'],
        [{ role: { connect: [{ id: 9999 }] } }, { role: { connect: [{ id: 9999 }] } }, 'plugin::users-permissions.role'],
        [
          { role: { set: 9999 }, avatar: 9999 },
          { role: { set: [{ id: 9999 }] }, avatar: { set: [{ id: 9999 }] } },
          'plugin::users-permissions.role',
        ],
        [{ favourites: [9999] }, { favourites: { set: [{ id: 9999 }] } }, 'api::tag.tag'],
      ]
      for (const [body, value, uid] of cases) {
        const { status, body: refusal } = await put(id, body)
        const message = `1 relation(s) of type ${uid} associated with this entity do not exist`
        const publishedAt = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/)
        expect([status, refusal.error.message]).toEqual([400, message])
        expect(refusal.error.details).toEqual({
          errors: [{ path: [], message, name: 'ValidationError', value: { ...value, publishedAt } }],
        })
      }
    },
  )

  test('unique attributes are checked like name and address', async () => {
    const id = await newUser({ badge: 'one' })
    const other = await newUser({ badge: 'two' })
    expect((await create({ badge: 'one' })).body.error.message).toBe('This attribute must be unique')
    expect((await put(other, { badge: 'one' })).body.error.message).toBe('This attribute must be unique')
    expect((await put(id, { badge: 'one' })).status).toBe(200)
  })

  rule('accounts.19', 'a change publishes the user again, and may set or remove the provider', async () => {
    const id = await newUser()
    for (const provider of ['github', '', null]) {
      const before = await read(id)
      const { status, body } = await put(id, { provider })
      expect([status, body.provider, body.publishedAt]).toEqual([200, provider, body.updatedAt])
      expect(Date.parse(body.publishedAt)).toBeGreaterThanOrEqual(Date.parse(before.updatedAt))
    }
    const { status, body } = await put(id, { provider: 7 })
    expect([status, body.error.message]).toEqual([400, 'provider must be a `string` type, but the final value was: `7`.'])
  })

  test('unknown attributes are ignored', async () => {
    const id = await newUser()
    const before = await read(id)
    const body = {
      id: 500,
      documentId: 'x',
      createdAt: '2020-01-01T00:00:00Z',
      resetPasswordToken: 't',
      confirmationToken: 't',
      createdBy: 1,
    }
    expect((await put(id, body)).status).toBe(200)
    const moments = { updatedAt: null, publishedAt: null }
    expect({ ...(await read(id)), ...moments }).toEqual({ ...before, ...moments })
    expect(await served.sql('select reset_password_token as reset, confirmation_token as confirm from up_users where id = ?', id)).toEqual([
      { reset: null, confirm: null },
    ])
  })

  test('a body that is nested without end is refused', async () => {
    const id = await newUser()
    const deep = `{"address":${'{"a":'.repeat(3000)}1${'}'.repeat(3000)}}`
    expect((await served.request(`/api/users/${id}`, { method: 'PUT', token: 'full', headers, body: deep })).status).toBe(400)
  })

  rule('accounts.20', 'removing a user removes all that hung on it, and nothing of others', async () => {
    const kept = await newUser(everything())
    const components = ['components_user_addresss', 'components_user_links', 'up_users_cmps']
    const tables = [...components, 'files_related_mph', 'up_users_favourites_lnk', 'up_users_home_lnk']
    const count = () => Promise.all(tables.map((table) => served.sql(`select count(*) as count from ${table}`)))
    const [before, whole] = [await count(), await read(kept)]
    const gone = await newUser(everything())
    expect(await count()).not.toEqual(before)
    expect((await served.request(`/api/users/${gone}`, { method: 'DELETE', token: 'full' })).status).toBe(200)
    expect([await count(), await read(kept)]).toEqual([before, whole])
  })
})

describe('signing up', () => {
  const register = (more: object) => {
    const name = `newcomer${++made}`
    return post(served, '/api/auth/local/register', { username: name, email: `${name}@users.example`, password: 'secret-1', ...more })
  }

  rule('accounts.4', 'the attributes that the configuration names are taken, others are refused', async () => {
    const { status, body } = await register({ nickname: 'N', favourites: ['red'], address: { street: 'x' }, avatar: file })
    expect([status, body.user.nickname]).toEqual([200, 'N'])
    const whole = await read(body.user.id)
    expect([whole.favourites[0].name, whole.address.street, whole.avatar.id]).toEqual(['red', 'x', file])
    const refused = await register({ nickname: 'N', age: 3, home: 'delft' })
    expect([refused.status, refused.body.error.message]).toEqual([400, 'Invalid parameters: age, home'])
    expect((await register({ nickname: 'N'.repeat(21) })).body.error).toMatchObject({
      message: 'nickname must be at most 20 characters',
      details: { errors: [{ path: ['nickname'], name: 'ValidationError', value: 'N'.repeat(21) }] },
    })
  })

  rule('accounts.4', 'S049 role, confirmation and the like cannot be chosen, even where the configuration names them', async () => {
    const { body } = await register({ role: 2, confirmed: false })
    const whole = await read(body.user.id)
    expect([whole.role.type, whole.confirmed]).toEqual(['authenticated', true])
    for (const name of ['provider', 'blocked', 'resetPasswordToken', 'confirmationToken', 'id', 'documentId', 'createdAt', '__proto__x'])
      expect((await register({ [name]: 'x' })).body.error.message).toBe(`Invalid parameters: ${name}`)
  })
})

describe('reading', () => {
  let id: number
  let token: string
  beforeAll(async () => {
    id = await addUser(served, 'reader', 'authenticated')
    token = jwt(id)
    await put(id, { ...everything(), favourites: ['red'] })
  })
  const request = async (path: string, as = 'full') => served.request(`/api/${path}`, { token: as })

  test('users are filtered by their additional attributes', async () => {
    for (const [filter, there] of [
      ['filters[favourites][name]=red', true],
      ['filters[favourites][name]=nope', false],
      ['filters[home][name]=delft', true],
      ['filters[address][street]=S', true],
      ['filters[links][tag][name]=red', true],
      ['filters[avatar][name]=text.txt', true],
      ['filters[birthday]=2000-01-02&filters[age][$gt]=11', true],
    ] as const) {
      const { status, body } = await request(`users?${filter}&filters[username]=reader`)
      expect([filter, status, body.length]).toEqual([filter, 200, there ? 1 : 0])
      expect([filter, (await request(`users/count?${filter}&filters[username]=reader`)).body]).toEqual([filter, there ? 1 : 0])
    }
  })

  test('private attributes stay private, in components too', async () => {
    for (const [path, key] of [
      ['address.doorCode', 'doorCode'],
      ['secretNote', 'secretNote'],
    ] as const) {
      const name = path
        .split('.')
        .map((part) => `[${part}]`)
        .join('')
      for (const query of [`filters${name}=s`, `sort=${path}`]) {
        const { status, body } = await request(`users?${query}`)
        expect([query, status, body.error?.message.startsWith(`Invalid key ${key}`)]).toEqual([query, 400, true])
      }
    }
    expect((await request('users?populate=*')).text).not.toMatch(/doorCode|secretNote/)
  })

  test('users see those of their own attributes that they may find', async () => {
    const mine = (await request('users/me?populate=*', token)).body
    expect(mine.favourites.map(({ name }: { name: string }) => name)).toEqual(['red'])
    expect([mine.avatar.id, mine.address.street, mine.links.length]).toEqual([file, 'S', 2])
    // Neither towns nor roles may be found by this role.
    for (const name of ['home', 'role']) expect(mine).not.toHaveProperty(name)
    const fields = (await request('users/me?fields[0]=username&populate=home', token)).body
    expect(Object.keys(fields)).toEqual(['id', 'documentId', 'username'])
    expect((await request('users/me?filters[favourites][name]=nope', token)).status).toBe(204)
    for (const query of ['users/me?filters[home][name]=x', 'users?filters[home][name]=x', 'users?sort=home.name']) {
      expect((await request(query, token)).body.error.message).toMatch(/^Invalid key home/)
    }
    expect((await request('users/me?populate[favourites][populate]=fans', token)).body.favourites[0].fans.length).toBeGreaterThan(0)
  })

  test('a document that a user is linked to is shown as its draft is, as Strapi does', async () => {
    const other = await newUser({ home: 'draft' })
    const home = async () => (await read(other, 'populate=home')).home
    expect(await home()).toMatchObject({ name: 'draft', publishedAt: null })
    await served.request('/api/towns/draft/actions/publish', { method: 'POST', token: 'full' })
    expect(await home()).toMatchObject({ name: 'draft', publishedAt: null })
  })

  test('a user who is linked to is shown without secrets', async () => {
    const { text } = await request('tags?populate[fans][populate]=*')
    expect(text).toContain('"username":"reader"')
    expect(text).not.toMatch(/password|secretNote|doorCode|Token/i)
  })
})
