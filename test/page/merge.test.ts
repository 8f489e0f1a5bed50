// Merging of a form with what others have saved: field by field, lists by their entries, and conflicts where both changed the same.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { changedPaths, merge, settle } from '../../admin/form/merge.js'
import { applyOrder, compareOrders } from '../../admin/form/order.js'
import { createDocumentStore } from '../../admin/form/store.js'
import { type Entry, isEqual, keyOf, readDocument } from '../../admin/form/values.js'
import { anyEdit, draft, type Edit, perform, section } from './support/drafts.js'
import { shape } from './support/model-server.js'

const runs = { seed: 29, numRuns: 400 }
const open = () => createDocumentStore({ shape, data: draft() })
const base = readDocument(shape, draft())
const edited = (edits: readonly Edit[]): Entry => {
  const store = open()
  for (const edit of edits) perform(store, edit)
  return store.get('') as Entry
}
const keys = (list: unknown) => (list as readonly Entry[]).map((item) => keyOf(item)!)
const edits = fc.array(anyEdit(), { maxLength: 8 })

describe('orders', () => {
  const order = fc.uniqueArray(fc.constantFrom(...'abcdefgh'), { maxLength: 8 })

  test('the operations between two orders lead from one to the other, and are as few as possible', () => {
    fc.assert(
      fc.property(order, order, (one, other) => {
        const changes = compareOrders(one, other)
        expect(applyOrder(one, other, changes)).toEqual(other)
        if (one.join() === other.join()) expect([...changes.removed, ...changes.placed]).toEqual([])
      }),
      runs,
    )
    expect(compareOrders(['a', 'b', 'c', 'd'], ['d', 'a', 'b', 'c']).placed).toEqual([{ key: 'd', after: null, isNew: false }])
  })

  test('additions and removals by others are taken once', () => {
    fc.assert(
      fc.property(order, order, order, (one, mine, theirs) => {
        const changes = compareOrders(one, mine)
        const merged = applyOrder(theirs, mine, changes)
        const wanted = new Set([...theirs.filter((key) => !changes.removed.includes(key)), ...changes.placed.map(({ key }) => key)])
        expect(merged.length).toBe(wanted.size)
        expect(new Set(merged)).toEqual(wanted)
      }),
      runs,
    )
  })
})

describe('laws', () => {
  test('without changes of one side, the other side is the result', () => {
    fc.assert(
      fc.property(edits, (given) => {
        const changed = edited(given)
        expect(merge(base, changed, base)).toEqual({ value: changed, conflicts: [] })
        expect(isEqual(merge(base, base, changed).value, changed)).toBe(true)
        expect(merge(base, changed, changed)).toEqual({ value: changed, conflicts: [] })
      }),
      runs,
    )
  })

  test('each value is that of one side, and a value that both changed is a conflict', () => {
    fc.assert(
      fc.property(edits, edits, (mineEdits, theirEdits) => {
        const [mine, theirs] = [edited(mineEdits), edited(theirEdits)]
        const { value, conflicts } = merge(base, mine, theirs)
        const merged = value as Entry
        for (const field of ['title', 'summary']) {
          const [b, m, t] = [base[field], mine[field], theirs[field]]
          expect(merged[field]).toBe(m === b ? t : m)
          expect(conflicts.some(({ path }) => path === field)).toBe(m !== b && t !== b && m !== t)
        }
        // No entry appears twice; each is from one of the three.
        expect(new Set(keys(merged.sections)).size).toBe(keys(merged.sections).length)
        const conflicting = new Set(conflicts.map(({ path }) => path))
        const [b, m, t] = [keys(base.sections), keys(mine.sections), keys(theirs.sections)]
        for (const key of new Set([...b, ...m, ...t])) {
          const isThere = keys(merged.sections).includes(key)
          if (!b.includes(key)) expect(isThere).toBe(true)
          else if (m.includes(key) && t.includes(key)) expect(isThere).toBe(true)
          else if (isThere) expect(conflicting.has(`sections/${key}`)).toBe(true)
        }
      }),
      runs,
    )
  })

  test('paths of differences lead to differences, and there are none between equal documents', () => {
    fc.assert(
      fc.property(edits, (given) => {
        const changed = edited(given)
        const store = open()
        const paths = changedPaths(base, changed)
        expect(paths.length === 0).toBe(isEqual(base, changed))
        for (const path of paths) expect(isEqual(store.baseAt(path), open().get(path))).toBe(true)
      }),
      runs,
    )
  })
})

