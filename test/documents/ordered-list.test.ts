// The list that positions connected entries: compared with a plain array, and with insertions at one crowded position.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createOrderedList } from '../../src/content/documents/store/positions.js'
import { threadCpuMs } from '../support/cpu-time.js'

const row = fc.integer({ min: 0, max: 30 })
const action = fc.oneof(
  fc.record({ kind: fc.constant('remove' as const), row }),
  fc.record({ kind: fc.constant('insert' as const), rows: fc.array(row, { maxLength: 3 }), before: fc.option(row) }),
  fc.record({ kind: fc.constant('order' as const), rows: fc.array(row, { maxLength: 5 }) }),
)

test('does what an array would do', () => {
  fc.assert(
    fc.property(fc.uniqueArray(row), fc.array(action, { maxLength: 400 }), (initial, actions) => {
      const list = createOrderedList(initial)
      let plain = initial
      for (const one of actions) {
        if (one.kind === 'remove') {
          list.remove(one.row)
          plain = plain.filter((other) => other !== one.row)
        } else if (one.kind === 'insert') {
          if (one.before !== null && !plain.includes(one.before)) continue
          const added = [...new Set(one.rows)].filter((other) => !plain.includes(other))
          const at = one.before === null ? plain.length : plain.indexOf(one.before)
          list.insert(one.rows, one.before)
          plain = plain.toSpliced(at, 0, ...added)
        } else expect(list.inOrder(one.rows)).toEqual(plain.filter((other) => one.rows.includes(other)))
        expect(list.rows()).toEqual(plain)
        expect(list.first()).toBe(plain[0] ?? null)
        if (plain.length > 1) expect(list.after(plain[0]!)).toBe(plain[1])
      }
      expect(list.inOrder(plain.toReversed())).toEqual(plain)
    }),
  )
})

/** Index of the next insertion into a list that begins with 0 and 1. */
const crowds: Readonly<Record<string, (list: ReturnType<typeof createOrderedList<number>>, index: number) => number | null>> = {
  'before the same one': () => 1,
  'after the same one': (list) => list.after(0),
  'between the last two, in turn': (list, index) => (index % 2 === 0 ? index - 1 : list.after(index - 1)),
  'at the start': (list) => list.first(),
  'at the end': () => null,
}

test.each(Object.entries(crowds))('100,000 that go %s keep their order, and take little more for each than 10,000', (_where, before) => {
  const crowd = (count: number) => {
    const list = createOrderedList([0, 1])
    for (let index = 2; index < count; index++) list.insert([index], before(list, index))
    return list
  }
  const timeOf = (work: () => void) => {
    const before = threadCpuMs()
    work()
    return threadCpuMs() - before
  }
  // The same number of entries in both.
  const least = (work: () => void) => Math.min(...[1, 2, 3].map(() => timeOf(work)))
  const small = least(() => [...Array(10)].forEach(() => void crowd(10_000)))
  const large = least(() => void crowd(100_000))
  const list = crowd(100_000)
  const all = list.rows()
  expect(all).toHaveLength(100_000)
  expect(list.inOrder(all.toReversed())).toEqual(all)
  expect(large / small).toBeLessThan(8)
})
