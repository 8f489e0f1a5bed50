// Changes of the model while serving, over HTTP.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { rule } from '../support/rule.js'
import { type Served, serveExisting, serveProject, type TestResponse } from '../support/serve.js'
import { addToken, secrets } from './callers.js'

const full = 'may-do-everything'
const path = '/api/content-type-builder/schemas'

type Schema = Readonly<Record<string, unknown>>

const typeOf = (singularName: string, pluralName: string, attributes: object, more: object = {}): Schema => ({
  kind: 'collectionType',
  collectionName: pluralName.replaceAll('-', '_'),
  info: { singularName, pluralName, displayName: singularName },
  options: { draftAndPublish: false },
  attributes,
  ...more,
})

const note = (attributes: object, more: object = {}): Schema => typeOf('note', 'notes', attributes, more)
const text = { type: 'string' }

let served: Served
beforeAll(async () => {
  served = await serveProject(
    { 'src/api/note/content-types/note/schema.json': note({ title: text, body: { type: 'text' } }) },
    { environment: secrets, config: { admin: { model: 'always' } } },
  )
  await addToken(served, full, { type: 'full-access' })
})
afterAll(() => served?.close())

const put = (
  data: unknown,
  { agree, token = full, at = served }: { agree?: string; token?: string; at?: Served } = {},
): Promise<TestResponse> =>
  at.request(path, {
    method: 'PUT',
    token,
    body: JSON.stringify({ data }),
    headers: { 'content-type': 'application/json', ...(agree === undefined ? {} : { 'octavo-agree': agree }) },
  })

const write = async (url: string, data: object, at = served): Promise<TestResponse> =>
  at.request(url, { method: 'POST', token: full, body: JSON.stringify({ data }), headers: { 'content-type': 'application/json' } })

/** Sends a request to a route of changes. */
const send = (name: string, body: object = {}, method = 'POST'): Promise<TestResponse> =>
  served.request(`/api/content-type-builder/${name}`, {
    method,
    token: full,
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json' },
  })

const read = (url: string, at = served): Promise<TestResponse> => at.request(url, { token: full })

const fileOf = (name: string): string => join(served.folder, name)

rule('live-model.1', 'types, components and relations of one change are in force when the response comes', async () => {
  expect((await read('/api/writers')).status).toBe(404)
  const changed = await put({
    'shared.link': { collectionName: 'components_shared_links', info: { displayName: 'Link' }, attributes: { href: text } },
    'api::writer.writer': typeOf('writer', 'writers', {
      name: { type: 'string', required: true },
      links: { type: 'component', component: 'shared.link', repeatable: true },
      notes: { type: 'relation', relation: 'oneToMany', target: 'api::note.note', mappedBy: 'writer' },
    }),
    'api::note.note': note({
      title: text,
      body: { type: 'text' },
      writer: { type: 'relation', relation: 'manyToOne', target: 'api::writer.writer', inversedBy: 'notes' },
    }),
  })
  expect(changed.status, changed.text).toBe(200)
  expect(changed.body.data.schemas).toEqual(['shared.link', 'api::writer.writer', 'api::note.note'])
  const writer = await write('/api/writers', { name: 'Ada', links: [{ href: 'https://example.test' }] })
  expect(writer.status, writer.text).toBe(201)
  const created = await write('/api/notes', { title: 'first', writer: writer.body.data.documentId })
  expect(created.status, created.text).toBe(201)
  const listed = await read('/api/writers?populate=*&filters[notes][title][$eq]=first')
  expect(listed.body.data).toMatchObject([{ name: 'Ada', links: [{ href: 'https://example.test' }], notes: [{ title: 'first' }] }])
  expect((await served.request('/api/writers')).status).toBe(403)
  expect(Object.keys((await read('/api/openapi.json')).body.paths)).toContain('/writers/{id}')
})

rule('live-model.1', 'reads and writes never fail during many changes', async () => {
  let isOver = false
  const failures: string[] = []
  const load = async (): Promise<void> => {
    while (!isOver) {
      for (const answer of [await read('/api/notes?populate=*'), await write('/api/notes', { title: 'load' })])
        if (answer.status >= 400) failures.push(answer.text)
    }
  }
  const loads = [load(), load(), load()]
  for (let index = 0; index < 12; index++) {
    const changed = await put({
      [`api::made-${index}.made-${index}`]: typeOf(`made-${index}`, `mades-${index}`, { [`field${index}`]: text }),
    })
    expect(changed.status, changed.text).toBe(200)
    const created = await write(`/api/mades-${index}`, { [`field${index}`]: 'value' })
    expect(created.status, created.text).toBe(201)
  }
  isOver = true
  await Promise.all(loads)
  expect(failures).toEqual([])
})

