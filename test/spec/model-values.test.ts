// Values and names that schema files and requests may have: one rule for both, and a further one where Strapi has to start too.
import { afterAll, beforeAll, expect } from 'vitest'
import { loadModel } from '../../src/model/schema/load.js'
import { project, removeProjects } from '../start/command.js'
import { rule } from '../support/rule.js'
import { type Served, serveExisting, serveProject, type TestResponse } from '../support/serve.js'
import { addToken, secrets } from './callers.js'

const text = { type: 'string' }
const manifest = { 'package.json': { dependencies: { '@strapi/strapi': '5.54.0' } } }
const fileOf = (name: string) => `src/api/${name}/content-types/${name}/schema.json`
const typeOf = (name: string, attributes: object, pluralName = `${name}s`) => ({
  kind: 'collectionType',
  collectionName: `${name}_rows`,
  info: { singularName: name, pluralName, displayName: name },
  options: { draftAndPublish: false },
  attributes,
})
const withValues = (...values: readonly string[]) => typeOf('note', { text, kind: { type: 'enumeration', enum: values } })
const withField = (customField: string) => typeOf('note', { text, field: { type: 'customField', customField } })

/** A type with names that only a file can set. */
const dates = { ...typeOf('date', { größe: text, 'in words': text, status: text }), collectionName: 'strapi_dates of old' }

/** Two projects with the same files, but for the one that says which of them is Strapi's. */
let own: Served
let strapis: Served
beforeAll(async () => {
  const config = { admin: { model: 'always' }, customFields: { 'plugin::own.field': 'json' } } as const
  const open = async (more: object): Promise<Served> => {
    const opened = await serveProject(
      {
        [fileOf('note')]: typeOf('note', { text }),
        [fileOf('date')]: dates,
        [fileOf('old')]: typeOf('old', { text, kind: { type: 'enumeration', enum: ['旧'] } }),
        ...more,
      },
      { environment: secrets, config },
    )
    await addToken(opened, 'full', { type: 'full-access' })
    return opened
  }
  ;[own, strapis] = [await open({}), await open(manifest)]
})
afterAll(async () => {
  removeProjects()
  await Promise.all([own?.close(), strapis?.close()])
})

const send = (at: Served, method: string, path: string, body: object): Promise<TestResponse> =>
  at.request(path, { method, token: 'full', body: JSON.stringify(body), headers: { 'content-type': 'application/json' } })
const put = (at: Served, data: object): Promise<TestResponse> => send(at, 'PUT', '/api/content-type-builder/schemas', { data })
const note = (schema: object) => ({ 'api::note.note': schema })

/** Error or warnings of a start of a project with this schema. */
async function said(schema: object, more: object = {}): Promise<{ readonly error?: string; readonly warnings?: string }> {
  const folder = project({ [fileOf('note')]: schema, ...more })
  return loadModel({ folder }).then(
    ({ warnings }) => ({ warnings: warnings.join() }),
    (error: Error) => ({ error: error.message }),
  )
}

const ofStrapi: readonly (readonly [values: readonly string[], fault: string])[] = [
  [
    ['日本'],
    'has "日本". Strapi does not start with it: of each value it makes a name of Latin letters and digits, and nothing is left of this one',
  ],
  [['1st'], 'has "1st". Strapi does not start with it: the name that it makes of each value must begin with a Latin letter'],
  [['-1'], 'has "-1". Strapi does not start with it: the name'],
  [['a b', 'c', 'a_b'], 'has "a b" and "a_b". Strapi does not start with both: it makes the name "a_b" of each'],
]

rule('live-model.22', 'values of an enumeration that Strapi does not start with are refused in a project of Strapi alone', async () => {
  for (const [values, fault] of ofStrapi) {
    const schema = withValues(...values)
    expect(await said(schema)).toEqual({ warnings: '' })
    expect((await said(schema, manifest)).warnings).toContain(`attributes.kind.enum ${fault}`)
    for (const path of ['plan', 'schemas']) {
      const refused = await send(strapis, path === 'plan' ? 'POST' : 'PUT', `/api/content-type-builder/${path}`, { data: note(schema) })
      expect(refused.status, refused.text).toBe(400)
      expect(refused.body.error.message).toContain(`data.api::note.note.attributes.kind.enum ${fault}`)
      expect(refused.body.error.details.errors[0].path).toEqual(['data', 'api::note.note', 'attributes', 'kind', 'enum'])
    }
    const made = await put(own, note(schema))
    expect(made.status, made.text).toBe(200)
    const written = await send(own, 'POST', '/api/notes', { data: { kind: values[0] } })
    expect([written.status, written.body.data?.kind]).toEqual([201, values[0]])
    const found = await own.request(`/api/notes?filters[kind]=${encodeURIComponent(values[0]!)}`, { token: 'full' })
    expect(found.body.data).toHaveLength(1)
  }
  const again = await serveExisting(own, secrets)
  expect((await again.request('/api/notes', { token: 'full' })).body.data).toHaveLength(ofStrapi.length)
  await again.service.close()
})

