// docs/spec/writing.md: conditional attributes. One type without drafts, one with them in two languages, in both contracts.

import { afterAll, beforeAll, describe, expect } from 'vitest'
import { checkSchemas } from '../../src/model/schema/check.js'
import { rule } from '../support/rule.js'
import { serveProject } from '../support/serve.js'
import { access, component, contentType, reading } from './library.js'
import { serveWritable, type WritableProject } from './writable-project.js'

const when = (name: string, value: unknown, operator = '==') => ({ conditions: { visible: { [operator]: [{ var: name }, value] } } })

const note = {
  mode: { type: 'enumeration', enum: ['a', 'b'] },
  forA: { type: 'string', required: true, ...when('mode', 'a') },
}
const parts = { type: 'component', component: 'parts.note' }
const attributes = {
  kind: { type: 'enumeration', enum: ['book', 'film'] },
  isOpen: { type: 'boolean', default: false },
  rank: { type: 'integer' },
  isbn: { type: 'string', required: true, minLength: 5, unique: true, ...when('kind', 'book') },
  opens: { type: 'date', required: true, ...when('isOpen', true) },
  seo: { ...parts, required: true, ...when('kind', 'film') },
  notes: { ...parts, repeatable: true, required: true, min: 2, ...when('kind', 'film') },
  zone: { type: 'dynamiczone', components: ['parts.note'], required: true, min: 1, ...when('kind', 'film') },
  mail: { type: 'email', ...when('kind', 'film') },
  pick: { type: 'enumeration', enum: ['x'], ...when('kind', 'film') },
  big: { type: 'biginteger', max: '5', ...when('kind', 'film') },
  other: { type: 'string', maxLength: 3, ...when('kind', 'book', '!=') },
  facts: { type: 'json' },
  onFacts: { type: 'string', required: true, ...when('facts', 'x') },
  always: { type: 'string', maxLength: 3, conditions: { visible: null } },
  inner: parts,
  many: { ...parts, repeatable: true },
  free: { type: 'dynamiczone', components: ['parts.note'] },
}
const localize = (one: object) => ({ ...one, pluginOptions: { i18n: { localized: true } } })
const files = {
  ...contentType('item', attributes),
  ...contentType(
    'page',
    Object.fromEntries(Object.entries(attributes).map(([name, one]) => [name, name === 'kind' ? one : localize(one)])),
    { draftAndPublish: true, localized: true },
  ),
  ...component('parts', 'note', note),
  ...access(reading('item'), [
    { code: 'en', name: 'English', default: true },
    { code: 'de', name: 'German' },
  ]),
}

const book = { kind: 'book', isbn: '12345' }
const film = { kind: 'film', seo: {}, notes: [{}, {}], zone: [{ __component: 'parts.note' }] }