rule('live-model.2', 'files are written in the order of their keys, with the code that Strapi needs', async () => {
  const schema = {
    attributes: { text },
    info: { displayName: 'Road map', singularName: 'road-map', pluralName: 'road-maps' },
    kind: 'singleType',
  }
  expect((await put({ 'api::road-map.road-map': schema })).status).toBe(200)
  const file = readFileSync(fileOf('src/api/road-map/content-types/road-map/schema.json'), 'utf8')
  expect(Object.keys(JSON.parse(file))).toEqual(['kind', 'info', 'attributes'])
  expect(file).toBe(`${JSON.stringify(JSON.parse(file), null, 2)}\n`)
  expect(readFileSync(fileOf('src/api/road-map/routes/road-map.js'), 'utf8')).toContain("createCoreRouter('api::road-map.road-map')")
  expect((await put({ 'api::road-map.road-map': null }, { agree: 'api::road-map.road-map' })).status).toBe(200)
  expect(existsSync(fileOf('src/api/road-map'))).toBe(false)
  expect(existsSync(fileOf('src/api/note'))).toBe(true)
})

rule('live-model.1', 'names with digits are those of the request', async () => {
  const self = { type: 'relation', relation: 'oneToOne', target: 'api::web3.web3' }
  const made = await put({ 'api::web3.web3': typeOf('web3', 'web3s', { text, self }) })
  expect([made.status, made.body.data?.schemas], made.text).toEqual([200, ['api::web3.web3']])
  expect((await write('/api/web3s', { text: 'value' })).status).toBe(201)
  expect((await put({ 'api::web3.web3': null }, { agree: 'api::web3.web3' })).status).toBe(200)
})

rule('live-model.3', 'callers without the action get 403, and so does everyone where the model is locked', async () => {
  const schema = { 'api::secret.secret': typeOf('secret', 'secrets', { text }) }
  await addToken(served, 'reads-only', { type: 'read-only' })
  expect((await put(schema, { token: 'reads-only' })).status).toBe(403)
  expect((await served.request(path, { method: 'PUT', body: '{}' })).status).toBe(403)
  const locked = await serveProject({ 'src/api/note/content-types/note/schema.json': note({ title: text }) }, { environment: secrets })
  try {
    await addToken(locked, full, { type: 'full-access' })
    const refused = await put(schema, { at: locked })
    expect(refused.status).toBe(403)
    expect(refused.body.error.message).toContain('admin.model')
  } finally {
    await locked.close()
  }
})

const refusals: readonly [what: string, data: unknown, message: string][] = [
  ['no schema', {}, 'must name a schema'],
  ['a uid of nothing', { 'api::a.b': typeOf('b', 'bs', {}) }, 'is not a uid'],
  ['a uid that leaves the folder', { '../../x.y': { info: { displayName: 'x' }, attributes: {} } }, 'is not a uid'],
  ['a type of administrators', { 'admin::user': typeOf('user', 'users', {}) }, 'is not a uid'],
  ['an unknown attribute type', { 'api::bad.bad': typeOf('bad', 'bads', { a: { type: 'strin' } }) }, 'strin'],
  ['an attribute name with a space', { 'api::bad.bad': typeOf('bad', 'bads', { 'a b': text }) }, 'must be a letter'],
  ['an attribute that every document has', { 'api::bad.bad': typeOf('bad', 'bads', { documentId: text }) }, 'documentId'],
  [
    'a target that does not exist',
    { 'api::bad.bad': typeOf('bad', 'bads', { a: { type: 'relation', relation: 'oneToOne', target: 'api::no.no' } }) },
    'api::no.no',
  ],
  ['a component that does not exist', { 'api::bad.bad': typeOf('bad', 'bads', { a: { type: 'component', component: 'no.no' } }) }, 'no.no'],
  ['a path that is taken', { 'api::bad.bad': typeOf('bad', 'notes', { a: text }, { collectionName: 'bads' }) }, 'api::note.note'],
  ['a name that a type of a plugin has', { 'api::user.user': typeOf('user', 'users', { a: text }) }, 'plugin::users-permissions.user'],
  ['a table that is taken', { 'api::bad.bad': typeOf('bad', 'bads', { a: text }, { collectionName: 'notes' }) }, 'notes'],
  ['a table of Strapi', { 'api::bad.bad': typeOf('bad', 'bads', { a: text }, { collectionName: 'strapi_migrations' }) }, 'reserved'],
  ['a name that is reserved', { 'api::upload.upload': typeOf('upload', 'uploads', { a: text }) }, 'reserved'],
  [
    'a column that every row has',
    { 'api::bad.bad': typeOf('bad', 'bads', { a: { ...text, column: { name: 'document_id' } } }) },
    'document_id',
  ],
  [
    'a column of another attribute',
    { 'api::bad.bad': typeOf('bad', 'bads', { a: text, b: { ...text, column: { name: 'a' } } }) },
    'same column',
  ],
  ['two attributes of one column', { 'api::bad.bad': typeOf('bad', 'bads', { fooBar: text, foo_bar: text }) }, 'foo_bar'],
  ['a schema to delete that is not there', { 'api::bad.bad': null }, 'does not exist'],
  ['a type that others refer to', { 'api::writer.writer': null }, 'api::writer.writer'],
]
for (const [what, data, message] of refusals)
  rule('live-model.4', `${what} is 400 and changes nothing`, async () => {
    const before = (await read('/api/content-type-builder/content-types')).text
    const refused = await put(data)
    expect(refused.status, refused.text).toBe(400)
    expect(refused.body.error.message).toContain(message)
    expect(refused.text).not.toContain(served.folder)
    expect((await read('/api/content-type-builder/content-types')).text).toBe(before)
    expect(existsSync(fileOf('src/api/bad'))).toBe(false)
  })

