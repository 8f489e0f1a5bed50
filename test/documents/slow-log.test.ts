// How often slow work is logged, by a clock of the test's own.
import { expect, test } from 'vitest'
import { openSlowLog } from '../../src/runtime/slow-log.js'

test('operations.12: after a minute the same is logged again, with how often it was slow meanwhile; kinds are bounded', () => {
  const logged: object[] = []
  let now = 0
  const slow = openSlowLog({ warn: (fields: object) => void logged.push(fields) } as never, 200, () => now)!
  const note = (key: string) => slow.note(key, 'a read was slow', 250.4, () => ({ key }))
  for (let count = 0; count < 4; count++) note('a')
  note('b')
  expect(logged).toEqual([
    { milliseconds: 250, key: 'a' },
    { milliseconds: 250, key: 'b' },
  ])
  now = 60_001
  note('a')
  expect(logged.at(-1)).toEqual({ milliseconds: 250, key: 'a', repeated: 3 })
  // Most kinds of one minute have a line of their own; the others share one.
  for (let kind = 0; kind < 2_000; kind++) note(`kind ${kind}`)
  expect(logged.length).toBeLessThan(510)
  expect(openSlowLog({ warn: () => {} } as never, 0)).toBeNull()
})
