// Every type of attribute becomes every other one, over HTTP: the API then shows values of the new type, losses are named first, and
// undoing the change restores all values.
import { afterAll, beforeAll, expect } from 'vitest'
import type { ScalarType } from '../../src/foundation/public/attribute-types.js'
import { attributeTypes } from '../../src/model/types/attribute-types.js'
import { addToken, secrets } from '../spec/callers.js'
import { rule } from '../support/rule.js'
import { type Served, serveProject, type TestResponse } from '../support/serve.js'

const types = (Object.keys(attributeTypes) as ScalarType[]).filter((type) => type !== 'password')
const paragraph = (text: string) => ({ type: 'paragraph', children: [{ type: 'text', text }] })
const link = { type: 'paragraph', children: [{ type: 'link', url: 'https://example.org', children: [{ type: 'text', text: 'there' }] }] }
const list = { type: 'list', format: 'unordered', children: [{ type: 'list-item', children: [{ type: 'text', text: 'one' }] }] }

/** Values of each type, as many as there are documents; null where there are fewer. */
const samples: Readonly<Record<string, readonly unknown[]>> = {
  string: ['12', 'plain *text*', '2024-03-31', ' true '],
  text: ['a\nb', '{"a":1}', 'x'.repeat(300), ''],
  richtext: ['plain **md**', '- one\n- two', '[1,2]', JSON.stringify([paragraph('blocks already')])],
  email: ['one@example.org'],
  uid: ['a-slug', '12'],
  enumeration: ['red', 'green'],
  integer: [0, 1, 7, -2_147_483_648],
  biginteger: ['0', '1', '9007199254740993', '-12'],
  float: [0, 1, 1.239, -1e15],
  decimal: [0, 1, 2.25, -12_345_678.99],
  boolean: [true, false],
  date: ['2024-03-31', '1999-12-31'],
  time: ['01:30:00.000', '23:59:59.999'],
  datetime: ['2024-03-31T01:30:00.000Z', '2024-03-31T00:00:00.000Z', '1999-12-31T23:59:59.999Z'],
  timestamp: ['2024-03-31T01:30:00.000Z'],
  json: [{ a: 1 }, [1, 2], 7, [paragraph('blocks')]],
  blocks: [[paragraph('one'), paragraph('')], [link], [list], []],
}

const isMoment = (value: unknown) =>
  typeof value === 'string' && !Number.isNaN(Date.parse(value)) && new Date(value).toISOString() === value
const isText = (value: unknown) => typeof value === 'string'
const isWhole = (value: unknown) => Number.isInteger(value) && Math.abs(value as number) <= 2_147_483_648
/** Checks the API's value of each type. */
const isOfType: Readonly<Record<string, (value: unknown) => boolean>> = {
  ...{ string: isText, text: isText, richtext: isText, email: isText, uid: isText, enumeration: isText },
  integer: isWhole,
  biginteger: (value) => typeof value === 'string' && /^-?\d+$/.test(value),
  float: (value) => typeof value === 'number',
  decimal: (value) => typeof value === 'number',
  boolean: (value) => typeof value === 'boolean',
  date: (value) => typeof value === 'string' && /^\d{4}-\d\d-\d\d$/.test(value),
  time: (value) => typeof value === 'string' && /^\d\d:\d\d:\d\d(?:\.\d{3})?$/.test(value),
  datetime: isMoment,
  timestamp: (value) => isMoment(value) || (typeof value === 'string' && /^\d+$/.test(value)),
  json: (value) => value !== undefined,
  blocks: (value) => Array.isArray(value) && value.every((block) => typeof block.type === 'string' && Array.isArray(block.children)),
}

let served: Served
beforeAll(async () => {
  served = await serveProject({}, { environment: secrets, config: { admin: { model: 'always' } } })
  await addToken(served, 'full', { type: 'full-access' })
})
afterAll(() => served?.close())

const send = (method: string, path: string, body: object, agree?: string): Promise<TestResponse> =>
  served.request(path, {
    method,
    token: 'full',
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json', ...(agree === undefined ? {} : { 'octavo-agree': agree }) },
  })
const change = (name: string, schema: object, agree?: string) =>
  send('PUT', '/api/content-type-builder/schemas', { data: { [`api::${name}.${name}`]: schema } }, agree)
/** A type with an attribute for each type, which has another type. */
const schemaOf = (name: string, typeOf: (type: ScalarType) => ScalarType) => ({
  kind: 'collectionType',
  info: { singularName: name, pluralName: `${name}s`, displayName: name },
  options: { draftAndPublish: false },
  attributes: Object.fromEntries(
    types.map((type) => [
      `v_${type}`,
      typeOf(type) === 'enumeration' ? { type: 'enumeration', enum: ['red', 'green'] } : { type: typeOf(type) },
    ]),
  ),
})
type Row = Readonly<Record<string, unknown>>
async function rows(name: string): Promise<readonly Row[]> {
  const { body } = await served.request(`/api/${name}s?sort=id`, { token: 'full' })
  return body.data.map(({ updatedAt: _, ...row }: Row) => row)
}

/** Conversions after which a value has no way back, although it is a value of the new type. */
const shortening = ['datetime', 'timestamp'].flatMap((from) => ['date', 'time'].map((to) => `${from} ${to}`))