rule('live-model.4', 'attributes that code or settings of the project need stay', async () => {
  const project = await serveProject(
    { 'src/api/note/content-types/note/schema.json': note({ title: text, body: text }) },
    {
      environment: secrets,
      config: { admin: { model: 'always' } },
      code: { types: { 'api::note.note': { defaults: { sort: 'title' } } } },
    },
  )
  try {
    await addToken(project, full, { type: 'full-access' })
    for (const change of [{ 'api::note.note': note({ body: text }) }, { 'api::note.note': null }])
      expect((await put(change, { at: project })).status).toBe(400)
    expect((await read('/api/notes', project)).status).toBe(200)
  } finally {
    await project.close()
  }
})

rule('live-model.5', 'content is hidden only by agreement, is archived, and is restored by an undo', async () => {
  const schema = (attributes: object) => ({ 'api::diary.diary': typeOf('diary', 'diaries', attributes) })
  await put(schema({ day: text, mood: text, unused: text }))
  await write('/api/diaries', { day: 'Monday', mood: 'fine' })
  const refused = await put(schema({ day: text }))
  expect(refused.status).toBe(409)
  expect(refused.body.error.details.losses).toMatchObject([{ name: 'api::diary.diary.mood', count: 1 }])
  expect((await read('/api/diaries')).body.data[0].mood).toBe('fine')
  expect((await put(schema({ day: text }), { agree: 'api::diary.diary.mood' })).status).toBe(200)
  expect((await read('/api/diaries')).body.data[0]).not.toHaveProperty('mood')
  expect((await read('/api/diaries?filters[mood]=fine')).status).toBe(400)
  expect((await send('undo')).status).toBe(200)
  expect((await read('/api/diaries')).body.data).toMatchObject([{ day: 'Monday', mood: 'fine' }])
  expect((await put({ 'api::diary.diary': null })).body.error.details.losses).toMatchObject([{ name: 'api::diary.diary', count: 1 }])
  expect((await put({ 'api::diary.diary': null }, { agree: 'api::diary.diary' })).status).toBe(200)
  expect((await read('/api/diaries')).status).toBe(404)
  expect(existsSync(fileOf('src/api/diary'))).toBe(false)
  expect((await send('undo')).status).toBe(200)
  expect((await read('/api/diaries')).body.data).toMatchObject([{ day: 'Monday', mood: 'fine' }])
})

const link = (relation: string, target = 'api::note.note') => ({ type: 'relation', relation, target })

rule('live-model.6', 'content is converted and moved: types of attributes, relations, Draft & Publish, locales, tables', async () => {
  const schema = (attributes: object, more: object = {}) => ({ 'api::box.box': typeOf('box', 'boxes', attributes, more) })
  const noted = await write('/api/notes', { title: 'in the box' })
  await put(schema({ size: text, notes: link('oneToMany') }))
  for (const size of ['12', 'wide']) await write('/api/boxes', { size, notes: [noted.body.data.documentId] })
  const refused = await put(schema({ size: { type: 'integer' }, notes: link('oneToMany') }))
  expect(refused.body.error.details.losses).toMatchObject([{ name: 'api::box.box.size', count: 1 }])
  const made = await put(schema({ size: { type: 'integer' }, notes: link('manyToMany') }), { agree: 'api::box.box.size' })
  expect(made.status, made.text).toBe(200)
  expect(made.body.data.responses).toContain('size of api::box.box is returned as integer, no longer as string.')
  const boxes = (query = '') => read(`/api/boxes?sort=id&populate=notes${query}`)
  expect((await boxes()).body.data).toMatchObject([
    { size: 12, notes: [{ title: 'in the box' }] },
    { size: null, notes: [{ title: 'in the box' }] },
  ])
  const drafts = { options: { draftAndPublish: true }, collectionName: 'cases', pluginOptions: { i18n: { localized: true } } }
  const numbered = { size: { type: 'integer' }, notes: link('manyToMany') }
  const published = await put(schema(numbered, drafts))
  expect(published.status, published.text).toBe(200)
  for (const status of ['draft', 'published'])
    expect((await boxes(`&status=${status}&locale=en`)).body.data).toMatchObject([
      { size: 12, locale: 'en' },
      { size: null, notes: [{ title: 'in the box' }] },
    ])
  expect((await write('/api/boxes?status=draft', { size: 3 })).status).toBe(201)
  const off = await put(schema(numbered))
  expect(off.body.error.details.losses).toMatchObject([{ name: 'api::box.box:drafts', count: 1 }])
  expect((await put(schema(numbered), { agree: 'api::box.box:drafts' })).status).toBe(200)
  expect((await boxes()).body.data).toHaveLength(2)
  expect((await send('undo')).status).toBe(200)
  expect((await boxes('&status=draft')).body.data).toHaveLength(3)
})

