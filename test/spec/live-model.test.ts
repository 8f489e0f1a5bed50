// Changes of the model while serving, over HTTP.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { rule } from '../support/rule.js'
import { type Answer, type Served, serveBeside, serveProject } from '../support/serve.js'
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

const put = (data: unknown, { agree, token = full, at = served }: { agree?: string; token?: string; at?: Served } = {}): Promise<Answer> =>
  at.ask(path, {
    method: 'PUT',
    token,
    body: JSON.stringify({ data }),
    headers: { 'content-type': 'application/json', ...(agree === undefined ? {} : { 'octavo-agree': agree }) },
  })

const write = async (url: string, data: object, at = served): Promise<Answer> =>
  at.ask(url, { method: 'POST', token: full, body: JSON.stringify({ data }), headers: { 'content-type': 'application/json' } })

const read = (url: string, at = served): Promise<Answer> => at.ask(url, { token: full })

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
  expect((await served.ask('/api/writers')).status).toBe(403)
  expect(Object.keys((await read('/api/openapi.json')).body.paths)).toContain('/writers/{id}')
})

rule('live-model.1', 'reads and writes beside many changes never fail', async () => {
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

rule('live-model.3', 'callers without the action get 403, and so does everyone where the model is locked', async () => {
  const schema = { 'api::secret.secret': typeOf('secret', 'secrets', { text }) }
  await addToken(served, 'reads-only', { type: 'read-only' })
  expect((await put(schema, { token: 'reads-only' })).status).toBe(403)
  expect((await served.ask(path, { method: 'PUT', body: '{}' })).status).toBe(403)
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
  ['a uid of nothing', { 'api::a.b': typeOf('b', 'bs', {}) }, 'is no uid'],
  ['a uid that leaves the folder', { '../../x.y': { info: { displayName: 'x' }, attributes: {} } }, 'is no uid'],
  ['a type of administrators', { 'admin::user': typeOf('user', 'users', {}) }, 'is no uid'],
  ['an unknown attribute type', { 'api::bad.bad': typeOf('bad', 'bads', { a: { type: 'strin' } }) }, 'strin'],
  ['an attribute name with a space', { 'api::bad.bad': typeOf('bad', 'bads', { 'a b': text }) }, 'must be a letter'],
  ['an attribute that every document has', { 'api::bad.bad': typeOf('bad', 'bads', { documentId: text }) }, 'documentId'],
  [
    'a target that does not exist',
    { 'api::bad.bad': typeOf('bad', 'bads', { a: { type: 'relation', relation: 'oneToOne', target: 'api::no.no' } }) },
    'api::no.no',
  ],
  ['a component that does not exist', { 'api::bad.bad': typeOf('bad', 'bads', { a: { type: 'component', component: 'no.no' } }) }, 'no.no'],
  ['a path that is taken', { 'api::bad.bad': typeOf('bad', 'notes', { a: text }, { collectionName: 'bads' }) }, '/api/notes'],
  ['a table that is taken', { 'api::bad.bad': typeOf('bad', 'bads', { a: text }, { collectionName: 'notes' }) }, 'notes'],
  ['a table of Strapi', { 'api::bad.bad': typeOf('bad', 'bads', { a: text }, { collectionName: 'strapi_migrations' }) }, 'reserved'],
  ['a name that is reserved', { 'api::upload.upload': typeOf('upload', 'uploads', { a: text }) }, 'reserved'],
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

rule('live-model.4', 'what the code or the settings of the project need stays', async () => {
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

rule('live-model.5', 'content is hidden only by agreement, stays in the database, and comes back', async () => {
  const schema = (attributes: object) => ({ 'api::diary.diary': typeOf('diary', 'diaries', attributes) })
  await put(schema({ day: text, mood: text, unused: text }))
  await write('/api/diaries', { day: 'Monday', mood: 'fine' })
  const refused = await put(schema({ day: text }))
  expect(refused.status).toBe(409)
  expect(refused.body.error.details.losses).toEqual([{ name: 'api::diary.diary.mood', count: 1 }])
  expect((await read('/api/diaries')).body.data[0].mood).toBe('fine')
  expect((await put(schema({ day: text }), { agree: 'api::diary.diary.mood' })).status).toBe(200)
  expect((await read('/api/diaries')).body.data[0]).not.toHaveProperty('mood')
  expect((await read('/api/diaries?filters[mood]=fine')).status).toBe(400)
  expect((await put({ 'api::diary.diary': null })).body.error.details.losses).toEqual([{ name: 'api::diary.diary', count: 1 }])
  expect((await put({ 'api::diary.diary': null }, { agree: 'api::diary.diary' })).status).toBe(200)
  expect((await read('/api/diaries')).status).toBe(404)
  expect((await put(schema({ day: text, mood: text }))).status).toBe(200)
  expect((await read('/api/diaries')).body.data).toMatchObject([{ day: 'Monday', mood: 'fine' }])
})

rule('live-model.6', 'what would convert or move content is 409 while there is content, and is done where there is none', async () => {
  const schema = (attributes: object, more: object = {}) => ({ 'api::box.box': typeOf('box', 'boxes', attributes, more) })
  const link = (relation: string) => ({ type: 'relation', relation, target: 'api::note.note' })
  await put(schema({ size: text, notes: link('oneToMany') }))
  const withDrafts = { options: { draftAndPublish: true } }
  expect((await put(schema({ size: text, notes: link('oneToMany') }, withDrafts))).status).toBe(200)
  expect((await put(schema({ size: text, notes: link('oneToMany') }))).status).toBe(200)
  await write('/api/boxes', { size: '12' })
  for (const [attributes, more] of [
    [{ size: { type: 'integer' }, notes: link('oneToMany') }, {}],
    [{ size: { type: 'password' }, notes: link('oneToMany') }, {}],
    [{ size: text, notes: link('oneToOne') }, {}],
    [{ size: text, notes: { ...link('oneToMany'), target: 'api::writer.writer' } }, {}],
    [{ size: text, notes: link('oneToMany') }, { options: { draftAndPublish: true } }],
    [{ size: text, notes: link('oneToMany') }, { pluginOptions: { i18n: { localized: true } } }],
    [{ size: text, notes: link('oneToMany') }, { collectionName: 'cases' }],
  ] as const) {
    const refused = await put(schema(attributes, more))
    expect(refused.status, JSON.stringify([attributes, more, refused.body])).toBe(409)
    expect(refused.body.error.details.obstacles).not.toEqual([])
  }
  expect((await read('/api/boxes')).body.data).toMatchObject([{ size: '12' }])
  expect((await put(schema({ notes: link('oneToMany') }), { agree: 'api::box.box.size' })).status).toBe(200)
  const refused = await put(schema({ size: { type: 'boolean' }, notes: link('oneToMany') }))
  expect(refused.status, refused.text).toBe(409)
})

rule('live-model.7', 'changes at once are made one after the other, and none is lost', async () => {
  const names = ['red', 'green', 'blue', 'white']
  const answers = await Promise.all(names.map((name) => put({ [`api::${name}.${name}`]: typeOf(name, `${name}s`, { text }) })))
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200])
  for (const name of names) expect((await read(`/api/${name}s`)).status).toBe(200)
})

rule('live-model.8', 'another process serves the new model to the next request, and both may change it', async () => {
  const other = await serveBeside(served, secrets)
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
    'update octavo_model_changes set is_filed = 0 where id = (select id from (select max(id) as id from octavo_model_changes) as last)',
  )
  const again = await serveBeside(served, secrets)
  try {
    expect(readFileSync(fileOf(file), 'utf8')).toBe(kept)
    expect((await write('/api/lates', { text: 'here' }, again)).status).toBe(201)
    expect(await served.sql('select id from octavo_model_changes where is_filed = 0')).toEqual([])
  } finally {
    await again.close()
  }
})

rule('live-model.10', "Strapi's routes make changes that are in force with their response", async () => {
  const send = (method: string, url: string, body?: object, headers: Record<string, string> = {}): Promise<Answer> =>
    served.ask(`/content-type-builder/${url}`, {
      method,
      token: full,
      headers: { 'content-type': 'application/json', ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
  const contentType = { displayName: 'Book', singularName: 'book', pluralName: 'books', draftAndPublish: true, attributes: { title: text } }
  const created = await send('POST', 'content-types', { contentType })
  expect([created.status, created.body]).toEqual([201, { data: { uid: 'api::book.book' } }])
  expect((await write('/api/books', { title: 'first' })).status).toBe(201)
  expect((await send('POST', 'content-types', { contentType })).status).toBe(400)
  const changed = await send('PUT', 'content-types/api::book.book', {
    contentType: { ...contentType, attributes: { title: text, pages: { type: 'integer' } } },
  })
  expect(changed.status, changed.text).toBe(201)
  expect((await read('/api/books?filters[pages][$null]=true')).body.data).toHaveLength(1)
  const updated = await send('POST', 'update-schema', {
    data: {
      components: [],
      contentTypes: [
        {
          action: 'update',
          uid: 'api::book.book',
          displayName: 'Book',
          draftAndPublish: true,
          attributes: [{ action: 'update', name: 'pages', properties: { type: 'integer' } }],
        },
      ],
    },
  })
  expect(updated.body.error.details.losses).toEqual([{ name: 'api::book.book.title', count: 2 }])
  expect((await send('DELETE', 'content-types/api::book.book', undefined, { 'octavo-agree': 'api::book.book' })).status).toBe(200)
  expect((await read('/api/books')).status).toBe(404)
  expect((await send('GET', 'update-schema-status')).body).toEqual({ data: { isUpdating: false } })
  expect((await served.ask('/content-type-builder/content-types', { method: 'POST', token: 'reads-only', body: '{}' })).status).toBe(403)
  expect((await send('PUT', 'update-schema', {})).status).toBe(405)
})

rule('live-model.11', 'the changes are listed', async () => {
  const { body } = await read('/api/content-type-builder/changes')
  expect(body.data[0]).toMatchObject({ id: 1, summary: 'shared.link, api::writer.writer, api::note.note', isFiled: true })
  expect(new Date(body.data[0].madeAt).getTime()).toBeGreaterThan(Date.now() - 600_000)
  expect((await served.ask('/api/content-type-builder/changes', { token: 'reads-only' })).status).toBe(403)
  const paths = (await read('/api/openapi.json')).body.paths
  expect(Object.keys(paths['/content-type-builder/schemas'])).toContain('put')
  expect(paths).toHaveProperty(['/content-type-builder/changes'])
})

test('the name of a change is in the log', () => {
  expect(served.log.some((line) => line.includes('the model was changed') && line.includes('api::late.late'))).toBe(true)
})
