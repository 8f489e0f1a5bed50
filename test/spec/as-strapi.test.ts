// Responses of Strapi 5.54 that neither the specification nor the recordings cover: found by random requests to both
// (test/interop/reads.mjs). The project has awkward names on purpose.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { isOnMysql, isOnServer } from '../support/databases.js'
import type { Served } from '../support/serve.js'
import { serveProject } from '../support/serve.js'
import { addToken, addUser, secrets } from './callers.js'

const relation = (kind: string, target: string, more: object = {}) => ({ type: 'relation', relation: kind, target, ...more })
const schema = (api: string, singularName: string, pluralName: string, attributes: object, more: object = {}) => ({
  [`src/api/${api}/content-types/${singularName}/schema.json`]: {
    kind: 'collectionType',
    collectionName: pluralName,
    info: { singularName, pluralName, displayName: singularName },
    options: { draftAndPublish: false },
    attributes,
    ...more,
  },
})
const localized = { pluginOptions: { i18n: { localized: true } } }
const mouse = 'api::blog-post.mouse'

const files = {
  // An API folder and a component that are not written in the form of their names.
  ...schema(
    'BlogPost',
    'mouse',
    'mice',
    {
      name: { type: 'string' },
      code: { type: 'password' },
      secret: { type: 'string', private: true },
      data: { type: 'json' },
      day: { type: 'date' },
      price: { type: 'component', component: 'flat_things.pricetag' },
      zone: { type: 'dynamiczone', components: ['flat_things.pricetag'] },
      picture: { type: 'media' },
      boss: relation('manyToOne', mouse, { inversedBy: 'team' }),
      team: relation('oneToMany', mouse, { mappedBy: 'boss' }),
      best: relation('oneToOne', mouse),
      papers: relation('oneToMany', 'plugin::upload.file'),
      notes: relation('morphMany', 'api::note.note', { morphBy: 'about' }),
    },
    { options: { draftAndPublish: true, populateCreatorFields: true } },
  ),
  ...schema('note', 'note', 'notes', { body: { type: 'text' }, about: { type: 'relation', relation: 'morphToMany' } }),
  ...schema('word', 'word', 'words', { text: { type: 'string', ...localized } }, localized),
  ...schema('front', 'front', 'fronts', { title: { type: 'string', ...localized } }, { kind: 'singleType', ...localized }),
  'src/components/Flat_Things/priceTag.json': {
    collectionName: 'components_price_tags',
    info: { displayName: 'price' },
    attributes: { amount: { type: 'integer' }, label: { type: 'string' }, of: relation('oneToOne', mouse) },
  },
  'src/extensions/users-permissions/content-types/user/schema.json': {
    kind: 'collectionType',
    collectionName: 'up_users',
    info: { singularName: 'user', pluralName: 'users', displayName: 'User' },
    attributes: {
      username: { type: 'string' },
      email: { type: 'email' },
      provider: { type: 'string' },
      password: { type: 'password', private: true },
      confirmed: { type: 'boolean' },
      blocked: { type: 'boolean' },
      role: relation('manyToOne', 'plugin::users-permissions.role', { inversedBy: 'users' }),
      pets: relation('oneToMany', mouse),
    },
  },
  'octavo.config.json': { api: { rest: { contract: 'strapi' } } },
  'seed/access.json': {
    locales: [{ code: 'en' }, { code: 'de' }].map(({ code }) => ({ code, name: code })),
    roles: { public: ['api::blog-post.mouse.find'] },
  },
  'seed/content/mouse.json': {
    uid: mouse,
    documents: [
      {
        key: 'chief',
        locales: {
          '-': {
            published: {
              name: 'chief',
              day: '2024-02-29',
              price: { amount: 1, label: 'p' },
              zone: [
                { __component: 'flat_things.pricetag', amount: 1, label: 'x' },
                { __component: 'flat_things.pricetag', amount: 2, label: 'y' },
              ],
            },
          },
        },
      },
      { key: 'clerk', locales: { '-': { published: { name: 'clerk', boss: '@mouse:chief', best: '@mouse:chief' } } } },
      { key: 'guard', locales: { '-': { draft: { name: 'guard', boss: '@mouse:chief' } } } },
    ],
  },
  'seed/content/note.json': { uid: 'api::note.note', documents: [{ key: 'one', locales: { '-': { published: { body: 'one' } } } }] },
  'seed/content/word.json': {
    uid: 'api::word.word',
    documents: [{ key: 'hello', locales: { en: { published: { text: 'hello' } }, de: { published: { text: 'hallo' } } } }],
  },
  'seed/content/front.json': { uid: 'api::front.front', documents: [{ key: 'it', locales: { en: { published: { title: 'it' } } } }] },
}

