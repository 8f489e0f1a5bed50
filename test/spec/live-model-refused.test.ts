// Changes of the model that the database refuses, or that another process is faster than, over HTTP: nothing of them stays.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { isOnMysql, isOnServer } from '../support/databases.js'
import { rule } from '../support/rule.js'
import { type Served, serveExisting, serveProject, type TestResponse } from '../support/serve.js'
import { addToken, secrets } from './callers.js'

const full = 'may-do-everything'
const text = { type: 'string' }
const note = (attributes: object, more: object = {}) => ({
  'api::note.note': {
    kind: 'collectionType',
    collectionName: 'notes',
    info: { singularName: 'note', pluralName: 'notes', displayName: 'note' },
    options: { draftAndPublish: false },
    attributes,
    ...more,
  },
})

let served: Served
beforeAll(async () => {
  const schema = note({ title: text })['api::note.note']
  served = await serveProject(
    { 'src/api/note/content-types/note/schema.json': schema },
    { environment: secrets, config: { admin: { model: 'always' } } },
  )
  await addToken(served, full, { type: 'full-access' })
  expect((await send('POST', '/api/notes', { data: { title: 'first' } })).status).toBe(201)
})
afterAll(() => served?.close())

const send = (method: string, path: string, body: object, at = served): Promise<TestResponse> =>
  at.request(path, { method, token: full, body: JSON.stringify(body), headers: { 'content-type': 'application/json' } })
const change = (data: object, renames: readonly object[] = [], at = served): Promise<TestResponse> =>
  send('PUT', '/api/content-type-builder/schemas', { data, renames }, at)
const titles = async (at = served): Promise<unknown> =>
  (await at.request('/api/notes?sort=id', { token: full })).body.data?.map(({ title }: { title: string }) => title)

/** A test that is too slow for SQLite, which recreates a table for each of thousands of columns. */
function onServers(sentence: string, prove: () => Promise<void>): void {
  if (isOnServer) rule('live-model.9', sentence, prove)
  else test.skip(`live-model.9: ${sentence} (servers only)`, prove)
}

/** Attributes beyond what a table holds. */
const tooMany = Object.fromEntries(Array.from({ length: isOnMysql ? 300 : 1_700 }, (_, index) => [`attribute${index}`, text]))
const reason = isOnMysql ? /Row size too large/ : /columns/

const columnsOf = async (table: string): Promise<readonly string[]> => {
  const [row] = await served.sql(`select * from ${table} limit 1`)
  return Object.keys(row!)
}

onServers('a change that adds more than the database takes is 409 with its reason, and leaves nothing', async () => {
  const before = await columnsOf('notes')
  const refused = await change(note({ title: text, ...tooMany }))
  expect(refused.status, refused.text.slice(0, 500)).toBe(409)
  expect(refused.body.error.message).toMatch(reason)
  expect(await columnsOf('notes')).toEqual(before)
  expect(await titles()).toEqual(['first'])
})

onServers('a change that moves content and adds more than the database takes is 409, and changes nothing', async () => {
  const before = await columnsOf('notes')
  const rename = { kind: 'attribute', schema: 'api::note.note', from: 'title', to: 'heading' }
  const refused = await change(note({ heading: text, ...tooMany }, { collectionName: 'notices' }), [rename])
  expect(refused.status, refused.text.slice(0, 500)).toBe(409)
  expect(refused.body.error.message).toMatch(reason)
  expect(await columnsOf('notes')).toEqual(before)
  expect(await titles()).toEqual(['first'])
  expect((await send('POST', '/api/notes', { data: { title: 'second' } })).status).toBe(201)
  expect(await served.sql('select id from octavo_model_history where is_made <> 1')).toEqual([])
  const made = await change(note({ heading: text }, { collectionName: 'notices' }), [rename])
  expect(made.status, made.text).toBe(200)
  expect((await send('POST', '/api/content-type-builder/undo', {})).status).toBe(200)
  expect(await titles()).toEqual(['first', 'second'])
})

rule(
  'live-model.7',
  'what the change of a slower process has added stays empty, and is used by the next change that needs it',
  async () => {
    const other = await serveExisting(served, secrets)
    const expected = await titles()
    try {
      for (let round = 0; round < 20; round++) {
        const letter = String.fromCharCode(97 + round)
        const [one, two] = [`one${letter}`, `two${letter}`]
        const answers = await Promise.all([
          change(note({ title: text, [one]: text })),
          change({ ...note({ title: text, [two]: text }), ...newType(`tag${letter}`) }, [], other),
        ])
        const statuses = answers.map(({ status }) => status)
        if (!statuses.includes(409)) continue
        for (const at of [served, other]) expect(await titles(at)).toEqual(expected)
        const again = await change({ ...note({ title: text, [one]: text, [two]: text }), ...newType(`tag${letter}`) })
        expect(again.status, again.text).toBe(200)
        expect(await columnsOf('notes')).toEqual(expect.arrayContaining([one, two]))
        for (const at of [served, other]) expect(await titles(at)).toEqual(expected)
        return
      }
      expect.fail('no change was slower than the other')
    } finally {
      await other.close()
    }
  },
)

const newType = (name: string) => ({
  [`api::${name}.${name}`]: {
    kind: 'collectionType',
    info: { singularName: name, pluralName: `${name}s`, displayName: name },
    attributes: { notes: { type: 'relation', relation: 'oneToMany', target: 'api::note.note' } },
  },
})

rule('live-model.21', 'a change that needs the table of another program is 400, and leaves everything as it is', async () => {
  await served.sql('create table invoices (id integer primary key, total varchar(20))')
  await served.sql("insert into invoices (id, total) values (1, 'a')")
  const heading = { kind: 'attribute', schema: 'api::note.note', from: 'title', to: 'heading' }
  const [type] = Object.values(newType('invoice'))
  const invoice = { 'api::invoice.invoice': { ...type, collectionName: 'invoices' } }
  for (const [data, renames, uid] of [
    [invoice, [], 'api::invoice.invoice'],
    [{ ...note({ heading: text }), ...invoice }, [heading], 'api::invoice.invoice'],
    [note({ title: text }, { collectionName: 'invoices' }), [], 'api::note.note'],
  ] as const) {
    const refused = await change(data, renames)
    expect(refused.status, refused.text).toBe(400)
    const { message, details } = refused.body.error
    expect(message).toMatch(new RegExp(`invoices does not belong to this project: .+ of ${uid}, and lacks document_id\\.`))
    expect(details.errors[0].path).toEqual(['data', uid, 'collectionName'])
  }
  expect(await columnsOf('invoices')).toEqual(['id', 'total'])
  expect(await served.sql('select id from octavo_model_history where is_made <> 1')).toEqual([])
  expect((await send('POST', '/api/notes', { data: { title: 'goes on' } })).status).toBe(201)
  // Changes without it are applied and undone.
  const made = await change(note({ title: text, more: text }))
  expect(made.status, made.text).toBe(200)
  expect((await send('POST', '/api/content-type-builder/undo', {})).status).toBe(200)
  expect((await change(newType('other'))).status).toBe(200)
  await (await serveExisting(served, secrets)).service.close()
})
