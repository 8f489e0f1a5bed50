// O51: comparing input with known names takes bounded work, and a name of a schema that is too long is refused before that.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { closest, didYouMean } from '../../src/foundation/errors/did-you-mean.js'
import { checkSchemas } from '../../src/model/schema/check.js'
import type { SchemaSource } from '../../src/model/schema/types.js'
import { addToken, secrets } from '../spec/callers.js'
import { contentType } from '../spec/library.js'
import { rule } from '../support/rule.js'
import { type Served, serveProject, type TestResponse } from '../support/serve.js'

let served: Served
beforeAll(async () => {
  served = await serveProject(contentType('note', { title: { type: 'string' } }), {
    environment: { ...secrets, NODE_ENV: 'development' },
    config: { events: { stream: true }, admin: { model: 'always' } },
  })
  await addToken(served, 'full', { type: 'full-access' })
})
afterAll(() => served?.close())

const send = (method: string, path: string, body: object): Promise<TestResponse> =>
  served.request(path, { method, token: 'full', body: JSON.stringify(body), headers: { 'content-type': 'application/json' } })

/** Endless names, for which an unbounded comparison never ends. */
function* endless(length: number): Generator<string> {
  for (let number = 0; ; number++) yield String(number).padStart(length, 'ab')
}

test('O51 comparing a text is bounded, however many names there are', () => {
  for (const length of [4, 10, 90, 100]) expect(closest('z'.repeat(length), endless(length))).toBeNull()
  expect(closest('zzzz', endless(1_000))).toBeNull()
  let looked = 0
  function* counted(): Generator<string> {
    looked++
    yield 'name'
  }
  expect(didYouMean('x'.repeat(101), counted())).toBe('')
  expect(looked).toBe(0)
  expect(didYouMean('nmae', counted())).toBe('; did you mean "name"?')
  expect(closest('x'.repeat(99), ['y'.repeat(5_000_000)])).toBeNull()
})

test('O51 one check of schemas guesses a bounded number of times, and looks for values that are there twice in one pass', () => {
  const source = (attributes: SchemaSource['attributes']): SchemaSource => ({
    ...{
      uid: 'api::note.note',
      kind: 'collectionType',
      info: { singularName: 'note', pluralName: 'notes', displayName: 'Note' },
      attributes,
    },
  })
  const options = Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`a${index}`, { type: 'string', requird: true }]))
  const warnings = checkSchemas([{ file: 'note', schema: source(options) }], [source(options)], ['wrong', 'careless'])
  expect(warnings).toHaveLength(500)
  expect(warnings.filter((warning) => warning.endsWith('did you mean "required"?'))).toHaveLength(20)
  let read = 0
  const values = new Proxy(
    Array.from({ length: 2_000 }, (_, index) => `value${index}`),
    {
      get(list, key, receiver) {
        read++
        return Reflect.get(list, key, receiver)
      },
    },
  )
  const schema = source({ choice: { type: 'enumeration', enum: values, default: 'value1999' } })
  expect(checkSchemas([{ file: 'note', schema }], [schema], ['wrong', 'careless'])).toEqual([])
  expect(read).toBeLessThan(50_000)
})

test('O51 messages repeat only the beginning of the input', async () => {
  for (const query of [`types=${'x'.repeat(15_000)}`, `events=${'x'.repeat(15_000)}`, `${'x'.repeat(15_000)}=1`]) {
    const { status, body } = await served.request(`/api/events?${query}`)
    expect([status, body.error.message.length < 300, body.error.message.includes('did you mean')]).toEqual([400, true, false])
  }
  const long = await send('POST', '/api/notes', { data: { ['t'.repeat(800_000)]: 1 } })
  expect([long.status, long.text.length < 20_000, long.body.error.details.hint.length <= 901]).toEqual([400, true, true])
})

const names = {
  'the type of an attribute': { a: { type: 'x'.repeat(300_000) } },
  'the target of a relation': { a: { type: 'relation', relation: 'oneToOne', target: `api::${'x'.repeat(300_000)}` } },
  'an option': { a: { type: 'string', ['x'.repeat(300_000)]: 1 } },
  'a value of an enumeration': { a: { type: 'enumeration', enum: ['x'.repeat(256)] } },
  'a component': { a: { type: 'component', component: `a.${'x'.repeat(300)}` } },
  'a component of a zone': { a: { type: 'dynamiczone', components: [`a.${'x'.repeat(300)}`] } },
  'one attribute too many': Object.fromEntries(Array.from({ length: 2_001 }, (_, index) => [`a${index}`, { type: 'string' }])),
  'an attribute': { ['x'.repeat(256)]: { type: 'string' } },
}
const schema = (attributes: object) => ({
  ...{ kind: 'collectionType', info: { singularName: 'book', pluralName: 'books', displayName: 'Book' }, attributes },
})
const isShort = ({ text }: TestResponse) => text.length < 2_000

