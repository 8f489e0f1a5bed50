// Replays conversations recorded with Strapi 5.54 on the golden project and compares every response. Allowed differences are
// listed in differences.json with the reason; an entry that no longer differs fails as well.
import { readdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Served, TestResponse } from '../support/serve.js'
import { serveGolden } from '../support/serve.js'
import { allowed, conversationsOf, differing, hold } from './conversations.js'

const files = readdirSync(dirname(fileURLToPath(import.meta.url))).filter((file) => file.endsWith('.jsonl.gz'))
const reads = files.filter((file) => file.startsWith('read-'))
const writes = files.filter((file) => file.startsWith('write-'))
const named = (file: string) => (allowed[file] ?? []).map(({ name }) => name)

// The recorded Strapi did not limit attempts, and malformed ones count here too.
const unlimited = { config: { limits: { authRateLimit: 0 } } }

let served: Served
beforeAll(async () => {
  served = await serveGolden(unlimited)
})
afterAll(() => served.close())

describe('recorded reads', () => {
  test.each(reads)('%s is answered as recorded, but for the listed differences', async (file) => {
    expect(await differing(served, file)).toEqual(named(file))
  })
})

describe('recorded writes', () => {
  test.each(writes)('%s is answered as recorded on a fresh database, but for the listed differences', async (file) => {
    const fresh = await serveGolden(unlimited)
    try {
      expect(await differing(fresh, file)).toEqual(named(file))
    } finally {
      await fresh.close()
    }
  })
})

test.each([
  ['reads', reads],
  ['writes', writes],
])('the listed differences of %s stay below two in a hundred', (_, of) => {
  const listed = of.reduce((sum, file) => sum + named(file).length, 0)
  const recorded = of.reduce((sum, file) => sum + conversationsOf(file).length, 0)
  expect(listed / recorded).toBeLessThan(0.02)
})

test.each(files.filter((file) => file.startsWith('quirk-500-')))(
  '%s: what Strapi answers with 500 is answered without a 5xx',
  async (file) => {
    const failed: string[] = []
    const fresh = await serveGolden(unlimited)
    for (const { name, steps } of conversationsOf(file)) {
      const answers: TestResponse[] = []
      for (const step of steps) {
        const answer = await hold(fresh, step, answers)
        answers.push(answer)
        if (answer.status >= 500) failed.push(name)
      }
    }
    await fresh.close()
    expect(failed).toEqual([])
  },
)