rule('live-model.12', 'attributes of JSON are renamed and removed between reads, and come back', async () => {
  const schema = (attributes: object) => ({ 'api::atlas.atlas': typeOf('atlas', 'atlases', attributes) })
  const values = { map: { scale: [1, 2] }, legend: [{ type: 'paragraph', children: [{ type: 'text', text: 'rivers' }] }] }
  await put(schema({ map: { type: 'json' }, legend: { type: 'blocks' } }))
  expect((await write('/api/atlases', values)).status).toBe(201)
  const shown = async () => (await read('/api/atlases')).body.data[0]
  expect(await shown()).toMatchObject(values)
  const renames = ['map', 'legend'].map((from) => ({ kind: 'attribute', schema: 'api::atlas.atlas', from, to: `${from}2` }))
  const renamed = await send('schemas', { data: schema({ map2: { type: 'json' }, legend2: { type: 'blocks' } }), renames }, 'PUT')
  expect(renamed.status, renamed.text).toBe(200)
  expect(await shown()).toMatchObject({ map2: values.map, legend2: values.legend })
  const removed = await put(schema({ legend2: { type: 'blocks' } }), { agree: 'api::atlas.atlas.map2' })
  expect(removed.status, removed.text).toBe(200)
  expect(await shown()).toMatchObject({ legend2: values.legend })
  const undone = await send('undo')
  expect(undone.status, undone.text).toBe(200)
  expect(await shown()).toMatchObject({ map2: values.map, legend2: values.legend })
  const backwards = renames.map(({ from, to, ...rename }) => ({ ...rename, from: to, to: from }))
  const original = schema({ map: { type: 'json' }, legend: { type: 'blocks' } })
  expect((await send('schemas', { data: original, renames: backwards }, 'PUT')).status).toBe(200)
  expect(await shown()).toMatchObject(values)
})

rule('live-model.6', 'missing values in rows of the new model are counted, and stay missing', async () => {
  const schema = (attributes: object) => ({ 'api::lamp.lamp': typeOf('lamp', 'lamps', attributes) })
  await put(schema({ name: text, power: { type: 'integer' } }))
  for (const name of ['one', 'one', null]) await write('/api/lamps', { name, power: 5 })
  const changed = await put(schema({ name: { ...text, required: true, unique: true }, power: { type: 'integer', max: 3 } }))
  expect(changed.status, changed.text).toBe(200)
  const counts = changed.body.data.conditions.map(({ name, count }: { name: string; count: number }) => [name, count])
  expect(counts).toEqual(
    expect.arrayContaining([
      ['api::lamp.lamp.name:required', 1],
      ['api::lamp.lamp.power:range', 3],
    ]),
  )
  expect((await read('/api/lamps')).body.data).toHaveLength(3)
})

rule('live-model.12', 'renamed types and attributes keep their content, their links and their permissions', async () => {
  const pen = (name: string, attributes: object, target = 'api::note.note') => ({
    [`api::${name}.${name}`]: typeOf(name, `${name}s`, { ...attributes, note: link('manyToOne', target) }),
  })
  const noted = await write('/api/notes', { title: 'by pen' })
  await put(pen('pen', { colour: text }))
  await write('/api/pens', { colour: 'red', note: noted.body.data.documentId })
  const renames = [
    { kind: 'type', from: 'api::pen.pen', to: 'api::quill.quill' },
    { kind: 'attribute', schema: 'api::pen.pen', from: 'colour', to: 'ink' },
  ]
  const change = { 'api::pen.pen': null, ...pen('quill', { ink: text }) }
  const planned = await send('plan', { data: change, renames })
  expect(planned.body.data.losses).toEqual([])
  expect((await read('/api/pens')).status).toBe(200)
  const renamed = await send('schemas', { data: change, renames }, 'PUT')
  expect(renamed.status, renamed.text).toBe(200)
  expect((await read('/api/pens')).status).toBe(404)
  const quills = [{ ink: 'red', note: { title: 'by pen' } }]
  expect((await read('/api/quills?populate=*&filters[ink]=red')).body.data).toMatchObject(quills)
  const contradicting = await send('plan', { data: pen('quill', { ink: text }), renames: [renames[1]] })
  expect(contradicting.status, contradicting.text).toBe(400)
  const undone = await send('undo', { data: { change: await lastChange() } })
  expect(undone.status, undone.text).toBe(200)
  expect((await read('/api/pens?populate=*')).body.data).toMatchObject([{ colour: 'red', note: { title: 'by pen' } }])
})

