// Changes of the model that name tables like existing ones, or impossible names, and files that cannot be read, over HTTP.
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect } from 'vitest'
import { isOnPostgres, isOnServer } from '../support/databases.js'
import { rule } from '../support/rule.js'
import { type Served, serveExisting, serveProject, type TestResponse } from '../support/serve.js'
import { addToken, secrets } from './callers.js'

const full = 'may-do-everything'
const text = { type: 'string' }

const typeOf = (singularName: string, pluralName: string, attributes: object, more: object = {}) => ({
  kind: 'collectionType',
  collectionName: pluralName,
  info: { singularName, pluralName, displayName: singularName },
  options: { draftAndPublish: false },
  attributes,
  ...more,
})
const componentOf = (collectionName: string, attributes: object) => ({ collectionName, info: { displayName: collectionName }, attributes })
const relation = (kind: string, target: string, more: object = {}) => ({ type: 'relation', relation: kind, target, ...more })

const one = {
  text,
  tags: relation('manyToMany', 'api::tag.tag', { inversedBy: 'notes' }),
  part: { type: 'component', component: 'shared.one' },
}
const other = { name: text, notes: relation('manyToMany', 'api::note.note', { mappedBy: 'tags' }), image: { type: 'media' } }
const [first, second] = [{ here: text, next: relation('oneToOne', 'api::tag.tag') }, { there: text }]
const zone = { zone: { type: 'dynamiczone', components: ['shared.one', 'shared.two'] } }

let served: Served
beforeAll(async () => {
  served = await serveProject(
    {
      'src/api/note/content-types/note/schema.json': typeOf('note', 'notes', one),
      'src/api/tag/content-types/tag/schema.json': typeOf('tag', 'tags', other),
      'src/api/page/content-types/page/schema.json': typeOf('page', 'pages', zone),
      'src/components/shared/one.json': componentOf('components_ones', first),
      'src/components/shared/two.json': componentOf('components_twos', second),
    },
    { environment: secrets, config: { admin: { model: 'always' } } },
  )
  await addToken(served, full, { type: 'full-access' })
  const tag = await write('/api/tags', { name: 'a tag' })
  const { documentId } = tag.body.data
  await write('/api/tags', { name: 'another' })
  const part = { here: 'in a note', next: documentId }
  expect((await write('/api/notes', { text: 'a note', tags: [documentId], part })).status).toBe(201)
  const entries = [
    { __component: 'shared.one', here: 'one' },
    { __component: 'shared.two', there: 'two' },
  ]
  expect((await write('/api/pages', { zone: entries })).status).toBe(201)
})
afterAll(() => served?.close())

const send = (method: string, path: string, body: object = {}): Promise<TestResponse> =>
  served.request(path, { method, token: full, body: JSON.stringify(body), headers: { 'content-type': 'application/json' } })
const write = (path: string, data: object): Promise<TestResponse> => send('POST', path, { data })
const change = (data: object, renames: readonly object[] = []): Promise<TestResponse> =>
  send('PUT', '/api/content-type-builder/schemas', { data, renames })

/** Content of the API, without times and ids (those of entries follow from the table). */
async function content(...paths: readonly string[]): Promise<unknown> {
  const answers: unknown[] = []
  for (const path of paths) {
    const { body, text: sent } = await served.request(`${path}?populate=*&sort=id`, { token: full })
    expect(body.data, sent).toBeDefined()
    answers.push(body.data)
  }
  return JSON.parse(JSON.stringify(answers), (key, value) => (/^(id|documentId|.*At)$/.test(key) ? undefined : value))
}

async function undo(): Promise<void> {
  const undone = await send('POST', '/api/content-type-builder/undo')
  expect(undone.status, undone.text).toBe(200)
}

/** Renames words in responses. */
const renamed = (value: unknown, words: Readonly<Record<string, string>>): unknown =>
  JSON.parse(JSON.stringify(value).replaceAll(/"(\w+(?:\.\w+)?)"/g, (all, word: string) => (word in words ? `"${words[word]}"` : all)))

const rename = (kind: string, from: string, to: string) => ({ kind, from, to })

rule('model-plans.4', 'two types exchange their names, and back', async () => {
  const before = await content('/api/notes', '/api/tags')
  const swapped = {
    'api::tag.tag': typeOf('tag', 'tags', { ...one, tags: relation('manyToMany', 'api::note.note', { inversedBy: 'notes' }) }),
    'api::note.note': typeOf('note', 'notes', { ...other, notes: relation('manyToMany', 'api::tag.tag', { mappedBy: 'tags' }) }),
    'shared.one': componentOf('components_ones', { here: text, next: relation('oneToOne', 'api::note.note') }),
  }
  const changed = await change(swapped, [
    rename('type', 'api::note.note', 'api::tag.tag'),
    rename('type', 'api::tag.tag', 'api::note.note'),
  ])
  expect(changed.status, changed.text).toBe(200)
  expect(await content('/api/tags', '/api/notes')).toEqual(before)
  expect((await write('/api/tags', { text: 'written later' })).status).toBe(201)
  await undo()
  const [notes, tags] = (await content('/api/notes', '/api/tags')) as readonly (readonly unknown[])[]
  expect([notes!.slice(0, -1), tags]).toEqual(before)
  expect(notes!.at(-1)).toMatchObject({ text: 'written later' })
})

