// Polymorphic relations written from their inverse side, positions in lists of links, and values that bodies may not set.
import { afterAll, beforeAll, expect } from 'vitest'
import { rule } from '../support/rule.js'
import { component, contentType } from './library.js'
import type { Document, WritableProject } from './writable-project.js'
import { serveWritable } from './writable-project.js'

const relation = (kind: string, target?: string, more: object = {}) => ({
  type: 'relation',
  relation: kind,
  ...(target !== undefined && { target: `api::${target}.${target}` }),
  ...more,
})

const inverses = {
  remarks: relation('morphMany', 'remark', { morphBy: 'subjects' }),
  remark: relation('morphOne', 'remark', { morphBy: 'subject' }),
  notes: relation('morphMany', 'note', { morphBy: 'subjects' }),
  note: relation('morphOne', 'note', { morphBy: 'subject' }),
}

const pointing = { name: { type: 'string' }, subject: relation('morphToOne'), subjects: relation('morphToMany') }

const project = {
  ...contentType(
    'gadget',
    {
      name: { type: 'string' },
      story: { type: 'blocks' },
      serial: { type: 'string', writable: false, default: 'unset' },
      owner: relation('oneToOne', 'tag', { writable: false }),
      part: { type: 'component', component: 'parts.part' },
      tags: relation('manyToMany', 'tag'),
      ...inverses,
    },
    { draftAndPublish: true },
  ),
  ...contentType('widget', { name: { type: 'string' }, ...inverses }),
  ...contentType('remark', pointing, { draftAndPublish: true }),
  ...contentType('note', pointing),
  ...contentType('tag', { name: { type: 'string' } }),
  ...component('parts', 'part', { name: { type: 'string' }, serial: { type: 'string', writable: false } }),
}

const shown = ['remarks', 'remark', 'notes', 'note'].map((name) => `populate[${name}][fields]=name`).join('&')
const names = (list: readonly { readonly name: string }[]): string => list.map(({ name }) => name).join('')

let strapi: WritableProject
let writable: WritableProject
beforeAll(async () => {
  strapi = await serveWritable(project, 'strapi')
  writable = await serveWritable(project, 'specification')
})
afterAll(async () => {
  await strapi.served.close()
  await writable.served.close()
})

const made = (on: WritableProject, type: string, names: string): Promise<Document[]> =>
  Promise.all([...names].map((name) => on.make(type, { name })))
const ids = (documents: readonly Document[]): string[] => documents.map(({ documentId }) => documentId)

rule('relations.14', 'the inverse side of a polymorphic relation to many takes every form of a relation', async () => {
  for (const on of [writable, strapi]) {
    const [a, b, c] = ids(await made(on, 'remarks', 'abc'))
    const { documentId } = await on.make('gadgets', { name: 'one', remarks: [a, b] })
    const list = async (query = '') => names((await on.read(`gadgets/${documentId}?${shown}${query}`)).remarks)
    expect([await list(), await list('&status=draft')]).toEqual(['ab', 'ab'])
    await on.change(`gadgets/${documentId}`, { remarks: { connect: [{ documentId: c, position: { before: b } }], disconnect: [a] } })
    expect([await list(), await list('&status=draft')]).toEqual(['cb', 'cb'])
    await on.change(`gadgets/${documentId}`, { remarks: { set: [{ documentId: b }, { documentId: a }] } })
    expect(await list()).toBe('ba')
    await on.change(`gadgets/${documentId}`, { name: 'other' })
    expect(await list()).toBe('ba')
    const other = await on.make('gadgets', { name: 'two', remarks: [b] })
    expect([await list(), names((await on.read(`gadgets/${other.documentId}?${shown}`)).remarks)]).toEqual(['ba', 'b'])
    const [pointed] = (await on.read(`remarks?filters[documentId]=${b}&populate[subjects]=true`)) as Document[]
    expect(pointed.subjects.map(({ name }: { name: string }) => name).sort()).toEqual(['other', 'two'])
    await on.change(`gadgets/${documentId}`, { remarks: [] })
    expect(await list()).toBe('')
  }
})