rule('live-model.19', 'names that are too long are refused before anything is compared with them, by every route', async () => {
  for (const [what, attributes] of Object.entries(names)) {
    const own = await send('PUT', '/api/content-type-builder/schemas', { data: { 'api::book.book': schema(attributes) } })
    expect([what, own.status, isShort(own), own.body.error.message]).toEqual([
      what,
      400,
      true,
      expect.stringMatching(/of a (?:name|schema)$/),
    ])
    expect(own.body.error.details.errors[0].path.slice(0, 3)).toEqual(['data', 'api::book.book', 'attributes'])
    const contentTypes = [
      {
        ...{
          action: 'create',
          uid: 'api::book.book',
          kind: 'collectionType',
          displayName: 'Book',
          singularName: 'book',
          pluralName: 'books',
        },
        attributes: Object.entries(attributes).map(([name, properties]) => ({ action: 'create', name, properties })),
      },
    ]
    const updated = await send('POST', '/content-type-builder/update-schema', { data: { contentTypes, components: [] } })
    expect([what, updated.status, isShort(updated), updated.body.error]).toEqual([
      what,
      400,
      true,
      expect.stringMatching(/of a (?:name|schema)$/),
    ])
  }
})

rule('live-model.19', 'patterns of a request are compiled and tested for a limited time, without blocking other requests', async () => {
  // The first would take minutes to test, the others seconds each to create.
  const slow = Array.from({ length: 400 }, (_, index) => ({ type: 'string', regex: `(a+)+${index}$` }))
  const large = Array.from({ length: 20 }, (_, index) => ({ type: 'string', regex: `${'a{1,500}'.repeat(900)}${index}` }))
  const attributes = Object.fromEntries([...slow, ...large].map((attribute, index) => [`a${index}`, attribute]))
  const ended: string[] = []
  const planned = send('POST', '/api/content-type-builder/plan', { data: { 'api::book.book': schema(attributes) } })
  void planned.then(() => ended.push('plan'))
  for (let index = 0; index < 3; index++) {
    expect((await served.request('/_health')).status).toBe(204)
    ended.push('health')
  }
  const { status, text } = await planned
  expect(status, text).toBe(200)
  expect(ended).toEqual(['health', 'health', 'health', 'plan'])
  const slowDefaults = Array.from({ length: 400 }, (_, index) => ({
    action: 'create',
    name: `a${index}`,
    properties: { type: 'uid', default: `${'a'.repeat(40)}!`, regex: `^(a+)+${index}$` },
  }))
  const names = { displayName: 'Slow', singularName: 'slow', pluralName: 'slows', kind: 'collectionType', draftAndPublish: false }
  const contentTypes = [{ action: 'create', uid: 'api::slow.slow', ...names, attributes: slowDefaults }]
  const created = await send('POST', '/content-type-builder/update-schema', { data: { contentTypes, components: [] } })
  expect(created.status, created.text).toBe(200)
})

rule('live-model.19', 'a uid too long for a file or a column is refused', async () => {
  const component = { info: { displayName: 'Part' }, attributes: { title: { type: 'string' } } }
  const long = 'b'.repeat(119)
  const newComponent = { action: 'create', displayName: 'Part', category: 'a', attributes: [] }
  const update = (components: readonly object[], contentTypes: readonly object[] = []) =>
    send('POST', '/content-type-builder/update-schema', { data: { contentTypes, components } })
  const answers = [
    await send('PUT', '/api/content-type-builder/schemas', { data: { [`a.${'b'.repeat(300)}`]: component } }),
    await send('PUT', '/api/content-type-builder/schemas', { data: { [`a.${'b'.repeat(239)}`]: component } }),
    await send('PUT', '/api/content-type-builder/schemas', {
      data: { [`api::${long}.${long}`]: { ...schema({}), info: { singularName: long, pluralName: 'books', displayName: 'Book' } } },
    }),
    await update([{ ...newComponent, uid: `a.${'p'.repeat(300)}`, displayName: 'p'.repeat(300) }]),
    await update([{ ...newComponent, uid: `${'c'.repeat(250)}.part`, category: 'c'.repeat(250) }]),
    await update(
      [],
      [
        {
          action: 'create',
          uid: `api::${long}.${long}`,
          kind: 'collectionType',
          displayName: 'Book',
          singularName: long,
          pluralName: 'books',
          draftAndPublish: false,
          attributes: [],
        },
      ],
    ),
    await update([{ ...newComponent, uid: `a.${'p'.repeat(250)}`, displayName: 'p'.repeat(250) }]),
  ]
  for (const answer of answers) {
    expect([answer.status, isShort(answer)], answer.text).toEqual([400, true])
    expect(answer.text).not.toMatch(/ENAMETOOLONG|src\//)
  }
  const fits = await send('PUT', '/api/content-type-builder/schemas', { data: { [`a.${'b'.repeat(238)}`]: component } })
  expect(fits.status, fits.text).toBe(200)
  expect(served.log.join('')).not.toContain('ENAMETOOLONG')
})