rule('model-plans.5', 'two types exchange their tables, and back', async () => {
  const before = await content('/api/notes', '/api/tags')
  const changed = await change({
    'api::note.note': typeOf('note', 'notes', one, { collectionName: 'tags' }),
    'api::tag.tag': typeOf('tag', 'tags', other, { collectionName: 'notes' }),
  })
  expect(changed.status, changed.text).toBe(200)
  expect(await content('/api/notes', '/api/tags')).toEqual(before)
  expect(await served.sql('select name from notes order by id')).toEqual([{ name: 'a tag' }, { name: 'another' }])
  await undo()
  expect(await content('/api/notes', '/api/tags')).toEqual(before)
})

rule('model-plans.4', 'two components exchange their names, and back', async () => {
  const before = await content('/api/notes', '/api/pages')
  const changed = await change(
    {
      'shared.one': componentOf('components_ones', second),
      'shared.two': componentOf('components_twos', first),
      'api::note.note': typeOf('note', 'notes', { ...one, part: { type: 'component', component: 'shared.two' } }),
    },
    [rename('component', 'shared.one', 'shared.two'), rename('component', 'shared.two', 'shared.one')],
  )
  expect(changed.status, changed.text).toBe(200)
  const words = { 'shared.one': 'shared.two', 'shared.two': 'shared.one' }
  expect(await content('/api/notes', '/api/pages')).toEqual(renamed(before, words))
  await undo()
  expect(await content('/api/notes', '/api/pages')).toEqual(before)
})

rule('model-plans.4', 'a type takes the name that another one gives up, and back', async () => {
  const before = await content('/api/notes', '/api/tags')
  const changed = await change(
    {
      'api::memo.memo': typeOf('memo', 'memos', { ...one, tags: relation('manyToMany', 'api::note.note', { inversedBy: 'notes' }) }),
      'api::note.note': typeOf('note', 'notes', { ...other, notes: relation('manyToMany', 'api::memo.memo', { mappedBy: 'tags' }) }),
      'shared.one': componentOf('components_ones', { here: text, next: relation('oneToOne', 'api::note.note') }),
      'api::tag.tag': null,
    },
    [rename('type', 'api::note.note', 'api::memo.memo'), rename('type', 'api::tag.tag', 'api::note.note')],
  )
  expect(changed.status, changed.text).toBe(200)
  expect(await content('/api/memos', '/api/notes')).toEqual(before)
  await undo()
  expect(await content('/api/notes', '/api/tags')).toEqual(before)
})

rule('model-plans.5', 'a table is renamed in case only, and back', async () => {
  const before = await content('/api/notes', '/api/pages')
  const changed = await change({
    'api::note.note': typeOf('note', 'notes', one, { collectionName: 'Notes' }),
    'shared.two': componentOf('Components_Twos', second),
  })
  expect(changed.status, changed.text).toBe(200)
  expect(await content('/api/notes', '/api/pages')).toEqual(before)
  await undo()
  expect(await content('/api/notes', '/api/pages')).toEqual(before)
})

/** Changes only what the request says. */
const mistakes = async (data: object): Promise<unknown> => {
  const refused = await change(data)
  const planned = await send('POST', '/api/content-type-builder/plan', { data })
  expect(planned.status, planned.text.slice(0, 300)).toBe(refused.status)
  return [refused.status, refused.body.error?.details.errors?.[0]?.path]
}

rule('live-model.4', 'names that the database cannot give are refused', async () => {
  const widget = (collectionName: string, attributes: object = { text }) => ({
    'api::widget.widget': typeOf('widget', 'widgets', attributes, { collectionName }),
  })
  const table = [400, ['data', 'api::widget.widget', 'collectionName']]
  if (!isOnPostgres) for (const name of ['NOTES', 'Notes']) expect([name, await mistakes(widget(name))]).toEqual([name, table])
  if (!isOnServer) for (const name of ['sqlite_master', 'SQLITE_x']) expect([name, await mistakes(widget(name))]).toEqual([name, table])
  if (isOnPostgres) {
    for (const name of ['pg_class', 'pg_stat_activity']) expect([name, await mistakes(widget(name))]).toEqual([name, table])
    for (const name of ['ctid', 'xmin', 'tableoid'])
      expect(await mistakes(widget('widgets', { [name]: text }))).toEqual([400, ['data', 'api::widget.widget', 'attributes', name]])
  }
  const indexes = { ...widget('widgets')['api::widget.widget'], indexes: 'x' }
  expect(await mistakes({ 'api::widget.widget': indexes })).toEqual([400, ['data', 'api::widget.widget', 'indexes']])
  const nowhere = [{ name: 'widgets_nowhere', columns: ['nowhere'] }]
  const refused = await change({ 'api::widget.widget': { ...indexes, indexes: nowhere } })
  expect(refused.status, refused.text).toBe(409)
  expect((await served.request('/api/notes', { token: full })).status).toBe(200)
})