rule('relations.14', 'a relation to one has one, and row ids name their rows', async () => {
  for (const on of [writable, strapi]) {
    const [a, b] = await made(on, 'notes', 'ab')
    const widget = await on.make('widgets', { note: a.id, notes: [a.id, b.id] })
    const read = () => on.read(`widgets/${widget.documentId}?${shown}`)
    expect(await read()).toMatchObject({ note: { name: 'a' }, notes: [{ name: 'a' }, { name: 'b' }] })
    await on.change(`widgets/${widget.documentId}`, { note: { connect: [b.documentId] }, notes: { disconnect: [a.id] } })
    expect(await read()).toMatchObject({ note: { name: 'b' }, notes: [{ name: 'b' }] })
    const first = await on.make('widgets', { note: [a.id, b.id] })
    expect((await on.read(`widgets/${first.documentId}?${shown}`)).note.name).toBe(on === strapi ? 'a' : 'b')
    await on.change(`widgets/${widget.documentId}`, { note: null })
    expect((await read()).note).toBeNull()
  }
})

rule('relations.14', 'drafts keep their targets until they are published, discarding reverts them', async () => {
  const [a, b] = ids(await made(writable, 'remarks', 'ab'))
  const { documentId } = await writable.make('gadgets', { remarks: [a] })
  const list = async (query = '') => names((await writable.read(`gadgets/${documentId}?${shown}${query}`)).remarks)
  await writable.change(`gadgets/${documentId}?status=draft`, { remarks: [b, a] })
  expect([await list(), await list('&status=draft')]).toEqual(['a', 'ba'])
  await writable.send('POST', `gadgets/${documentId}/actions/discard`)
  expect(await list('&status=draft')).toBe('a')
  await writable.change(`gadgets/${documentId}?status=draft`, { remarks: [b, a] })
  await writable.send('POST', `gadgets/${documentId}/actions/publish`)
  expect(await list()).toBe('ba')
  await writable.send('POST', `gadgets/${documentId}/actions/unpublish`)
  await writable.send('POST', `gadgets/${documentId}/actions/publish`)
  expect([await list(), await list('&status=draft')]).toEqual(['ba', 'ba'])
})

rule('relations.14', 'a missing target is 400, and so is one that the caller may not find', async () => {
  for (const remarks of [['nothing'], [{ documentId: 'nothing' }], { connect: ['nothing'] }]) {
    expect(await writable.refusal('POST', 'gadgets', { remarks })).toBe('Document with id "nothing", locale "null" not found')
  }
  expect(await writable.refusal('POST', 'gadgets', { remarks: [99_999] })).toMatch(
    /1 relation\(s\) of type api::remark.remark .* do not exist/,
  )
  expect(await writable.read('gadgets?filters[name][$null]=true&filters[remarks][name]=nothing')).toEqual([])
})

/** `ab | c<a`: a list of a and b, then `connect` of c before a; `>` is after, `^` the start, `$` the end. */
const placements = [
  ['', 'a>b c b', 'bac'],
  ['', 'a>c d b c e', 'cadbe'],
  ['ab', 'a>b b', 'ab'],
  ['b', 'a<b b<a', 'ba'],
  ['ab', 'a<b b<a', 'ba'],
  ['abc', 'a>c c', 'bac'],
  ['ab', 'b<a a>b c>b', 'bca'],
  ['ab', 'c<d d>c', 'circular'],
  ['a', 'a<b b<a', 'circular'],
  ['', 'a<a', 'circular'],
  ['a', 'a<a', 'circular'],
  ['', 'b>c a<a', 'needs to be connected first'],
] as const

rule('relations.7', 'connected entries follow the entry of their position, unless the list has it already', async () => {
  const documents = new Map((await made(strapi, 'tags', 'abcde')).map(({ name, documentId }) => [name as string, documentId as string]))
  const sides: Readonly<Record<string, string>> = { '<': 'before', '>': 'after' }
  for (const [present, connect, wanted] of placements) {
    const { documentId } = await strapi.make('gadgets?status=draft', { tags: [...present].map((name) => documents.get(name)) })
    const entries = connect.split(' ').map(([name = '', side = '', beside = '']) => ({
      documentId: documents.get(name),
      ...(side !== '' && { position: { [sides[side]!]: documents.get(beside) } }),
    }))
    const path = `gadgets/${documentId}?status=draft&populate[tags][fields]=name`
    const { body } = await strapi.send('PUT', path, { tags: { connect: entries } })
    const seen: string = body.data?.tags.map(({ name }: { name: string }) => name).join('') ?? body.error.message
    expect(`${present} | ${connect} → ${seen}`).toContain(wanted.includes(' ') || wanted === 'circular' ? wanted : `→ ${wanted}`)
  }
})