let served: Served

beforeAll(async () => {
  served = await serveProject(files, { environment: secrets })
  await addToken(served, 'full', { type: 'full-access' })
  await addToken(served, 'mice', { type: 'custom', actions: [`${mouse}.find`, `${mouse}.findOne`, 'plugin::upload.content-api.find'] })
  await addToken(served, 'notes', { type: 'custom', actions: ['api::note.note.find', `${mouse}.find`] })
})
afterAll(() => served.close())

const request = (path: string, token = 'full', headers: Record<string, string> = {}) => served.request(`/api/${path}`, { token, headers })
/** Status and, of a refusal, its message and where it is. */
const refusal = async (path: string, token?: string) => {
  const { status, body } = await request(path, token)
  return status === 200 ? 200 : [body.error.message, body.error.details?.path]
}
const data = async (path: string, token?: string) => {
  const { status, body } = await request(path, token)
  if (status !== 200) throw new Error(`${path}: ${JSON.stringify(body)}`)
  return body.data ?? body
}

test('APIs are named by their folder in kebab-case, components by their file in lower case', async () => {
  const [chief] = await data('mice?filters[name]=chief&populate=price')
  expect(chief.price).toMatchObject({ amount: 1, label: 'p' })
})

test('a text in a JSON column is parsed, if it is JSON', async () => {
  const said: [string, unknown][] = [
    ['null', null],
    ['true', true],
    ['"12"', 12],
    ['"{}"', {}],
    ['"abc"', isOnMysql ? 'abc' : '"abc"'],
    [' [1] ', [1]],
  ]
  // A column of a server holds nothing else; that of MariaDB is read without its quotes.
  if (!isOnServer) said.push(['abc', 'abc'], ['{"a":1', '{"a":1'], ['', ''])
  for (const [text, meant] of said) {
    await served.sql('update mice set data = ? where name = ?', text, 'chief')
    expect([text, (await data('mice?filters[name]=chief&fields=data'))[0].data]).toEqual([text, meant])
  }
})

test('dates and times are read in the forms of ISO 8601, and nothing else', async () => {
  const moment = '2024-02-29T12:30:00.000Z'
  await served.sql('update mice set created_at = ? where name = ?', Date.parse(moment), 'chief')
  const found = async (text: string) => (await data(`mice?filters[createdAt]=${encodeURIComponent(text)}&fields=name`)).length
  for (const text of [
    moment,
    '2024-02-29 12:30',
    '20240229T1230',
    '2024-02-29T14:30+02',
    '2024-02-29T12:30:00,0Z',
    String(Date.parse(moment)),
  ])
    expect([text, await found(text)]).toEqual([text, 1])
  for (const text of [
    '2024-060T12:30Z',
    '2024-W09-4T12:30',
    '2024-02-29t12:30z',
    ' 2024-02-29',
    '2024/02/29',
    '2024-02-30',
    '2024-13',
    '2024-366T25',
    '99999999999999999',
    '1.5',
    '',
  ])
    expect([text, await refusal(`mice?filters[createdAt]=${encodeURIComponent(text)}`)]).toEqual([
      text,
      ['Invalid format, expected a timestamp or an ISO date', undefined],
    ])
  expect(await refusal('mice?filters[day]=2024-13-01')).toEqual(['Invalid format, expected yyyy-MM-dd', undefined])
  expect(await refusal('mice?filters[day]=2024-02-30')).toEqual(['Invalid date', undefined])
})