rule('live-model.4', 'tables may be named pg and pg_', async () => {
  const part = { part: { type: 'component', component: 'shared.one' }, tags: relation('manyToMany', 'api::tag.tag') }
  const made = await change({
    'api::pg.pg': typeOf('pg', 'pgs', part, { collectionName: 'pg' }),
    'api::leaf.leaf': typeOf('leaf', 'leaves', part, { collectionName: 'pg_leaves' }),
  })
  expect(made.status, made.text).toBe(200)
  for (const path of ['/api/pgs', '/api/leaves']) expect((await write(path, { part: { here: 'x' } })).status).toBe(201)
})

rule('live-model.4', 'the first start refuses names of the files that the database cannot give, and names the schema', async () => {
  const started = (schema: object) =>
    serveProject(
      {
        'src/api/tag/content-types/tag/schema.json': typeOf('tag', 'tags', { text }),
        'src/api/page/content-types/page/schema.json': schema,
      },
      { environment: secrets },
    ).then(
      async (other) => other.close().then(() => 'started'),
      (error: Error) => error.message,
    )
  expect(await started(typeOf('page', 'pages', { text }, { collectionName: 'tags' }))).toBe(
    'api::tag.tag.collectionName: The table tags is taken: two schemas or attributes would share it',
  )
  if (!isOnServer)
    expect(await started(typeOf('page', 'pages', { text }, { collectionName: 'sqlite_pages' }))).toBe(
      'api::page.page.collectionName: The table sqlite_pages has a name that the database keeps for itself',
    )
  if (isOnPostgres)
    expect(await started(typeOf('page', 'pages', { ctid: text }))).toBe(
      'api::page.page.attributes.ctid: The column ctid has a name that the database keeps for itself',
    )
})

rule('live-model.4', 'a schema file that cannot be read is named, and one with a byte order mark can be', async () => {
  const file = join(served.folder, 'src/api/tag/content-types/tag/schema.json')
  const former = readFileSync(file, 'utf8')
  const data = { 'api::page.page': typeOf('page', 'pages', { ...zone, more: text }) }
  writeFileSync(file, '{ broken')
  const names = { kind: 'collectionType', displayName: 'Book', singularName: 'book', pluralName: 'books', draftAndPublish: false }
  const attributes = [{ action: 'create', name: 'text', properties: text }]
  const update = { data: { contentTypes: [{ action: 'create', uid: 'api::book.book', ...names, attributes }], components: [] } }
  for (const refused of [
    await change(data),
    await send('POST', '/api/content-type-builder/plan', { data }),
    await send('POST', '/content-type-builder/update-schema', update),
  ]) {
    expect(refused.status, refused.text).toBe(400)
    expect(refused.body.error.message).toContain('src/api/tag/content-types/tag/schema.json')
    expect(refused.body.error.message).not.toContain(served.folder)
  }
  writeFileSync(file, `\uFEFF${former}`)
  const other = await serveExisting(served, secrets)
  await other.close()
  expect((await change(data)).status).toBe(200)
  expect((await send('POST', '/content-type-builder/update-schema', update)).status).toBe(200)
  writeFileSync(file, former)
})

rule('live-model.8', 'a process that cannot follow a change says why, until its files are repaired', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'octavo-test-'))
  cpSync(served.folder, folder, { recursive: true })
  const other = await serveExisting({ folder }, { ...secrets, ...served.sameDatabase })
  try {
    const file = join(folder, 'src/api/tag/content-types/tag/schema.json')
    const former = readFileSync(file, 'utf8')
    writeFileSync(file, '{ broken')
    expect((await change({ 'api::page.page': typeOf('page', 'pages', { ...zone, further: text }) })).status).toBe(200)
    const refused = await other.request('/api/pages', { token: full })
    expect(refused.status, refused.text).toBe(503)
    expect(refused.body.error.message).toContain('src/api/tag/content-types/tag/schema.json is not valid JSON')
    writeFileSync(file, former)
    expect((await other.request('/api/pages', { token: full })).status).toBe(200)
  } finally {
    await other.close()
    rmSync(folder, { recursive: true, force: true })
  }
})
