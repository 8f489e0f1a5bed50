// The form of a document: values by path, keys that survive moving, listeners, errors, and requests that store what differs.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readEntries, writeEntries } from '../../admin/fields/entry-clipboard.js'
import { isEmptyPatch } from '../../admin/form/patch.js'
import { createDocumentStore, createNewDocumentStore, restoreDocumentStore } from '../../admin/form/store.js'
import {
  createEntry,
  type Entry,
  hasEqualContent,
  isEqual,
  keyOf,
  pack,
  readDocument,
  toLink,
  toUnfinished,
  unfinishedText,
  unpack,
} from '../../admin/form/values.js'
import { textOf } from '../../admin/screens/editor/values-as-text.js'
import { anyEdit, draft, perform, section } from './support/drafts.js'
import { createModelServer, shape } from './support/model-server.js'

const runs = { seed: 29, numRuns: 300 }
const open = () => createDocumentStore({ shape, data: draft() })
const keys = (list: unknown) => (list as readonly Entry[]).map(keyOf)

describe('values', () => {
  test('a path leads through components and the keys of entries', () => {
    const store = open()
    expect(store.get('seo/metaTitle')).toBe('Mill')
    expect(store.get('sections/block.text#2/heading')).toBe('three')
    expect(store.get('sections/block.text#1/links/#1/url')).toBe('/x')
    expect(store.get('sections/block.text#9/heading')).toBeUndefined()
    store.set('sections/block.text#9/heading', 'nowhere')
    expect(store.isChanged()).toBe(false)
  })

  test('a key survives moves, changes, and the id that the server gives', () => {
    const store = open()
    const added = section('new')
    store.insert('sections', added, 1)
    const path = `sections/${keyOf(added)}`
    store.move(path, 3)
    store.set(`${path}/heading`, 'newer')
    const patch = store.patch()
    store.stored({ ...patch, ids: { 'sections/k0': 40, 'sections/k0/links/0': 41 } })
    expect(store.get(`${path}/heading`)).toBe('newer')
    expect(store.isChanged()).toBe(false)
    store.set(`${path}/heading`, 'newest')
    store.set(`${path}/links/${keyOf((store.get(`${path}/links`) as Entry[])[0])}/label`, 'named')
    expect(store.patch().body).toEqual({
      changes: { 'sections/block.text#40/heading': 'newest', 'sections/block.text#40/links/#41/label': 'named' },
      lists: {},
    })
  })

  test('copies of an entry have other keys throughout', () => {
    const [first] = open().get('sections') as readonly Entry[]
    const copy = createEntry(shape, shape.components['block.text']!.attributes, first!)
    expect(hasEqualContent(copy, first)).toBe(true)
    expect(keyOf(copy)).not.toBe(keyOf(first))
    expect(keys(copy.links)).not.toEqual(keys(first!.links))
  })

  test('texts of numbers, instants and missing members count as equal', () => {
    expect(isEqual('48210', 48210)).toBe(true)
    expect(isEqual('2026-01-02T03:04:00.000Z', '2026-01-02T04:04:00+01:00')).toBe(true)
    expect(isEqual({ a: null }, {})).toBe(true)
    expect([isEqual('', null), isEqual('', 0), isEqual('a', 'b'), isEqual([], null)]).toEqual([false, false, false, false])
  })

  test('packed values are JSON and keep their keys', () => {
    fc.assert(
      fc.property(fc.array(anyEdit(), { maxLength: 12 }), fc.jsonValue(), (edits, value) => {
        // JSON has no negative zero.
        const json = JSON.parse(JSON.stringify(value))
        const store = open()
        for (const edit of edits) perform(store, edit)
        store.set('data', json)
        const copy = unpack(JSON.parse(JSON.stringify(pack(store.get(''))))) as Entry
        expect(isEqual(copy, store.get(''))).toBe(true)
        expect(keys(copy.sections)).toEqual(keys(store.get('sections')))
        const restored = restoreDocumentStore(JSON.parse(JSON.stringify(store.toJSON())), { shape })
        expect(restored.patch().body).toEqual(store.patch().body)
      }),
      runs,
    )
  })
})