for (const to of types)
  rule('model-plans.8', `everything becomes ${to}, or is named as lost, and comes back`, async () => {
    const name = `of${to}`
    expect(
      (
        await change(
          name,
          schemaOf(name, (type) => type),
        )
      ).status,
    ).toBe(200)
    for (let row = 0; row < 4; row++) {
      const data = Object.fromEntries(types.map((type) => [`v_${type}`, samples[type]![row] ?? null]))
      const written = await send('POST', `/api/${name}s`, { data })
      expect(written.status, written.text).toBe(201)
    }
    const before = await rows(name)
    const schema = schemaOf(name, () => to)
    const refused = await change(name, schema)
    const named = new Map<string, number>(
      (refused.body.error?.details.losses ?? []).map((loss: { name: string; count: number }) => [loss.name, loss.count]),
    )
    const made = named.size === 0 ? refused : await change(name, schema, [...named.keys()].join())
    expect(made.status, made.text).toBe(200)
    const after = await rows(name)
    const wrong: unknown[] = []
    for (const from of types) {
      const attribute = `v_${from}`
      let lost = 0
      for (const [index, row] of before.entries()) {
        const [was, is] = [row[attribute], after[index]![attribute]]
        if (was === null) continue
        if (is === null) lost++
        else if (!isOfType[to]!(is)) wrong.push({ from, to, was, is })
        else if (shortening.includes(`${from} ${to}`) && !String(was).endsWith('T00:00:00.000Z')) lost++
      }
      const count = named.get(`api::${name}.${name}.v_${from}`) ?? 0
      // Some counts are an upper bound.
      if (count < lost) wrong.push({ from, to, lost, named: count })
    }
    expect(wrong).toEqual([])
    const undone = await send('POST', '/api/content-type-builder/undo', {})
    expect(undone.status, `${to}: ${undone.text}`).toBe(200)
    expect(await rows(name)).toEqual(before)
  })

/** Values of each type that columns of a database may not hold as another type: those of MariaDB begin and end there. */
const limits: readonly (readonly [from: ScalarType, to: ScalarType, values: readonly string[]])[] = [
  [
    'datetime',
    'timestamp',
    [
      '1969-12-31T23:59:59.000Z',
      '1970-01-01T00:00:00.000Z',
      '2040-05-05T00:00:00.000Z',
      '0050-01-01T00:00:00.000Z',
      '2024-03-31T01:30:00.123Z',
    ],
  ],
  ['text', 'timestamp', ['1969-12-31T23:59:59.000Z', '2040-05-05', '2024-03-31T01:30:00Z']],
  ['date', 'timestamp', ['1969-12-31', '1970-01-01', '2040-05-05', '2024-02-29']],
  ['date', 'datetime', ['0001-01-01', '9999-12-31', '1969-12-31']],
  ['string', 'datetime', ['0001-01-01T00:00:00.000Z', '9999-12-31T23:59:59.999Z', '1969-12-31']],
  ['string', 'date', ['0000-01-01', '0001-01-01', '9999-12-31']],
  ['timestamp', 'datetime', ['1970-01-01T00:00:01.000Z', '2038-01-19T03:14:07.999Z']],
]

rule('model-plans.8', 'values beyond what the column of the database holds are named as lost, and come back', async () => {
  const wrong: unknown[] = []
  for (const [index, [from, to, values]] of limits.entries()) {
    const name = `limit${'abcdefg'[index]}`
    const schema = (type: ScalarType) => ({ ...schemaOf(name, () => type), attributes: { value: { type } } })
    expect((await change(name, schema(from))).status).toBe(200)
    for (const value of values) expect((await send('POST', `/api/${name}s`, { data: { value } })).status).toBe(201)
    const before = await rows(name)
    const refused = await change(name, schema(to))
    const losses: readonly { name: string; count: number; about: string }[] = refused.body.error?.details.losses ?? []
    const made = losses.length === 0 ? refused : await change(name, schema(to), losses.map((loss) => loss.name).join())
    expect(made.status, made.text).toBe(200)
    const lost = (await rows(name)).filter(({ value }) => value === null).length
    const named = losses.reduce((sum, { count }) => sum + count, 0)
    if (named !== lost) wrong.push({ from, to, lost, losses })
    const undone = await send('POST', '/api/content-type-builder/undo', {})
    expect(undone.status, `${from} ${to}: ${undone.text}`).toBe(200)
    expect(await rows(name), `${from} ${to}`).toEqual(before)
  }
  expect(wrong).toEqual([])
})

rule('writing.35', 'a time that the column of a timestamp cannot store is refused by its name, and never stored as null', async () => {
  const schema = {
    ...schemaOf('momentary', () => 'timestamp'),
    info: { singularName: 'momentary', pluralName: 'momentaries', displayName: 'm' },
  }
  expect((await change('momentary', { ...schema, attributes: { takenAt: { type: 'timestamp' } } })).status).toBe(200)
  for (const takenAt of ['1969-12-31T23:59:59.000Z', '1970-01-01T00:00:00.000Z', '2040-05-05T00:00:00.000Z', '2024-03-31T01:30:00.000Z']) {
    const { status, body, text } = await send('POST', '/api/momentaries', { data: { takenAt } })
    if (status === 201) expect(body.data.takenAt).toBe(takenAt)
    else expect([status, body.error.message], text).toEqual([400, expect.stringMatching(/takenAt|taken_at/)])
  }
})