describe('two people', () => {
  const theirs = (change: (data: ReturnType<typeof draft>) => void) => {
    const data = draft()
    change(data)
    return data
  }
  const sectionsOf = (data: ReturnType<typeof draft>) => data.sections as Record<string, unknown>[]

  test('different fields, also of one entry, are merged without a question', () => {
    const store = open()
    store.set('title', 'mine')
    store.set('sections/block.text#1/heading', 'mine')
    const { taken, conflicts } = store.receive(
      theirs((data) => {
        data.kicker = 'theirs'
        sectionsOf(data)[0]!.text = 'theirs'
      }),
    )
    expect(conflicts).toEqual([])
    expect(taken).toEqual(['kicker', 'sections/block.text#1/text'])
    expect(store.get('sections/block.text#1')).toMatchObject({ heading: 'mine', text: 'theirs' })
    expect(store.patch().body.changes).toEqual({ title: 'mine', 'sections/block.text#1/heading': 'mine' })
  })

  test('the same field is a conflict: it is not sent before one side is chosen', () => {
    const store = open()
    store.set('title', 'mine')
    store.set('note', 'kept')
    store.receive(theirs((data) => (data.title = 'theirs')))
    expect(store.conflict('title')).toMatchObject({ base: 'Mill', mine: 'mine', theirs: 'theirs' })
    expect([store.get('title'), store.baseAt('title')]).toEqual(['mine', 'theirs'])
    expect(store.patch().body.changes).toEqual({ note: 'kept' })
    store.set('title', 'mine too')
    expect(store.patch().body.changes).toEqual({ note: 'kept' })
    store.decide('title', 'mine')
    expect(store.patch().body.changes).toEqual({ note: 'kept', title: 'mine too' })
  })

  test('their side of a conflict is taken, and can be undone', () => {
    const store = open()
    store.set('title', 'mine')
    store.receive(theirs((data) => (data.title = 'theirs')))
    store.decide('title', 'theirs')
    expect(store.get('title')).toBe('theirs')
    expect(store.isChanged()).toBe(false)
    store.undo()
    expect(store.get('title')).toBe('mine')
  })

  test('a conflict stays open until they agree with me', () => {
    const store = open()
    store.set('title', 'mine')
    store.receive(theirs((data) => (data.title = 'theirs')))
    const next = (title: string) => theirs((data) => Object.assign(data, { title, kicker: title }))
    store.receive(next('theirs'))
    expect(store.conflict('title')?.theirs).toBe('theirs')
    store.receive(next('theirs again'))
    expect(store.conflict('title')?.theirs).toBe('theirs again')
    store.receive(next('mine'))
    expect(store.conflicts()).toEqual([])
  })

  test('one reorders, the other removes and adds', () => {
    const store = open()
    store.move('sections/block.text#2', 0)
    store.insert('sections', section('mine'), 1)
    const { conflicts } = store.receive(
      theirs((data) => {
        sectionsOf(data).splice(1, 1)
        sectionsOf(data).push({ id: 9, __component: 'block.quote', text: 'theirs' })
      }),
    )
    expect(conflicts).toEqual([])
    const merged = store.get('sections') as readonly Entry[]
    expect(merged.map(({ heading, text }) => heading ?? text)).toEqual(['three', 'mine', 'one', 'theirs'])
  })

  test.each(['mine', 'theirs'] as const)('an entry that they removed while I wrote in it stays until I choose %s', (side) => {
    const store = open()
    store.set('sections/block.quote#1/text', 'mine')
    const { conflicts } = store.receive(theirs((data) => sectionsOf(data).splice(1, 1)))
    expect(conflicts).toMatchObject([{ path: 'sections/block.quote#1', theirs: undefined }])
    expect(keys(store.get('sections'))).toEqual(['block.text#1', 'block.quote#1', 'block.text#2'])
    expect(store.patch().body).toEqual({ changes: {}, lists: {} })
    store.decide('sections/block.quote#1', side)
    const { lists } = store.patch().body
    if (side === 'theirs') expect([keys(store.get('sections')).length, lists]).toEqual([2, {}])
    else expect(lists.sections).toEqual([{ insert: { __component: 'block.quote', text: 'mine' }, key: 'k0', after: 'block.text#1' }])
  })

  test.each(['mine', 'theirs'] as const)('an entry that I removed while they wrote in it is back until I choose %s', (side) => {
    const store = open()
    store.remove('sections/block.quote#1')
    store.receive(theirs((data) => (sectionsOf(data)[1]!.text = 'theirs')))
    expect(store.conflict('sections/block.quote#1')).toMatchObject({ mine: undefined })
    expect(store.get('sections/block.quote#1/text')).toBe('theirs')
    store.decide('sections/block.quote#1', side)
    expect(store.patch().body.lists).toEqual(side === 'mine' ? { sections: [{ remove: 'block.quote#1' }] } : {})
  })

  test('links that both add and remove are merged; a link that both add is there once', () => {
    const store = open()
    store.remove('tags/@night')
    store.set('tags', [...(store.get('tags') as Entry[]), ...(readDocument(shape, { tags: [{ documentId: 'both' }] }).tags as Entry[])])
    store.receive(
      theirs((data) => (data.tags = [{ documentId: 'new' }, { documentId: 'both' }, { documentId: 'water' }, { documentId: 'night' }])),
    )
    expect(keys(store.get('tags'))).toEqual(['@new', '@water', '@both'])
  })
})

describe('requests without a response', () => {
  test('my own stored changes are not taken for those of others', () => {
    fc.assert(
      fc.property(edits, edits, (sentEdits, later) => {
        const store = open()
        for (const edit of sentEdits) perform(store, edit)
        const sent = store.get('') as Entry
        for (const edit of later) perform(store, edit)
        const mine = store.get('') as Entry
        const settled = settle(base, sent, sent)
        expect(isEqual(settled, sent)).toBe(true)
        expect(merge(settled, mine, sent)).toEqual({ value: mine, conflicts: [] })
        expect(settle(base, sent, base)).toEqual(base)
      }),
      runs,
    )
  })

  test('an inserted entry is recognized in the document of the server by its content', () => {
    const store = open()
    const added = section('new')
    store.insert('sections', added, 1)
    const { next } = store.patch()
    store.sending(next)
    store.set(`sections/${keyOf(added)}/heading`, 'newer')
    const data = draft()
    ;(data.sections as unknown[]).splice(1, 0, {
      id: 50,
      __component: 'block.text',
      heading: 'new',
      text: null,
      links: [{ id: 51, label: 'new', url: '/' }],
    })
    expect(store.receive(data)).toEqual({ taken: [], conflicts: [] })
    expect(keys(store.get('sections'))).toHaveLength(4)
    expect(store.patch().body).toEqual({ changes: { 'sections/block.text#50/heading': 'newer' }, lists: {} })
  })
})
