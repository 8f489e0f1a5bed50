// docs/spec/caching.md, caching.5: the memory of cached results. Bytes in use never change, regardless of entries added, freed and evicted.
import { expect, test } from 'vitest'
import { seededRandom } from '../../bench/random.mjs'
import { createCacheMemory, type Piece } from '../../src/database/cache/response-store.js'
import type { ReadBytes } from '../../src/database/database.js'

interface Entry {
  readonly content: Buffer
  piece: Piece | undefined
  isUsed: boolean
  isGone: boolean
}

test.each([
  [40_000, 300],
  [400_000, 3_000],
  [400_000, 90_000],
  [3_000, 40],
])('in %d bytes, of pieces up to %d', (most, largest) => {
  const { integer } = seededRandom(most + largest)
  const memory = createCacheMemory(most)
  const entries = new Set<Entry>()
  const held: { readonly entry: Entry; readonly lent: ReadBytes }[] = []
  const any = () => [...entries][integer(Math.max(entries.size, 1))]
  let [evicted, added, refused] = [0, 0, 0]

  function add(): void {
    const content = Buffer.alloc(integer(largest), integer(256))
    const entry: Entry = { content, piece: undefined, isUsed: false, isGone: false }
    entry.piece = memory.add(content, 50, {
      isWanted: () => {
        const { isUsed } = entry
        entry.isUsed = false
        return isUsed
      },
      evicted: () => {
        expect(entry.isGone, 'evicted once').toBe(false)
        entry.isGone = true
        entries.delete(entry)
        evicted++
      },
    })
    if (entry.piece === undefined) refused++
    else entries.add(entry)
    added++
  }

  for (let step = 0; step < 6_000; step++) {
    const choice = integer(100) / 100
    if (choice < 0.4) add()
    else if (choice < 0.6) {
      const entry = any()
      if (entry === undefined) continue
      entry.isUsed = true
      held.push({ entry, lent: entry.piece!.lend()! })
    } else if (choice < 0.65) {
      const entry = any()
      if (entry === undefined) continue
      entry.isGone = true
      entries.delete(entry)
      entry.piece!.free()
      expect(entry.piece!.lend()).toBeUndefined()
    } else if (held.length > 0) {
      const [{ entry, lent }] = held.splice(integer(held.length), 1) as [(typeof held)[number]]
      expect(entry.content.equals(lent.bytes)).toBe(true)
      lent.release()
      lent.release()
    }
    if (step % 100 === 0) {
      for (const { entry, lent } of held) expect(entry.content.equals(lent.bytes)).toBe(true)
      for (const entry of entries) {
        const lent = entry.piece!.lend()!
        expect(entry.content.equals(lent.bytes)).toBe(true)
        lent.release()
      }
      const least = [...entries].reduce((sum, { content }) => sum + content.length + 50, 0)
      expect(memory.taken()).toBeGreaterThanOrEqual(least)
      expect(memory.taken()).toBeLessThanOrEqual(most)
    }
  }
  // Entries in use are not evicted.
  expect(refused).toBeLessThan(added / 10)
  expect(evicted).toBeGreaterThan(added / 2)
  for (const entry of [...entries]) entry.piece!.free()
  expect(memory.taken()).toBe(0)
})

test('used pieces survive the eviction of unused ones', () => {
  const memory = createCacheMemory(100_000)
  const evicted = new Set<number>()
  const used = new Set<number>()
  for (let number = 0; number < 2_000; number++) {
    memory.add(Buffer.alloc(1_000), 50, { isWanted: () => used.has(number), evicted: () => void evicted.add(number) })
    if (number % 10 === 0 && number < 200) used.add(number)
  }
  expect([...used].filter((number) => evicted.has(number))).toEqual([])
  expect(evicted.size).toBeGreaterThan(1_800)
})