const lastChange = async (): Promise<number> => (await read('/api/content-type-builder/changes')).body.data.at(-1).id

rule('live-model.13', 'a plan changes nothing, and is refused for another version of the model', async () => {
  const data = { 'api::cup.cup': typeOf('cup', 'cups', { text }) }
  const changes = await lastChange()
  const planned = await send('plan', { data })
  expect(planned.status, planned.text).toBe(200)
  expect(planned.body.data.changes).toEqual([{ kind: 'schemaCreated', schema: 'api::cup.cup' }])
  expect(planned.body.data.steps).toMatchObject([{ kind: 'createTable', risk: 'safe' }, {}])
  expect((await read('/api/cups')).status).toBe(404)
  expect(await lastChange()).toBe(changes)
  const { version } = planned.body.data
  expect((await send('schemas', { data, version }, 'PUT')).status).toBe(200)
  const late = await send('schemas', { data: { 'api::cup.cup': null }, version }, 'PUT')
  expect([late.status, late.body.error.name]).toEqual([412, 'PreconditionFailedError'])
  expect((await send('plan', { data: { 'api::cup.cup': null } })).body.data.losses).toEqual([])
})

rule('live-model.13', 'a plan has the SQL of its steps, the number of rows, and who gains access to new attributes', async () => {
  const jar = (attributes: object) => ({ 'api::jar.jar': typeOf('jar', 'jars', attributes) })
  expect((await put(jar({ size: text, lid: text }))).status).toBe(200)
  for (const size of ['1', '2', 'wide']) await write('/api/jars', { size, lid: 'y' })
  const role = await served.sql("select id from up_roles where type = 'public'")
  await served.sql("insert into up_permissions (document_id, action) values ('jars', 'api::jar.jar.find')")
  const [permission] = await served.sql("select id from up_permissions where document_id = 'jars'")
  await served.sql(
    'insert into up_permissions_role_lnk (permission_id, role_id) values (?, ?)',
    Number(permission!.id),
    Number(role[0]!.id),
  )
  await addToken(served, 'reads-jars', { type: 'custom', actions: ['api::jar.jar.findOne'] })
  const data = jar({ size: { type: 'integer' }, lid: text, colour: text, inside: { ...text, private: true } })
  const planned = (await send('plan', { data })).body.data
  const steps: { kind: string; rows: number | null; sql: string[] }[] = planned.steps
  expect(steps.find(({ kind }) => kind === 'convertColumn')).toMatchObject({ rows: 3 })
  expect(steps.find(({ kind }) => kind === 'addColumn')).toMatchObject({ rows: null })
  const isSql = (each: string) => /^(?:alter|create|drop|insert|update|delete|rename|select|--)/i.test(each)
  for (const { kind, sql } of steps) expect([kind, sql.length > 0 && sql.every(isSql)]).toEqual([kind, true])
  expect(steps.flatMap(({ sql }) => sql).join('\n')).toMatch(/"jars" add column "colour" /)
  expect(planned.gains).toEqual([
    { schema: 'api::jar.jar', attribute: 'colour', roles: ['Public'], tokens: ['reads-jars'], administrators: [] },
  ])
})

rule('live-model.18', 'a possible rename is named, and not assumed', async () => {
  const height = { type: 'integer' }
  const pot = (attributes: object) => ({ 'api::pot.pot': typeOf('pot', 'pots', attributes) })
  expect((await put(pot({ name: text, glaze: text, height }))).status).toBe(200)
  expect((await write('/api/pots', { name: 'x', glaze: 'blue', height: 3 })).status).toBe(201)
  const data = pot({ name: text, coating: text, height })
  const rename = { kind: 'attribute', schema: 'api::pot.pot', from: 'glaze', to: 'coating' }
  const possible = async (schemas: object) => (await send('plan', { data: schemas })).body.data.possibleRenames
  expect(await possible(data)).toEqual([rename])
  const refused = await put(data)
  expect([refused.status, refused.body.error.details.possibleRenames]).toEqual([409, [rename]])
  expect(refused.body.error.message).toContain('api::pot.pot.glaze=coating')
  // The guide's example: an attribute with other validation rules is still the same. One with the same definition is preferred.
  expect(await possible(pot({ name: text, coating: { ...text, required: true, maxLength: 50 }, height }))).toEqual([rename])
  expect(await possible(pot({ name: text, coating: text, surface: { ...text, required: true }, height }))).toEqual([rename])
  // Neither of two possible renames is named, nor one to another type.
  expect(await possible(pot({ name: text, height, coating: text, surface: text }))).toEqual([])
  expect(await possible(pot({ name: text, height, coating: { type: 'text' } }))).toEqual([])
  expect(await possible({ 'api::pot.pot': null, 'api::vase.vase': typeOf('vase', 'vases', { name: text, glaze: text, height }) })).toEqual([
    { kind: 'type', from: 'api::pot.pot', to: 'api::vase.vase' },
  ])
  const strict = pot({ name: text, coating: { ...text, required: true }, height })
  expect((await send('plan', { data: strict, renames: [rename] })).body.data.responses).toEqual([
    'Responses of api::pot.pot have coating where they had glaze.',
    'Writes to coating of api::pot.pot are checked by other rules: required.',
  ])
  expect((await send('schemas', { data, renames: [rename] }, 'PUT')).status).toBe(200)
  expect((await read('/api/pots')).body.data).toMatchObject([{ coating: 'blue' }])
})

