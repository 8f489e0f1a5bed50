// docs/spec/relations.md: the side of a relation that creates its table, and relations without such a side.
import { afterAll, beforeAll, expect } from 'vitest'
import { octavo } from '../start/command.js'
import { rule } from '../support/rule.js'
import { type Served, serveProject } from '../support/serve.js'
import { addToken, secrets } from './callers.js'

type Attributes = Readonly<Record<string, object>>

const to = (relation: string, name: string, more: object = {}) => ({ type: 'relation', relation, target: `api::${name}.${name}`, ...more })

/** Types by name; an attribute for their text is added. The folders of their APIs are in the order of their names. */
const types: Readonly<Record<string, Attributes>> = {
  offer: { shop: to('manyToOne', 'shop', { mappedBy: 'offers', inversedBy: 'offers' }) },
  shop: { offers: to('oneToMany', 'offer', { mappedBy: 'shop' }) },
  cover: { book: to('oneToOne', 'book', { mappedBy: 'cover' }) },
  book: { cover: to('oneToOne', 'cover', { mappedBy: 'book' }), pages: to('manyToMany', 'shop', { useJoinTable: false }) },
  member: { loves: to('manyToMany', 'team') },
  team: { fans: to('manyToMany', 'member', { inversedBy: 'loves' }) },
  ape: { likedBy: to('manyToMany', 'zebra', { inversedBy: 'likes' }) },
  zebra: { likes: to('manyToMany', 'ape') },
  left: { mate: to('oneToOne', 'right', { inversedBy: 'mate' }) },
  right: { mate: to('oneToOne', 'left', { inversedBy: 'mate' }) },
  child: { parent: to('manyToOne', 'parent') },
  parent: { children: to('oneToMany', 'child', { mappedBy: 'parent' }) },
  tag: { notes: to('manyToMany', 'note', { mappedBy: 'tags' }) },
  note: { tags: to('manyToMany', 'tag') },
  door: { key: to('oneToOne', 'key', { useJoinTable: false, inversedBy: 'door' }) },
  key: { door: to('oneToOne', 'door') },
  ride: { riders: to('oneToMany', 'rider', { mappedBy: 'first' }) },
  rider: { first: to('manyToOne', 'ride', { inversedBy: 'riders' }), second: to('manyToOne', 'ride', { inversedBy: 'riders' }) },
}

const files = Object.fromEntries(
  Object.entries(types).map(([name, attributes]) => [
    `src/api/${name}/content-types/${name}/schema.json`,
    {
      kind: 'collectionType',
      collectionName: `${name}s`,
      info: { singularName: name, pluralName: `${name}s`, displayName: name },
      attributes: { title: { type: 'string' }, ...attributes },
    },
  ]),
)

const user = {
  kind: 'collectionType',
  collectionName: 'up_users',
  info: { name: 'user', description: '', singularName: 'user', pluralName: 'users', displayName: 'User' },
  attributes: {
    username: { type: 'string', minLength: 3, unique: true, required: true },
    email: { type: 'email', minLength: 6, required: true },
    provider: { type: 'string' },
    password: { type: 'password', minLength: 6, private: true },
    resetPasswordToken: { type: 'string', private: true },
    confirmationToken: { type: 'string', private: true },
    confirmed: { type: 'boolean', default: false },
    blocked: { type: 'boolean', default: false },
    role: { type: 'relation', relation: 'manyToOne', target: 'plugin::users-permissions.role' },
  },
}

const token = 'for-everything'
const permission = {
  kind: 'collectionType',
  collectionName: 'up_permissions',
  info: { name: 'permission', description: '', singularName: 'permission', pluralName: 'permissions', displayName: 'Permission' },
  attributes: {
    action: { type: 'string', required: true },
    role: { type: 'relation', relation: 'manyToOne', target: 'plugin::users-permissions.role' },
  },
}

let served: Served
beforeAll(async () => {
  served = await serveProject(
    {
      ...files,
      'src/extensions/users-permissions/content-types/user/schema.json': user,
      'src/extensions/users-permissions/content-types/permission/schema.json': permission,
      'package.json': { dependencies: { '@strapi/strapi': '5.54.0' } },
      'seed/access.json': {
        users: [{ username: 'first', email: 'first@example.com', password: 'a long password', role: 'authenticated' }],
      },
    },
    { environment: secrets },
  )
  await addToken(served, token, { type: 'full-access' })
})
afterAll(() => served.close())

const request = async (method: string, path: string, data?: object) => {
  const body = data === undefined ? {} : { body: JSON.stringify(path.startsWith('users') ? data : { data }) }
  const { status, body: found } = await served.request(`/api/${path}`, {
    ...{ method, token, headers: { 'content-type': 'application/json' } },
    ...body,
  })
  return { status, ...found }
}
const make = async (type: string, data: object): Promise<string> => (await request('POST', type, data)).data.documentId
/** The titles of what an attribute of the first document shows. */
const shown = async (type: string, attribute: string, query = ''): Promise<string> => {
  const { data } = await request('GET', `${type}?populate=*&sort=id:desc${query}`)
  return [data[0][attribute] ?? []]
    .flat()
    .map(({ title }: { readonly title: string }) => title)
    .join()
}

rule('relations.16', 'a side with inversedBy creates the table and gives it away, with any mappedBy', async () => {
  const shop = await make('shops', { title: 's' })
  await make('offers', { title: 'o', shop })
  expect([await shown('offers', 'shop'), (await request('GET', 'offers?filters[shop][title]=s')).data.length]).toEqual(['s', 1])
  expect(await served.sql('select count(*) as links from offers_shop_lnk')).toEqual([{ links: 1 }])
})