rule('relations.7', 'a long chain of entries may be given in any order', async () => {
  const { documentId } = (await made(strapi, 'tags', 'x'))[0]!
  const tags = await made(strapi, 'tags', 'y'.repeat(40))
  const chain = tags.map((tag, index) => ({ id: tag.id, position: { after: index === 0 ? documentId : tags[index - 1]!.documentId } }))
  const gadget = await strapi.make('gadgets?status=draft&populate[tags][fields]=name', {
    tags: { connect: [...chain.toReversed(), { documentId }] },
  })
  expect(gadget.tags.map(({ id }: { id: number }) => id).slice(1)).toEqual(tags.map(({ id }) => id))
})

rule('relations.6', 'a position relative to a polymorphic target names its type and row', async () => {
  const type = (name: string) => `api::${name}.${name}`
  for (const on of [writable, strapi]) {
    const [w1, w2, w3] = (await made(on, 'widgets', 'wvu')).map(({ id, documentId }) => ({ id, documentId, __type: type('widget') }))
    const [tag] = (await made(on, 'tags', 't')).map(({ id, documentId }) => ({ id, documentId, __type: type('tag') }))
    const { documentId } = await on.make('notes', { subjects: [w1, tag] })
    const list = async (connect: readonly object[]) => {
      const note = await on.change(`notes/${documentId}?populate[subjects]=true`, { subjects: { connect } })
      return note.subjects.map(({ name }: { name: string }) => name).join('')
    }
    expect(await list([{ ...w2, position: { before: tag!.id, __type: type('tag') } }])).toBe('wvt')
    expect(await list([{ ...w2, position: { before: w1!.documentId, __type: type('widget') } }])).toBe('vwt')
    expect(
      await list([
        { ...w2, position: { after: w3!.id, __type: type('widget') } },
        { ...w3, position: { end: true } },
      ]),
    ).toBe('wtuv')
    const refused = await on.refusal('PUT', `notes/${documentId}`, {
      subjects: { connect: [{ ...w1, position: { before: 9_999, __type: type('tag') } }] },
    })
    expect(refused).toBe(
      `There was a problem connecting relation with id ${w1!.id}:::api::widget.widget at position {"before":"9999:::api::tag.tag","__type":"api::tag.tag"}. ` +
        'The relation with id 9999:::api::tag.tag needs to be connected first.',
    )
  }
})

rule('writing.23', 'unwritable attributes are refused in bodies and get their defaults', async () => {
  for (const on of [writable, strapi]) {
    for (const data of [{ serial: 'mine' }, { serial: null }, { unknown: 1, serial: 'mine' }, { owner: null }]) {
      const key = 'owner' in data ? 'owner' : 'serial'
      const { status, body } = await on.send('POST', 'gadgets', data)
      expect([status, body.error]).toEqual([
        400,
        { status: 400, name: 'ValidationError', message: `Invalid key ${key}`, details: { key, path: key, source: 'body' } },
      ])
    }
    expect(await on.refusal('POST', 'gadgets', { part: { serial: 'mine' } })).toBe('Invalid key serial at part.serial')
    const gadget = await on.make('gadgets', { name: 'plain', part: { name: 'wheel' } })
    expect(gadget.serial).toBe('unset')
    expect((await on.change(`gadgets/${gadget.documentId}`, { name: 'plainer' })).serial).toBe('unset')
    expect(await on.refusal('PUT', `gadgets/${gadget.documentId}`, { serial: 'mine' })).toBe('Invalid key serial')
    expect(await on.read('gadgets?filters[serial]=unset&filters[name]=plainer')).toHaveLength(1)
  }
})

rule('writing.24', 'a text in place of blocks is refused, or null in the contract strapi', async () => {
  const paragraph = [{ type: 'paragraph', children: [{ type: 'text', text: 'Hello' }] }]
  for (const on of [writable, strapi]) {
    expect((await on.make('gadgets', { story: JSON.stringify(paragraph) })).story).toEqual(paragraph)
    expect((await on.make('gadgets', { story: null })).story).toBeNull()
  }
  for (const story of ['Hello', '{"type":"paragraph"}', '']) {
    for (const path of ['gadgets', 'gadgets?status=draft'])
      expect(await writable.refusal('POST', path, { story })).toContain('story must be a `array` type')
    expect((await strapi.make('gadgets', { story })).story).toBeNull()
  }
  const warned = (on: typeof writable) => on.served.log.filter((line) => line.includes('a value was stored as null'))
  expect(warned(writable)).toEqual([])
  expect(warned(strapi).map((line) => JSON.parse(line))).toEqual(
    Array(3).fill(expect.objectContaining({ level: 40, uid: 'api::gadget.gadget', attribute: 'story' })),
  )
})
