// Frequency of log lines about slow work, with a clock of the test.
import { expect, test } from 'vitest'
import { logSlowReads } from '../../src/content/documents/read/plans.js'
import { openSlowLog } from '../../src/foundation/runtime/throttled-logs.js'

test('operations.12: after a minute the same is logged again, with its number of slow calls since; kinds are bounded', () => {
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
  // Most kinds of one minute have separate lines; the others share one.
  for (let kind = 0; kind < 2_000; kind++) note(`kind ${kind}`)
  expect(logged.length).toBeLessThan(510)
  expect(openSlowLog({ warn: () => {} } as never, 0)).toBeNull()
})

test('operations.12: the statements of a plan are looked through once, however often it is slow; a line that fails fails no read', async () => {
  let looks = 0
  const root = {
    uid: 'api::note.note',
    fills: [],
    get statement() {
      looks++
      return { sql: 'select 1' }
    },
  }
  const handle = { id: 1, plan: { root, envelope: { kind: 'one' } } } as never
  const logged: string[] = []
  const warn = (_fields: object, message: string) => {
    logged.push(message)
    if (logged.length > 1) throw new Error('The log is gone')
  }
  let now = 0
  const slow = openSlowLog({ warn } as never, 0.000_001, () => now)!
  const reads = { execute: async () => null } as never
  const { execute } = logSlowReads({ reads, tableScans: null }, slow)
  await execute(handle, [])
  await new Promise(setImmediate)
  const first = looks
  for (let count = 0; count < 5; count++) await execute(handle, [])
  await new Promise(setImmediate)
  expect(looks).toBe(first)
  // The runner fails on an unhandled rejection.
  now = 60_001
  await execute(handle, [])
  await new Promise(setImmediate)
  expect(logged).toEqual(['a read was slow', 'a read was slow'])
})