rule('relations.16', 'the last side that gives its table counts', async () => {
  const ride = await make('rides', { title: 'r' })
  await make('riders', { title: 'a', first: ride })
  await make('riders', { title: 'b', second: ride })
  expect(await shown('rides', 'riders')).toBe('b')
})

rule('relations.16', 'if both sides create a table, it is that of the side which is loaded last', async () => {
  const member = await make('members', { title: 'm' })
  await make('teams', { title: 't', fans: [member] })
  expect([await shown('members', 'loves'), await shown('teams', 'fans')]).toEqual(['t', 'm'])
  await request('PUT', `members/${member}`, { loves: { set: [] } })
  expect([await shown('teams', 'fans'), (await served.sql('select * from teams_fans_lnk')).length]).toEqual(['', 0])
  await make('rights', { title: 'r', mate: await make('lefts', { title: 'l' }) })
  expect([await shown('lefts', 'mate'), await shown('rights', 'mate')]).toEqual(['r', 'l'])
  // This one is loaded after the side that gives it a table, and creates another one.
  await make('apes', { title: 'a', likedBy: [await make('zebras', { title: 'z' })] })
  expect([await shown('apes', 'likedBy'), await shown('zebras', 'likes')]).toEqual(['z', ''])
})

rule('relations.16', 'a column counts before a table', async () => {
  const key = await make('keys', { title: 'k' })
  await make('doors', { title: 'd', key })
  expect([await shown('doors', 'key'), await shown('keys', 'door')]).toEqual(['k', 'd'])
})

rule('relations.17', 'a relation without a table is left out, ignored in bodies and populate, and 400 in filters and orders', async () => {
  const book = await make('books', { title: 'b', pages: [] })
  expect(await request('POST', 'covers', { title: 'c', book })).toMatchObject({ status: 201 })
  const answers = await Promise.all(
    ['populate=*', 'populate=book', 'populate[book][populate]=*'].map((query) => request('GET', `covers?${query}`)),
  )
  expect(answers.map(({ status, data }) => [status, Object.hasOwn(data[0], 'book')])).toEqual([
    [200, false],
    [200, false],
    [200, false],
  ])
  expect((await request('GET', 'books?populate[pages]=true&populate[cover]=true')).status).toBe(200)
  for (const query of ['filters[book][title]=b', 'sort=book.title'])
    expect([query, (await request('GET', `covers?${query}`)).status]).toEqual([query, 400])
})

rule('relations.18', 'the start and the doctor name them', async () => {
  const said = served.log.map((line) => String(JSON.parse(line).msg)).filter((line) => /owner|no table/.test(line))
  const expected = [
    /^api::book\.book\.cover has no owner: it has mappedBy, .* Write inversedBy instead of mappedBy on one side/,
    /^api::book\.book\.pages has no table: useJoinTable: false/,
    /^api::cover\.cover\.book has no owner/,
    /^api::key\.key\.door has two owners, itself and api::door\.door\.key: the column key_id counts, and the table keys_door_lnk is not used/,
    /^api::left\.left\.mate has two owners, itself and api::right\.right\.mate: the table rights_mate_lnk counts/,
    /^api::member\.member\.loves has two owners, itself and api::team\.team\.fans: the table teams_fans_lnk counts/,
    /^api::ride\.ride\.riders has two owners, api::rider\.rider\.first and api::rider\.rider\.second: the table riders_second_lnk counts/,
  ]
  expect(said.sort()).toEqual(expected.map((text) => expect.stringMatching(text)))
  const { out } = await octavo(['doctor', served.folder], { ...secrets, ...served.sameDatabase })
  expect(out).toMatch(/note +7 +every relation has one owner and a table/)
  expect(out).toContain('api::cover.cover.book has no owner')
})

rule('relations.19', 'a side with mappedBy shows and takes the links of an owner without inversedBy', async () => {
  const child = await make('childs', { title: 'c' })
  const parent = await make('parents', { title: 'p', children: [child] })
  expect([await shown('parents', 'children'), await shown('childs', 'parent')]).toEqual(['c', 'p'])
  await request('PUT', `parents/${parent}`, { children: [] })
  expect(await shown('childs', 'parent')).toBe('')
  await make('notes', { title: 'n', tags: [await make('tags', { title: 't' })] })
  expect([await shown('tags', 'notes'), await shown('notes', 'tags')]).toEqual(['n', 't'])
})

rule('relations.20', 'the role of users without inversedBy has no order', async () => {
  const columns = await served.sql('select * from up_users_role_lnk where user_id = 1')
  expect(columns).toEqual([{ id: 1, user_id: 1, role_id: 1 }])
  const made = await request('POST', 'users', { username: 'second', email: 'second@example.com', password: 'a long password', role: 1 })
  expect(made).toMatchObject({ status: 201, role: { id: 1 } })
  expect(await request('PUT', `users/${made.id}`, { role: 2 })).toMatchObject({ status: 200, role: { id: 2 } })
  const role = { name: 'readers', description: '', permissions: { 'api::shop': { controllers: { shop: { find: { enabled: true } } } } } }
  expect((await request('POST', 'users-permissions/roles', role)).status).toBe(200)
  const granted = await served.sql(
    "select l.* from up_permissions_role_lnk l join up_permissions p on p.id = l.permission_id where p.action = 'api::shop.shop.find'",
  )
  expect(granted.map((row) => Object.keys(row))).toEqual([['id', 'permission_id', 'role_id']])
})
