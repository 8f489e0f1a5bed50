// docs/spec/writing.md: what must be unique, on the golden project, which has an attribute of every type that may be.
import { afterAll, beforeAll, expect } from 'vitest'
import { rule } from '../support/rule.js'
import type { Served } from '../support/serve.js'
import { goldenTokens, serveGolden } from '../support/serve.js'

let served: Served
beforeAll(async () => {
  served = await serveGolden()
})
afterAll(() => served.close())

rule('writing.15', 'what is no integer is told alone, whatever it would be compared as', async () => {
  const send = async (uBig: unknown): Promise<readonly [number, unknown]> => {
    const body = JSON.stringify({ data: { uBig } })
    const headers = { 'content-type': 'application/json' }
    const answer = await served.ask('/api/bounds', { method: 'POST', token: goldenTokens().full!, headers, body })
    return [answer.status, answer.body.error?.message]
  }
  await send('1')
  expect(await send(' 1 ')).toEqual([400, 'This attribute must be unique'])
  for (const value of [[1], true, 1.5]) expect([value, await send(value)]).toEqual([value, [400, 'uBig must be a valid integer']])
})