rule('live-model.14', 'only the last change is undone, and what does not exist is 404', async () => {
  await put({ 'api::fan.fan': typeOf('fan', 'fans', { text }) })
  const first = await lastChange()
  await put({ 'api::fan.fan': typeOf('fan', 'fans', { text, more: text }) })
  const last = await lastChange()
  const refused = await send('undo', { data: { change: first } })
  expect([refused.status, refused.body.error.message]).toEqual([
    409,
    `Only the last change can be undone, which is change ${last} (api::fan.fan). Archived values of an attribute are restored by its name: octavo model restore`,
  ])
  expect((await send('undo', { data: { change: 100_000 } })).status).toBe(404)
  expect((await send('undo', { data: { change: 'x' } })).status).toBe(400)
  const file = fileOf('src/api/fan/content-types/fan/schema.json')
  const written = readFileSync(file, 'utf8')
  writeFileSync(file, `${written} `)
  const changed = await send('undo', { data: { change: last } })
  expect([changed.status, changed.body.error.details.files]).toEqual([409, ['src/api/fan/content-types/fan/schema.json']])
  writeFileSync(file, written)
  await write('/api/fans', { text: 'here' })
  const undone = await send('undo', { data: { change: last } })
  expect(undone.status, undone.text).toBe(200)
})

rule('live-model.14', 'drafts that come back give way where their documents were written or deleted since', async () => {
  const kinds = (draftAndPublish: boolean) => ({
    'api::leaf.leaf': typeOf('leaf', 'leaves', { name: text, notes: link('oneToMany') }, { options: { draftAndPublish } }),
  })
  const noted = await write('/api/notes', { title: 'on a leaf' })
  await put(kinds(true))
  const made: string[] = []
  for (const name of ['written', 'left alone', 'deleted']) {
    const { documentId } = (await write('/api/leaves', { name, notes: [noted.body.data.documentId] })).body.data
    made.push(documentId)
    await request(`/api/leaves/${documentId}?status=draft`, 'PUT', { name: `${name}, changed` })
  }
  const agree = 'api::leaf.leaf:changes,api::leaf.leaf:drafts'
  expect((await put(kinds(false), { agree })).status).toBe(200)
  await request(`/api/leaves/${made[0]}`, 'PUT', { name: 'written later' })
  expect((await request(`/api/leaves/${made[2]}`, 'DELETE')).status).toBe(204)
  const undone = await send('undo')
  expect(undone.status, undone.text).toBe(200)
  const drafts = (await read('/api/leaves?status=draft&sort=id&populate=notes')).body.data
  expect(drafts.find(({ documentId }: { documentId: string }) => documentId === made[0])).toMatchObject({ name: 'written later' })
  expect(drafts.find(({ documentId }: { documentId: string }) => documentId === made[1])).toMatchObject({ name: 'left alone, changed' })
  const published = (await read('/api/leaves?status=published&sort=name')).body.data
  expect(published.map(({ name }: { name: string }) => name)).toEqual(['left alone', 'written later'])
  expect((await request(`/api/leaves/${made[0]}/actions/publish`, 'POST')).status).toBe(200)
})

/** Sends data to the content API. */
const request = (url: string, method: string, data?: object): Promise<TestResponse> =>
  served.request(url, {
    method,
    token: full,
    ...(data === undefined ? {} : { body: JSON.stringify({ data }), headers: { 'content-type': 'application/json' } }),
  })

rule('live-model.1', 'reads and writes during changes that move content never fail and are never wrong', async () => {
  const schema = (attributes: object, more: object = {}) => ({ 'api::tool.tool': typeOf('tool', 'tools', attributes, more) })
  await put(schema({ name: text, weight: { type: 'integer' } }))
  for (let weight = 0; weight < 20; weight++) await write('/api/tools', { name: `tool ${weight}`, weight })
  let isOver = false
  const wrong: string[] = []
  const load = async (): Promise<void> => {
    while (!isOver) {
      const answer = await read('/api/tools?pagination[pageSize]=100&filters[name][$startsWith]=tool')
      if (answer.status !== 200 || answer.body.data.length !== 20) wrong.push(answer.text)
      const written = await write('/api/tools', { name: 'load' })
      if (written.status !== 201) wrong.push(written.text)
    }
  }
  const loads = [load(), load(), load()]
  const integer = { name: text, weight: { type: 'integer' } }
  for (const [attributes, more] of [
    [{ name: text, weight: text }, {}],
    [integer, {}],
    [integer, { options: { draftAndPublish: true } }],
    [integer, { options: { draftAndPublish: true }, collectionName: 'tool_boxes' }],
    [integer, {}],
    [{ name: text, weight: { type: 'decimal' } }, { pluginOptions: { i18n: { localized: true } } }],
    [integer, {}],
  ] as const) {
    const changed = await put(schema(attributes, more), { agree: 'api::tool.tool:drafts,api::tool.tool.weight' })
    expect(changed.status, changed.text).toBe(200)
  }
  isOver = true
  await Promise.all(loads)
  expect(wrong).toEqual([])
})