describe.each(['specification', 'strapi'] as const)('in the contract %s', (contract) => {
  let project: WritableProject
  beforeAll(async () => {
    project = await serveWritable(files, contract)
  })
  afterAll(() => project.served.close())

  let count = 10_000
  const isbn = () => String(count++)
  const paths = ['items', 'pages', 'pages?status=draft']
  const messages = async (method: string, path: string, data: object): Promise<readonly string[]> => {
    const { status, body } = await project.send(method, path, data)
    return status < 300 ? [] : [`${status}`, ...body.error.details.errors.map(({ message }: { message: string }) => message)]
  }

  rule('writing.27', 'a hidden attribute is neither missed nor validated', async () => {
    for (const path of paths) {
      expect(await messages('POST', path, { ...book, isbn: isbn() })).toEqual([])
      expect(await messages('POST', path, film)).toEqual([])
      expect(await messages('POST', path, { ...film, isbn: '1', seo: { mode: 'b', forA: null } })).toEqual([])
      const hidden = { mail: 'none', pick: 'zzz', big: '7', other: 'longer', seo: {}, notes: [], zone: [] }
      expect(await messages('POST', path, { ...book, isbn: isbn(), ...hidden })).toEqual([])
      expect(await messages('POST', path, { ...book, isbn: isbn(), seo: null, notes: null, zone: null })).toEqual([])
    }
  })

  rule('writing.27', 'one that is there is validated', async () => {
    for (const path of ['items', 'pages']) {
      expect(await messages('POST', path, { ...film, mail: 'none' })).toEqual(['400', 'mail must be a valid email'])
      expect(await messages('POST', path, { kind: 'book' })).toEqual(['400', expect.stringMatching(/^isbn must be/)])
      expect(await messages('POST', path, { kind: 'book', isbn: '2' })).toEqual(['400', 'isbn must be at least 5 characters'])
      expect(await messages('POST', path, { ...film, isOpen: 'true' })).toEqual(['400', expect.stringMatching(/^opens must be/)])
      expect(await messages('POST', path, { ...film, other: 'long' })).toEqual(['400', 'other must be at most 3 characters'])
      expect(await messages('POST', path, { ...film, always: 'long' })).toEqual(['400', 'always must be at most 3 characters'])
      expect(await messages('POST', path, { ...film, notes: [{}] })).toEqual(['400', 'notes field must have at least 2 items'])
      const inner = { ...book, isbn: isbn(), inner: { mode: 'b' }, many: [{ mode: 'b' }, {}], free: [{ __component: 'parts.note' }] }
      expect(await messages('POST', path, inner)).toEqual([])
      const wrong = { inner: { mode: 'a' }, many: [{ mode: 'b' }, { mode: 'a' }], free: [{ __component: 'parts.note', mode: 'a' }] }
      expect(await messages('POST', path, { ...inner, isbn: isbn(), ...wrong })).toHaveLength(4)
    }
  })

  rule('writing.28', 'a value that cannot be compared meets no rule', async () => {
    const value = { toString: 1, valueOf: 1 }
    for (const path of paths) {
      expect((await project.send('POST', path, { ...book, kind: value })).status).toBe(400)
      expect((await project.send('POST', path, { ...book, isbn: isbn(), inner: { mode: value } })).status).toBe(400)
      expect(await messages('POST', path, { ...book, isbn: isbn(), facts: [value] })).toEqual([])
    }
  })

  rule('writing.27', 'a value that no column can store is 400 in a hidden attribute as well', async () => {
    for (const path of paths)
      for (const wrong of [{ notes: 'str' }, { big: 'abc' }, { seo: 'str' }, { zone: [{ __component: 'none.none' }] }, { mail: 5 }])
        expect((await project.send('POST', path, { ...book, isbn: isbn(), ...wrong })).status).toBe(400)
  })

  rule('writing.27', 'a hidden value is not compared with others', async () => {
    const taken = isbn()
    await project.make('items', { ...book, isbn: taken })
    await project.make('items', { ...film, isbn: taken })
    await project.make('pages', { ...book, isbn: taken })
    await project.make('pages', { ...film, isbn: taken })
    expect(await project.refusal('POST', 'items', { ...book, isbn: taken })).toBe('This attribute must be unique')
  })

  rule('writing.27', 'an update uses stored values that the body leaves out', async () => {
    const { documentId, inner } = await project.make('items?populate=inner', { ...book, isbn: isbn(), inner: { mode: 'a', forA: 'x' } })
    const path = `items/${documentId}`
    expect(await messages('PUT', path, { isbn: null })).toHaveLength(2)
    expect(await messages('PUT', path, { other: 'longer', big: '9', mail: 'none' })).toEqual([])
    expect(await messages('PUT', path, { inner: { id: inner.id, forA: null } })).toHaveLength(2)
    expect(await messages('PUT', path, { inner: { id: inner.id, mode: 'b', forA: null } })).toEqual([])
    // The revealed attributes must be there.
    expect(await messages('PUT', path, { inner: { id: inner.id, mode: 'a' } })).toHaveLength(2)
    expect(await messages('PUT', path, { isOpen: true })).toEqual(['400', expect.stringMatching(/^opens must be/)])
    expect(await messages('PUT', path, { isOpen: true, opens: '2026-01-01' })).toEqual([])
    expect(await messages('PUT', path, { ...film, isbn: null, mail: null, big: null, other: null })).toEqual([])
    expect(await messages('PUT', path, { rank: 5 })).toEqual([])
  })

  rule('openapi.20', 'a description does not ask for what may be hidden', async () => {
    const { body } = await project.served.request('/api/openapi.json', { token: 'full' })
    const { ItemInput, PartsNoteInput } = body.components.schemas
    expect([ItemInput.description, PartsNoteInput.description]).toEqual([undefined, undefined])
    expect(ItemInput.properties.seo).toHaveProperty('anyOf')
  })

  rule('writing.27', 'publishing and its check look at the stored document', async () => {
    const draft = await project.make('pages?status=draft', { kind: 'book' })
    const publish = `pages/${draft.documentId}/actions/publish`
    expect(await messages('POST', publish, {})).toEqual(['400', expect.stringMatching(/^isbn must be/)])
    const { documentId } = await project.make('pages', { ...book, isbn: isbn() })
    expect(await messages('PUT', `pages/${documentId}`, { kind: 'film' })).toHaveLength(4)
    expect(await messages('PUT', `pages/${documentId}`, { ...film, isbn: null })).toEqual([])
    expect(await messages('PUT', `pages/${documentId}?status=draft`, { rank: 2, isbn: '1' })).toEqual([])
    expect(await messages('POST', `pages/${documentId}/actions/publish`, {})).toEqual([])
    // A new locale has the kind of the others.
    expect(await messages('PUT', `pages/${documentId}?locale=de`, { rank: 1, ...film, kind: undefined })).toEqual([])
    expect(await messages('PUT', `pages/${draft.documentId}?locale=de`, { isbn: '1' })).toEqual([
      '400',
      'isbn must be at least 5 characters',
    ])
  })
})

rule('writing.28', 'a condition that cannot be evaluated ends the start, one that names no attribute is a warning', async () => {
  const of = (visible: unknown) => {
    const schema = {
      uid: 'api::item.item',
      kind: 'collectionType',
      info: {},
      attributes: { a: { type: 'string', conditions: { visible } } },
    }
    return () => checkSchemas([{ file: 'schema.json', schema: schema as never }], [schema as never], ['wrong', 'careless'])
  }
  const deep = (levels: number): unknown => (levels === 0 ? true : { '!': [deep(levels - 1)] })
  expect(of({ method: [{ var: 'a' }, 'constructor'] })).toThrow(/conditions\.visible has "method", which is not an operator of conditions/)
  expect(of({ map: [{ var: 'a' }, { map: [{ var: '' }, 1] }] })).toThrow('inside of the rule of another list')
  expect(of(deep(30))).toThrow('is nested more than 20 levels deep')
  expect(of({ or: Array.from({ length: 600 }, () => ({ var: 'a' })) })).toThrow('has more than 500 parts')
  expect(of({ '==': [{ var: 'none' }, 1] })()).toEqual(['schema.json: attributes.a.conditions.visible "none" is not an attribute'])
  expect(of({ all: [{ var: 'a' }, { '==': [{ var: 'x' }, 1] }] })()).toEqual([])
  const served = await serveProject(contentType('item', { a: { type: 'string', required: true, ...when('none', 1) } }))
  expect(served.log.join('\n')).toContain('is not an attribute')
  await served.close()
})