describe('listeners', () => {
  test('a change calls the listeners of its value, of its parents, and of what is below', () => {
    const store = open()
    const called: string[] = []
    for (const path of ['', 'title', 'seo', 'seo/metaTitle', 'seo/metaDescription', 'sections', 'sections/block.quote#1/text'])
      store.subscribe(path, () => called.push(path))
    store.set('seo/metaTitle', 'x')
    expect(called.splice(0)).toEqual(['', 'seo', 'seo/metaTitle'])
    store.move('sections/block.quote#1', 0)
    expect(called.splice(0)).toEqual(['', 'sections', 'sections/block.quote#1/text'])
  })

  test('a value that stays keeps its identity, so that nothing is drawn again', () => {
    const store = open()
    const before = store.get('sections/block.text#2')
    store.set('title', 'x')
    store.move('sections/block.text#2', 0)
    store.receive({ ...draft(), kicker: 'theirs' })
    expect(store.get('sections/block.text#2')).toBe(before)
    expect(store.get('kicker')).toBe('theirs')
  })
})

describe('errors', () => {
  const error = (path: readonly (string | number)[]) => ({ path, message: 'wrong', code: 'minLength', params: { min: 40 } })

  test('an error follows its item, is counted on its parents, and goes with a change of its value', () => {
    const store = open()
    store.setErrors('publication', store.placeErrors('publication', [error(['sections', 2, 'heading']), error(['seo', 'metaDescription'])]))
    expect(store.errors('sections/block.text#2/heading')).toHaveLength(1)
    store.move('sections/block.text#2', 0)
    expect(store.allErrors().map(({ path }) => path)).toEqual(['seo/metaDescription', 'sections/block.text#2/heading'])
    expect([store.errorCount('sections'), store.errorCount('sections/block.text#2'), store.errorCount('')]).toEqual([1, 1, 2])
    store.set('sections/block.text#2/heading', 'longer')
    expect([store.errorCount('sections'), store.errorCount('')]).toEqual([0, 1])
  })

  test('an error of a removed item is not counted, and is there again after undo', () => {
    const store = open()
    store.setErrors('publication', store.placeErrors('publication', [error(['sections', 'block.quote#1', 'text'])]))
    store.remove('sections/block.quote#1')
    expect(store.errorCount('')).toBe(0)
    store.undo()
    expect(store.errors('sections/block.quote#1/text')).toHaveLength(1)
  })

  test('an error about what the form does not have is at the nearest thing that it has', () => {
    const store = open()
    const paths = [['sections', 9, 'heading'], ['tags', 0, 'name'], ['data', 'nights'], [], ['seo', 'metaTitle', 'x']]
    expect(store.placeErrors('refused', paths.map(error)).map(({ path }) => path)).toEqual([
      'sections',
      'tags',
      'data',
      '',
      'seo/metaTitle',
    ])
  })

  test('errors of a request have the names of the request', () => {
    const store = open()
    const added = section('new')
    store.insert('sections', added, 0)
    const patch = store.patch()
    const [placed] = store.placeErrors('refused', [error(['sections', 'k0', 'links', '0', 'label'])], patch)
    expect(placed!.path).toBe(`sections/${keyOf(added)}/links/${keyOf((added.links as Entry[])[0])}/label`)
  })
})