rule('live-model.7', 'concurrent changes are applied one by one, and none is lost', async () => {
  const names = ['red', 'green', 'blue', 'white']
  const answers = await Promise.all(names.map((name) => put({ [`api::${name}.${name}`]: typeOf(name, `${name}s`, { text }) })))
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200])
  for (const name of names) expect((await read(`/api/${name}s`)).status).toBe(200)
})

rule('live-model.8', 'another process serves the new model to the next request, and both may change it', async () => {
  const other = await serveExisting(served, secrets)
  try {
    expect((await put({ 'api::shared.shared': typeOf('shared', 'shareds', { text }) })).status).toBe(200)
    expect((await write('/api/shareds', { text: 'here' }, other)).status).toBe(201)
    expect((await put({ 'api::shared.shared': typeOf('shared', 'shareds', { text, more: text }) }, { at: other })).status).toBe(200)
    expect((await write('/api/shareds', { text: 'there', more: 'x' })).status).toBe(201)
    const answers = await Promise.all(
      [served, other].map((at, index) =>
        put({ [`api::both-${index}.both-${index}`]: typeOf(`both-${index}`, `boths-${index}`, { text }) }, { at }),
      ),
    )
    const won = answers.filter(({ status }) => status === 200).length
    expect(won).toBeGreaterThan(0)
    expect(answers.filter(({ status }) => status === 409).length).toBe(2 - won)
    for (const [index, { status }] of answers.entries())
      for (const at of [served, other]) expect((await read(`/api/boths-${index}`, at)).status).toBe(status === 200 ? 200 : 404)
  } finally {
    await other.close()
  }
})

rule('live-model.9', 'a start writes the files of a change that an earlier process did not write', async () => {
  const schema = typeOf('late', 'lates', { text })
  const file = 'src/api/late/content-types/late/schema.json'
  const made = await put({ 'api::late.late': schema })
  expect(made.status).toBe(200)
  const kept = readFileSync(fileOf(file), 'utf8')
  const { rmSync } = await import('node:fs')
  rmSync(fileOf('src/api/late'), { recursive: true })
  await served.sql(
    'update octavo_model_history set is_filed = 0 where id = (select id from (select max(id) as id from octavo_model_history) as last)',
  )
  const again = await serveExisting(served, secrets)
  try {
    expect(readFileSync(fileOf(file), 'utf8')).toBe(kept)
    expect((await write('/api/lates', { text: 'here' }, again)).status).toBe(201)
    expect(await served.sql('select id from octavo_model_history where is_filed = 0')).toEqual([])
  } finally {
    await again.close()
  }
})

