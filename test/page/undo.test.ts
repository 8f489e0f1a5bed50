// Undo and redo across fields.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createDocumentStore } from '../../admin/form/store.js'
import { type Entry, isEqual } from '../../admin/form/values.js'
import { createClock } from './support/clock.js'
import { anyEdit, draft, perform, section } from './support/drafts.js'
import { shape } from './support/model-server.js'

const runs = { seed: 29, numRuns: 300 }
const open = (now?: () => number) => createDocumentStore({ shape, data: draft(), ...(now === undefined ? {} : { now }) })

describe('undo', () => {
  test('undo and redo are inverse, whatever was edited', () => {
    fc.assert(
      fc.property(fc.array(anyEdit(), { maxLength: 30 }), fc.nat({ max: 30 }), (edits, back) => {
        const store = open()
        const states = [store.get('')]
        for (const edit of edits) {
          perform(store, edit)
          store.pause()
          if (store.get('') !== states.at(-1)) states.push(store.get(''))
        }
        const steps = Math.min(back, states.length - 1)
        for (let step = 1; step <= steps; step++) {
          expect(store.undo()).not.toBeNull()
          expect(isEqual(store.get(''), states[states.length - 1 - step])).toBe(true)
        }
        for (let step = steps - 1; step >= 0; step--) {
          expect(store.redo()).not.toBeNull()
          expect(isEqual(store.get(''), states[states.length - 1 - step])).toBe(true)
        }
        expect(store.canRedo).toBe(false)
      }),
      runs,
    )
  })

  test('typing without a pause is one step, with a pause or in another field several', async () => {
    const clock = createClock()
    const store = open(clock.now)
    const type = async (path: string, texts: readonly string[], pause: number) => {
      for (const text of texts) {
        store.set(path, text)
        await clock.advance(pause)
      }
    }
    await type('title', ['a', 'ab', 'abc'], 200)
    await type('title', ['abcd'], 2_000)
    await type('title', ['abcde'], 100)
    await type('note', ['x', 'xy'], 100)
    const seen = []
    while (store.canUndo) {
      store.undo()
      seen.push([store.get('title'), store.get('note')])
    }
    expect(seen).toEqual([
      ['abcde', ''],
      ['abcd', ''],
      ['Mill', ''],
    ])
  })

  test('a hundred steps are stored', () => {
    const store = open()
    for (let step = 0; step <= 120; step++) {
      store.set('title', String(step))
      store.pause()
    }
    while (store.undo() !== null);
    expect(store.get('title')).toBe('20')
  })

  test('several values that were set together are one step', () => {
    const store = open()
    store.setAll({ title: 'a', 'seo/metaTitle': 'b' })
    expect(store.undo()?.toSorted()).toEqual(['seo/metaTitle', 'title'])
    expect(store.isChanged()).toBe(false)
  })

  test('an edit after undo ends what could be redone', () => {
    const store = open()
    store.set('title', 'a')
    store.undo()
    store.set('note', 'b')
    expect(store.redo()).toBeNull()
  })

  test('undo keeps later changes by others', () => {
    const store = open()
    store.insert('sections', section('mine'), 3)
    store.set('title', 'mine')
    store.stored(store.patch())
    const data = draft()
    store.receive({
      ...data,
      title: 'theirs',
      sections: [...(store.get('sections') as Entry[]).map(() => null), ...(data.sections as [])].filter((one) => one !== null),
    })
    expect(store.get('title')).toBe('theirs')
    store.undo()
    expect(store.get('title')).toBe('theirs')
  })

  test('undo of a removal brings the entry back among entries that were added since', () => {
    const store = open()
    store.remove('sections/block.quote#1')
    store.stored(store.patch())
    const data = draft()
    const sections = data.sections as Record<string, unknown>[]
    store.receive({ ...data, sections: [{ id: 70, __component: 'block.quote', text: 'theirs' }, sections[0], sections[2]] })
    store.undo()
    expect((store.get('sections') as Entry[]).map(({ heading, text }) => heading ?? text)).toEqual(['theirs', 'one', 'two', 'three'])
    expect(store.patch().body.lists.sections).toMatchObject([{ insert: { text: 'two' }, after: 'block.text#1' }])
  })
})