rule('live-model.22', 'empty and repeated values are refused in files and requests with one sentence', async () => {
  const careless: readonly (readonly [values: readonly string[], fault: string])[] = [
    [['a', ''], 'has "", an empty value'],
    [['a', ' '], 'has " ", an empty value'],
    [['日', 'b', '日'], 'has "日" twice'],
  ]
  for (const [values, fault] of careless) {
    const schema = withValues(...values)
    for (const more of [{}, manifest]) expect((await said(schema, more)).error).toContain(`attributes.kind.enum ${fault}`)
    for (const at of [own, strapis]) {
      const refused = await put(at, note(schema))
      expect(refused.status, refused.text).toBe(400)
      expect(refused.body.error.message).toBe(`data.api::note.note.attributes.kind.enum ${fault}`)
    }
  }
})

rule('live-model.22', 'names of files that a request would not give stay where it leaves them alone', async () => {
  for (const at of [own, strapis]) {
    const uid = 'api::date.date'
    const changed = await put(at, { [uid]: { ...dates, attributes: { ...dates.attributes, more: text } } })
    expect(changed.status, changed.text).toBe(200)
    const written = await send(at, 'POST', '/api/dates', { data: { größe: 'a', 'in words': 'b', more: 'c' } })
    expect(written.body.data, written.text).toMatchObject({ größe: 'a', 'in words': 'b', more: 'c' })
    const renamed = { ...dates, info: { singularName: 'diary', pluralName: 'diaries', displayName: 'Diary' } }
    const rename = { kind: 'type', from: uid, to: 'api::diary.diary' }
    const body = {
      data: { [uid]: null, 'api::diary.diary': { ...renamed, attributes: { ...dates.attributes, more: text } } },
      renames: [rename],
    }
    const moved = await send(at, 'POST', '/api/content-type-builder/plan', body)
    expect(moved.status, moved.text).toBe(200)
    for (const [path, schema] of [
      ['attributes.höhe', { ...dates, attributes: { ...dates.attributes, höhe: text } }],
      ['attributes.strapi_x', { ...dates, attributes: { ...dates.attributes, strapi_x: text } }],
      ['collectionName', { ...dates, collectionName: 'strapi_others' }],
      ['collectionName', { ...dates, collectionName: 'other table' }],
      ['info.pluralName', { ...dates, info: { ...dates.info, pluralName: 'document' } }],
    ] as const) {
      const refused = await put(at, { [uid]: schema })
      expect(refused.status, refused.text).toBe(400)
      expect(refused.body.error.details.errors[0].path.slice(2).join('.')).toBe(path)
    }
  }
})

rule('live-model.22', 'an attribute that a request leaves alone may keep its values', async () => {
  const kind = { type: 'enumeration', enum: ['旧'] }
  const changed = await put(strapis, { 'api::old.old': typeOf('old', { text, kind, more: text }) })
  expect(changed.status, changed.text).toBe(200)
})

rule('live-model.22', 'one name for singular and plural, and custom fields that the project knows', async () => {
  const sheep = typeOf('sheep', { text }, 'sheep')
  expect(await said(sheep)).toEqual({ warnings: '' })
  expect((await said(sheep, manifest)).warnings).toContain('info.pluralName must differ from singularName: Strapi does not start')
  const refused = await put(strapis, { 'api::sheep.sheep': sheep })
  expect([refused.status, refused.body.error?.message]).toEqual([400, expect.stringContaining('Strapi does not start with one name')])
  const made = await put(own, { 'api::sheep.sheep': sheep })
  expect(made.status, made.text).toBe(200)
  expect((await send(own, 'POST', '/api/sheep', { data: { text: 'a' } })).status).toBe(201)
  for (const [uid, inOwn, inStrapis] of [
    ['plugin::own.field', 200, 200],
    ['plugin::color-picker.color', 200, 400],
    ['plugin::no.field', 400, 400],
  ] as const)
    for (const [at, status] of [
      [own, inOwn],
      [strapis, inStrapis],
    ] as const) {
      const answer = await send(at, 'POST', '/api/content-type-builder/plan', { data: note(withField(uid)) })
      expect(answer.status, answer.text).toBe(status)
      if (status === 400) expect(answer.body.error.message).toContain(`the custom field ${uid} is not registered`)
    }
})