describe('requests', () => {
  test('only what differs is sent', () => {
    const store = open()
    expect(store.patch().body).toEqual({ changes: {}, lists: {} })
    store.set('title', 'Mills')
    store.set('sections/block.quote#1/text', 'three')
    store.set('author', null)
    store.move('gallery/@file:4', 0)
    store.remove('tags/@night')
    store.move('tags/@sea', 0)
    expect(store.patch().body).toEqual({
      changes: {
        title: 'Mills',
        'sections/block.quote#1/text': 'three',
        author: null,
        gallery: [4, 3],
        tags: { disconnect: [{ documentId: 'night' }], connect: [{ documentId: 'sea', position: { start: true } }] },
      },
      lists: {},
    })
  })

  test('whatever the edits, the server has what the form shows after the request', () => {
    fc.assert(
      fc.property(
        fc.array(anyEdit(true), { maxLength: 20 }),
        fc.array(anyEdit(true), { maxLength: 20 }),
        fc.boolean(),
        (first, second, knowsIds) => {
          const server = createModelServer(draft())
          const store = open()
          for (const edits of [first, second]) {
            for (const edit of edits) perform(store, edit)
            const patch = store.patch()
            const outcome = server.change(patch.body, server.document()!.revision)
            if (outcome.kind !== 'stored') throw new Error(outcome.kind)
            store.stored({ ...patch, ...(knowsIds ? { ids: outcome.ids ?? {} } : {}) })
            expect(store.isChanged()).toBe(false)
            const stored = readDocument(shape, server.document()!.draft!)
            expect(hasEqualContent(stored, store.get(''))).toBe(true)
            // Without ids in a response, they are learned later.
            if (!knowsIds) store.learnIds(server.document()!.draft!)
          }
          expect(store.receive(server.document()!.draft!)).toEqual({ taken: [], conflicts: [] })
        },
      ),
      runs,
    )
  })

  test('entries without known ids are named by their positions', () => {
    const store = open()
    store.insert('sections', section('new'), 0)
    store.stored(store.patch())
    store.set(`sections/${keys(store.get('sections'))[0]}/heading`, 'newer')
    expect(store.patch().body.changes).toEqual({ 'sections/0/heading': 'newer' })
  })

  test('a link after the loaded ones goes to the end; loaded links are no changes', () => {
    const store = createDocumentStore({ shape, data: draft(), partial: ['tags'] })
    store.insert('tags', toLink({ documentId: 'new' }), 3)
    store.extendLinks('tags', [{ documentId: 'more' }], false)
    expect(keys(store.get('tags'))).toEqual(['@water', '@night', '@sea', '@more', '@new'])
    expect(store.patch().body.changes).toEqual({ tags: { connect: [{ documentId: 'new', position: { end: true } }] } })
    expect(store.receive({ ...draft(), kicker: 'theirs' }).taken).toEqual(['kicker'])
    expect(keys(store.get('tags'))).toHaveLength(5)
  })

  test('empty lists of the server are no changes of a new document', () => {
    const store = createNewDocumentStore(shape, {})
    store.set('title', 'Mill')
    store.stored({ ...store.patch(), ids: {} })
    expect(store.receive({ ...draft(), title: 'Mill', kicker: null, sections: [] }).taken).not.toContain('sections')
    expect(store.receive({ ...draft(), title: 'Mill' }).taken).toContain('sections')
  })

  test('a text that does not parse yet is a change that is never sent, is undone, and can be a side of a conflict', () => {
    const store = open()
    store.set('data', toUnfinished('{'))
    expect([store.isChanged('data'), isEmptyPatch(store.patch(true))]).toEqual([true, true])
    store.set('data', toUnfinished('{ "'))
    expect(unfinishedText(store.get('data'))).toBe('{ "')
    store.undo()
    expect(unfinishedText(store.get('data'))).toBe('{')
    store.redo()
    store.receive({ ...draft(), data: 'theirs' })
    expect(store.conflict('data')).toMatchObject({ theirs: 'theirs' })
    store.decide('data', 'mine')
    expect(unfinishedText(store.get('data'))).toBe('{ "')
    expect(textOf(store.get('data'))).toBe('{ "')
    expect(readEntries(writeEntries([{ component: 'block.quote', values: { text: 'a', data: store.get('data') } }]))).toEqual([
      { component: 'block.quote', values: { text: 'a' } },
    ])
  })

  test('values that are refused are not sent again before they change, and the rest is', () => {
    const store = open()
    store.set('title', 'wrong')
    store.set('kicker', 'right')
    store.refuse(store.placeErrors('refused', [{ path: ['title'], message: 'no' }]), store.patch().next)
    expect(store.patch().body.changes).toEqual({ kicker: 'right' })
    expect(store.isRefused('title')).toBe(true)
    expect(store.patch(true).body.changes).toEqual({ title: 'wrong', kicker: 'right' })
    store.set('title', 'better')
    expect(store.patch().body.changes).toEqual({ title: 'better', kicker: 'right' })
  })
})