test('a list of sort keys holds texts or objects, not both; status is a key of types with Draft & Publish', async () => {
  expect(await refusal('mice?sort[0][name]=asc&sort[1]=day')).toEqual(['Invalid key 0', null])
  expect(await refusal('mice?sort[0][name]=asc&sort[1][day]=asc')).toBe(200)
  expect(await refusal('mice?sort[name][]=desc')).toBe(200)
  expect(await refusal('mice?sort=name:desc,status:asc')).toBe(200)
  expect(await refusal('mice?sort[status]=asc&sort[status]=asc')).toBe(200)
  expect(await refusal('mice?sort=status')).toEqual(['Invalid key status', null])
  expect(await refusal('notes?sort=status:asc')).toEqual(['Invalid key status', null])
  expect(await refusal('mice?sort=toString')).toEqual(['Invalid sort query', undefined])
})

test('only the first of several errors is reported, in the order of checks', async () => {
  const mistakes: readonly (readonly [string, string])[] = [
    ['publicationFilter=x', "Invalid value for 'publicationFilter'"],
    ['filters[nope]=1', 'Invalid key nope'],
    ['filters[secret]=1', 'Invalid key secret'],
    ['sort=nope2', 'Invalid key nope2'],
    ['fields=nope3', 'Invalid key nope3'],
    ['populate=nope4', 'Invalid key nope4'],
    ['pagination[page]=1&pagination[start]=1', 'Cannot use both'],
    ['lookup=1', "Invalid params: 'lookup'"],
    ['sort=name:up', 'Invalid order'],
    ['populate[best][sort]=name:up', 'Invalid order'],
    ['page=1', 'Invalid pagination attributes'],
    ['hasPublishedVersion=x', "Invalid value for 'hasPublishedVersion'"],
    ['filters[day]=x', 'Invalid format'],
    ['filters[$or]=x', '$or takes a list'],
    ['pagination[withCount]=x', 'Invalid withCount'],
  ]
  for (const [index, [earlier, message]] of mistakes.entries())
    for (const [later] of mistakes.slice(index + 1)) {
      const query = `${later}&${earlier}`
      const sameParameter = earlier.split(/[=[]/)[0] === later.split(/[=[]/)[0]
      if (!sameParameter)
        expect([query, String((await refusal(`mice?${query}`)) as unknown)]).toEqual([query, expect.stringContaining(message)])
    }
  expect(await refusal('mice?filters[secret]=1&filters[nope]=1')).toEqual(['Invalid key nope', null])
  expect(await refusal('mice?filters[secret]=1&filters[zone]=1')).toEqual(['Invalid key zone', 'zone'])
  expect(await refusal('mice?sort[0]=secret&sort[1]=code')).toEqual(['Invalid key code', 'code'])
  expect(await refusal('mice?fields[0]=code&fields[1]=secret')).toEqual(['Invalid key secret', 'secret'])
  // Each parameter of a populated level is checked as a whole before the next.
  expect(await refusal('mice?populate[boss][filters][secret]=1&populate[boss][fields][0]=nope')).toEqual(['Invalid key secret', 'secret'])
  expect(await refusal('mice?populate[boss][fields][0]=nope&populate[boss][filters][secret]=1')).toEqual(['Invalid key nope', null])
  expect(await refusal('mice?populate[boss][sort][0]=code&populate[boss][populate][nope]=true')).toEqual(['Invalid key code', 'code'])
  expect(await refusal('mice?populate[best][populate]=nope&populate[best][filters][nope2]=1')).toEqual(['Invalid key nope', 'nope'])
  expect(await refusal('mice?populate[best][filters][nope2]=1&populate[best][populate]=nope')).toEqual(['Invalid key nope2', null])
})

test('errors inside a populate say where they are', async () => {
  expect(await refusal('mice?populate[id]=1')).toEqual(['Invalid key id', null])
  expect(await refusal('mice?populate[best][populate][id]=1')).toEqual(['Invalid key id at best', 'best'])
  expect(await refusal('mice?populate[best][populate][name]=1')).toEqual(['Invalid key name at best.populate.name', 'best.populate.name'])
  expect(await refusal('mice?populate[best][populate]=name')).toEqual(['Invalid key name', 'name'])
  expect(await refusal('mice?populate[best][populate]=boss,team')).toEqual(['Invalid key boss,team at best', 'best'])
  expect(await refusal('mice?populate[best][populate]=boss.best,team')).toEqual(['Invalid key best,team at best.boss', 'best.boss'])
  expect(await refusal('mice?populate=best.picture.nope')).toEqual(['Invalid key picture at best.picture', 'best.picture'])
  const inZone = 'zone.on[flat_things.pricetag].populate.label'
  expect(await refusal('mice?populate[zone][on][flat_things.pricetag][populate][label]=1')).toEqual([
    `Invalid key label at ${inZone}`,
    inZone,
  ])
  expect(await refusal('mice?filters[best][id][$foo]=1')).toEqual(['Invalid key $foo at best', 'best'])
  expect(await refusal('mice?populate[]=best.nope&populate[]=best')).toEqual(['Invalid key nope at best.nope', 'best.nope'])
})

test('names in one text are joined; in a list a plain name replaces its nested populate', async () => {
  const below = async (query: string) =>
    Object.keys((await data(`mice?filters[name]=clerk&${query}`))[0].boss).filter((name) => name === 'team' || name === 'best')
  expect(await below('populate=boss.team,boss,boss.best')).toEqual(['team', 'best'])
  expect(await below('populate=boss.team,boss')).toEqual(['team'])
  expect(await below('populate[]=boss.team&populate[]=boss')).toEqual([])
  expect(await below('populate[]=boss&populate[]=boss.team')).toEqual(['team'])
})

test('a path of one text ends before what the caller may not find, unless the first path runs through that', async () => {
  const shown = async (query: string) => {
    const [clerk] = await data(`mice?filters[name]=clerk&${query}`, 'notes')
    return ['boss', 'best', 'papers'].filter((name) => name in clerk)
  }
  expect(await shown('populate=boss.papers')).toEqual([])
  expect(await shown('populate[]=boss.papers&populate[]=best')).toEqual(['best'])
  for (const query of ['populate=boss.papers,best', 'populate=best,boss.papers', 'populate=best,boss.papers.related'])
    expect([query, await shown(query)]).toEqual([query, ['boss', 'best']])
  const [clerk] = await data('mice?filters[name]=clerk&populate=best,boss.papers,boss.best', 'notes')
  expect(clerk.boss).toHaveProperty('best', null)
  expect(clerk.boss).not.toHaveProperty('papers')
  for (const query of ['populate=boss.papers.related,best', 'populate=papers.related,best'])
    expect([query, await shown(query)]).toEqual([query, []])
  expect(await shown('populate[]=papers.related,best&populate[]=boss')).toEqual(['boss'])
  expect(await refusal('mice?populate=boss.papers.nope,best', 'notes')).not.toBe(200)
})

test('options of a level have no effect next to names of attributes', async () => {
  const plain = await data('mice?populate[best]=true')
  for (const query of ['count=true', 'sort=name', 'fields=name', 'filters[name]=x', 'populate=boss'])
    expect([query, await data(`mice?populate[best]=true&populate[${query.split(/[=[]/)[0]}]${query.slice(query.search(/[=[]/))}`)]).toEqual(
      [query, plain],
    )
  expect(await refusal('mice?populate[on]=true')).toEqual(['Invalid key on', 'on'])
})

test('the entries of a zone are filtered by component', async () => {
  const amounts = async (query: string) =>
    (await data(`mice?filters[name]=chief&populate[zone][on][flat_things.pricetag]${query}`))[0].zone.map(
      ({ amount }: { amount: number }) => amount,
    )
  expect(await amounts('=true')).toEqual([1, 2])
  expect(await amounts('[filters][amount][$gt]=1')).toEqual([2])
  expect(await amounts('[filters][label]=x')).toEqual([1])
})

test('a condition on the documentId of the document in the path has no effect', async () => {
  const [{ documentId }] = await data('mice?filters[name]=chief')
  expect(await refusal(`mice/${documentId}?filters[documentId]=another`)).toBe(200)
  expect((await request(`mice/${documentId}?filters[$and][0][documentId]=another`)).status).toBe(404)
  expect((await request(`mice/${documentId}?filters[name]=another`)).status).toBe(404)
})

test('a condition on the locale takes the place of the locale; one document has one locale', async () => {
  const texts = async (query: string) => (await data(`words?${query}`)).map(({ text }: { text: string }) => text)
  expect(await texts('filters[locale]=de&locale=en')).toEqual(['hallo'])
  expect(await texts('filters[$and][0][locale]=de&locale=en')).toEqual([])
  for (const [query, shown] of [
    ['locale[]=en', 'en'],
    ['locale[]=en&locale[]=de', 'en,de'],
    ['locale[$in][0]=en', '[object Object]'],
  ])
    expect(await refusal(`front?${query}`)).toEqual([
      `Invalid locale param ${shown} provided. Document locales must be strings.`,
      undefined,
    ])
})

test('single responses validate page and pageSize', async () => {
  expect(await refusal('front?page=2')).toBe(200)
  expect(await refusal('front?page=x')).toEqual(["Invalid 'page' parameter. Expected an integer > 0, received: x", undefined])
  expect(await refusal('front?pageSize=0')).toEqual(["Invalid 'pageSize' parameter. Expected an integer > 0, received: 0", undefined])
  expect(await refusal('users?hasPublishedVersion=x')).toBe(200)
})

test('relations to files need the permission to find files, media attributes do not', async () => {
  expect(await refusal('mice?filters[papers][name]=x', 'mice')).toEqual(['Invalid key papers', 'papers'])
  expect(await refusal('mice?sort=papers.name', 'mice')).toEqual(['Invalid key papers', 'papers'])
  expect((await data('mice?populate[0]=papers&populate[1]=picture', 'mice'))[0]).not.toHaveProperty('papers')
  expect((await data('mice?populate[0]=papers&populate[1]=picture', 'mice'))[0]).toHaveProperty('picture')
  expect((await data('mice?populate=papers'))[0].papers).toEqual([])
})

test('the creator of a document may be a condition if the schema shows it', async () => {
  for (const token of ['full', 'mice']) {
    expect(await refusal('mice?filters[createdBy][id]=1', token)).toBe(200)
    expect(await refusal('mice?sort=createdBy.id', token)).toBe(200)
  }
  expect(await refusal('notes?filters[createdBy][id]=1')).toEqual(['Invalid key createdBy', 'createdBy'])
})

test('a morphTo shows drafts unless it is in a list or has a separate level; it is flat in the nested format', async () => {
  const [{ id: guard }] = (await served.sql("select id from mice where name = 'guard'")) as [{ id: number }]
  const [{ id: note }] = (await served.sql('select id from notes')) as [{ id: number }]
  await served.sql(
    'insert into notes_about_mph (note_id, about_id, about_type, field, "order") values (?, ?, ?, null, 1)',
    note,
    guard,
    mouse,
  )
  await served.sql(
    'insert into notes_about_mph (note_id, about_id, about_type, field, "order") values (?, ?, ?, null, 2)',
    note,
    note,
    'api::note.note',
  )
  const about = async (query: string) => (await data(`notes?${query}`))[0].about.map(({ __type }: { __type: string }) => __type)
  expect(await about('populate=about')).toEqual([mouse, 'api::note.note'])
  expect(await about('populate[about]=true')).toEqual([mouse, 'api::note.note'])
  expect(await about('populate=about,about')).toEqual(['api::note.note'])
  expect(await about(`populate[about][on][${mouse}]=true`)).toEqual([mouse])
  expect(await about(`populate[about][on][${mouse}][fields]=name`)).toEqual([])
  // Parameters for versions of a document apply like the state.
  expect(await about('populate=about,about&status=draft')).toEqual([mouse, 'api::note.note'])
  expect(await about('populate=about,about&status=draft&hasPublishedVersion=true')).toEqual(['api::note.note'])
  expect(await about(`populate[about][on][${mouse}][fields]=name&status=draft&publicationFilter=never-published`)).toEqual([mouse])
  expect(await about(`populate[about][on][${mouse}][fields]=name&status=draft&publicationFilter=has-published-version`)).toEqual([])
  expect(await about('populate=about&hasPublishedVersion=true')).toEqual([mouse, 'api::note.note'])
  expect((await data('notes?populate[about][count]=true'))[0].about).toEqual({ count: 2 })
  expect((await data('notes?populate[about][count]=true', 'notes'))[0].about).toEqual({ count: 2 })
  const { body } = await request('notes?populate[about]=true', 'full', { 'strapi-response-format': 'v4' })
  expect(body.data[0].attributes.about[0]).toMatchObject({ id: guard, name: 'guard', __type: mouse })
  const counted = await request('mice?filters[name]=chief&populate[team][count]=true&populate[price][count]=true', 'full', {
    'strapi-response-format': 'v4',
  })
  expect(counted.body.data[0].attributes).toMatchObject({ team: { data: { attributes: { count: 1 } } }, price: { count: 1 } })
})

test('after the inverse side of a polymorphic relation everything has a locale, through any path', async () => {
  await served.sql("update notes_about_mph set field = 'notes' where about_type = ?", mouse)
  const [{ notes }] = await data('mice?status=draft&filters[name]=guard&populate[notes][populate]=about')
  expect(notes[0].locale).toBeNull()
  expect(notes[0].about.map(({ __type, locale }: { __type: string; locale: unknown }) => [__type, locale])).toEqual([
    [mouse, null],
    ['api::note.note', null],
  ])
  const [{ about }] = await data(`notes?populate[about][on][${mouse}][populate]=notes&status=draft`)
  expect(about[0]).not.toHaveProperty('locale')
  expect(about[0].notes[0].locale).toBeNull()
})

test('below users every version is populated, unless a status is requested', async () => {
  const user = await addUser(served, 'keeper', 'authenticated')
  for (const { id } of await served.sql("select id from mice where name in ('chief', 'guard')")) {
    await served.sql('insert into up_users_pets_lnk (user_id, mouse_id, mouse_ord) values (?, ?, ?)', user, id, id)
  }
  const pets = async (query: string) => (await data(`users/${user}?populate=pets${query}`)).pets.length
  expect(await pets('')).toBe(3)
  expect(await pets('&status=published')).toBe(1)
  expect(await pets('&status=draft')).toBe(2)
  expect(await pets('&status=x')).toBe(1)
  expect((await data(`users/${user}?populate=role.users`)).role).not.toHaveProperty('users')
})

test('targets in a tie come in the order of their links on the side that does not own them', async () => {
  const [chief] = (await served.sql("select id from mice where name = 'chief' and published_at is null")) as [{ id: number }]
  const members = await served.sql("select id from mice where name in ('guard', 'clerk') and published_at is null order by id")
  const team = members.map(({ id }) => id).reverse()
  await served.sql('delete from mice_boss_lnk where inv_mouse_id = ?', chief.id)
  for (const id of team) await served.sql('insert into mice_boss_lnk (mouse_id, inv_mouse_id, mouse_ord) values (?, ?, 1)', id, chief.id)
  const [{ team: shown }] = await data('mice?status=draft&filters[name]=chief&populate[team][sort]=day')
  expect(shown.map(({ id }: { id: number }) => id)).toEqual(team)
})