rule('live-model.10', "Strapi's update-schema makes changes that are active with their response", async () => {
  const request = (method: string, url: string, body?: object, headers: Record<string, string> = {}): Promise<TestResponse> =>
    served.request(`/content-type-builder/${url}`, {
      method,
      token: full,
      headers: { 'content-type': 'application/json', ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
  const update = (types: readonly object[], headers: Record<string, string> = {}) =>
    request('POST', 'update-schema', { data: { components: [], contentTypes: types } }, headers)
  const uid = 'api::book.book'
  const names = { kind: 'collectionType', displayName: 'Book', singularName: 'book', pluralName: 'books', draftAndPublish: true }
  const type = { action: 'create', uid, ...names, attributes: [{ action: 'create', name: 'title', properties: text }] }
  const created = await update([type])
  expect([created.status, created.body]).toEqual([200, {}])
  expect((await write('/api/books', { title: 'first' })).status).toBe(201)
  expect((await update([type])).status).toBe(400)
  const updated = { action: 'update', uid, displayName: 'Book', draftAndPublish: true }
  const pages = { action: 'create', name: 'pages', properties: { type: 'integer' } }
  const changed = await update([{ ...updated, attributes: [{ action: 'update', name: 'title', properties: text }, pages] }])
  expect(changed.status, changed.text).toBe(200)
  expect((await read('/api/books?filters[pages][$null]=true')).body.data).toHaveLength(1)
  const refused = await update([{ ...updated, attributes: [{ ...pages, action: 'update' }] }])
  expect(refused.body.error.details.losses).toMatchObject([{ name: 'api::book.book.title', count: 2 }])
  expect((await update([{ action: 'delete', uid }], { 'octavo-agree': uid })).status).toBe(200)
  expect((await read('/api/books')).status).toBe(404)
  expect((await request('GET', 'update-schema-status')).body).toEqual({ data: { isUpdating: false } })
  expect((await served.request('/content-type-builder/update-schema', { method: 'POST', token: 'reads-only', body: '{}' })).status).toBe(
    403,
  )
  expect((await request('PUT', 'update-schema', {})).status).toBe(405)
  for (const path of ['content-types', 'components', `content-types/${uid}`, 'component-categories/shared'])
    for (const method of ['POST', 'PUT', 'DELETE'])
      expect([path, method, (await request(method, path, {})).status]).toEqual([
        path,
        method,
        (await request(method, 'unknown', {})).status,
      ])
})

rule('live-model.11', 'the changes are listed', async () => {
  const { body } = await read('/api/content-type-builder/changes')
  expect(body.data[0]).toMatchObject({ id: 1, summary: 'shared.link, api::writer.writer, api::note.note', isFiled: true })
  expect(new Date(body.data[0].madeAt).getTime()).toBeGreaterThan(Date.now() - 600_000)
  expect((await served.request('/api/content-type-builder/changes', { token: 'reads-only' })).status).toBe(403)
  const paths = (await read('/api/openapi.json')).body.paths
  expect(Object.keys(paths['/content-type-builder/schemas'])).toContain('put')
  for (const name of ['changes', 'plan', 'undo']) expect(paths).toHaveProperty([`/content-type-builder/${name}`])
})

test('the name of a change is in the log', () => {
  expect(served.log.some((line) => line.includes('the model was changed') && line.includes('api::late.late'))).toBe(true)
})

rule('live-model.17', 'old requests of another process across a change that moves content', async () => {
  const held = (attributes: object, more: object = {}) => typeOf('held', 'helds', attributes, more)
  expect((await put({ 'api::held.held': held({ kept: text, first: text }) })).status).toBe(200)
  const gate: { opens(): void; opened: Promise<void>; reached(): void; isReached: Promise<void> }[] = []
  const close = () => {
    let [opens, reached] = [() => {}, () => {}]
    const opened = new Promise<void>((resolve) => {
      opens = resolve
    })
    const isReached = new Promise<void>((resolve) => {
      reached = resolve
    })
    gate.push({ opens, opened, reached, isReached })
    return gate.at(-1)!
  }
  /** Holds a request of the other process until the gate opens. */
  const wait = async () => {
    const last = gate.at(-1)
    last?.reached()
    await last?.opened
    return true
  }
  const policies = { find: wait, create: wait, update: wait }
  const other = await serveExisting(served, secrets, { types: { 'api::held.held': { policies } } } as never)
  try {
    const renaming = async (from: string, to: string) => {
      const renames = [{ kind: 'attribute', schema: 'api::held.held', from, to }]
      const body = { data: { 'api::held.held': held({ kept: text, [to]: text }) }, renames }
      const changed = await send('schemas', body, 'PUT')
      expect(changed.status, changed.text).toBe(200)
    }
    const during = async <Result>(asked: () => Promise<Result>, change: () => Promise<void>): Promise<Result> => {
      const { opens, isReached } = close()
      const result = asked()
      await isReached
      await change()
      opens()
      return result
    }
    const made = await write('/api/helds', { kept: 'x', first: 'one' })
    expect(made.status).toBe(201)
    const seen = await during(
      () => read('/api/helds', other),
      () => renaming('first', 'second'),
    )
    expect([seen.status, seen.body.data[0]?.second, 'first' in seen.body.data[0]]).toEqual([200, 'one', false])
    const refused = await during(
      () => write('/api/helds', { kept: 'y' }, other),
      () => renaming('second', 'third'),
    )
    expect([refused.status, refused.headers.get('retry-after')], refused.text).toEqual([503, '1'])
    expect((await write('/api/helds', { kept: 'z', third: 'three' }, other)).status).toBe(201)
    expect((await read('/api/helds?sort=id', other)).body.data.map(({ kept }: { kept: string }) => kept)).toEqual(['x', 'z'])
    // Additions disturb no requests.
    const beside = await during(
      () => write('/api/helds', { kept: 'beside' }, other),
      async () => {
        expect((await put({ 'api::held.held': held({ kept: text, third: text, fourth: text }) })).status).toBe(200)
      },
    )
    expect(beside.status, beside.text).toBe(201)
    // Drafts are switched on: a row without one would be missing from then on.
    const unpaired = await during(
      () => write('/api/helds', { kept: 'unpaired' }, other),
      async () => {
        const drafts = { options: { draftAndPublish: true } }
        const changed = await put({ 'api::held.held': held({ kept: text, third: text, fourth: text }, drafts) })
        expect(changed.status, changed.text).toBe(200)
      },
    )
    expect(unpaired.status, unpaired.text).toBe(503)
    for (const status of ['draft', 'published'])
      expect((await read(`/api/helds?sort=id&status=${status}`, other)).body.meta.pagination.total).toBe(3)
  } finally {
    await other.close()
  }
})
