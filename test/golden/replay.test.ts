// Replays conversations recorded with Strapi 5.54 on the golden project and compares every answer. What may differ is
// listed in differences.json with the reason; an entry that no longer differs fails as well.
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Served } from '../support/serve.js'
import { goldenTokens, serveGolden } from '../support/serve.js'
import { firstDifference, ordered } from './compare.js'

interface Step {
  readonly request: {
    readonly method?: string
    readonly path: string
    readonly token?: string
    readonly headers?: Record<string, string>
    readonly body?: unknown
  }
  readonly response: { readonly status: number; readonly body: unknown; readonly headers?: Record<string, string | null> }
}

interface Conversation {
  readonly name: string
  readonly steps: readonly Step[]
  /** Strapi wrote no order: lists are compared as sets. */
  readonly unordered?: boolean
}

const folder = dirname(fileURLToPath(import.meta.url))
const tokens = goldenTokens()
const allowed = JSON.parse(readFileSync(join(folder, 'differences.json'), 'utf8')) as Record<
  string,
  readonly { readonly name: string; readonly why: string }[]
>

let served: Served
beforeAll(async () => {
  served = await serveGolden()
})
afterAll(() => served.close())

function conversations(file: string): readonly Conversation[] {
  const lines = gunzipSync(readFileSync(join(folder, file)))
    .toString('utf8')
    .split('\n')
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as Conversation)
}

async function answer({ request }: Step) {
  const token = request.token === undefined || request.token === 'none' ? undefined : tokens[request.token]
  const headers = { ...request.headers, ...(request.body === undefined ? {} : { 'content-type': 'application/json' }) }
  return served.ask(request.path, {
    method: request.method ?? 'GET',
    headers,
    ...(token === undefined ? {} : { token }),
    ...(request.body === undefined ? {} : { body: JSON.stringify(request.body) }),
  })
}

/** What differs first in a step's answer; null where it is as recorded. */
async function differenceIn(step: Step, unordered: boolean): Promise<string | null> {
  const got = await answer(step)
  if (got.status !== step.response.status) return `status ${got.status} in place of ${step.response.status}`
  for (const [name, value] of Object.entries(step.response.headers ?? {})) {
    if (got.headers.get(name) !== value) return `header ${name} is ${got.headers.get(name)} in place of ${value}`
  }
  return unordered ? firstDifference(ordered(step.response.body), ordered(got.body)) : firstDifference(step.response.body, got.body)
}

async function differing(file: string): Promise<string[]> {
  const names: string[] = []
  for (const { name, steps, unordered = false } of conversations(file)) {
    for (const step of steps) {
      if ((await differenceIn(step, unordered)) === null) continue
      names.push(name)
      break
    }
  }
  return names
}

const reads = readdirSync(folder).filter((file) => /^read-.*\.jsonl\.gz$/.test(file))

describe('recorded reads', () => {
  test.each(reads)('%s is answered as recorded, but for the listed differences', async (file) => {
    expect(await differing(file)).toEqual((allowed[file] ?? []).map(({ name }) => name))
  })

  test('the listed differences stay below two in a hundred', () => {
    const listed = reads.reduce((sum, file) => sum + (allowed[file] ?? []).length, 0)
    const recorded = reads.reduce((sum, file) => sum + conversations(file).length, 0)
    expect(listed / recorded).toBeLessThan(0.02)
  })
})

test('what Strapi answers with 500 is answered without a 5xx', async () => {
  const failed: string[] = []
  for (const { name, steps } of conversations('quirk-500-read.jsonl.gz')) {
    for (const step of steps) if ((await answer(step)).status >= 500) failed.push(name)
  }
  expect(failed).toEqual([])
})
