// Differences of two texts by word.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { compareWords } from '../../admin/screens/editor/word-difference.js'

test('words next to each other are one change, with the spaces between them', () => {
  expect(compareWords('tomorrow forty minutes later', 'tomorrow an hour later')).toEqual([
    { kind: 'same', text: 'tomorrow ' },
    { kind: 'removed', text: 'forty minutes' },
    { kind: 'added', text: 'an hour' },
    { kind: 'same', text: ' later' },
  ])
})

test('the parts of either side are its whole text', () => {
  const texts = fc.array(fc.constantFrom('a', 'b', 'c', ' ', '\n', '.')).map((parts) => parts.join(''))
  fc.assert(
    fc.property(texts, texts, (before, after) => {
      const parts = compareWords(before, after)
      const without = (kind: string) => parts.flatMap((part) => (part.kind === kind ? [] : [part.text])).join('')
      expect([without('added'), without('removed')]).toEqual([before, after])
    }),
  )
})
